"""Lines around the results: the allowed loss with the marked solutions, advice on the run, what other aims give."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from PySide6.QtCore import Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QDoubleSpinBox, QPushButton, QToolButton, QWidget

from vbas_desktop.engine.advice import alternatives_in_words
from vbas_desktop.engine.loss import USUAL_TIERS, in_tiers_in_words
from vbas_desktop.model.solution import Advice, Alternative
from vbas_desktop.model.words import counted, share_in_words
from vbas_desktop.session.results import Entry, Run, by_scenario
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.map.preparer import preparer_of
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import dress, in_column, in_row
from vbas_desktop.ui.widgets.fields import without_wheel
from vbas_desktop.ui.widgets.plain_text import Label, set_tool_tip

from .results_columns import KNEE, RECOMMENDED

_TIERS = "Records whose class is too small in their region are released in a larger place, not lost (Ctrl+T)"
_OTHER_SETTINGS = (
    "The shown solution has another k, other quasi-identifiers, groups or criteria than Input. Run with those of Input "
    "first, or set them back."
)


class LimitLine(QWidget):
    """Changes the allowed loss, which is one choice with that of the site number; a click selects a marked solution."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context, self._session = context, context.session
        self.percent = dress(
            QDoubleSpinBox(),
            maximum=100.0,
            singleStep=0.5,
            suffix=" %",
            keyboardTracking=False,
            toolTip="Recommended is the best solution that loses no more of the records (Ctrl+L)",
            accessibleName="Largest share suppressed, in percent",
        )
        without_wheel(self.percent)
        shortcut = QShortcut(QKeySequence("Ctrl+L"), self)
        shortcut.activated.connect(self.percent.setFocus)
        shortcut.activated.connect(self.percent.selectAll)
        self.recommended, self.knee = (dress(QToolButton(), autoRaise=True) for _ in range(2))
        self.alternatives = dress(
            QToolButton(),
            text="Aims",
            toolTip="Try what the other aim of the allowed loss, and tiers, would give (Ctrl+I)",
            shortcut=QKeySequence("Ctrl+I"),
        )
        in_row(
            Label("At most"),
            self.percent,
            Label("suppressed:"),
            self.recommended,
            self.knee,
            1,
            self.alternatives,
            within=self,
            margins=(GRID, 0, GRID, GRID // 2),
            spacing=GRID // 2,
        )
        self.percent.valueChanged.connect(self._on_percent)
        self.recommended.clicked.connect(lambda: self._select("recommended"))
        self.knee.clicked.connect(lambda: self._select("knee"))
        for signal in (context.model.choices_changed, context.model.solutions_changed, context.model.solution_added):
            signal.connect(self.refresh)
        context.model.selection_changed.connect(self.refresh)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Show the limit and the marked solutions of the scenario that is looked at."""
        self.percent.blockSignals(True)
        self.percent.setValue(self._session.choices.allowed_loss_percent)
        self.percent.blockSignals(False)
        self.alternatives.setEnabled(self._session.selected is not None)
        recommended, knee = self._marked("recommended"), self._marked("knee")
        self.recommended.setEnabled(recommended is not None)
        self.recommended.setText("none is within" if recommended is None else f"{RECOMMENDED} № {recommended.number:,}")
        set_tool_tip(
            self.recommended,
            "Every solution loses more: allow a larger loss, or run with fewer sites"
            if recommended is None
            else f"Recommended, the best within the limit: {_told(recommended)}",
        )
        self.knee.setVisible(knee is not None)
        if knee is not None:
            self.knee.setText(f"{KNEE} № {knee.number:,}")
            words = "Knee, where losing fewer records begins to cost much more of the place"
            set_tool_tip(self.knee, f"{words}: {_told(knee)}")

    def _marked(self, mark: str) -> Entry | None:
        """The solution with a mark in the scenario of the shown solution, or of the latest one."""
        entries, marks = self._session.entries, self._session.marks
        shown = self._session.selected or (entries[-1] if entries else None)
        group = next((group for group in by_scenario(entries) if shown in group), [])
        return next((each for each in group if getattr(marks[each.number], mark)), None)

    @Slot(float)
    def _on_percent(self, value: float) -> None:
        self._session.change(self._session.choices.with_allowed_loss(round(value, 2)), "allowed loss")

    def _select(self, mark: str) -> None:
        entry = self._marked(mark)
        if entry is not None:
            self._session.select(entry.number)


def _told(entry: Entry) -> str:
    solution = entry.solution
    lost = share_in_words(solution.suppressed_records, solution.suppressed_records + solution.released_records)
    return f"{counted(solution.aggregated_regions, 'region')}, {lost} suppressed"


class TiersLine(QWidget):
    """Hidden unless tiers save something; the button chooses them and runs."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._preparer = preparer_of(context)
        self.words, self.apply = Label(), QPushButton("Run in tiers")
        self.apply.setShortcut("Ctrl+T")
        self.words.setWordWrap(True)
        in_row((self.words, 1), self.apply, within=self, margins=(GRID, GRID // 2, GRID, GRID // 2))
        self.apply.clicked.connect(lambda: run_in_tiers(context))
        self._session = context.session
        self._preparer.changed.connect(self._on_prepared)
        context.model.choices_changed.connect(self._on_choices_changed)
        self._on_choices_changed()
        self._on_prepared()

    @Slot()
    def _on_choices_changed(self) -> None:
        shown = self._session.selected
        same = shown is None or shown.run.key == self._session.problem_key
        self.apply.setEnabled(same)
        set_tool_tip(self.apply, _TIERS if same else _OTHER_SETTINGS)

    @Slot()
    def _on_prepared(self) -> None:
        self._on_choices_changed()
        shown = self._preparer.shown
        saved = None if shown is None else shown.lost_in_tiers
        self.setVisible(saved is not None)
        if shown is not None and shown.problem is not None and saved is not None:
            told = in_tiers_in_words(shown.solution.suppressed_records, saved, shown.problem.records)
            self.words.setText(f"Solution {shown.number:,}: {told}")


def run_in_tiers(context: Context) -> None:
    """Run with the approaches of the shown solution and with tiers; k and the roles stay as they are in Input."""
    session, selected = context.session, context.session.selected
    if selected is not None and selected.run.key != session.problem_key:
        context.say(_OTHER_SETTINGS)
        return
    choices = session.choices
    if selected is not None:
        made = selected.run.choices
        choices = replace(choices, approaches=made.approaches, parameters=made.parameters)
    session.change(choices.with_approach("tiers", USUAL_TIERS))
    context.run(None)


class AlternativesLine(QWidget):
    """Hidden until the other aim and tiers are asked for; then one line with a button for each.

    They belong to the run of the shown solution, and to its records and columns.
    """

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context, self._session = context, context.session
        self._asked: int | None = None
        self.rows: list[tuple[Label, QPushButton]] = []
        self._lines = in_column(within=self, margins=(GRID, 0, GRID, GRID // 2), spacing=GRID // 2)
        for signal in (context.model.selection_changed, context.model.choices_changed):
            signal.connect(self._on_changed)
        self.hide()

    @property
    def run(self) -> Run | None:
        """The run of the shown solution, if its alternatives can be tried now."""
        shown = self._session.selected
        if shown is None or shown.run.problem is None or shown.run.key != self._session.problem_key:
            return None
        return shown.run

    def ask(self) -> None:
        """Try the alternatives in the background."""
        run = self.run
        if run is None:
            self._context.say(_OTHER_SETTINGS)
            return
        job = self._session.order_alternatives(run)
        self._context.runner.start("Trying other aims", job.execute, partial(self._show, run))

    def _show(self, run: Run, alternatives: tuple[Alternative, ...]) -> None:
        self._clear()
        if run.problem is None or self.run is None or self.run.id != run.id:
            return
        sentences = alternatives_in_words(alternatives, run.problem.records)
        for text, alternative in zip(sentences, alternatives, strict=True):
            label, button = Label(text), QPushButton("Run")
            label.setWordWrap(True)
            button.setAccessibleName(f"Run with the aim {alternative.aim} and tiers {alternative.tiers}")
            set_tool_tip(button, "Choose this aim and these tiers, and run; Undo takes the choice back")
            button.clicked.connect(partial(self._use, alternative))
            line = QWidget()
            in_row((label, 1), button, within=line, margins=0)
            self._lines.addWidget(line)
            self.rows.append((label, button))
        self._asked = run.id
        self.show()

    def _use(self, alternative: Alternative) -> None:
        shown = self._session.selected
        if shown is None:
            return
        made = shown.run.choices
        choices = replace(self._session.choices, approaches=made.approaches, parameters=made.parameters)
        choices = choices.with_approach("site_number", "limit").with_approach("tiers", alternative.tiers)
        self._session.change(choices.with_parameter("site_number", "limit", "aim", alternative.aim))
        self._context.run(None)

    @Slot()
    def _on_changed(self) -> None:
        run = self.run
        if run is None or run.id != self._asked:
            self._clear()

    def _clear(self) -> None:
        self._asked = None
        self.rows.clear()
        while self._lines.count():
            item = self._lines.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.deleteLater()
        self.hide()


class AdviceLine(QWidget):
    """Hidden while there is nothing to advise. The button changes the number of sites, which Undo takes back."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context, self._session = context, context.session
        self.text, self.use = Label(), QPushButton()
        self.text.setWordWrap(True)
        self.use.setShortcut(QKeySequence("Ctrl+Shift+L"))
        set_tool_tip(
            self.use, "Use as many sites as the allowed loss permits, and run; Undo takes it back (Ctrl+Shift+L)"
        )
        in_row((self.text, 1), self.use, within=self, margins=(GRID, 0, GRID, GRID // 2))
        self.use.clicked.connect(self._on_use)
        model = context.model
        for signal in (model.selection_changed, model.solutions_changed, model.choices_changed, model.run_finished):
            signal.connect(self.refresh)
        for signal in (context.runner.job_started, context.runner.job_ended):
            signal.connect(self.refresh)
        self.refresh()

    @property
    def advice(self) -> Advice | None:
        """The advice on the run of the shown solution, while the choices still ask for the same records."""
        shown = self._session.selected
        if shown is None or shown.run.result is None or shown.run.key != self._session.problem_key:
            return None
        return shown.run.result.advice

    @Slot()
    def refresh(self) -> None:
        """Show the advice, if there is one."""
        advice = self.advice
        self.setVisible(advice is not None)
        if advice is not None:
            self.text.setText(advice.text)
            self.use.setVisible(advice.sites is not None)
            self.use.setEnabled(not self._context.runner.busy)
            self.use.setText(f"Use {counted(advice.sites or 0, 'site')}")

    @Slot()
    def _on_use(self) -> None:
        shown = self._session.selected
        if self.advice is None or shown is None or shown.run.result is None:
            return
        choices = self._session.choices.with_approach("site_number", "limit")
        self._session.change(choices.with_allowed_loss(shown.run.result.allowed_loss_percent))
        self._context.run(None)
