"""The page Policy: how a release fares by a policy, and a guided checklist with what the program knows filled in."""

from __future__ import annotations

from datetime import date

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QFrame, QLineEdit, QScrollArea, QWidget

from vbas_desktop.analysis.checklist import (
    ChecklistPoint,
    PointState,
    PolicyNotes,
    collect_evidence,
    find_outcomes,
    find_point_state,
    list_open_points,
    load_checklist,
)

from ...core.context import UiContext
from ...core.theme import GRID
from ...state.documents import build_release_facts
from ...widgets.fields import Field, heading_label, hint_label, message_label, set_variant
from ...widgets.layouts import button, grid_layout, hbox, set_items, vbox, with_properties
from ...widgets.plain_text import Label
from ...widgets.visible_refresh import VisibleRefresh
from .policy_result import PolicyResultView

_MARKS = {
    PointState.KNOWN: ("✓", "good"),
    PointState.NOTED: ("✓", "good"),
    PointState.OPEN: ("○", "warning"),
}
_UNDECIDED = "not decided"
_NOT_ALL_DECIDED = "Decide all three to see what they lead to."
_LEADS_TO = "These choices lead to:"


class PointRow(QFrame):
    """One point: its mark, its steps, the evidence, and a note. `noted(id, text)`: the note was changed."""

    noted = Signal(str, str)

    def __init__(self, point: ChecklistPoint) -> None:
        super().__init__()
        self.point = point
        self.mark = Label()
        self.evidence = message_label()
        self.note = with_properties(
            QLineEdit(),
            placeholderText="Note",
            accessibleName=f"Note on {point.title}",
            toolTip="What was decided or done about it, and where that is kept; a note settles the point",
        )
        self.note.editingFinished.connect(lambda: self.noted.emit(self.point.id, self.note.text()))
        margins = (0, GRID // 2, 0, GRID // 2)
        grid = grid_layout(within=self, margins=margins, across=GRID, down=GRID // 4, shares=(0, 3, 2))
        grid.setColumnMinimumWidth(0, 2 * GRID)
        top = Qt.AlignmentFlag.AlignTop
        grid.addWidget(self.mark, 0, 0, top)
        grid.addWidget(Label(point.title), 0, 1)
        grid.addWidget(
            with_properties(hint_label(point.id), wordWrap=False), 0, 2, Qt.AlignmentFlag.AlignRight
        )
        grid.addWidget(hint_label(" ".join(point.steps)), 1, 1, top)
        grid.addWidget(self.note, 1, 2, top)
        grid.addWidget(self.evidence, 2, 1, 1, 2)

    def show_state(self, state: PointState, evidence: str, note: str) -> None:
        """Show where the point stands."""
        mark, look = _MARKS[state]
        self.mark.setText(mark)
        with_properties(self.mark, toolTip=str(state), accessibleName=f"{self.point.title}: {state}")
        set_variant(self.mark, look)
        self.evidence.setText(evidence)
        self.evidence.setVisible(bool(evidence))
        if not self.note.hasFocus():
            self.note.setText(note)


class PolicyPage(QScrollArea):
    """The strategic choices, the modules with their points, and the signature."""

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self._context = context
        self.choices = {choice.id: QComboBox() for choice in load_checklist().choices}
        self.rows = {point.id: PointRow(point) for point in load_checklist().points}
        self.summary = message_label()
        self.judged = PolicyResultView(context)
        self.outcomes = message_label()
        self.name = with_properties(
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
        strategy = hbox(spacing=2 * GRID)
        for choice in load_checklist().choices:
            combo = self.choices[choice.id]
            set_items(combo, [(_UNDECIDED, ""), *((option, option) for option in choice.options)])
            strategy.addWidget(Field(choice.question, combo, choice.help), 1)
        points: list[QWidget] = []
        for module in load_checklist().modules:
            points += [
                heading_label(f"{module.title} ({module.id})"),
                *(self.rows[point.id] for point in module.points),
            ]
        inner = QWidget()
        vbox(
            self.judged,
            heading_label("Checklist"),
            self.summary,
            heading_label("Strategy"),
            strategy,
            self.outcomes,
            *points,
            heading_label("Signature"),
            hbox((self.name, 1), self.sign, (self.signature, 2)),
            1,
            within=inner,
            margins=(2 * GRID, GRID, 3 * GRID, 2 * GRID),
            spacing=GRID // 2,
        )
        with_properties(self, focusPolicy=Qt.FocusPolicy.NoFocus, widgetResizable=True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(inner)

    def _connect(self) -> None:
        model = self._context.model
        refresh = VisibleRefresh(self, self._refresh)
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
        state = self._context.state
        entry = state.selected
        choices = entry.run.choices if entry is not None else state.choices
        notes = state.policy
        evidence = collect_evidence(
            build_release_facts(choices, entry, state, None if entry is None else notes.export)
        )
        for point, row in self.rows.items():
            row.show_state(
                find_point_state(point, notes, evidence),
                evidence.get(point, ""),
                notes.notes.get(point, ""),
            )
        for name, combo in self.choices.items():
            combo.setCurrentIndex(max(0, combo.findData(notes.choices.get(name, ""))))
        self._show_outcomes(notes)
        left = len(list_open_points(notes, evidence))
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
        lines = (
            [_LEADS_TO, *(f"• {outcome}" for outcome in outcomes)] if outcomes else [_NOT_ALL_DECIDED]
        )
        self.outcomes.setText("\n".join(lines))

    def showEvent(self, event: QShowEvent) -> None:
        """Judge what is shown: nobody has to wait for it before."""
        super().showEvent(event)
        self.judged.refresh()

    @Slot()
    def _refresh_signature(self) -> None:
        notes = self._context.state.policy
        self.sign.setEnabled(bool(self.name.text().strip()))
        self.signature.setText(
            f"Signed by {notes.signed_by} on {notes.signed_on}. Any change removes the signature."
            if notes.signed_by
            else "Not signed."
        )

    @Slot(str, str)
    def _on_noted(self, point: str, text: str) -> None:
        state = self._context.state
        state.set_policy_notes(state.policy.with_note(point, text))

    @Slot()
    def _on_chosen(self) -> None:
        state = self._context.state
        notes = self._context.state.policy
        for name, combo in self.choices.items():
            notes = notes.with_choice(name, combo.currentData())
        state.set_policy_notes(notes)

    @Slot()
    def _on_sign(self) -> None:
        state = self._context.state
        state.set_policy_notes(state.policy.with_signature(self.name.text(), date.today().isoformat()))
