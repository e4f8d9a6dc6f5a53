"""The map canvas: a view on one `MapItem` that pans, zooms, hovers and chooses. It draws what it is given."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QContextMenuEvent, QKeyEvent, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from vbas_desktop.session.map_look import MapLook
from vbas_desktop.ui.theme import Colours

from .figures import Figure
from .furniture import Legend, legend_of, north_box, paint_north, paint_scale, scale_box, scale_of
from .geometry import BaseGeometry, MapGeometry
from .item import HighlightItem, MapItem
from .layers import DEFAULT_LAYERS, Layer, Picture, hairline, translucent
from .legend_strip import paint_strip, strip_height
from .overlay import Overlay
from .overlay_picture import OverlayPaths, OverlayPicture
from .paths import TiledPath
from .scale import classify

_REACH_PX = 10
_MARGIN = 12
_SCALE_PX = 120.0


class _MapBox(pg.ViewBox):
    """A view box with the aspect locked; dragging pans, dragging with Shift (or when asked for) draws a zoom box."""

    def __init__(self) -> None:
        super().__init__(lockAspect=True, enableMenu=False)
        self.rubber_band = False

    def use_colours(self, colours: Colours) -> None:
        """Draw the zoom box in the colours of the rest."""
        self.rbScaleBox.setPen(hairline(QColor(colours.accent), width=1.5))
        self.rbScaleBox.setBrush(translucent(colours.accent, 0.15))

    def mouseDragEvent(self, ev, axis=None) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001
        """Pan, or draw the zoom box."""
        boxing = self.rubber_band or bool(ev.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self.state["mouseMode"] = self.RectMode if boxing else self.PanMode
        super().mouseDragEvent(ev, axis)


class MapCanvas(pg.GraphicsView):
    """Shows a `BaseGeometry`, and a `MapGeometry` on it.

    Signals: `region_clicked(aggregated region or None)`, `region_hovered(aggregated region or None, initial region or
    None, x, y)` with map coordinates, `view_moved()`, `context_requested(global position)`, `legend_changed()`.
    """

    region_clicked = Signal(object)
    region_hovered = Signal(object, object, float, float)
    pointer_left = Signal()
    view_moved = Signal()
    context_requested = Signal(object)
    legend_changed = Signal()
    _fitted = False
    fitting = False
    """Whether the view is moving because all is to be shown: a map that follows then shows all, too."""

    def __init__(self, colours: Colours, parent: QWidget | None = None) -> None:
        super().__init__(parent, background=colours.canvas)
        self._colours = colours
        self._base: BaseGeometry | None = None
        self._geometry: MapGeometry | None = None
        self._figure: Figure | None = None
        self._layers = DEFAULT_LAYERS
        self._tiled: TiledPath | None = None
        self._overlay: OverlayPaths | None = None
        self._look = MapLook()
        self._changed: NDArray[np.bool_] | None = None
        self._changed_words = ""
        self._chosen: int | None = None
        self._hovered: int | None = None
        self.legend = Legend("", ())
        self.box = _MapBox()
        self.box.use_colours(colours)
        self.setCentralItem(self.box)
        self.item, self._hover_mark, self._chosen_mark = (
            MapItem(self._plates),
            HighlightItem(False),
            HighlightItem(True),
        )
        self.box.addItem(self.item)
        for mark in (self._hover_mark, self._chosen_mark):
            self.box.addItem(mark, ignoreBounds=True)
        self.box.sigRangeChanged.connect(self._on_range_changed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(240, 180)
        self.setAccessibleName("Map")
        self._pressed_at: QPointF | None = None

    # What is shown

    @property
    def base(self) -> BaseGeometry | None:
        """The initial regions that are shown."""
        return self._base

    @property
    def geometry_shown(self) -> MapGeometry | None:
        """The solution that is shown."""
        return self._geometry

    @property
    def figure(self) -> Figure | None:
        """The figure that the map is coloured by."""
        return self._figure

    @property
    def layers(self) -> frozenset[Layer]:
        """The layers that are switched on."""
        return self._layers

    def show_base(self, base: BaseGeometry | None) -> None:
        """Show the initial regions, without a solution, all of them in view."""
        self._base, self._geometry, self._figure, self._changed = base, None, None, None
        self._chosen = self._hovered = None
        self._repaint()
        if base is not None:
            self.fit()

    def show_bare(self, base: BaseGeometry) -> None:
        """Show the initial regions without a solution where they are; their records may be known by now."""
        known = self._base.records if self._base is not None else None
        if self._geometry is not None or known is not base.records:
            self._base, self._geometry, self._figure = base, None, None
            self._chosen = self._hovered = None
            self._repaint()

    def show_map(
        self,
        geometry: MapGeometry | None,
        figure: Figure | None = None,
        changed: NDArray[np.bool_] | None = None,
        words: str = "",
    ) -> None:
        """Show a solution coloured by a figure, or in distinct fills. The view stays unless the regions are others.

        ``changed`` initial regions are marked strongly; ``words`` say in the legend what that means.
        """
        if geometry is not None and geometry.base.regions is not (self._base.regions if self._base else None):
            self.show_base(geometry.base)
        elif geometry is not None:
            self._base = geometry.base
        if geometry is not self._geometry:
            self._chosen = self._hovered = None
        self._geometry, self._figure = geometry, figure
        self._changed, self._changed_words = changed, words
        self._repaint()

    def colour_by(self, figure: Figure | None) -> None:
        """Colour the aggregated regions by a figure; None: distinct fills."""
        self._figure = figure
        self._repaint()

    def show_layers(self, layers: frozenset[Layer]) -> None:
        """Switch layers on and off."""
        self._layers = layers
        self._repaint()

    def show_overlay(self, overlay: Overlay | None, look: MapLook) -> None:
        """Draw context layers, outlines and labels as a look wants them."""
        if look == self._look and overlay is (None if self._overlay is None else self._overlay.overlay):
            return
        if overlay is None:
            self._overlay = None
        elif self._overlay is None or self._overlay.overlay is not overlay:
            self._overlay = OverlayPaths(overlay)
        self._look = look
        self._repaint()

    def use_colours(self, colours: Colours) -> None:
        """Draw in other colours."""
        self._colours = colours
        self.setBackground(colours.canvas)
        self.box.use_colours(colours)
        self._repaint()

    def _repaint(self) -> None:
        if self._base is None:
            self.item.show_picture(None)
            self.legend = Legend("", ())
        else:
            figure = self._figure if self._geometry is not None else None
            classes = None if figure is None else classify(figure.values, len(self._colours.sequence), figure.scale)
            overlay = None
            if self._overlay is not None and self._overlay.overlay.regions is self._base.regions:
                overlay = OverlayPicture(self._overlay, self._look, self._colours, self.font())
            picture = Picture(
                self._base, self._geometry, self._colours, self._layers, classes, self._changed, self._tiles(), overlay
            )
            self.item.show_picture(picture)
            self.legend = legend_of(picture, figure, self._changed_words)
        self._mark(self._chosen_mark, self._chosen)
        self._mark(self._hover_mark, self._hovered)
        self.viewport().update()
        self.legend_changed.emit()

    def _tiles(self) -> TiledPath | None:
        """The borders of the initial regions, the same for all solutions."""
        rings = self._base.polygon_rings if self._base is not None else None
        if self._tiled is None or self._tiled.rings is not rings:
            self._tiled = None if rings is None else TiledPath(rings)
        return self._tiled

    def _mark(self, mark: HighlightItem, region: int | None) -> None:
        mark.show_shape(self._geometry.rings if self._geometry else None, region, self._colours)

    # Choosing and hovering

    @property
    def chosen(self) -> int | None:
        """The aggregated region that is outlined."""
        return self._chosen

    def choose(self, region: int | None) -> None:
        """Outline an aggregated region."""
        self._chosen = region if self._has(region) else None
        self._mark(self._chosen_mark, self._chosen)

    def _has(self, region: int | None) -> bool:
        """Whether the solution that is still shown has such a region: the session may be ahead of the map."""
        return region is not None and self._geometry is not None and region < len(self._geometry.shapes)

    def hover(self, region: int | None) -> None:
        """Lift an aggregated region, as if the pointer were over it."""
        if region != self._hovered:
            self._hovered = region
            self._mark(self._hover_mark, region)

    def place_at(self, position: QPointF) -> QPointF:
        """The map coordinates of a position in the widget."""
        place: QPointF = self.box.mapSceneToView(self.mapToScene(position.toPoint()))
        return place

    def position_of(self, x: float, y: float) -> QPointF:
        """The position in the widget of map coordinates."""
        return QPointF(self.mapFromScene(self.box.mapViewToScene(QPointF(x, y))))

    def mouseMoveEvent(self, ev: QMouseEvent) -> None:
        """Tell what is under the pointer."""
        super().mouseMoveEvent(ev)
        if ev.buttons() != Qt.MouseButton.NoButton or self._base is None:
            return
        place = self.place_at(ev.position())
        reach = _REACH_PX * self.units_per_pixel
        region = self._geometry.aggregated_at(place.x(), place.y()) if self._geometry else None
        self.hover(region)
        self.region_hovered.emit(region, self._base.region_at(place.x(), place.y(), reach), place.x(), place.y())

    def leaveEvent(self, ev: QEvent) -> None:
        """Nothing is under the pointer any more."""
        super().leaveEvent(ev)
        self.hover(None)
        self.pointer_left.emit()

    def mousePressEvent(self, ev: QMouseEvent) -> None:
        """Remember where a click may begin."""
        self._pressed_at = ev.position()
        super().mousePressEvent(ev)
        ev.accept()

    def mouseReleaseEvent(self, ev: QMouseEvent) -> None:
        """A press and release at one place is a click: it chooses, or opens the menu."""
        super().mouseReleaseEvent(ev)
        ev.accept()
        began, self._pressed_at = self._pressed_at, None
        if began is None or (ev.position() - began).manhattanLength() > 4:
            return
        if ev.button() == Qt.MouseButton.RightButton:
            self.context_requested.emit(ev.globalPosition().toPoint())
        elif ev.button() == Qt.MouseButton.LeftButton and self._geometry is not None:
            place = self.place_at(ev.position())
            self.region_clicked.emit(self._geometry.aggregated_at(place.x(), place.y()))

    def contextMenuEvent(self, ev: QContextMenuEvent) -> None:
        """The menu key opens the menu in the middle of the map; the mouse opens it by a click."""
        if ev.reason() is QContextMenuEvent.Reason.Keyboard:
            self.context_requested.emit(self.mapToGlobal(self.rect().center()))
        ev.accept()

    def mouseDoubleClickEvent(self, ev: QMouseEvent) -> None:
        """Zoom to what is under the pointer."""
        self._pressed_at = None
        place = self.place_at(ev.position())
        region = self._geometry.aggregated_at(place.x(), place.y()) if self._geometry else None
        if region is None:
            self.zoom(2.0, place)
        else:
            self.region_clicked.emit(region)
            self.zoom_to(region)
        ev.accept()

    # The view

    @property
    def units_per_pixel(self) -> float:
        """How many map units one pixel covers."""
        return float(self.box.viewPixelSize()[0])

    @Slot()
    def fit(self) -> None:
        """Show the whole study area."""
        if self._base is not None:
            low_x, low_y, high_x, high_y = self._base.bounds
            self.fitting = True
            self.box.setRange(QRectF(low_x, low_y, high_x - low_x, high_y - low_y), padding=0.03)
            self.fitting = False
            self._fitted = True

    def resizeEvent(self, ev: QResizeEvent) -> None:
        """What was shown as a whole stays whole: a map may be told what to show before it has a size."""
        fitted = self.fitting = self._fitted
        super().resizeEvent(ev)
        self.fitting = False
        # Closing lets go of the view first and of the size afterwards.
        if fitted and not self.closed:
            self.fit()

    def zoom(self, factor: float, around: QPointF | None = None) -> None:
        """Zoom in (factor above 1) or out around a place, or around the middle."""
        self.box.scaleBy((1 / factor, 1 / factor), center=around)

    @Slot()
    def zoom_in(self) -> None:
        """One step closer."""
        self.zoom(1.5)

    @Slot()
    def zoom_out(self) -> None:
        """One step back."""
        self.zoom(1 / 1.5)

    def zoom_to(self, region: int) -> None:
        """Show one aggregated region with its surroundings."""
        if self._geometry is None or not self._has(region):
            return
        low_x, low_y, high_x, high_y = self._geometry.box(region)
        if all(math.isfinite(value) for value in (low_x, low_y, high_x, high_y)):
            self.box.setRange(QRectF(low_x, low_y, high_x - low_x, high_y - low_y), padding=0.4)

    def use_rubber_band(self, on: bool) -> None:
        """Let dragging draw a zoom box instead of panning."""
        self.box.rubber_band = on
        self.viewport().setCursor(Qt.CursorShape.CrossCursor if on else Qt.CursorShape.ArrowCursor)

    @property
    def view_rect(self) -> QRectF:
        """The part of the map that is shown."""
        rect: QRectF = self.box.viewRect()
        return rect

    def show_rect(self, rect: QRectF) -> None:
        """Show this part of the map."""
        self.box.setRange(rect, padding=0)

    @Slot()
    def _on_range_changed(self) -> None:
        self._fitted = False
        self.item.view_moved()
        self.view_moved.emit()

    def keyPressEvent(self, ev: QKeyEvent) -> None:
        """+ and − zoom, F fits, the arrows pan."""
        step = {
            Qt.Key.Key_Left: (-0.1, 0.0),
            Qt.Key.Key_Right: (0.1, 0.0),
            Qt.Key.Key_Up: (0.0, 0.1),
            Qt.Key.Key_Down: (0.0, -0.1),
        }.get(Qt.Key(ev.key()))
        if ev.key() in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom_in()
        elif ev.key() == Qt.Key.Key_Minus:
            self.zoom_out()
        elif ev.key() in (Qt.Key.Key_F, Qt.Key.Key_Home):
            self.fit()
        elif step is not None:
            shown = self.view_rect
            self.box.translateBy(x=step[0] * shown.width(), y=step[1] * shown.height())
        else:
            super().keyPressEvent(ev)

    # Scale bar, and what a file of the map holds

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:
        """The scale bar, in pixels of the widget."""
        if self._base is None:
            return
        painter.save()
        painter.resetTransform()
        self._paint_scale(painter, QRectF(self.viewport().rect()))
        painter.restore()

    def _paint_scale(self, painter: QPainter, area: QRectF) -> None:
        length, words = self._scale(area)
        paint_scale(painter, length, words, self._colours, self.font(), _lower_right(area))

    def _scale(self, area: QRectF) -> tuple[float, str]:
        if self._base is None:
            return 0.0, ""
        return scale_of(self._base.regions.system, self.units_per_pixel, min(_SCALE_PX, area.width() / 4))

    def _plates(self, area: QRectF, north: bool = False) -> list[QRectF]:
        """What will cover the map in an area: scale bar and north arrow."""
        found = [north_box(self.font(), _upper_right(area))] if north else []
        length, words = self._scale(area)
        return [*found, scale_box(length, words, self.font(), _lower_right(area))] if words else found

    @property
    def picture_size(self) -> QSize:
        """The size of a file of the map: what is shown, and the legend below."""
        size = self.viewport().size()
        return QSize(size.width(), size.height() + strip_height(self.legend, self.font(), size.width()))

    def paint_map(self, painter: QPainter, whole: QRectF, north: bool = False) -> None:
        """Paint everything that the canvas shows, and its legend below, into an area of `picture_size`."""
        painter.fillRect(whole, QColor(self._colours.canvas))
        area = QRectF(whole.topLeft(), self.viewport().size().toSizeF())
        painter.save()
        painter.setClipRect(area)
        painter.setTransform(self.item.sceneTransform() * self.viewportTransform())
        if self.item.picture is not None:
            self.item.picture.paint(painter, area, self._plates(area, north))
        self._chosen_mark.paint(painter, QStyleOptionGraphicsItem())
        painter.restore()
        self._paint_scale(painter, area)
        if north:
            paint_north(painter, self._colours, self.font(), _upper_right(area))
        paint_strip(painter, self.legend, self._colours, self.font(), whole.adjusted(0, area.height(), 0, 0))


def _upper_right(area: QRectF) -> QPointF:
    return area.topRight() + QPointF(-_MARGIN, _MARGIN)


def _lower_right(area: QRectF) -> QPointF:
    return area.bottomRight() + QPointF(-_MARGIN, -_MARGIN)
