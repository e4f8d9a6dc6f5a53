"""What came of a plan: k, improvement, proof, who sits where, and the anonymity vectors as bars."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QLineEdit, QTabWidget, QWidget

from vbas_desktop.screening.vectors import Improvement
from vbas_desktop.session.appointments import Bar, Planned, short_vector, vector_bars
from vbas_desktop.session.words import seconds_in_words
from vbas_desktop.ui.charts.chart import draw_value_axis
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.theme import GRID, Theme
from vbas_desktop.ui.widgets.building import button, dress, in_column, in_row
from vbas_desktop.ui.widgets.fields import OrEmpty, Telling, muted, set_look, told
from vbas_desktop.ui.widgets.plain_text import set_tool_tip

from .heat_map import HeatMap

_NAMES = {"before": "Before", "planned": "Planned", "random": "Random seats"}


class PlanResults(QWidget):
    """`export_wanted()`, and `person_wanted(str)`: other slots for the person with this id."""

    export_wanted = Signal()
    person_wanted = Signal(str)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.headline, self.details = told(), muted()
        self.bars = VectorBars(context.theme)
        self.heat = HeatMap(context)
        self.tabs = dress(QTabWidget(), documentMode=True)
        self.tabs.addTab(self.bars, "Anonymity vectors")
        self.tabs.addTab(self.heat, "Who sits where")
        self.person = dress(
            QLineEdit(),
            placeholderText="Person id",
            accessibleName="Id of a person who cannot attend",
            toolTip="As in the column that is chosen as person id",
            minimumWidth=8 * GRID,
            maximumWidth=24 * GRID,
        )
        others = "Other slots for this person, the most anonymous first"
        self.ask = button("Cannot attend…", lambda: self.person_wanted.emit(self.person.text().strip()), others)
        self.person.returnPressed.connect(self.ask.click)
        self.export = button("E&xport…", self.export_wanted, "Write plan.json, plan.csv and appointments.csv")
        foot = in_row((self.person, 1), self.ask, 0, self.export, spacing=GRID // 2)
        content = QWidget()
        parts = (self.headline, self.details, (self.tabs, 1), foot)
        in_column(*parts, within=content, margins=(0, GRID // 2, 0, 0), spacing=GRID // 2)
        self._layers = OrEmpty("Choose people and slots at the left and press Plan.", content, within=self)

    def show_plan(self, planned: Planned | None) -> None:
        """Show another plan; None: there is none."""
        self._layers.show_content(planned is not None)
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
        set_tool_tip(
            self.details,
            f"Planned: {short_vector(vector.counts, 40)}\nBefore appointments: "
            f"{short_vector(result.task.before.counts, 40)}\nRandom: {short_vector(result.random.vector.counts, 40)}",
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
    percent = f"improvement {100 * improvement.value:.2f} %"
    return f"{percent} (exact)" if improvement.exact else f"{percent} ± {100 * improvement.error:.1g} %"


class VectorBars(Telling):
    """For each size the number of classes, three bars side by side. Fewer small classes are better."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.bars: list[Bar] = []
        self._spots: list[tuple[QRectF, Bar]] = []
        self.setMinimumHeight(120)
        self.setAccessibleName("Anonymity vectors")
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Wide enough for its labels."""
        return QSize(420, 200)

    def show_bars(self, bars: list[Bar]) -> None:
        """Draw other vectors."""
        self.bars = bars
        self.update()

    def _colours(self) -> dict[str, QColor]:
        colours = self._theme.colours
        return {
            "before": QColor(colours.line),
            "planned": QColor(colours.accent),
            "random": QColor(colours.sequence[2]),
        }

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw legend, axis and bars."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        painter.fillRect(self.rect(), QColor(self._theme.colours.base))
        self._spots = []
        metrics = QFontMetricsF(self.font())
        left = metrics.horizontalAdvance("00,000") + 12
        plot = QRectF(self.rect()).adjusted(left, 2 * metrics.height() + 8, -10, -2 * metrics.height() - 8)
        self._draw_legend(painter, metrics)
        if self.bars and plot.height() > 10:
            self._draw_bars(painter, plot, metrics)
        painter.end()

    def _draw_legend(self, painter: QPainter, metrics: QFontMetricsF) -> None:
        x, y = 10.0, 6.0
        for name, colour in self._colours().items():
            painter.fillRect(QRectF(x, y + (metrics.height() - 10) / 2, 10, 10), colour)
            painter.setPen(QColor(self._theme.colours.text))
            painter.drawText(QPointF(x + 15, y + metrics.ascent()), _NAMES[name])
            x += metrics.horizontalAdvance(_NAMES[name]) + 32

    def _draw_bars(self, painter: QPainter, plot: QRectF, metrics: QFontMetricsF) -> None:
        colours = self._theme.colours
        high = max(1, *(max(bar.before, bar.planned, bar.random) for bar in self.bars)) * 1.05
        draw_value_axis(painter, colours, plot, (0, high), gap=6)
        step = plot.width() / len(self.bars)
        width = min(16.0, step * 0.8 / 3)
        every = max(1, round(metrics.horizontalAdvance("> 00") / step + 0.49))
        for number, bar in enumerate(self.bars):
            middle = plot.left() + (number + 0.5) * step
            self._spots.append((QRectF(middle - step / 2, plot.top(), step, plot.height()), bar))
            for place, (name, colour) in enumerate(self._colours().items()):
                height = getattr(bar, name) / high * plot.height()
                painter.fillRect(
                    QRectF(middle + (place - 1.5) * width, plot.bottom() - height, max(1.0, width - 1), height), colour
                )
            if number % every == 0 or number == len(self.bars) - 1:
                painter.setPen(QColor(colours.muted))
                label = QRectF(middle - 30, plot.bottom() + 3, 60, metrics.height())
                painter.drawText(label, Qt.AlignmentFlag.AlignHCenter, bar.label)
        foot = QRectF(plot.left(), plot.bottom() + 4 + metrics.height(), plot.width(), metrics.height())
        painter.drawText(foot, Qt.AlignmentFlag.AlignHCenter, "People in the class")

    def tip_at(self, position: QPointF) -> str:
        """The numbers of a size."""
        bar = next((bar for spot, bar in self._spots if spot.contains(position)), None)
        if bar is None:
            return ""
        lines = [f"{_NAMES[name]}: {getattr(bar, name):,}" for name in _NAMES]
        return "\n".join([f"Classes of {bar.label} people", *lines])
