"""The anonymity vectors as bars: before appointments, planned, and at random."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from vbas_desktop.session.appointments import Bar
from vbas_desktop.ui.charts.rows import nice_ticks, short_number
from vbas_desktop.ui.theme import Theme

_NAMES = {"before": "Before", "planned": "Planned", "random": "Random seats"}


class VectorBars(QWidget):
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
        for tick in nice_ticks(0, high):
            y = plot.bottom() - tick / high * plot.height()
            painter.setPen(QPen(QColor(colours.line), 1))
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
            painter.setPen(QColor(colours.muted))
            room = QRectF(0, y - metrics.height() / 2, plot.left() - 6, metrics.height())
            painter.drawText(room, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, short_number(tick))
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

    def event(self, event: QEvent) -> bool:
        """Tool tips tell the numbers."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            bar = next((bar for spot, bar in self._spots if spot.contains(QPointF(event.pos()))), None)
            if bar is not None:
                lines = [f"{_NAMES[name]}: {getattr(bar, name):,}" for name in _NAMES]
                QToolTip.showText(event.globalPos(), "\n".join([f"Classes of {bar.label} people", *lines]), self)
                return True
            QToolTip.hideText()
        return super().event(event)
