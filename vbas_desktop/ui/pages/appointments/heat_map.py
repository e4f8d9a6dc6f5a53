"""Who sits where: people by class and slot as a heat map; large plans in blocks that open with a click."""

from __future__ import annotations

import math
from functools import partial

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QMenu

from vbas_desktop.model.names import escape_controls
from vbas_desktop.model.words import counted
from vbas_desktop.session.appointments import Heat, Planned, Window, heat, whole
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.widgets.building import passing_menu
from vbas_desktop.ui.widgets.fields import Telling
from vbas_desktop.ui.worker import Latest

_LABEL_SHARE = 0.28
_SLOT_SHARE = 0.36
_MEASURED = 500
"""So many names of slots decide how much room they get."""
_SMALLEST_PX = 5


class HeatMap(Telling):
    """`cannot_attend_wanted(class, slot)`: somebody of this cell needs another slot."""

    cannot_attend_wanted = Signal(int, int)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._theme = context.theme
        self._latest = Latest(context.quiet_runner, "Drawing the plan", self)
        self._planned: Planned | None = None
        self._windows: list[Window] = []
        self._longest = ""
        self.heat: Heat | None = None
        self.setMinimumHeight(120)
        self.setAccessibleName("Plan: people by class and slot")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        context.theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """As large as the charts beside it."""
        return QSize(420, 200)

    def show_plan(self, planned: Planned | None) -> None:
        """Draw another plan, all of it."""
        self._planned, self.heat = planned, None
        self._windows = [whole(planned)] if planned is not None else []
        names = planned.assessment.task.slot_labels[:_MEASURED] if planned is not None else ()
        self._longest = max((" ".join(name) for name in names), key=len, default="")
        self._prepare()

    def _prepare(self) -> None:
        planned = self._planned
        if planned is None:
            self._latest.forget()
            self.update()
            return
        plot = self._plot()
        rows = max(1, int(plot.height() // _SMALLEST_PX))
        columns = max(1, int(plot.width() // _SMALLEST_PX))
        job = partial(heat, planned, self._windows[-1], rows, columns)
        self._latest.want(job, self._on_heat)

    def _on_heat(self, made: Heat) -> None:
        self.heat = made
        self.update()

    def _plot(self) -> QRectF:
        metrics = QFontMetricsF(self.font())
        left = min(180.0, self.width() * _LABEL_SHARE)
        below = min(metrics.horizontalAdvance(self._longest) + 2, self.height() * _SLOT_SHARE)
        return QRectF(self.rect()).adjusted(left, metrics.height() + 8, -8, -max(below, metrics.height()) - 8)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another size shows another number of blocks."""
        super().resizeEvent(event)
        self._prepare()

    # Drawing

    def paintEvent(self, event: QPaintEvent) -> None:
        """Cells, darker for more people, and what they are."""
        painter, colours = QPainter(self), self._theme.colours
        painter.fillRect(self.rect(), QColor(colours.base))
        if self.heat is not None:
            self._draw(painter, self.heat)
        painter.end()

    def _draw(self, painter: QPainter, heat: Heat) -> None:
        plot, colours = self._plot(), self._theme.colours
        rows, columns = heat.people.shape
        width, height = plot.width() / columns, plot.height() / rows
        gap = 1.0 if min(width, height) > 4 else 0.0
        most = max(1, int(heat.people.max()))
        metrics = QFontMetricsF(self.font())
        painter.fillRect(plot, QColor(colours.window))
        for row, column in zip(*heat.people.nonzero(), strict=True):
            cell = QRectF(plot.left() + column * width, plot.top() + row * height, width - gap, height - gap)
            number = int(heat.people[row, column])
            painter.fillRect(cell, self._shade(number / most))
            text = f"{number:,}"
            if height > metrics.height() and width > metrics.horizontalAdvance(text) + 4:
                painter.setPen(_readable(self._shade(number / most)))
                painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, text)
        painter.setPen(QColor(colours.muted))
        self._draw_labels(painter, heat, plot, height, metrics)
        self._draw_slots(painter, heat, plot, width, metrics)
        classes, slots = _extent(heat.window)
        text = f"{counted(classes, 'class')} × {counted(slots, 'slot')}"
        if rows < classes or columns < slots:
            text += "; click a block to open it"
        if len(self._windows) > 1:
            text += "; Backspace goes back"
        painter.drawText(QPointF(plot.left(), plot.top() - 6), text)

    def _draw_slots(self, painter: QPainter, heat: Heat, plot: QRectF, width: float, metrics: QFontMetricsF) -> None:
        """Upright, so that each stands below its column; as many as there is room for."""
        every, room = max(1, math.ceil(metrics.height() / width)), self.height() - plot.bottom() - 8
        for column in range(0, len(heat.slot_edges) - 1, every):
            name = self._slot(int(heat.slot_edges[column]))
            text = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, room)
            painter.save()
            painter.translate(plot.left() + (column + 0.5) * width, plot.bottom() + 4)
            painter.rotate(-90)
            place = QRectF(-room, -metrics.height() / 2, room, metrics.height())
            painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
            painter.restore()

    def _draw_labels(self, painter: QPainter, heat: Heat, plot: QRectF, height: float, metrics: QFontMetricsF) -> None:
        every = max(1, int(metrics.height() / height) + 1) if height < metrics.height() else 1
        for row in range(0, len(heat.class_edges) - 1, every):
            room = QRectF(
                4, plot.top() + (row + 0.5) * height - metrics.height() / 2, plot.left() - 10, metrics.height()
            )
            text = metrics.elidedText(
                self._class(int(heat.class_edges[row])), Qt.TextElideMode.ElideRight, room.width()
            )
            painter.drawText(room, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)

    def _shade(self, share: float) -> QColor:
        steps = self._theme.colours.sequence
        place = share * (len(steps) - 1)
        low = min(int(place), len(steps) - 2)
        one, other, part = QColor(steps[low]), QColor(steps[low + 1]), place - low
        mixed = [round(a + (b - a) * part) for a, b in zip(one.getRgb()[:3], other.getRgb()[:3], strict=True)]  # type: ignore[index]
        return QColor(*mixed)

    def _class(self, number: int) -> str:
        assert self._planned is not None
        return escape_controls(", ".join(self._planned.assessment.task.class_labels[number]))

    def _slot(self, number: int) -> str:
        assert self._planned is not None
        return escape_controls(" ".join(self._planned.assessment.task.slot_labels[number]))

    # Pointing and clicking

    def block_at(self, position: QPointF) -> tuple[int, int] | None:
        """Row and column of the block under a position."""
        plot = self._plot()
        if self.heat is None or not plot.contains(position):
            return None
        rows, columns = self.heat.people.shape
        row = int((position.y() - plot.top()) / plot.height() * rows)
        column = int((position.x() - plot.left()) / plot.width() * columns)
        return min(row, rows - 1), min(column, columns - 1)

    def place_of(self, row: int, column: int) -> QPointF:
        """The middle of a block."""
        assert self.heat is not None
        plot, (rows, columns) = self._plot(), self.heat.people.shape
        return QPointF(
            plot.left() + (column + 0.5) * plot.width() / columns, plot.top() + (row + 0.5) * plot.height() / rows
        )

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click opens a block that holds more than one cell."""
        block = self.block_at(event.position())
        if event.button() != Qt.MouseButton.LeftButton or block is None or self.heat is None:
            return
        window = self.heat.block(*block)
        if _extent(window) != (1, 1):
            self._windows.append(window)
            self._prepare()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Backspace goes back to the larger part."""
        if event.key() == Qt.Key.Key_Backspace and len(self._windows) > 1:
            self._windows.pop()
            self._prepare()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with a cell."""
        menu = self.menu_at(QPointF(event.pos()))
        if menu is not None:
            menu.popup(event.globalPos())

    def menu_at(self, position: QPointF) -> QMenu | None:
        """The menu of a place; None where there is nothing to do."""
        block, menu = self.block_at(position), passing_menu(self)
        if block is not None and self.heat is not None:
            window = self.heat.block(*block)
            if _extent(window) == (1, 1) and self.heat.people[block]:
                wanted = partial(self.cannot_attend_wanted.emit, window.first_class, window.first_slot)
                menu.addAction("&Cannot attend…", wanted)
        if len(self._windows) > 1:
            menu.addAction("&Back to the whole plan", partial(self.show_plan, self._planned))
        return menu if menu.actions() else None

    def tip_at(self, position: QPointF) -> str:
        """Class, slot and people of a block."""
        block = self.block_at(position)
        if block is None or self.heat is None:
            return ""
        window, people = self.heat.block(*block), int(self.heat.people[block])
        classes, slots = _extent(window)
        who = self._class(window.first_class) if classes == 1 else counted(classes, "class")
        where = self._slot(window.first_slot) if slots == 1 else counted(slots, "slot")
        return f"{who}\n{where}\n{counted(people, 'person')}"


def _extent(window: Window) -> tuple[int, int]:
    """How many classes and slots it covers."""
    return window.last_class - window.first_class, window.last_slot - window.first_slot


def _readable(ground: QColor) -> QColor:
    return QColor("#17212b") if ground.lightness() > 120 else QColor("#f5f7f9")
