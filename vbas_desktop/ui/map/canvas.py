"""The map canvas: a view on one `MapItem` that pans, zooms, hovers and chooses. It draws what it is given."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QContextMenuEvent, QKeyEvent, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QStyleOptionGraphicsItem

from ..core.theme import ColourScheme
from ..presentation.overlay import Overlay
from ..presentation.region_geometry import RegionGeometry, SolutionGeometry
from ..presentation.region_measures import RegionMeasure, classify
from ..state.map_style import MapStyle
from . import decorations
from .decorations import Legend
from .hover_card import HoverCard
from .labels import OverlayPaths, OverlayPicture
from .layers import DEFAULT_LAYERS, Layer, MapPicture
from .map_item import HighlightItem, MapBox, MapItem
from .paths import TiledPath, rect_of

_REACH_PX = 10
_SCALE_PX = 120.0


class MapCanvas(pg.GraphicsView):
    """Shows a `RegionGeometry`, and a `SolutionGeometry` on it.

    Signals: `region_clicked(aggregated region or None)`, `region_hovered(aggregated region or None, initial region or
    None, x, y)` with map coordinates, `view_moved()`, `context_requested(global position)`, `legend_changed(legend,
    colours)`.
    To be read: ``base`` and ``geometry_shown`` (initial regions and solution), ``figure`` (what it is coloured by),
    ``layers`` (those switched on), ``chosen`` (the aggregated region that is outlined).
    """

    region_clicked = Signal(object)
    region_hovered = Signal(object, object, float, float)
    pointer_left = Signal()
    view_moved = Signal()
    context_requested = Signal(object)
    legend_changed = Signal(object, object)
    _fitted = False
    fitting = False
    """Whether the view is moving because all is to be shown: a map that follows then shows all, too."""

    def __init__(self, colours: ColourScheme) -> None:
        super().__init__(background=colours.canvas)
        self._colours = colours
        self.base: RegionGeometry | None = None
        self.geometry_shown: SolutionGeometry | None = None
        self.figure: RegionMeasure | None = None
        self.layers = DEFAULT_LAYERS
        self._tiled: TiledPath | None = None
        self._overlay: OverlayPaths | None = None
        self._style = MapStyle()
        self._changed: NDArray[np.bool_] | None = None
        self._changed_words = ""
        self.chosen: int | None = None
        self._hovered: int | None = None
        self.legend = Legend("", ())
        self.hover_card = HoverCard(self)
        self.hover_card.use_colours(colours)
        self.box = MapBox()
        self.box.use_colours(colours)
        self.setCentralItem(self.box)
        self.item = MapItem(self._plates)
        self._hover_mark = HighlightItem(False)
        self._chosen_mark = HighlightItem(True)
        self.box.addItem(self.item)
        for mark in (self._hover_mark, self._chosen_mark):
            self.box.addItem(mark, ignoreBounds=True)
        self.box.sigRangeChanged.connect(self._on_range_changed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(240, 160)
        self.setAccessibleName("Map")
        self._pressed_at: QPointF | None = None

    def sizeHint(self) -> QSize:
        """Ask for the smallest size, since layouts give a map what is left; pyqtgraph asks for all of its scene."""
        return self.minimumSize()

    # What is shown

    def show_base(self, base: RegionGeometry | None) -> None:
        """Show the initial regions, without a solution. The view stays unless they are others than before."""
        before = self.base
        self.base = base
        if base is not None and self.geometry_shown is None and base.is_drawn_like(before):
            return
        self.geometry_shown = None
        self.figure = None
        self._changed = None
        self.chosen = self._hovered = None
        self._repaint()
        if before is None or base is None or before.regions is not base.regions:
            self.fit()

    def show_map(
        self,
        geometry: SolutionGeometry,
        figure: RegionMeasure | None = None,
        changed: NDArray[np.bool_] | None = None,
        words: str = "",
    ) -> None:
        """Show a solution coloured by a figure, or in distinct fills. The view stays unless the regions are others.

        ``changed`` initial regions are marked strongly; ``words`` say in the legend what that means.
        """
        if self.base is None or geometry.base.regions is not self.base.regions:
            self.show_base(geometry.base)
        self.base = geometry.base
        if geometry is not self.geometry_shown:
            self.chosen = self._hovered = None
        self.geometry_shown = geometry
        self.figure = figure
        self._changed = changed
        self._changed_words = words
        self._repaint()

    def show_layers(self, layers: frozenset[Layer]) -> None:
        """Switch layers on and off."""
        self.layers = layers
        self._repaint()

    def show_overlay(self, overlay: Overlay | None, style: MapStyle) -> None:
        """Draw context layers, outlines and labels in a style."""
        if style == self._style and overlay is (
            None if self._overlay is None else self._overlay.overlay
        ):
            return
        if overlay is None:
            self._overlay = None
        elif self._overlay is None or self._overlay.overlay is not overlay:
            self._overlay = OverlayPaths(overlay)
        self._style = style
        self._repaint()

    def use_colours(self, colours: ColourScheme) -> None:
        """Draw in other colours."""
        self._colours = colours
        self.setBackground(colours.canvas)
        self.box.use_colours(colours)
        self.hover_card.use_colours(colours)
        self._repaint()

    def _repaint(self) -> None:
        if self.base is None:
            self.item.show_picture(None)
            self.legend = Legend("", ())
        else:
            figure = self.figure if self.geometry_shown is not None else None
            classes = (
                None
                if figure is None
                else classify(figure.values, len(self._colours.sequence), figure.scale)
            )
            overlay = None
            if self._overlay is not None and self._overlay.overlay.regions is self.base.regions:
                overlay = OverlayPicture(self._overlay, self._style, self._colours, self.font())
            picture = MapPicture(
                self.base,
                self.geometry_shown,
                self._colours,
                self.layers,
                classes,
                self._changed,
                self._tiles(),
                overlay,
            )
            self.item.show_picture(picture)
            self.legend = decorations.legend_of(picture, figure, self._changed_words)
        self._mark(self._chosen_mark, self.chosen)
        self._mark(self._hover_mark, self._hovered)
        self.viewport().update()
        self.legend_changed.emit(self.legend, self._colours)

    def _tiles(self) -> TiledPath | None:
        """Return the borders of the initial regions, the same for all solutions."""
        base = self.base
        if base is None or base.polygon_rings is None or base.polygon_tiles is None:
            self._tiled = None
        elif self._tiled is None or self._tiled.rings is not base.polygon_rings:
            self._tiled = TiledPath(base.polygon_rings, base.polygon_tiles)
        return self._tiled

    def _mark(self, mark: HighlightItem, region: int | None) -> None:
        mark.show_shape(
            self.geometry_shown.rings if self.geometry_shown else None, region, self._colours
        )

    # Choosing and hovering

    def choose(self, region: int | None) -> None:
        """Outline an aggregated region."""
        self.chosen = region if self._has(region) else None
        self._mark(self._chosen_mark, self.chosen)

    def _has(self, region: int | None) -> bool:
        """Say if the shown solution has this region; the state may be ahead of the map."""
        return (
            region is not None
            and self.geometry_shown is not None
            and region < len(self.geometry_shown.shapes)
        )

    def hover(self, region: int | None) -> None:
        """Highlight an aggregated region, as if the pointer were over it."""
        if region != self._hovered:
            self._hovered = region
            self._mark(self._hover_mark, region)

    def show_hover_card(self, text: str, x: float, y: float) -> None:
        """Show a text beside a point of the map until the pointer or the view moves."""
        self.hover_card.show_text(text, self.map_to_widget(x, y).toPoint())

    def clear_hover(self) -> None:
        """Highlight no region and hide the hover card."""
        self.hover(None)
        self.hover_card.hide()

    def widget_to_map(self, position: QPointF) -> QPointF:
        """Convert a position in the widget to map coordinates."""
        point: QPointF = self.box.mapSceneToView(self.mapToScene(position.toPoint()))
        return point

    def map_to_widget(self, x: float, y: float) -> QPointF:
        """Convert map coordinates to a position in the widget."""
        return QPointF(self.mapFromScene(self.box.mapViewToScene(QPointF(x, y))))

    def _under(self, ev: QMouseEvent) -> tuple[QPointF, int | None]:
        """Find the place under the pointer, and its aggregated region."""
        point = self.widget_to_map(ev.position())
        return point, self.geometry_shown.aggregated_at(
            point.x(), point.y()
        ) if self.geometry_shown else None

    def mouseMoveEvent(self, ev: QMouseEvent) -> None:
        """Highlight what is under the pointer, and emit `region_hovered`."""
        super().mouseMoveEvent(ev)
        if ev.buttons() != Qt.MouseButton.NoButton or self.base is None:
            return
        point, region = self._under(ev)
        reach = _REACH_PX * self.units_per_pixel
        self.hover(region)
        self.region_hovered.emit(
            region, self.base.region_at(point.x(), point.y(), reach), point.x(), point.y()
        )

    def leaveEvent(self, ev: QEvent) -> None:
        """Clear the highlight and emit `pointer_left`."""
        super().leaveEvent(ev)
        self.clear_hover()
        self.pointer_left.emit()

    def mousePressEvent(self, ev: QMouseEvent) -> None:
        """Remember where a click may begin."""
        self._pressed_at = ev.position()
        super().mousePressEvent(ev)
        ev.accept()

    def mouseReleaseEvent(self, ev: QMouseEvent) -> None:
        """Take a press and release at one place as a click: it chooses, or opens the menu."""
        super().mouseReleaseEvent(ev)
        ev.accept()
        began = self._pressed_at
        self._pressed_at = None
        if began is None or (ev.position() - began).manhattanLength() > 4:
            return
        if ev.button() == Qt.MouseButton.RightButton:
            self.context_requested.emit(ev.globalPosition().toPoint())
        elif ev.button() == Qt.MouseButton.LeftButton and self.geometry_shown is not None:
            self.region_clicked.emit(self._under(ev)[1])

    def contextMenuEvent(self, ev: QContextMenuEvent) -> None:
        """Open the menu in the middle of the map for the menu key; the mouse opens it by a click."""
        if ev.reason() is QContextMenuEvent.Reason.Keyboard:
            self.context_requested.emit(self.mapToGlobal(self.rect().center()))
        ev.accept()

    def mouseDoubleClickEvent(self, ev: QMouseEvent) -> None:
        """Zoom to what is under the pointer."""
        self._pressed_at = None
        point, region = self._under(ev)
        if region is None:
            self.zoom(2.0, point)
        else:
            self.region_clicked.emit(region)
            self.zoom_to(region)
        ev.accept()

    # The view

    @property
    def units_per_pixel(self) -> float:
        """Return the number of map units per pixel."""
        return float(self.box.viewPixelSize()[0])

    @Slot()
    def fit(self) -> None:
        """Show the whole study area."""
        if self.base is not None:
            self.fitting = True
            self.box.setRange(rect_of(self.base.bounds), padding=0.03)
            self.fitting = False
            self._fitted = True

    def resizeEvent(self, ev: QResizeEvent) -> None:
        """Keep showing the whole map if it was shown whole: content may arrive before the widget has a size."""
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
        """Zoom in by one step."""
        self.zoom(1.5)

    @Slot()
    def zoom_out(self) -> None:
        """Zoom out by one step."""
        self.zoom(1 / 1.5)

    def zoom_to(self, region: int) -> None:
        """Show one aggregated region with its surroundings."""
        if self.geometry_shown is None or not self._has(region):
            return
        bounds = self.geometry_shown.box(region)
        if all(map(math.isfinite, bounds)):
            self.box.setRange(rect_of(bounds), padding=0.4)

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
        self.hover_card.hide()
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
            view = self.view_rect
            self.box.translateBy(x=step[0] * view.width(), y=step[1] * view.height())
        else:
            super().keyPressEvent(ev)

    # Scale bar, and what a file of the map holds

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:
        """Draw the scale bar, in pixels of the widget."""
        if self.base is None:
            return
        painter.save()
        painter.resetTransform()
        self._paint_scale(painter, QRectF(self.viewport().rect()))
        painter.restore()

    def _paint_scale(self, painter: QPainter, area: QRectF) -> None:
        length, words = self._scale(area)
        decorations.paint_scale(painter, length, words, self._colours, self.font(), area)

    def _scale(self, area: QRectF) -> tuple[float, str]:
        if self.base is None:
            return 0.0, ""
        return decorations.scale_of(
            self.base.regions.system, self.units_per_pixel, min(_SCALE_PX, area.width() / 4)
        )

    def _plates(self, area: QRectF, north: bool = False) -> list[QRectF]:
        """Return the boxes of scale bar and north arrow, which cover parts of the map."""
        plates = [decorations.north_box(self.font(), area)] if north else []
        length, words = self._scale(area)
        return [*plates, decorations.scale_box(length, words, self.font(), area)] if words else plates

    @property
    def picture_size(self) -> QSize:
        """The size of a file of the map: what is shown, and the legend below."""
        size = self.viewport().size()
        return QSize(
            size.width(),
            size.height() + decorations.strip_height(self.legend, self.font(), size.width()),
        )

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
            decorations.paint_north(painter, self._colours, self.font(), area)
        decorations.paint_strip(
            painter, self.legend, self._colours, self.font(), whole.adjusted(0, area.height(), 0, 0)
        )
