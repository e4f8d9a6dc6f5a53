"""All measures side by side: one axis each, one line per solution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QObject, QPointF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPen, QResizeEvent

from ..core.theme import ColourScheme
from ..presentation.chart_data import ChartAxis, Ranges, SolutionRow, short_number, within
from ..widgets.plain_text import set_tool_tip
from .chart import Chart, Key, fill_brush

_REACH_PX = 10.0
_LEAST_DRAG = 4.0
_THIN = 1.0
"""Qt draws lines of one pixel many times faster than others."""
_KEY_STEP = 0.05
"""A key moves the end of a range by this share of the axis."""

_TOP = 1.30
"""Titles stand above the axes, whose ends are at 0 and 1."""


@dataclass(frozen=True)
class Axis:
    """The measure of an axis, its position from left to right, and the values at its ends."""

    name: str
    number: int
    low: float
    high: float

    def to_share(self, value: float) -> float:
        """Return the height of a value between 0 and 1."""
        span = self.high - self.low
        return min(1.0, max(0.0, (value - self.low) / span)) if span else 0.0

    def to_value(self, share: float) -> float:
        """Return the value at a height, that of the nearest end beyond it."""
        return self.low + min(1.0, max(0.0, share)) * (self.high - self.low)


class ParallelAxesChart(Chart):
    """Every axis runs from its lowest (best) value at the bottom to its highest; dominated solutions are faint.

    Dragging along an axis sets the range that is wanted of its measure, a double click on it removes the range:
    `ranges_changed()`. Solutions outside are all but invisible. By keyboard, Page up and Page down choose an axis, the
    upper end of its range moves with ↑ and ↓, its lower end with Shift, and Backspace removes the range.
    """

    ranges_changed = Signal()
    marks_selection = False
    _selected_line: pg.PlotDataItem | None = None
    axes: Mapping[str, Axis] = {}
    """The axes that are drawn, by the names of their measures."""

    def __init__(self, colours: ColourScheme) -> None:
        super().__init__(colours)
        self.ranges: dict[str, tuple[float, float]] = {}
        self._drag: tuple[Axis, QPointF] | None = None
        self._current = ""
        """The name of the measure whose range the keyboard moves; empty: of none."""
        self.item.getViewBox().setMouseEnabled(x=False, y=False)
        self.plot.viewport().installEventFilter(self)
        set_tool_tip(
            self,
            "Drag along an axis to see only solutions in that range; double-click it to see all again. By keyboard: "
            "Page up and Page down choose an axis, ↑ and ↓ move the upper end, with Shift the lower end, Backspace "
            "removes the range",
        )

    def show_rows(self, rows: Sequence[SolutionRow], measures: Sequence[ChartAxis]) -> None:
        """Draw these; ranges of measures that are no longer drawn are gone."""
        names = {measure.name for measure in measures}
        self.ranges = {name: bounds for name, bounds in self.ranges.items() if name in names}
        super().show_rows(rows, measures)

    def show_ranges(self, ranges: Ranges) -> None:
        """Show only solutions in these ranges."""
        self.ranges = dict(ranges)
        self._show_changed_ranges()

    def draw(self) -> None:
        """Draw the rows without the axes of numbers: every measure has its own."""
        super().draw()
        self.item.hideAxis("left")
        self.item.hideAxis("bottom")

    # Drawing

    def draw_rows(self) -> None:
        """Draw axes, lines, marks and ranges."""
        self.axes = {
            measure.name: Axis(measure.name, number, *self._find_ends(measure.name))
            for number, measure in enumerate(self.measures)
        }
        self.item.getViewBox().setRange(
            xRange=(-0.5, len(self.measures) - 0.5),
            yRange=(-0.12, _TOP),
            padding=0,
            disableAutoRange=True,
        )
        self.item.showGrid(x=False, y=False)
        for measure in self.measures:
            self._draw_axis(self.axes[measure.name], measure)
        for approach in self.styles:
            own = [row for row in self.rows if row.approach == approach]
            inside = [row for row in own if within(row.values, self.ranges)]
            dominated = self.approach_pen(approach, _THIN)
            dominated.setColor(QColor(self.colours.faint(self.approach_colour(approach).name())))
            self._draw_lines([row for row in inside if not row.star], dominated)
            self._draw_lines([row for row in inside if row.star], self.approach_pen(approach, _THIN))
            self._draw_lines(
                [row for row in own if not within(row.values, self.ranges)], _outside_pen(self.colours)
            )
        self._mark_rows()
        for name, bounds in self.ranges.items():
            self._draw_range(self.axes[name], *bounds)
        if self._current in self.axes:
            number = self.axes[self._current].number
            self.draw_line([number, number], [0, 1], pg.mkPen(self.colours.accent, width=3), z=2)

    def describe(self) -> str:
        """Describe the solutions, the measures, the ranges and the axis that the keyboard is on."""
        ranges = [
            f"{axis.title} from {short_number(low)} to {short_number(high)}"
            for axis in self.measures
            if axis.name in self.ranges
            for low, high in (self.ranges[axis.name],)
        ]
        current = next((axis.title for axis in self.measures if axis.name == self._current), "")
        parts = [super().describe()]
        parts += [f"Ranges: {'; '.join(ranges)}."] if ranges else []
        parts += [f"Axis: {current}."] if current else []
        return " ".join(parts)

    def draw_selection(self) -> None:
        """Draw the line of the selected solution on top of the others."""
        if self._selected_line is not None and self._selected_line in self._drawn:
            self._drawn.remove(self._selected_line)
            self.item.removeItem(self._selected_line)
        row = next((row for row in self.rows if row.number == self.selected), None)
        if row is not None and self.axes and within(row.values, self.ranges):
            self._selected_line = self._draw_lines([row], pg.mkPen(self.colours.accent, width=3.0), z=4)
        super().draw_selection()

    def _find_ends(self, name: str) -> tuple[float, float]:
        values = [float(row.values[name] or 0) for row in self.rows if row.values.get(name) is not None]
        return (min(values), max(values)) if values else (0.0, 0.0)

    def _draw_axis(self, axis: Axis, measure: ChartAxis) -> None:
        self.draw_line([axis.number] * 2, [0, 1], pg.mkPen(self.colours.field, width=1.5), z=0)
        ends = ((axis.high, 1.0, (0.5, 1.0)), (axis.low, 0.0, (0.5, 0.0)))
        for value, share, anchor in ends:
            self.add_label(short_number(value), axis.number, share, anchor).setColor(self.colours.muted)
        title = self.add_label(measure.title, axis.number, _TOP, (0.5, 0.0))
        title.setTextWidth(max(40.0, self.plot.width() / len(self.measures) - 6))
        option = title.textItem.document().defaultTextOption()
        option.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        title.textItem.document().setDefaultTextOption(option)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the titles the width between two axes."""
        super().resizeEvent(event)
        if self.rows and self.measures:
            self.draw()

    def _draw_lines(
        self, rows: Sequence[SolutionRow], pen: QPen, z: float = 1
    ) -> pg.PlotDataItem | None:
        """Draw the lines of several solutions as one item; a line is broken where a value is unknown."""
        if not rows:
            return None
        xs: list[float] = []
        ys: list[float] = []
        for row in rows:
            for axis in self.axes.values():
                value = row.values.get(axis.name)
                xs.append(axis.number)
                ys.append(np.nan if value is None else axis.to_share(float(value)))
            xs.append(np.nan)
            ys.append(np.nan)
        line = pg.PlotDataItem(xs, ys, pen=pen, connect="finite", antialias=True)
        line.setZValue(z)
        self.add_item(line)
        return line

    def _mark_rows(self) -> None:
        """Note where lines within the ranges cross an axis, and write the labels at their last crossing."""
        numbers: list[int] = []
        points: list[tuple[float, float]] = []
        for row in self.rows:
            crossings = [
                (float(axis.number), axis.to_share(float(row.values[axis.name] or 0)))
                for axis in self.axes.values()
                if row.values.get(axis.name) is not None
            ]
            if not crossings or not within(row.values, self.ranges):
                continue
            numbers += [row.number] * len(crossings)
            points += crossings
            if row.label:
                self.add_label(row.label, *crossings[-1], (1.05, 1.1))
        self.place_marks(numbers, points)

    def _draw_range(self, axis: Axis, low: float, high: float) -> None:
        bottom = axis.to_share(low)
        top = max(axis.to_share(high), bottom + 0.01)
        box = pg.BarGraphItem(
            x0=[axis.number - 0.06],
            x1=[axis.number + 0.06],
            y0=[bottom],
            y1=[top],
            pen=pg.mkPen(self.colours.accent),
            brush=fill_brush(self.colours.accent, 0.3),
        )
        box.setZValue(7)
        self.add_item(box)

    # Ranges by keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose an axis, or move an end of its range; other keys are those of every chart."""
        key = Key(event.key())
        if key in (Key.Key_PageUp, Key.Key_PageDown):
            self._choose_axis(1 if key is Key.Key_PageDown else -1)
        elif self._current not in self.axes:
            super().keyPressEvent(event)
        elif key in (Key.Key_Up, Key.Key_Down):
            step = _KEY_STEP if key is Key.Key_Up else -_KEY_STEP
            self._move_end(
                self.axes[self._current],
                step,
                bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier),
            )
        elif key is Key.Key_Backspace:
            if self.ranges.pop(self._current, None) is not None:
                self._show_changed_ranges()
        elif key is Key.Key_Escape:
            self._current = ""
            self.draw()
        else:
            super().keyPressEvent(event)

    def _choose_axis(self, step: int) -> None:
        names = list(self.axes)
        if not names:
            return
        at = (
            names.index(self._current) + step
            if self._current in self.axes
            else 0
            if step > 0
            else len(names) - 1
        )
        self._current = names[min(max(at, 0), len(names) - 1)]
        self.draw()

    def _move_end(self, axis: Axis, step: float, is_lower: bool) -> None:
        low, high = (axis.to_share(value) for value in self.ranges.get(axis.name, (axis.low, axis.high)))
        if is_lower:
            low = min(low + step, high)
        else:
            high = max(high + step, low)
        self.ranges[axis.name] = (axis.to_value(low), axis.to_value(high))
        self._show_changed_ranges()

    def _show_changed_ranges(self) -> None:
        self.draw()
        self.ranges_changed.emit()

    # Dragging along an axis

    def axis_at(self, position: QPointF) -> Axis | None:
        """Return the axis at a position of this widget."""
        distances = {
            axis.name: abs(self.to_widget(axis.number, 0.0).x() - position.x())
            for axis in self.axes.values()
        }
        name = min(distances, key=lambda name: distances[name], default=None)
        return self.axes[name] if name is not None and distances[name] <= _REACH_PX else None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Set a range by dragging along an axis; leave all other events to the plot."""
        if watched is not self.plot.viewport() or not isinstance(event, QMouseEvent):
            return False
        position = QPointF(self.plot.viewport().mapTo(self, event.position().toPoint()))
        kind = event.type()
        if kind == QEvent.Type.MouseButtonPress and event.button() == Qt.MouseButton.LeftButton:
            axis = self.axis_at(position)
            self._drag = None if axis is None else (axis, position)
        elif kind == QEvent.Type.MouseMove:
            is_near = self._drag is not None or self.axis_at(position) is not None
            self.plot.viewport().setCursor(
                Qt.CursorShape.SizeVerCursor if is_near else Qt.CursorShape.ArrowCursor
            )
            if self._drag is not None and abs(position.y() - self._drag[1].y()) > _LEAST_DRAG:
                self._show_dragged(position)
                return True
        elif kind == QEvent.Type.MouseButtonRelease and self._drag is not None:
            was_dragged = abs(position.y() - self._drag[1].y()) > _LEAST_DRAG
            self._drag = None
            if was_dragged:
                self.ranges_changed.emit()
        elif kind == QEvent.Type.MouseButtonDblClick:
            axis = self.axis_at(position)
            if axis is not None and self.ranges.pop(axis.name, None) is not None:
                self._show_changed_ranges()
                return True
        return False

    def _show_dragged(self, position: QPointF) -> None:
        assert self._drag is not None
        axis, began = self._drag
        shares = (self.to_values(began).y(), self.to_values(position).y())
        low, high = sorted(axis.to_value(share) for share in shares)
        self.ranges[axis.name] = (low, high)
        self.draw()


def _outside_pen(colours: ColourScheme) -> QPen:
    """Return the pen of solutions out of range, which are hardly seen."""
    shade = QColor(colours.line)
    shade.setAlphaF(0.5)
    return pg.mkPen(shade, width=_THIN)
