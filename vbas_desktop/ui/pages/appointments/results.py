"""What came of a plan: k, improvement, proof, who sits where, and the anonymity vectors as bars."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, Signal, Slot
from PySide6.QtWidgets import QLineEdit, QTableView, QTabWidget, QWidget

from vbas_desktop.appointments.anonymity_vector import Improvement

from ...charts.chart import make_interactive
from ...charts.distributions import GroupedBarChart
from ...core.context import UiContext
from ...core.theme import GRID
from ...state.appointments import PlannedAppointments, format_vector, list_vector_bars
from ...state.words import seconds_in_words
from ...widgets.fields import ContentOrPlaceholder, hint_label, message_label, set_variant
from ...widgets.layouts import button, hbox, vbox, with_properties
from ...widgets.plain_text import set_tool_tip
from ...widgets.tables import TableModel, fit_columns, set_up_table
from .heat_map import PlanHeatMap
from .tables import make_plan_rows

_SERIES = {"before": "Before", "planned": "Planned", "random": "Random seats"}


class PlanResults(QWidget):
    """Signals: `export_requested()`; other slots for the person with an id: `person_requested(str)`, or for somebody of
    a class: `cannot_attend_requested(class, slot)`.
    """

    export_requested = Signal()
    person_requested = Signal(str)
    cannot_attend_requested = Signal(int, int)

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self._planned: PlannedAppointments | None = None
        self.headline = message_label()
        self.details = hint_label()
        self.bars = GroupedBarChart(context.theme.colours, "People in the class", "Classes")
        self.bars.setAccessibleName("Anonymity vectors")
        make_interactive(self.bars, context, "anonymity vectors")
        self.heat = PlanHeatMap(context)
        self.heat.cannot_attend_requested.connect(self.cannot_attend_requested)
        self.tabs = with_properties(QTabWidget(), documentMode=True)
        self.tabs.addTab(self.bars, "Anonymity vectors")
        self.tabs.addTab(self.heat, "Who sits where")
        self.rows: TableModel[int] = TableModel((), self)
        self.table = QTableView()
        self.table.setModel(self.rows)
        self.table.setSortingEnabled(True)
        set_up_table(self.table, "Plan: class, slot and people")
        set_tool_tip(self.table, "Press Enter, or double-click, for other slots")
        self.table.activated.connect(self._on_row_activated)
        self.tabs.addTab(self.table, "Table")
        self.person = with_properties(
            QLineEdit(),
            placeholderText="Person id",
            accessibleName="Id of a person who cannot attend",
            toolTip="As in the column that is chosen as person id",
            minimumWidth=8 * GRID,
            maximumWidth=24 * GRID,
        )
        others = "Other slots for this person, the most anonymous first"
        self.ask = button(
            "Cannot attend…", lambda: self.person_requested.emit(self.person.text().strip()), others
        )
        self.person.returnPressed.connect(self.ask.click)
        self.export = button(
            "E&xport…", self.export_requested, "Write plan.json, plan.csv and appointments.csv"
        )
        foot = hbox((self.person, 1), self.ask, 0, self.export, spacing=GRID // 2)
        content = QWidget()
        parts = (self.headline, self.details, (self.tabs, 1), foot)
        vbox(*parts, within=content, margins=(0, GRID // 2, 0, 0), spacing=GRID // 2)
        self._layers = ContentOrPlaceholder(
            "Choose people and slots at the left and press Plan.", content, within=self
        )

    def show_plan(self, planned: PlannedAppointments | None) -> None:
        """Show another plan; None: there is none."""
        self._layers.show_content(planned is not None)
        self._planned = planned
        self.heat.show_plan(planned)
        self.rows.set_rows(*make_plan_rows(planned))
        self.table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        fit_columns(self.table)
        if planned is None:
            self.bars.show_series((), {})
            return
        result = planned.assessment
        vector = result.plan.vector
        proof = proof_in_words(result.plan.proof)
        self.headline.setText(
            f"k = {vector.k if vector.k is not None else '–'} · {improvement_in_words(result.improvement)} over random "
            f"seats · {proof} · {seconds_in_words(result.plan.seconds)}"
        )
        set_variant(self.headline, "good" if result.plan.proof == "optimal" else "")
        self.details.setText(f"Classes of 1, 2, … people: {format_vector(vector.counts)}")
        set_tool_tip(
            self.details,
            f"Planned: {format_vector(vector.counts, 40)}\nBefore appointments: "
            f"{format_vector(result.task.before.counts, 40)}\nRandom: {format_vector(result.random.vector.counts, 40)}",
        )
        bars = list_vector_bars(result)
        series = {title: [getattr(bar, name) for bar in bars] for name, title in _SERIES.items()}
        self.bars.show_series([bar.label for bar in bars], series)
        has_people = bool(planned.people.class_of.size)
        self.person.setVisible(has_people)
        self.ask.setVisible(has_people)

    @Slot(QModelIndex)
    def _on_row_activated(self, index: QModelIndex) -> None:
        assert self._planned is not None
        plan = self._planned.assessment.plan
        row = self.rows.row_at(index.row())
        self.cannot_attend_requested.emit(int(plan.classes[row]), int(plan.slots[row]))


def proof_in_words(proof: str) -> str:
    """Say if a better plan can exist."""
    return {"optimal": "proved optimal", "heuristic": "not proved optimal"}.get(proof, proof)


def improvement_in_words(improvement: Improvement) -> str:
    """Describe the improvement, with how exact it is."""
    percent = f"improvement {100 * improvement.value:.2f} %"
    return f"{percent} (exact)" if improvement.exact else f"{percent} ± {100 * improvement.error:.1g} %"
