"""How context layers, outlines and labels are painted. Paths are made once, not per frame."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QTransform

from ..core.theme import ColourScheme
from ..presentation.map_shapes import sort_into_tiles
from ..presentation.overlay import DrawnContext, Labels, Overlay
from ..state.map_style import CONTEXT_COLOURS, ContextLayer, MapStyle
from .paths import TiledPath, hairline, path_of, points_polygon, to_scene, translucent

Boxes = NDArray[np.float64]
"""Left, top, right and bottom in pixels, of each label or of what is drawn already."""

_MOST_LABELS = 1_500
"""At most this many labels are considered, the most important ones: a screen has room for a few hundred."""

_HALO = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y]
_GAP = 3.0
_ASIDE = (-1.0, 1.0)
"""How many of its heights a label may be moved down."""

NOTHING: Boxes = np.empty((0, 4))


class OverlayPaths:
    """The paths of one overlay, made when first painted; they stay the same whatever colours the style has."""

    def __init__(self, overlay: Overlay) -> None:
        self.overlay = overlay
        self._context: dict[str, tuple[QPainterPath, TiledPath | None]] = {}

    def context(self, path: str) -> tuple[QPainterPath, TiledPath | None]:
        """Fill and lines of a layer."""
        if path not in self._context:
            drawn = self.overlay.context.get(path, DrawnContext())
            lines = None if drawn.lines is None else TiledPath(drawn.lines, sort_into_tiles(drawn.lines))
            self._context[path] = path_of(drawn.areas), lines
        return self._context[path]

    @cached_property
    def outlines(self) -> dict[str, TiledPath]:
        """The outlines of each column."""
        outlines = self.overlay.outlines.items()
        return {
            column: TiledPath(rings, sort_into_tiles(rings))
            for column, rings in outlines
            if len(rings.xy)
        }


class OverlayPicture:
    """Paints an overlay in a style."""

    def __init__(self, paths: OverlayPaths, style: MapStyle, colours: ColourScheme, font: QFont) -> None:
        self._paths = paths
        self._style = style
        self._colours = colours
        self._font = font

    @property
    def layers(self) -> list[ContextLayer]:
        """The layers that are drawn, from the lowest to the uppermost."""
        prepared = self._paths.overlay.context
        return [layer for layer in self._style.context if layer.visible and layer.path in prepared]

    @property
    def outlines(self) -> list[str]:
        """The columns whose borders are drawn."""
        return [column for column in self._style.outlines if column in self._paths.outlines]

    def colour(self, layer: ContextLayer) -> str:
        """Return the shade of a layer in this theme."""
        return self._colours.context[CONTEXT_COLOURS.index(layer.colour)]

    def paint_under(self, painter: QPainter) -> None:
        """Areas of the layers, below the regions."""
        for layer in self.layers:
            painter.fillPath(
                self._paths.context(layer.path)[0], QBrush(translucent(self.colour(layer), 0.18))
            )

    def paint_over(self, painter: QPainter, view: QRectF) -> None:
        """Lines, borders and points of the layers, and outlines of columns, above the regions."""
        for layer in self.layers:
            pen = hairline(self.colour(layer))
            lines = self._paths.context(layer.path)[1]
            points = self._paths.overlay.context[layer.path].points
            for path in () if lines is None else lines.visible(view):
                painter.strokePath(path, pen)
            if points is not None:
                dots = hairline(self.colour(layer), width=4)
                dots.setCapStyle(Qt.PenCapStyle.RoundCap)
                painter.setPen(dots)
                painter.drawPoints(points_polygon(points))
        for column in self.outlines:
            for path in self._paths.outlines[column].visible(view):
                painter.strokePath(path, hairline(self._colours.text, width=2))

    def paint_labels(self, painter: QPainter, window: QRectF, occupied: Boxes = NOTHING) -> None:
        """Draw the labels that fit, the most important first; none overlaps another or a box in ``occupied``."""
        labels = self._paths.overlay.labels
        if labels is None or self._style.labels is None:
            return
        transform = painter.worldTransform()
        metrics = QFontMetricsF(self._font)
        numbers, boxes = placed_labels(labels, transform, window, metrics, occupied)
        painter.save()
        painter.resetTransform()
        painter.setFont(self._font)
        halo = QColor(self._colours.base)
        text = QColor(self._colours.text)
        for number, (left, _, _, bottom) in zip(numbers.tolist(), boxes.tolist(), strict=True):
            base = QPointF(left + _GAP, bottom - _GAP - metrics.descent())
            painter.setPen(halo)
            for x, y in _HALO:
                painter.drawText(base + QPointF(x, y), labels.texts[number])
            painter.setPen(text)
            painter.drawText(base, labels.texts[number])
        painter.restore()


def placed_labels(
    labels: Labels,
    transform: QTransform,
    window: QRectF,
    metrics: QFontMetricsF,
    occupied: Boxes = NOTHING,
) -> tuple[np.ndarray, np.ndarray]:
    """Choose the labels that are drawn in a window, and return their boxes in pixels.

    A label stands in the middle of what it names, or a little above or below if that has the height.
    """
    x, y = to_scene(transform, labels.positions).T
    inside = (x >= window.left()) & (x <= window.right()) & (y >= window.top()) & (y <= window.bottom())
    available = labels.sizes * np.array([abs(transform.m11()), abs(transform.m22())])
    # Where not even two letters have room nothing needs to be measured.
    roomy = inside & with_room(
        np.full(len(x), 2 * metrics.averageCharWidth()), metrics.height(), available
    )
    numbers = np.flatnonzero(roomy)[:_MOST_LABELS]
    width = np.array([metrics.horizontalAdvance(labels.texts[number]) for number in numbers.tolist()])
    fits = (
        with_room(width, metrics.height(), available[numbers]) if len(numbers) else np.zeros(0, np.bool_)
    )
    numbers = numbers[fits]
    width = width[fits]
    half = width / 2 + _GAP
    high = metrics.height() / 2 + _GAP
    boxes = np.column_stack((x[numbers] - half, y[numbers] - high, x[numbers] + half, y[numbers] + high))
    choices = np.repeat(boxes[:, None], 1 + len(_ASIDE), axis=1)
    for index, aside in enumerate(_ASIDE, 1):
        shift = aside * metrics.height()
        high_enough = available[numbers, 1] >= metrics.height() + 2 * abs(shift)
        choices[high_enough, index, 1::2] += shift
    chosen, boxes = without_overlap(choices, occupied)
    return numbers[chosen], boxes


def without_overlap(choices: NDArray[np.float64], occupied: Boxes) -> tuple[NDArray[np.intp], Boxes]:
    """Choose the labels that can stand together, and where, taken in their order.

    ``choices`` are the boxes that each label could have, (n, c, 4), the best first. It gets the first that touches
    neither an earlier label nor a box in ``occupied``; if there is none, it is left out.
    """
    if not len(choices):
        return np.empty(0, np.intp), np.empty((0, 4))
    size = float(max(1.0, np.max(choices[..., 2:] - choices[..., :2])))
    tiles: dict[tuple[int, int], list[tuple[float, float, float, float]]] = {}

    def tiles_of(box: tuple[float, float, float, float]) -> list[tuple[int, int]]:
        columns = range(math.floor(box[0] / size), math.floor(box[2] / size) + 1)
        rows = range(math.floor(box[1] / size), math.floor(box[3] / size) + 1)
        return [(column, row) for column in columns for row in rows]

    def put(box: tuple[float, float, float, float]) -> None:
        for tile in tiles_of(box):
            tiles.setdefault(tile, []).append(box)

    def is_free(box: tuple[float, float, float, float]) -> bool:
        left, top, right, bottom = box
        return not any(
            left <= other[2] and other[0] <= right and top <= other[3] and other[1] <= bottom
            for tile in tiles_of(box)
            for other in tiles.get(tile, ())
        )

    for box in occupied.tolist():
        put(tuple(box))
    chosen = []
    boxes = []
    for number, mine in enumerate(choices.tolist()):
        box = next((tuple(candidate) for candidate in mine if is_free(candidate)), None)
        if box is not None:
            chosen.append(number)
            boxes.append(box)
            put(box)
    return np.array(chosen, np.intp), np.array(boxes, np.float64).reshape(-1, 4)


def with_room(
    width: NDArray[np.float64], height: float, available: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Flag the labels whose place is large enough: half of the text has to fit into what it names.

    ``available`` is the width and height of each label's region in pixels. So labels vanish as the map is zoomed out.
    """
    return np.asarray((available[:, 0] >= width / 2) & (available[:, 1] >= height / 2))
