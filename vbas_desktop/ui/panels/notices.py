"""Notices around the results: the allowed loss, what can be done about lost records, what other aims give."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QSize, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QDoubleSpinBox, QPushButton, QToolButton, QWidget

from vbas_desktop.algorithms.site_counts import max_suppressed
from vbas_desktop.app.run import search_alternatives
from vbas_desktop.engine.constraints import CONSTRAINT_DIAGNOSTICS
from vbas_desktop.engine.loss import DEFAULT_TIERS, exceeds_loss
from vbas_desktop.engine.site_search import describe_alternatives
from vbas_desktop.engine.ways_out import WaysOut, find_ways_out
from vbas_desktop.model.records import Role
from vbas_desktop.model.solution import Advice, Alternative
from vbas_desktop.model.text import format_count, format_share, shorten

from ..core.context import UiContext
from ..core.theme import GRID
from ..dialogs.grouping import GroupingDialog
from ..map.map_cache import map_cache_of
from ..presentation.results_table import RECOMMENDED
from ..state.scenario import ResultRow, RunEntry, by_scenario
from ..widgets.fields import ignore_wheel_unless_focused, shorten_name
from ..widgets.layouts import hbox, vbox, with_properties
from ..widgets.notice_bar import FlowLayout, NoticeAction, NoticeBar
from ..widgets.plain_text import Label, set_tool_tip

_TIERS = "Records whose class is too small in their region are released in a larger area instead of being lost"
_OTHER_SETTINGS = (
    "The shown solution has another k, other quasi-identifiers, groups or criteria than Input. Run with those of Input "
    "first, or set them back."
)


class PercentBox(QDoubleSpinBox):
    """A share in percent, no wider than its digits and arrows need."""

    def __init__(self) -> None:
        super().__init__()
        with_properties(self, maximum=100.0, singleStep=0.5, suffix=" %", keyboardTracking=False)
        ignore_wheel_unless_focused(self)

    def sizeHint(self) -> QSize:
        """Return the size of the longest text."""
        metrics = self.fontMetrics()
        return QSize(
            metrics.horizontalAdvance(self.textFromValue(100.0) + self.suffix()) + 5 * GRID,
            super().sizeHint().height(),
        )

    def minimumSizeHint(self) -> QSize:
        """Return the same size: nothing is cut."""
        return self.sizeHint()


class LimitLine(QWidget):
    """Changes the allowed loss, which is one choice with that of the site number; a click selects a marked solution."""

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self._context = context
        self._state = context.state
        self.percent = with_properties(
            PercentBox(),
            toolTip="Recommended is the best solution that loses no more of the records (Ctrl+L)",
            accessibleName="Largest share suppressed, in percent",
        )
        shortcut = QShortcut(QKeySequence("Ctrl+L"), self)
        shortcut.activated.connect(self.percent.setFocus)
        shortcut.activated.connect(self.percent.selectAll)
        self.recommended, self.knee = (
            with_properties(QPushButton(), look="link", minimumHeight=24) for _ in range(2)
        )
        self.alternatives = with_properties(
            QToolButton(),
            text="Aims",
            toolTip="Try what the other aim of the allowed loss, and tiers, would give (Ctrl+I)",
            shortcut=QKeySequence("Ctrl+I"),
        )
        limit = QWidget()
        hbox(Label("Allowed loss"), self.percent, within=limit, margins=0, spacing=GRID // 2)
        row = FlowLayout(GRID // 2)
        for widget in (limit, self.recommended, self.knee, self.alternatives):
            row.addWidget(widget)
        vbox(row, within=self, margins=(GRID, 0, GRID, GRID // 2))
        self.percent.valueChanged.connect(self._on_percent)
        self.recommended.clicked.connect(lambda: self._select("recommended"))
        self.knee.clicked.connect(lambda: self._select("knee"))
        for signal in (
            context.model.choices_changed,
            context.model.solutions_changed,
            context.model.solution_added,
        ):
            signal.connect(self.refresh)
        context.model.selection_changed.connect(self.refresh)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Show the limit and the marked solutions of the scenario that is looked at."""
        self.percent.blockSignals(True)
        self.percent.setValue(self._state.choices.allowed_loss_percent)
        self.percent.blockSignals(False)
        self.alternatives.setEnabled(self._state.selected is not None)
        recommended = self._find_marked("recommended")
        knee = self._find_marked("knee")
        self.recommended.setEnabled(recommended is not None)
        self.recommended.setText(
            "none keeps to it" if recommended is None else f"{RECOMMENDED}: #{recommended.number:,}"
        )
        set_tool_tip(
            self.recommended,
            "Every solution loses more: allow a larger loss, or run with fewer sites"
            if recommended is None
            else f"Recommended, the best within the limit: {_describe_solution(recommended)}",
        )
        self.knee.setVisible(knee is not None)
        if knee is not None:
            self.knee.setText(f"Knee: #{knee.number:,}")
            words = "Knee, where losing fewer records begins to cost much more of the place"
            set_tool_tip(self.knee, f"{words}: {_describe_solution(knee)}")

    def _find_marked(self, mark: str) -> ResultRow | None:
        """Find the solution with a mark in the scenario of the shown solution, or of the latest one."""
        entries = self._state.entries
        marks = self._state.marks
        selected = self._state.selected or (entries[-1] if entries else None)
        group = next((group for group in by_scenario(entries) if selected in group), [])
        return next((entry for entry in group if getattr(marks[entry.number], mark)), None)

    @Slot(float)
    def _on_percent(self, value: float) -> None:
        self._state.change(self._state.choices.with_allowed_loss(round(value, 2)), "allowed loss")

    def _select(self, mark: str) -> None:
        entry = self._find_marked(mark)
        if entry is not None:
            self._state.select(entry.number)


def _describe_solution(entry: ResultRow) -> str:
    solution = entry.solution
    suppressed_share = format_share(
        solution.suppressed_records, solution.suppressed_records + solution.released_records
    )
    return f"{format_count(solution.aggregated_regions, 'region')}, {suppressed_share} suppressed"


class LossNotice(NoticeBar):
    """Says what can be done about the records that the shown solution loses, with what would be lost then.

    The fallback to larger areas is offered wherever it saves records. Where no solution keeps within the allowed loss,
    columns to group or to leave out are tried in the background. Otherwise it shows the advice on the number of sites.
    """

    def __init__(self, context: UiContext) -> None:
        super().__init__(margin=GRID)
        self._context = context
        self._state = context.state
        self._scenes = map_cache_of(context)
        self._ways: WaysOut | None = None
        self._asked: tuple[int, int] | None = None
        self.is_out_of_reach = False
        """Even one region of all would lose more than is allowed, which is what the notice says."""
        model = context.model
        signals = (
            model.selection_changed,
            model.solutions_changed,
            model.choices_changed,
            model.run_finished,
        )
        jobs = (context.worker.job_started, context.worker.job_ended)
        for signal in (*signals, *jobs, model.solution_added, self._scenes.changed):
            signal.connect(self.refresh)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Show what holds for the shown solution now."""
        entry = self._state.selected
        if entry is None or entry.problem is None or entry.run.outdated:
            self.show_notice("")
            return
        percent = self._state.choices.allowed_loss_percent
        ways = None if self._has_solution_within(entry, percent) else self._find_ways(entry, percent)
        self.is_out_of_reach = ways is not None and ways.suppressed > ways.allowed
        if ways is not None and self.is_out_of_reach:
            least = "at least " if _has_more_demands(entry) else ""
            text = _describe_ways(ways, entry.problem.records, percent, least)
            self.show_notice(text, self._list_ways(ways, entry, least))
            return
        fallback = self._list_fallback(entry)
        advice = self.advice
        is_looking = self._context.background.is_awaited_by(self)
        if advice is not None and not (advice.sites is None and is_looking):
            self.show_notice(advice.text, [*self._list_advised(advice), *fallback])
            return
        lost = format_share(entry.solution.suppressed_records, entry.problem.records)
        self.show_notice(f"#{entry.number:,} loses {lost} of the records." if fallback else "", fallback)

    @property
    def advice(self) -> Advice | None:
        """The advice on the run of the shown solution, while the choices still ask for the same records and loss."""
        selected = self._state.selected
        if (
            selected is None
            or selected.run.result is None
            or selected.run.key != self._state.problem_key
        ):
            return None
        result = selected.run.result
        return (
            result.advice
            if result.allowed_loss_percent == self._state.choices.allowed_loss_percent
            else None
        )

    def _list_advised(self, advice: Advice) -> list[NoticeAction]:
        if advice.sites is None:
            return []
        text = f"Use {format_count(advice.sites, 'site')}"
        tip = "Use as many sites as the allowed loss permits, and run; Undo takes it back"
        busy = "Wait until the job that is running has ended" if self._context.worker.busy else ""
        return [NoticeAction(text, self._on_advised, tip, "Ctrl+Shift+N", busy)]

    def _on_advised(self) -> None:
        selected = self._state.selected
        if self.advice is None or selected is None or selected.run.result is None:
            return
        choices = self._state.choices.with_approach("site_number", "limit")
        self._state.change(choices.with_allowed_loss(selected.run.result.allowed_loss_percent))
        self._context.run(None)

    def _has_solution_within(self, entry: ResultRow, percent: float) -> bool:
        group = next(group for group in by_scenario(self._state.entries) if entry in group)
        assert entry.problem is not None
        return any(not exceeds_loss(entry.problem, other.solution, percent) for other in group)

    def _find_ways(self, entry: ResultRow, percent: float) -> WaysOut | None:
        """Return the ways out; None as long as they are not known. They are looked for once for each run and limit."""
        problem = entry.problem
        table = self._state.table
        if problem is None or table is None or entry.run.key != self._state.problem_key:
            return None
        asked = (entry.run.id, max_suppressed(problem.records, percent))
        if asked != self._asked:
            self._asked = asked
            self._ways = None
            grouped = entry.run.key.groups
            facts = {
                name: table.facts(name) for name in problem.quasi_identifiers if name not in grouped
            }
            find = partial(find_ways_out, problem, facts, asked[1])
            self._context.background.start_latest(
                self, "Looking for ways out", find, self._on_ways, self._on_aborted
            )
        return self._ways

    def _on_ways(self, ways: WaysOut) -> None:
        self._ways = ways
        self.refresh()

    def _on_aborted(self) -> None:
        self._asked = None

    def _list_ways(self, ways: WaysOut, entry: ResultRow, least: str) -> list[NoticeAction]:
        assert entry.problem is not None
        records = entry.problem.records
        actions = []
        if ways.grouping is not None:
            share = format_share(ways.grouping.suppressed, records)
            title = f"Group {shorten_name(ways.grouping.column)}: {least}{share}"
            actions.append(
                NoticeAction(title, self._on_group, "Propose groups, then run; Undo takes them back")
            )
        if ways.omission is not None:
            share = format_share(ways.omission.suppressed, records)
            title = f"Leave out {shorten_name(ways.omission.column)}: {least}{share}"
            actions.append(
                NoticeAction(title, self._on_leave_out, "Leave the column out of the release, and run")
            )
        find = NoticeAction(
            "Find a release", self._on_find_release, "Try every combination of groups and columns"
        )
        return [*actions, *self._list_fallback(entry), find]

    def _list_fallback(self, entry: ResultRow) -> list[NoticeAction]:
        """Offer the fallback to larger areas if it is known to save records of this solution."""
        scene = self._scenes.shown
        if (
            scene is None
            or scene.number != entry.number
            or scene.problem is None
            or scene.lost_in_tiers is None
        ):
            return []
        share = format_share(scene.lost_in_tiers, scene.problem.records)
        reason = "" if entry.run.key == self._state.problem_key else _OTHER_SETTINGS
        return [
            NoticeAction(
                f"Fall back to larger areas: {share}", self._on_fallback, _TIERS, "Ctrl+T", reason
            )
        ]

    def _on_group(self) -> None:
        table = self._state.table
        if table is None or self._ways is None or self._ways.grouping is None:
            return
        way = self._ways.grouping
        dialog = GroupingDialog(table.facts(way.column), dict(way.groups or {}), self.window(), table)
        dialog.groups_chosen.connect(self._on_groups_chosen)
        dialog.open()

    def _on_groups_chosen(self, column: str, groups: dict[str, str]) -> None:
        self._state.change(self._state.choices.with_grouping(column, groups))
        self._context.run(None)

    def _on_leave_out(self) -> None:
        if self._ways is not None and self._ways.omission is not None:
            self._state.change(self._state.choices.with_role(self._ways.omission.column, Role.LEAVE_OUT))
            self._context.run(None)

    def _on_fallback(self) -> None:
        run_in_tiers(self._context)

    def _on_find_release(self) -> None:
        self._context.show_page("Find a release")


def _has_more_demands(entry: ResultRow) -> bool:
    """Tell whether criteria or boundaries, beside k, may cost records of a solution."""
    assert entry.problem is not None
    return bool(entry.problem.judged_columns) or CONSTRAINT_DIAGNOSTICS in entry.solution.diagnostics


def _describe_ways(ways: WaysOut, records: int, percent: float, least: str) -> str:
    """Say that no number of sites helps, and name the cheapest way out."""
    share = format_share(ways.suppressed, records)
    text = f"Even one region of all would lose {least}{share}; {percent:g} % are allowed."
    if ways.cheapest is None:
        return f"{text} No single change is enough."
    verb = "leave out" if ways.cheapest.groups is None else "group"
    return f"{text} Cheapest way out: {verb} “{shorten(ways.cheapest.column)}”."


def run_in_tiers(context: UiContext) -> None:
    """Run with the approaches of the shown solution and with tiers; k and the roles stay as they are in Input."""
    state = context.state
    selected = context.state.selected
    if selected is not None and selected.run.key != state.problem_key:
        context.show_message(_OTHER_SETTINGS)
        return
    choices = state.choices
    if selected is not None:
        earlier = selected.run.choices
        choices = choices.replaced(approaches=earlier.approaches, parameters=earlier.parameters)
    state.change(choices.with_approach("tiers", DEFAULT_TIERS))
    context.run(None)


class AlternativesLine(QWidget):
    """Hidden until the other aim and tiers are asked for; then one line with a button for each.

    They belong to the run of the shown solution, and to its records and columns.
    """

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self._context = context
        self._state = context.state
        self._asked: int | None = None
        self.rows: list[tuple[Label, QPushButton]] = []
        self._lines = vbox(within=self, margins=(GRID, 0, GRID, GRID // 2), spacing=GRID // 2)
        for signal in (context.model.selection_changed, context.model.choices_changed):
            signal.connect(self._on_changed)
        self.hide()

    @property
    def run(self) -> RunEntry | None:
        """The run of the shown solution, if its alternatives can be tried now."""
        selected = self._state.selected
        if (
            selected is None
            or selected.run.problem is None
            or selected.run.key != self._state.problem_key
        ):
            return None
        return selected.run

    def ask(self) -> None:
        """Try the alternatives in the background."""
        run = self.run
        if run is None:
            self._context.show_message(_OTHER_SETTINGS)
            return
        request = self._state.request_alternatives(run)
        self._context.worker.start(
            "Trying other aims", partial(search_alternatives, request), partial(self._show, run)
        )

    def _show(self, run: RunEntry, alternatives: tuple[Alternative, ...]) -> None:
        self._clear()
        if run.problem is None or self.run is None or self.run.id != run.id:
            return
        sentences = describe_alternatives(alternatives, run.problem.records)
        for text, alternative in zip(sentences, alternatives, strict=True):
            label = Label(text)
            button = QPushButton("Run")
            label.setWordWrap(True)
            button.setAccessibleName(f"Run with the aim {alternative.aim} and tiers {alternative.tiers}")
            set_tool_tip(button, "Choose this aim and these tiers, and run; Undo takes the choice back")
            button.clicked.connect(partial(self._use, alternative))
            line = QWidget()
            hbox((label, 1), button, within=line, margins=0)
            self._lines.addWidget(line)
            self.rows.append((label, button))
        self._asked = run.id
        self.show()

    def _use(self, alternative: Alternative) -> None:
        selected = self._state.selected
        if selected is None:
            return
        earlier = selected.run.choices
        choices = self._state.choices.replaced(
            approaches=earlier.approaches, parameters=earlier.parameters
        )
        choices = choices.with_approach("site_number", "limit").with_approach("tiers", alternative.tiers)
        self._state.change(choices.with_parameter("site_number", "limit", "aim", alternative.aim))
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
