"""One measure: its name, its value, a bar if it lies between 0 and 1, and how it is read if few people know."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from vbas_desktop.session.representing import Shown
from vbas_desktop.ui.theme import GRID, Theme, tabular
from vbas_desktop.ui.widgets.fields import muted


class Gauge(QWidget):
    """Draws a measure in the colours of the theme; the full explanation is its tool tip."""

    def __init__(self, shown: Shown, theme: Theme) -> None:
        super().__init__()
        self.shown, self._theme = shown, theme
        self.setToolTip(f"{shown.title}: {shown.help}")
        self.setAccessibleName(f"{shown.title}: {shown.text}")
        text = f"{shown.title}   {shown.text}"
        self.setMinimumWidth(self.fontMetrics().horizontalAdvance(text) + 2 * GRID)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, self.fontMetrics().height() + 2 * GRID, 0, GRID // 2)
        self.reading = muted(shown.reading)
        if shown.reading:
            layout.addWidget(self.reading)
        layout.addStretch(1)
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw name, value and bar."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = QRectF(0, 0, self.width(), self.fontMetrics().height())
        painter.setPen(self._theme.colour("muted"))
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft, self.shown.title)
        painter.setPen(self._theme.colour("text"))
        painter.setFont(tabular(self.font()))
        painter.drawText(line, Qt.AlignmentFlag.AlignRight, self.shown.text)
        if self.shown.share is not None:
            place = QRectF(0, line.height() + GRID // 2, self.width(), GRID * 0.75)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.colour("line"))
            painter.drawRoundedRect(place, 3, 3)
            place.setWidth(place.width() * min(1.0, max(0.0, self.shown.share)))
            painter.setBrush(self._theme.colour("accent"))
            painter.drawRoundedRect(place, 3, 3)
        painter.end()
