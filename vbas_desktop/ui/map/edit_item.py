"""What is painted over the map, and how the mouse paints, while a solution is edited by hand."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QMouseEvent, QPainter, QPainterPath
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from ..core.theme import ColourScheme
from ..presentation.edit_scene import EditScene
from .canvas import MapCanvas
from .paths import hairline, path_of, rect_of, translucent

_STEP_PX = 4.0
"""What lies under the way of the pointer is looked up at this distance."""

_CLICK_PX = 4
"""A press that moves less than this is a click."""


class EditItem(pg.GraphicsObject):
    """Paints the initial regions that were moved, locked regions, and the chosen region with an outline."""

    def __init__(self, scene: EditScene) -> None:
        super().__init__()
        self._bounds = rect_of(scene.scene.geometry.base.bounds)
        self._fills: list[tuple[QBrush, QPainterPath]] = []
        self._locked = self._chosen = QPainterPath()
        self._chosen_fill = QBrush()
        self._colours: ColourScheme | None = None
        self.setZValue(5)

    def show_edit(self, scene: EditScene, colours: ColourScheme) -> None:
        """Paint what is there now."""
        self._colours = colours
        moved = scene.list_moved()
        self._fills = [
            (QBrush(QColor(colours.fills[fill])), path_of(scene.rings, regions))
            for fill, regions in moved.items()
        ]
        self._locked = path_of(scene.rings, scene.list_locked())
        self._chosen = QPainterPath()
        if scene.chosen is not None and scene.edit.exists(scene.chosen):
            self._chosen = path_of(scene.rings, scene.edit.list_members(scene.chosen))
            self._chosen_fill = QBrush(QColor(colours.fills[scene.fill_of(scene.chosen)]))
        self.update()

    def boundingRect(self) -> QRectF:
        """Return the study area."""
        return self._bounds

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Fill what was moved; the chosen region covers the inner half of its outline."""
        if self._colours is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        border = hairline(translucent(self._colours.region_border, 0.3))
        for brush, path in self._fills:
            painter.fillPath(path, brush)
            painter.strokePath(path, border)
        if not self._chosen.isEmpty():
            painter.strokePath(self._chosen, hairline(self._colours.base, width=8))
            painter.strokePath(self._chosen, hairline(self._colours.accent, width=5))
            painter.fillPath(self._chosen, self._chosen_fill)
            painter.strokePath(self._chosen, border)
        if not self._locked.isEmpty():
            transform = painter.worldTransform()
            painter.save()
            # In pixels: patterns are as large as the painter's transform makes them.
            painter.resetTransform()
            pattern = QBrush(translucent(self._colours.text, 0.6), Qt.BrushStyle.DiagCrossPattern)
            painter.fillPath(transform.map(self._locked), pattern)
            painter.restore()


class Brush(QObject):
    """Takes the left mouse button of a canvas: dragging paints, clicking chooses. Other buttons and the wheel stay.

    Signals: `stroke_began(initial region)`; `stroke_moved(list of initial regions)`, what the pointer went over;
    `stroke_ended(whether it was a click)`; `pointed(initial region, x, y)` with map coordinates.
    """

    stroke_began = Signal(int)
    stroke_moved = Signal(object)
    stroke_ended = Signal(bool)
    pointed = Signal(object, float, float)

    def __init__(self, canvas: MapCanvas) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self._pressed_at: QPointF | None = None
        self._last = QPointF()
        self._dragged = False
        canvas.viewport().installEventFilter(self)

    def release(self) -> None:
        """Give the mouse back to the canvas."""
        self._canvas.viewport().removeEventFilter(self)
        self.deleteLater()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle presses, moves and releases of the left button, and moves without one."""
        if not isinstance(event, QMouseEvent):
            return False
        if event.type() == QEvent.Type.MouseButtonPress and event.button() == Qt.MouseButton.LeftButton:
            return self._press(event.position())
        if event.type() == QEvent.Type.MouseMove and self._pressed_at is not None:
            self._drag(event.position())
            return True
        if event.type() == QEvent.Type.MouseMove and event.buttons() == Qt.MouseButton.NoButton:
            point = self._canvas.widget_to_map(event.position())
            self.pointed.emit(self._region_at(event.position()), point.x(), point.y())
            return True
        if event.type() == QEvent.Type.MouseButtonRelease and self._pressed_at is not None:
            self._pressed_at = None
            self.stroke_ended.emit(not self._dragged)
            return True
        return event.type() == QEvent.Type.MouseButtonDblClick

    def _press(self, position: QPointF) -> bool:
        region = self._region_at(position)
        if region is None:
            return False
        self._canvas.setFocus()
        self._canvas.clear_hover()
        self._pressed_at = self._last = position
        self._dragged = False
        self.stroke_began.emit(region)
        return True

    def _drag(self, position: QPointF) -> None:
        assert self._pressed_at is not None
        self._dragged |= (position - self._pressed_at).manhattanLength() > _CLICK_PX
        if not self._dragged:
            return
        way = position - self._last
        number = max(1, math.ceil(math.hypot(way.x(), way.y()) / _STEP_PX))
        steps = np.linspace(0.0, 1.0, number + 1)[1:]
        under = {self._region_at(self._last + way * step) for step in steps.tolist()}
        self._last = position
        self.stroke_moved.emit(sorted(region for region in under if region is not None))

    def _region_at(self, position: QPointF) -> int | None:
        """Find the initial region under the pointer; of points, the nearest in the study area."""
        base = self._canvas.base
        if base is None:
            return None
        point = self._canvas.widget_to_map(position)
        if base.polygon_tree is not None:
            return base.region_at(point.x(), point.y(), 0.0)
        low_x, low_y, high_x, high_y = base.bounds
        is_inside = low_x <= point.x() <= high_x and low_y <= point.y() <= high_y
        return base.region_at(point.x(), point.y(), math.inf) if is_inside else None
