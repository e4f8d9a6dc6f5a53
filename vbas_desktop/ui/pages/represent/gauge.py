"""One measure: its name, its value, and a bar if it lies between 0 and 1."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from vbas_desktop.session.representing import Shown
from vbas_desktop.ui.theme import GRID, Theme, tabular


class Gauge(QWidget):
    """Draws a measure in the colours of the theme; the full explanation is its tool tip."""

    def __init__(self, shown: Shown, theme: Theme) -> None:
        super().__init__()
        self.shown, self._theme = shown, theme
        self.setToolTip(f"{shown.title}: {shown.help}")
        self.setAccessibleName(f"{shown.title}: {shown.text}")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Name and value in one line, the bar below."""
        return QSize(26 * GRID, self.fontMetrics().height() + 2 * GRID + GRID // 2)

    def minimumSizeHint(self) -> QSize:
        """Wide enough for the longest name and its value."""
        text = f"{self.shown.title}   {self.shown.text}"
        return QSize(self.fontMetrics().horizontalAdvance(text) + 2 * GRID, self.sizeHint().height())

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
