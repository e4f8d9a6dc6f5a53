"""Axes of charts: short numbers, and labels at whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from ..presentation.chart_data import short_number

_LONGEST_LABEL_PX = 180


class NumberAxis(pg.AxisItem):
    """An axis with short numbers: grouped digits, millions and billions abbreviated."""

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """Format the numbers of an axis."""
        numbers = [0.0 if abs(value) < 1e-9 * spacing else value for value in values]
        texts = [short_number(number) for number in numbers]
        if len(set(texts)) == len(texts):
            return texts
        # The range is narrow: more digits tell the ticks apart.
        decimals = max(0, -int(np.floor(np.log10(spacing))))
        return [f"{number:,.{decimals}f}" for number in numbers]


class CountAxis(NumberAxis):
    """An axis of counts, with ticks at whole numbers only."""

    def tickSpacing(self, low: float, high: float, size: float) -> list[tuple[float, float]]:
        """Leave out ticks that stand closer than one."""
        spacings = [
            (spacing, offset)
            for spacing, offset in super().tickSpacing(low, high, size)
            if spacing >= 1.0
        ]
        return spacings or [(1.0, 0.0)]


class LabelAxis(pg.AxisItem):
    """An axis with a label at each whole number; upright labels are cut if they are too long."""

    def __init__(self, orientation: str, upright_length: int = 0) -> None:
        super().__init__(orientation)
        self.labels: Sequence[str] = ()
        self.upright_length = upright_length
        """Most pixels of an upright label; 0: labels are not upright."""
        if upright_length:
            self.setHeight(upright_length + QFontMetricsF(self.font()).height() + 8)

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        """Place a tick at as many whole numbers as there is room for."""
        low, high = sorted((low, high))
        first = max(0, int(np.ceil(low)))
        last = min(len(self.labels) - 1, int(np.floor(high)))
        numbers = range(first, last + 1)
        if not numbers:
            return []
        step = max(1, int(np.ceil(self._measure(numbers) * len(numbers) / max(size, 1.0))))
        return [(step, [float(number) for number in numbers[::step]])]

    def _measure(self, numbers: Sequence[int]) -> float:
        """Return the room, along the axis, that the largest label needs."""
        metrics = QFontMetricsF(self.font())
        if self.upright_length or self.orientation in ("left", "right"):
            return metrics.height()
        return (
            max(metrics.horizontalAdvance(self.labels[number]) for number in numbers)
            + metrics.height() / 2
        )

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """Return the labels at the ticks; upright ones are drawn by `drawPicture`."""
        if self.upright_length:
            return ["" for _ in values]
        metrics = QFontMetricsF(self.font())
        labels = (self.labels[round(value)] for value in values)
        return [
            metrics.elidedText(label, Qt.TextElideMode.ElideRight, _LONGEST_LABEL_PX) for label in labels
        ]

    def drawPicture(self, painter: QPainter, axis: object, ticks: object, texts: Sequence[Any]) -> None:
        """Draw axis, ticks and labels."""
        super().drawPicture(painter, axis, ticks, texts)
        if not self.upright_length:
            return
        low, high = self.range
        metrics = QFontMetricsF(self.font())
        painter.setPen(self.textPen())
        for value in (
            value for _, values in self.tickValues(low, high, self.width()) for value in values
        ):
            text = metrics.elidedText(
                self.labels[round(value)], Qt.TextElideMode.ElideMiddle, self.upright_length
            )
            painter.save()
            painter.translate((value - low) / (high - low) * self.width(), metrics.height() / 2)
            painter.rotate(-90)
            line = QRectF(
                -self.upright_length, -metrics.height() / 2, self.upright_length, metrics.height()
            )
            painter.drawText(line, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
            painter.restore()
