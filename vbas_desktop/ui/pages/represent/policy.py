"""The page Policy: how a release fares by a policy, and a guided checklist with what the program knows filled in."""

from __future__ import annotations

from datetime import date

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QFrame, QLineEdit, QScrollArea, QWidget

from vbas_desktop.assessment.policy import (
    Point,
    PolicyNotes,
    State,
    checklist,
    evidence,
    find_outcomes,
    open_points,
    state_of,
)
from vbas_desktop.session.papers import knowledge_of
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import button, dress, in_column, in_grid, in_row, offer
from vbas_desktop.ui.widgets.fields import Field, muted, set_look, title, told
from vbas_desktop.ui.widgets.plain_text import Label
from vbas_desktop.ui.widgets.visible_refresh import VisibleRefresh

from .judged_box import JudgedBox

_MARKS = {State.KNOWN: ("✓", "good"), State.NOTED: ("✓", "good"), State.OPEN: ("○", "warning")}
_UNDECIDED = "not decided"
_NOT_ALL_DECIDED = "Decide all three to see what they lead to."
_LEADS_TO = "These choices lead to:"


class PointRow(QFrame):
    """One point: its mark, its steps, the evidence, and a note. `noted(id, text)`: the note was changed."""

    noted = Signal(str, str)

    def __init__(self, point: Point) -> None:
        super().__init__()
        self.point = point
        self.mark, self.evidence = Label(), told()
        self.note = dress(
            QLineEdit(),
            placeholderText="Note",
            accessibleName=f"Note on {point.title}",
            toolTip="What was decided or done about it, and where that is kept; a note settles the point",
        )
        self.note.editingFinished.connect(lambda: self.noted.emit(self.point.id, self.note.text()))
        margins = (0, GRID // 2, 0, GRID // 2)
        grid = in_grid(within=self, margins=margins, across=GRID, down=GRID // 4, shares=(0, 3, 2))
        grid.setColumnMinimumWidth(0, 2 * GRID)
        top = Qt.AlignmentFlag.AlignTop
        grid.addWidget(self.mark, 0, 0, top)
        grid.addWidget(Label(point.title), 0, 1)
        grid.addWidget(dress(muted(point.id), wordWrap=False), 0, 2, Qt.AlignmentFlag.AlignRight)
        grid.addWidget(muted(" ".join(point.steps)), 1, 1, top)
        grid.addWidget(self.note, 1, 2, top)
        grid.addWidget(self.evidence, 2, 1, 1, 2)

    def show_state(self, state: State, evidence: str, note: str) -> None:
        """Show where the point stands."""
        mark, look = _MARKS[state]
        self.mark.setText(mark)
        dress(self.mark, toolTip=str(state), accessibleName=f"{self.point.title}: {state}")
        set_look(self.mark, look)
        self.evidence.setText(evidence)
        self.evidence.setVisible(bool(evidence))
        if not self.note.hasFocus():
            self.note.setText(note)


class PolicyPage(QScrollArea):
    """The strategic choices, the modules with their points, and the signature."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self.choices = {each.id: QComboBox() for each in checklist().choices}
        self.rows = {point.id: PointRow(point) for point in checklist().points}
        self.summary, self.judged = told(), JudgedBox(context)
        self.outcomes = told()
        self.name = dress(
            QLineEdit(),
            placeholderText="Name of the person responsible",
            accessibleName="Signed by",
            toolTip="Stands under the checklist with the date of today",
        )
        self.sign = button("Si&gn", self._on_sign)
        self.signature = Label()
        self._build()
        self._connect()
        self._refresh()

    def _build(self) -> None:
        strategy = in_row(spacing=2 * GRID)
        for each in checklist().choices:
            combo = self.choices[each.id]
            offer(combo, [(_UNDECIDED, ""), *((option, option) for option in each.options)])
            strategy.addWidget(Field(each.question, combo, each.help), 1)
        points: list[QWidget] = []
        for module in checklist().modules:
            points += [title(f"{module.title} ({module.id})"), *(self.rows[point.id] for point in module.points)]
        inner = QWidget()
        in_column(
            self.judged,
            title("Checklist"),
            self.summary,
            title("Strategy"),
            strategy,
            self.outcomes,
            *points,
            title("Signature"),
            in_row((self.name, 1), self.sign, (self.signature, 2)),
            1,
            within=inner,
            margins=(2 * GRID, GRID, 3 * GRID, 2 * GRID),
            spacing=GRID // 2,
        )
        dress(self, focusPolicy=Qt.FocusPolicy.NoFocus, widgetResizable=True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(inner)

    def _connect(self) -> None:
        model, refresh = self._context.model, VisibleRefresh(self, self._refresh)
        for signal in (
            model.policy_changed,
            model.choices_changed,
            model.selection_changed,
            model.solutions_changed,
            model.data_loaded,
            model.requirement_changed,
            model.run_finished,
        ):
            signal.connect(refresh.request)
        for row in self.rows.values():
            row.noted.connect(self._on_noted)
        for combo in self.choices.values():
            combo.activated.connect(self._on_chosen)
        self.name.textChanged.connect(self._refresh_signature)

    @Slot()
    def _refresh(self) -> None:
        session = self._context.session
        entry = session.selected
        choices = entry.run.choices if entry is not None else session.choices
        notes = session.policy
        known = evidence(knowledge_of(choices, entry, session, None if entry is None else notes.export))
        for point, row in self.rows.items():
            row.show_state(state_of(point, notes, known), known.get(point, ""), notes.notes.get(point, ""))
        for name, combo in self.choices.items():
            combo.setCurrentIndex(max(0, combo.findData(notes.choices.get(name, ""))))
        self._show_outcomes(notes)
        left = len(open_points(notes, known))
        done = len(self.rows) - left
        self.summary.setText(
            f"{done} of {len(self.rows)} points are settled: by what the program knows of "
            f"{'the chosen solution' if entry is not None else 'the choices so far'}, or by a note."
        )
        if self.isVisible():
            self.judged.refresh()
        self._refresh_signature()

    def _show_outcomes(self, notes: PolicyNotes) -> None:
        outcomes = find_outcomes(notes.choices)
        lines = [_LEADS_TO, *(f"• {outcome}" for outcome in outcomes)] if outcomes else [_NOT_ALL_DECIDED]
        self.outcomes.setText("\n".join(lines))

    def showEvent(self, event: QShowEvent) -> None:
        """Judge what is shown: nobody has to wait for it before."""
        super().showEvent(event)
        self.judged.refresh()

    @Slot()
    def _refresh_signature(self) -> None:
        notes = self._context.session.policy
        self.sign.setEnabled(bool(self.name.text().strip()))
        self.signature.setText(
            f"Signed by {notes.signed_by} on {notes.signed_on}. Any change removes the signature."
            if notes.signed_by
            else "Not signed."
        )

    @Slot(str, str)
    def _on_noted(self, point: str, text: str) -> None:
        session = self._context.session
        session.note_policy(session.policy.noted(point, text))

    @Slot()
    def _on_chosen(self) -> None:
        session, notes = self._context.session, self._context.session.policy
        for name, combo in self.choices.items():
            notes = notes.chosen(name, combo.currentData())
        session.note_policy(notes)

    @Slot()
    def _on_sign(self) -> None:
        session = self._context.session
        session.note_policy(session.policy.signed(self.name.text(), date.today().isoformat()))
