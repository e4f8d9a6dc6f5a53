"""What came of a plan: k, improvement, proof, the vectors and who sits where."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QStackedLayout,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from vbas_desktop.screening.vectors import Improvement
from vbas_desktop.session.appointments import Planned, short_vector, vector_bars
from vbas_desktop.session.words import seconds_in_words
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.fields import EmptyState, muted, set_look

from .heat_map import HeatMap
from .vectors import VectorBars


class PlanResults(QWidget):
    """`export_wanted()`, and `person_wanted(str)`: other slots for the person with this id."""

    export_wanted = Signal()
    person_wanted = Signal(str)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.headline, self.details = QLabel(), muted()
        self.headline.setWordWrap(True)
        self.bars = VectorBars(context.theme)
        self.heat = HeatMap(context)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(self.bars, "Anonymity vectors")
        self.tabs.addTab(self.heat, "Who sits where")
        self.person = QLineEdit()
        self.person.setPlaceholderText("Person id")
        self.person.setAccessibleName("Id of a person who cannot attend")
        self.person.setToolTip("As in the column that is chosen as person id")
        self.ask = QPushButton("Cannot attend…")
        self.ask.setToolTip("Other slots for this person, the most anonymous first")
        self.export = QPushButton("E&xport…")
        self.export.setToolTip("Write plan.json, plan.csv and appointments.csv")
        foot = QHBoxLayout()
        foot.setSpacing(GRID // 2)
        self.person.setMinimumWidth(8 * GRID)
        self.person.setMaximumWidth(24 * GRID)
        foot.addWidget(self.person, 1)
        foot.addWidget(self.ask)
        foot.addStretch(0)
        foot.addWidget(self.export)
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, GRID // 2, 0, 0)
        column.setSpacing(GRID // 2)
        column.addWidget(self.headline)
        column.addWidget(self.details)
        column.addWidget(self.tabs, 1)
        column.addLayout(foot)
        self._layers = QStackedLayout(self)
        self._empty = EmptyState("Choose people and slots at the left and press Plan.")
        self._layers.addWidget(self._empty)
        self._layers.addWidget(content)
        self._content = content
        self.export.clicked.connect(self.export_wanted)
        self.ask.clicked.connect(lambda: self.person_wanted.emit(self.person.text().strip()))
        self.person.returnPressed.connect(self.ask.click)

    def show_plan(self, planned: Planned | None) -> None:
        """Show another plan; None: there is none."""
        self._layers.setCurrentWidget(self._content if planned is not None else self._empty)
        self.heat.show_plan(planned)
        if planned is None:
            self.bars.show_bars([])
            return
        result = planned.assessment
        vector = result.plan.vector
        proof = proof_in_words(result.plan.proof)
        self.headline.setText(
            f"k = {vector.k if vector.k is not None else '–'} · {improvement_in_words(result.improvement)} over random "
            f"seats · {proof} · {seconds_in_words(result.plan.seconds)}"
        )
        set_look(self.headline, "good" if result.plan.proof == "optimal" else "")
        self.details.setText(f"Classes of 1, 2, … people: {short_vector(vector.counts)}")
        self.details.setToolTip(
            f"Planned: {short_vector(vector.counts, 40)}\nBefore appointments: "
            f"{short_vector(result.task.before.counts, 40)}\nRandom: {short_vector(result.random.vector.counts, 40)}"
        )
        self.bars.show_bars(vector_bars(result))
        has_people = bool(planned.people.class_of.size)
        self.person.setVisible(has_people)
        self.ask.setVisible(has_people)


def proof_in_words(proof: str) -> str:
    """Whether a better plan can exist."""
    return {"optimal": "proved optimal", "heuristic": "not proved optimal"}.get(proof, proof)


def improvement_in_words(improvement: Improvement) -> str:
    """The improvement with how exact it is."""
    if improvement.exact:
        return f"improvement {improvement.value:.2%} (exact)"
    return f"improvement {improvement.value:.2%} ± {improvement.error:.1g}"
