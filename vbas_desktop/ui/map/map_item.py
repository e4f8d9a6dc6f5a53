"""The one graphics item that paints the whole map, from a cached pixmap while the view moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, Slot
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPixmap, QTransform
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from ..core.theme import ColourScheme
from ..presentation.map_shapes import Rings
from ..widgets.layouts import with_properties
from .layers import MapPicture
from .paths import hairline, path_of, rect_of, translucent

_REST_MS = 90
"""After this long without movement the map is painted sharply again."""


class MapItem(pg.GraphicsObject):
    """Paints a `MapPicture`. Painted sharply once per view; moves and hovering reuse what was painted.

    ``plates`` tells what covers the map in a window, so that labels stay clear of it.
    """

    def __init__(self, plates: Callable[[QRectF], Sequence[QRectF]]) -> None:
        super().__init__()
        self._plates = plates
        self.picture: MapPicture | None = None
        """What is shown."""
        self._bounds = QRectF(0, 0, 1, 1)
        self._cache: QPixmap | None = None
        self._cache_transform = QTransform()
        self.moving = False
        """Whether the view moved a moment ago, so that the picture may still be a stretched one."""
        self._rest = with_properties(QTimer(self), singleShot=True, interval=_REST_MS)
        self._rest.timeout.connect(self._on_rested)
        self.sharp_paintings = 0

    def show_picture(self, picture: MapPicture | None) -> None:
        """Show another picture (None: nothing)."""
        if picture is not None and (self.picture is None or picture.base is not self.picture.base):
            self.prepareGeometryChange()
            self._bounds = rect_of(picture.base.bounds)
        self.picture = picture
        self._cache = None
        self.update()

    def boundingRect(self) -> QRectF:
        """Return the study area."""
        return self._bounds

    def view_moved(self) -> None:
        """Show what is there already while the view is being panned or zoomed, until it rests."""
        if self._cache is not None:
            self.moving = True
            self._rest.start()

    @Slot()
    def _on_rested(self) -> None:
        self.moving = False
        self.update()

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Blit the cached picture; paint it anew if the view rests somewhere else."""
        if self.picture is None:
            return
        if widget is None:
            self.picture.paint(painter, painter.worldTransform().mapRect(self._bounds))
            return
        now = painter.worldTransform()
        if not (self._cache is not None and (self.moving or now == self._cache_transform)):
            self._cache = self._paint_pixmap(now, widget.size(), widget.devicePixelRatioF())
            self._cache_transform = now
        assert self._cache is not None
        painter.save()
        if now == self._cache_transform:
            painter.resetTransform()
        else:
            painter.setTransform(self._cache_transform.inverted()[0] * now)
        painter.drawPixmap(QPointF(0, 0), self._cache)
        painter.restore()

    def _paint_pixmap(self, transform: QTransform, size: QSize, ratio: float) -> QPixmap:
        assert self.picture is not None
        pixmap = QPixmap(size * ratio)
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(QColor(self.picture.colours.canvas))
        painter = QPainter(pixmap)
        painter.setTransform(transform)
        window = QRectF(0, 0, size.width(), size.height())
        self.picture.paint(painter, window, self._plates(window))
        painter.end()
        self.sharp_paintings += 1
        return pixmap


class HighlightItem(pg.GraphicsObject):
    """Outlines one aggregated region over the map, so that choosing and hovering repaint nothing else."""

    def __init__(self, strong: bool) -> None:
        super().__init__()
        self._strong = strong
        self._path = QPainterPath()
        self._colours: ColourScheme | None = None
        self.setZValue(20 if strong else 10)

    def show_shape(self, rings: Rings | None, shape: int | None, colours: ColourScheme) -> None:
        """Outline one shape; None outlines nothing."""
        self.prepareGeometryChange()
        self._path = QPainterPath() if shape is None else path_of(rings, np.array([shape]))
        self._colours = colours
        self.update()

    def boundingRect(self) -> QRectF:
        """Return the box of the outlined shape with room for the pen."""
        box = self._path.boundingRect()
        margin = 0.02 * max(box.width(), box.height())
        return box.adjusted(-margin, -margin, margin, margin)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint a translucent fill and a line when hovered, a strong line with a halo when chosen."""
        if self._colours is None or self._path.isEmpty():
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        if self._strong:
            painter.strokePath(self._path, hairline(self._colours.base, width=5))
            painter.strokePath(self._path, hairline(self._colours.accent, width=2.5))
        else:
            painter.fillPath(self._path, QBrush(translucent(self._colours.base, 0.25)))
            painter.strokePath(self._path, hairline(self._colours.text, width=1.5))


class MapBox(pg.ViewBox):
    """A view box with the aspect locked; dragging pans, dragging with Shift (or when asked for) draws a zoom box."""

    def __init__(self) -> None:
        super().__init__(lockAspect=True, enableMenu=False)
        self.rubber_band = False

    def use_colours(self, colours: ColourScheme) -> None:
        """Draw the zoom box in the colours of the rest."""
        self.rbScaleBox.setPen(hairline(colours.accent, width=1.5))
        self.rbScaleBox.setBrush(translucent(colours.accent, 0.15))

    def mouseDragEvent(self, ev, axis=None) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001
        """Pan, or draw the zoom box."""
        boxing = self.rubber_band or bool(ev.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self.state["mouseMode"] = self.RectMode if boxing else self.PanMode
        super().mouseDragEvent(ev, axis)
