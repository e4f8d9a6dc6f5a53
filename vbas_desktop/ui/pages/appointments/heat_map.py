"""Who has which slot: people by class and slot as a heat map; large plans are shown in blocks until one zooms in."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QGraphicsRectItem, QMenu, QToolTip

from vbas_desktop.model.text import escape_controls, format_count

from ...charts.chart import make_interactive
from ...charts.distributions import HeatMapChart
from ...core.context import UiContext
from ...state.appointments import (
    HeatBlocks,
    PlannedAppointments,
    PlanSection,
    count_blocks,
    select_everything,
)
from ...widgets.layouts import popup_menu, single_shot_timer
from ...widgets.plain_text import tool_tip

_SMALLEST_PX = 5
_PAUSE_MS = 100
"""While the view is moving, nothing is counted."""
_STEPS = {
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
}
"""How far the arrows go, down and to the right."""


class PlanHeatMap(HeatMapChart):
    """`cannot_attend_requested(class, slot)`: somebody of this cell needs another slot.

    The wheel zooms; a click on a block of several cells shows it alone, Backspace goes back to the larger part. The
    arrows choose a block, which is framed and described; Enter does what a click does, or opens the menu of a cell.
    """

    cannot_attend_requested = Signal(int, int)

    def __init__(self, context: UiContext) -> None:
        super().__init__(context.theme.colours)
        self._background = context.background
        self._planned: PlannedAppointments | None = None
        self._windows: list[PlanSection] = []
        self.heat: HeatBlocks | None = None
        self.chosen: tuple[int, int] | None = None
        """Row and column of the block that the arrows have chosen."""
        self._frame = QGraphicsRectItem()
        self.item.getViewBox().addItem(self._frame, ignoreBounds=True)
        self._pause = single_shot_timer(_PAUSE_MS, self._prepare, self)
        self.setMinimumHeight(120)
        self.setAccessibleName("Plan: people by class and slot")
        self.item.getViewBox().sigRangeChanged.connect(self._on_range_changed)
        make_interactive(self, context, "plan")

    def sizeHint(self) -> QSize:
        """Return the size of the charts beside it."""
        return QSize(420, 200)

    def show_plan(self, planned: PlannedAppointments | None) -> None:
        """Draw another plan, all of it."""
        self._planned = planned
        self._windows = []
        self._background.forget(self)
        self.show_heat(None)
        if planned is None:
            return
        task = planned.assessment.task
        self.set_labels(
            [escape_controls(", ".join(labels)) for labels in task.class_labels],
            [escape_controls(" ".join(labels)) for labels in task.slot_labels],
        )
        everything = select_everything(planned)
        limits = {
            "xMin": -0.5,
            "xMax": everything.last_slot - 0.5,
            "yMin": -0.5,
            "yMax": everything.last_class - 0.5,
        }
        self.item.getViewBox().setLimits(**limits)
        self._windows = [everything]
        self._show_window(everything)

    def show_everything(self) -> None:
        """Show all classes and slots."""
        del self._windows[1:]
        if self._windows:
            self._show_window(self._windows[0])

    def _show_window(self, window: PlanSection) -> None:
        view = self.item.getViewBox()
        view.setRange(
            xRange=(window.first_slot - 0.5, window.last_slot - 0.5),
            yRange=(window.first_class - 0.5, window.last_class - 0.5),
            padding=0,
        )
        self._prepare()

    def _visible_window(self) -> PlanSection | None:
        """Return the classes and slots in sight."""
        if self._planned is None:
            return None
        everything = select_everything(self._planned)
        (left, right), (top, bottom) = self.item.getViewBox().viewRange()
        first_class = max(everything.first_class, int(np.floor(top + 0.5)))
        last_class = min(everything.last_class, int(np.ceil(bottom + 0.5)))
        first_slot = max(everything.first_slot, int(np.floor(left + 0.5)))
        last_slot = min(everything.last_slot, int(np.ceil(right + 0.5)))
        return PlanSection(
            first_class, max(last_class, first_class + 1), first_slot, max(last_slot, first_slot + 1)
        )

    @Slot()
    def _on_range_changed(self) -> None:
        if self._planned is not None:
            self._pause.start()

    @Slot()
    def _prepare(self) -> None:
        window = self._visible_window()
        if window is None or self._planned is None:
            return
        view = self.item.getViewBox()
        rows = max(1, int(view.height() // _SMALLEST_PX))
        columns = max(1, int(view.width() // _SMALLEST_PX))
        if (
            self.heat is not None
            and self.heat.section == window
            and self.heat.people.shape[1] <= columns
        ):
            return
        work = partial(count_blocks, self._planned, window, rows, columns)
        self._background.start_latest(self, "Drawing the plan", work, self.show_heat)

    def show_heat(self, counted: HeatBlocks | None) -> None:
        """Show the people in each block; None: nothing."""
        self.heat = counted
        self._choose(None)
        if counted is None:
            self.setAccessibleDescription("No plan")
            self.show_matrix(np.zeros((0, 0), np.int64), QRectF())
            self.set_axis_titles("", "")
            return
        window = counted.section
        classes, slots = get_extent(window)
        extent = QRectF(window.first_slot - 0.5, window.first_class - 0.5, slots, classes)
        self.show_matrix(counted.people, extent)
        size = f"{format_count(classes, 'class')} × {format_count(slots, 'slot')}"
        text = f"{size}; the stronger the colour, the more people"
        if counted.people.shape != (classes, slots):
            text += "; click a block to open it"
        if len(self._windows) > 1:
            text += "; Backspace goes back"
        self.set_axis_titles(text, "")
        people = format_count(int(counted.people.sum()), "person")
        self.setAccessibleDescription(
            f"{text}. {people}. Arrows choose, Enter opens; the tab Table lists everything."
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Count as many blocks as there is room for."""
        super().resizeEvent(event)
        self._pause.start()

    # Pointing and clicking

    def block_at(self, position: QPointF) -> tuple[int, int] | None:
        """Return row and column of the block at a position of this widget."""
        if self.heat is None:
            return None
        value = self.to_values(position)
        row = int(np.searchsorted(self.heat.class_edges, value.y() + 0.5, side="right")) - 1
        column = int(np.searchsorted(self.heat.slot_edges, value.x() + 0.5, side="right")) - 1
        rows, columns = self.heat.people.shape
        return (row, column) if 0 <= row < rows and 0 <= column < columns else None

    def block_position(self, row: int, column: int) -> QPointF:
        """Return the middle of a block in pixels of this widget."""
        assert self.heat is not None
        x = (self.heat.slot_edges[column] + self.heat.slot_edges[column + 1] - 1) / 2
        y = (self.heat.class_edges[row] + self.heat.class_edges[row + 1] - 1) / 2
        return self.to_widget(float(x), float(y))

    def click_at(self, position: QPointF) -> None:
        """Show a block alone that holds more than one cell."""
        block = self.block_at(position)
        if block is None or self.heat is None:
            return
        window = self.heat.block(*block)
        if get_extent(window) != (1, 1):
            self._windows.append(window)
            self._show_window(window)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose a block with the arrows, open it with Enter, and go back to the larger part with Backspace."""
        key = Qt.Key(event.key())
        if key is Qt.Key.Key_Backspace and len(self._windows) > 1:
            self._windows.pop()
            self._show_window(self._windows[-1])
        elif key in _STEPS and self.heat is not None:
            self._move(*_STEPS[key])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.chosen is not None:
            self._open_chosen(self.chosen)
        else:
            super().keyPressEvent(event)

    def _move(self, down: int, right: int) -> None:
        """Choose the next block; the first time, the one at the top left."""
        assert self.heat is not None
        rows, columns = self.heat.people.shape
        row, column = (0, 0) if self.chosen is None else (self.chosen[0] + down, self.chosen[1] + right)
        self._choose((min(max(row, 0), rows - 1), min(max(column, 0), columns - 1)))

    def _choose(self, block: tuple[int, int] | None) -> None:
        """Frame a block and describe it; None: frame none."""
        self.chosen = block
        self._frame.setVisible(block is not None)
        if block is None or self.heat is None:
            return
        section = self.heat.block(*block)
        classes, slots = get_extent(section)
        self._frame.setRect(QRectF(section.first_slot - 0.5, section.first_class - 0.5, slots, classes))
        self._frame.setPen(pg.mkPen(self.colours.text, width=3))
        position = self.block_position(*block)
        text = self.tip_at(position)
        self.setAccessibleDescription(text.replace("\n", ", "))
        QToolTip.showText(self.mapToGlobal(position.toPoint()), tool_tip(text), self)

    def _open_chosen(self, block: tuple[int, int]) -> None:
        assert self.heat is not None
        position = self.block_position(*block)
        if get_extent(self.heat.block(*block)) == (1, 1):
            self.menu_at(position).popup(self.mapToGlobal(position.toPoint()))
        else:
            self.click_at(position)

    def open_menu(self, position: QPoint) -> None:
        """Open the menu of a position on the screen."""
        self.menu_at(QPointF(self.mapFromGlobal(position))).popup(position)

    def menu_at(self, position: QPointF) -> QMenu:
        """Make the menu of a position: what can be done with a cell, then what every chart offers."""
        block = self.block_at(position)
        menu = popup_menu(self)
        if block is not None and self.heat is not None:
            window = self.heat.block(*block)
            if get_extent(window) == (1, 1) and self.heat.people[block]:
                request = partial(
                    self.cannot_attend_requested.emit, window.first_class, window.first_slot
                )
                menu.addAction("&Cannot attend…", request)
        self.add_chart_actions(menu)
        return menu

    def tip_at(self, position: QPointF) -> str:
        """Describe class, slot and people of a block."""
        block = self.block_at(position)
        if block is None or self.heat is None or self._planned is None:
            return ""
        window = self.heat.block(*block)
        people = int(self.heat.people[block])
        classes, slots = get_extent(window)
        task = self._planned.assessment.task
        who = (
            ", ".join(task.class_labels[window.first_class])
            if classes == 1
            else format_count(classes, "class")
        )
        where = (
            " ".join(task.slot_labels[window.first_slot]) if slots == 1 else format_count(slots, "slot")
        )
        return f"{escape_controls(who)}\n{escape_controls(where)}\n{format_count(people, 'person')}"

    def list_numbers(self) -> list[list[str]]:
        """Return the header and one row per class or block of classes."""
        if self.heat is None or self._planned is None:
            return []
        task = self._planned.assessment.task
        slots = [" ".join(task.slot_labels[int(edge)]) for edge in self.heat.slot_edges[:-1]]
        classes = [", ".join(task.class_labels[int(edge)]) for edge in self.heat.class_edges[:-1]]
        rows = [
            [name, *map(str, counts)]
            for name, counts in zip(classes, self.heat.people.tolist(), strict=True)
        ]
        return [["class", *slots], *rows]


def get_extent(window: PlanSection) -> tuple[int, int]:
    """Return the number of classes and slots that a window covers."""
    return window.last_class - window.first_class, window.last_slot - window.first_slot
