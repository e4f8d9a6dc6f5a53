"""The layers of the map and how each is painted. Paths are made once per solution and colouring, not per frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPen, QTransform

from ..core.theme import ColourScheme, contrast
from ..presentation.region_geometry import RegionGeometry, SolutionGeometry
from ..presentation.region_measures import Classes, spread
from .labels import OverlayPicture
from .paths import (
    Points,
    TiledPath,
    dashed,
    hairline,
    path_of,
    paths_by_class,
    points_polygon,
    rect_of,
    split_lines,
    to_scene,
    translucent,
)

_SMOOTH_VERTICES = 60_000
_SMOOTH_REGIONS = 2_000
"""Borders of more regions, or with more vertices, are drawn without antialiasing: at that density nobody sees the
difference, and it would take longer than an event may."""


_NARROW_PX = 9.0
"""Initial regions narrower than this on average are too dense for borders of their own under aggregated regions."""


LEAST_CONTRAST = 3.0
"""What WCAG 2.2 demands of borders that tell regions apart."""


_FLOWING_PX = 2.0
"""Initial regions narrower than this on average are one grey area: neither their borders nor their points are drawn."""


_CASING_PX = 2.0
"""How much wider than a border its casing is."""


_MANY_SITES = 3_000
"""More sites than this are drawn as dots: a ring each would take longer than all the rest of the map."""


class Layer(StrEnum):
    """Layers that can be switched on and off."""

    AREA = "area"
    AGGREGATED = "aggregated"
    POLYGONS = "polygons"
    CELLS = "cells"
    POINTS = "points"
    SITES = "sites"
    OBSTACLES = "obstacles"
    DETOURED = "detoured"
    MOVED = "moved"


LAYER_TITLES = {
    Layer.AGGREGATED: "Aggregated regions",
    Layer.POLYGONS: "Borders of initial regions",
    Layer.POINTS: "Points of initial regions",
    Layer.SITES: "Sites",
    Layer.CELLS: "Voronoi cells of the sites",
    Layer.OBSTACLES: "Obstacles",
    Layer.DETOURED: "Changed because of an obstacle",
    Layer.MOVED: "Moved by the refinement",
    Layer.AREA: "Study area",
}

DEFAULT_LAYERS = frozenset(Layer) - {Layer.MOVED}


@dataclass(eq=False)
class MapPicture:
    """The ready paths of one map; `paint` draws them with whatever transform the painter has."""

    base: RegionGeometry
    geometry: SolutionGeometry | None
    colours: ColourScheme
    layers: frozenset[Layer]
    classes: Classes | None = None
    changed: NDArray[np.bool_] | None = None
    polygons: TiledPath | None = None
    overlay: OverlayPicture | None = None
    _fills: list[tuple[QBrush, QPainterPath]] = field(default_factory=list)

    def __post_init__(self) -> None:
        base = self.base
        self._area, self._water, self._rivers = map(
            path_of, (base.area_rings, base.obstacle_areas, base.obstacle_lines)
        )
        self._points, self._empty_points, self._changed_points = self._split_points()
        self._detoured = self._moved = base.points[:0]
        self._cells = self._scattered = self._unrecorded = self._moved_areas = QPainterPath()
        self._borders: list[QPainterPath] = []
        self._cased: list[QPainterPath] = []
        self._outline: list[QPainterPath] = []
        self._smooth = True
        if self.geometry is not None:
            self._prepare(self.geometry)

    def _split_points(self) -> tuple[Points, Points, Points]:
        points = self.base.points
        count = len(self.base.points)
        empty = np.zeros(count, np.bool_) if self.base.records is None else self.base.records == 0
        changed = np.zeros(count, np.bool_) if self.changed is None else self.changed
        return points[~empty & ~changed], points[empty & ~changed], points[changed]

    def _prepare(self, geometry: SolutionGeometry) -> None:
        if geometry.detoured is not None:
            self._detoured = self.base.points[geometry.detoured]
        if geometry.moved is not None:
            self._moved = self.base.points[geometry.moved]
            self._moved_areas = path_of(self.base.polygon_rings, np.flatnonzero(geometry.moved))
        rings = geometry.rings
        self._smooth = len(rings.xy) < _SMOOTH_VERTICES and len(geometry.codes) < _SMOOTH_REGIONS
        self._outline = [] if geometry.outline is None else split_lines(geometry.outline)
        # Translucent lines would be darker where two parts of them meet.
        self._borders = [path_of(rings)] if self._outline else split_lines(rings)
        self._cells = path_of(geometry.cell_lines)
        self._scattered = path_of(geometry.rings, np.flatnonzero(geometry.pieces > 1))
        self._unrecorded = path_of(geometry.rings, np.flatnonzero(geometry.without_records))
        self._fills = self._make_fills(geometry)

    def _make_fills(self, geometry: SolutionGeometry) -> list[tuple[QBrush, QPainterPath]]:
        if self.classes is None:
            shades = list(self.colours.fills)
            of_region = geometry.colours
        else:
            steps = spread(len(self.classes.counts), len(self.colours.sequence))
            shades = [self.colours.sequence[step] for step in steps]
            of_region = self.classes.of_region
        of_region = np.where(geometry.without_records, -1, of_region)
        paths = paths_by_class(geometry.rings, of_region, len(shades))
        is_alike = np.array(
            [contrast(self.colours.region_border, shade) < LEAST_CONTRAST for shade in shades]
        )
        self._cased = split_lines(geometry.rings, np.flatnonzero(is_alike[of_region] & (of_region >= 0)))
        return [(QBrush(QColor(shade)), path) for shade, path in zip(shades, paths, strict=True)]

    def paint(self, painter: QPainter, window: QRectF, plates: Sequence[QRectF] = ()) -> None:
        """Draw all layers that are switched on; ``window`` is what can be seen, ``plates`` what will cover it."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        self._paint_area(painter)
        if self.overlay is not None:
            self.overlay.paint_under(painter)
        if Layer.AGGREGATED in self.layers and self.geometry is not None:
            self._paint_fills(painter)
        if Layer.POLYGONS in self.layers and self.polygons is not None:
            self._paint_polygons(
                painter, self.polygons, painter.worldTransform().inverted()[0].mapRect(window)
            )
        if Layer.CELLS in self.layers:
            self._stroke(painter, dashed(self.colours.accent), self._cells)
        if Layer.AGGREGATED in self.layers:
            self._paint_borders(painter)
        if Layer.OBSTACLES in self.layers:
            self._paint_obstacles(painter)
        if self.overlay is not None:
            self.overlay.paint_over(painter, painter.worldTransform().inverted()[0].mapRect(window))
        if self.layers & {Layer.POINTS, Layer.DETOURED, Layer.MOVED} or self.changed is not None:
            self._paint_points(painter)
        if Layer.SITES in self.layers and self.geometry is not None and self.geometry.sites is not None:
            self._paint_sites(painter, self.geometry.sites, self.geometry.site_attracts)
        if self.overlay is not None:
            occupied = np.array(
                [(plate.left(), plate.top(), plate.right(), plate.bottom()) for plate in plates]
            )
            sites = self._site_boxes(painter.worldTransform(), window)
            self.overlay.paint_labels(painter, window, np.concatenate((occupied.reshape(-1, 4), sites)))

    def _paint_area(self, painter: QPainter) -> None:
        if Layer.AREA not in self.layers:
            return
        painter.fillPath(self._area, QBrush(QColor(self.colours.base)))
        self._stroke(painter, hairline(self.colours.muted), self._area)

    def _paint_borders(self, painter: QPainter) -> None:
        """Borders of the aggregated regions; inside larger areas they are faint, and those of the places wide.

        On a fill that is much like the border, that lies on a casing in the colour of the ground.
        """
        colours = self.colours
        if self._outline:
            self._stroke(painter, hairline(translucent(colours.region_border, 0.3)), *self._borders)
            self._stroke(painter, hairline(colours.region_border, width=2.5), *self._outline)
            return
        # A smooth line of one pixel would be spread over two, and faint.
        width = 1.5 if self._smooth else 1.0
        self._stroke(painter, hairline(colours.base, width=width + _CASING_PX), *self._cased)
        self._stroke(painter, hairline(colours.region_border, width=width), *self._borders)

    def _paint_obstacles(self, painter: QPainter) -> None:
        painter.fillPath(self._water, QBrush(QColor(self.colours.water)))
        painter.strokePath(self._water, hairline(translucent(self.colours.accent, 0.45)))
        painter.strokePath(self._rivers, hairline(translucent(self.colours.accent, 0.9)))

    def _paint_polygons(self, painter: QPainter, polygons: TiledPath, view: QRectF) -> None:
        """Borders of the initial regions; under aggregated regions they are faint, and left out where too narrow."""
        alone = self.geometry is None or Layer.AGGREGATED not in self.layers
        if self._room(painter.worldTransform(), len(self.base.points)) < (
            _FLOWING_PX if alone else _NARROW_PX
        ):
            return
        pen = hairline(translucent(self.colours.region_border, 0.6 if alone else 0.22))
        self._stroke(painter, pen, *polygons.visible(view))

    def _stroke(self, painter: QPainter, pen: QPen, *paths: QPainterPath) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, self._smooth)
        for path in paths:
            painter.strokePath(path, pen)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_fills(self, painter: QPainter) -> None:
        for brush, path in self._fills:
            painter.fillPath(path, brush)
        transform = painter.worldTransform()
        painter.save()
        # In pixels: patterns are as large as the painter's transform makes them, in files too.
        painter.resetTransform()
        for path, style, colour in (
            (self._unrecorded, Qt.BrushStyle.BDiagPattern, translucent(self.colours.muted, 0.8)),
            (self._scattered, Qt.BrushStyle.Dense6Pattern, translucent(self.colours.text, 0.35)),
            (self._moved_areas, Qt.BrushStyle.FDiagPattern, QColor(self.colours.mark)),
        ):
            if not path.isEmpty() and (path is not self._moved_areas or Layer.MOVED in self.layers):
                painter.fillPath(transform.map(path), QBrush(colour, style))
        painter.restore()

    def _paint_points(self, painter: QPainter) -> None:
        size = self._point_size(painter.worldTransform())
        is_dense = self._room(painter.worldTransform(), len(self.base.points)) < _FLOWING_PX
        usual = self._points[:0] if is_dense and self.polygons is not None else self._points
        mark = QColor(self.colours.mark)
        moved = self._moved if self._moved_areas.isEmpty() else self._moved[:0]
        drawn: tuple[tuple[Layer | None, Points, QColor, float], ...] = (
            (Layer.POINTS, usual, translucent(self.colours.text, 0.55), size),
            (Layer.POINTS, self._empty_points, QColor(self.colours.warning), size + 1),
            (Layer.MOVED, moved, mark, size + 2),
            (Layer.DETOURED, self._detoured, mark, size + 4),
            # With a light core: full ones in strong colours are regions without records, and differences.
            (Layer.DETOURED, self._detoured, QColor(self.colours.base), size),
            (None, self._changed_points, mark, size + 2),
        )
        transform = painter.worldTransform()
        painter.save()
        # In pixels: where a map unit is many pixels wide, Qt would draw each point as a dash.
        painter.resetTransform()
        for layer, points, colour, width in drawn:
            if layer is not None and layer not in self.layers:
                continue
            painter.setPen(hairline(colour, width=width))
            # All at the same part of a pixel, or some would be a pixel wider than others.
            pixels: Points = np.rint(to_scene(transform, points)) + 0.25
            painter.drawPoints(points_polygon(pixels))
        painter.restore()

    def _point_size(self, transform: QTransform) -> float:
        """Dots shrink to single pixels where they would flow together."""
        smallest = 1 if self.geometry is not None else 2
        return float(np.clip(round(self._room(transform, len(self.base.points)) / 7), smallest, 4))

    def _room(self, transform: QTransform, number: int) -> float:
        """Compute the width in pixels that each of so many marks would have if they were spread evenly."""
        whole = transform.mapRect(rect_of(self.base.bounds))
        return float((whole.width() * whole.height() / max(1, number)) ** 0.5)

    def _site_boxes(self, transform: QTransform, window: QRectF) -> NDArray[np.float64]:
        """Return the boxes of the marks of the visible sites; none if there are too many to avoid."""
        sites = None if self.geometry is None else self.geometry.sites
        if sites is None or Layer.SITES not in self.layers or len(sites) > _MANY_SITES:
            return np.empty((0, 4))
        pixels = to_scene(transform, sites)
        x, y = pixels.T
        visible = (
            (x >= window.left()) & (x <= window.right()) & (y >= window.top()) & (y <= window.bottom())
        )
        at = pixels[visible]
        radius = self._site_radius(transform, len(sites))
        return np.hstack((at - radius, at + radius))

    def _site_radius(self, transform: QTransform, number: int) -> float:
        return float(np.clip(self._room(transform, number) / 12, 1.8, 4.0))

    def _paint_sites(
        self, painter: QPainter, sites: NDArray[np.float64], attracts: NDArray[np.bool_]
    ) -> None:
        """Rings of constant size, dots where they are many; an unused site is a cross."""
        transform = painter.worldTransform()
        radius = self._site_radius(transform, len(sites))
        device = to_scene(transform, sites)
        painter.save()
        painter.resetTransform()
        if len(sites) > _MANY_SITES:
            dots = points_polygon(device[attracts])
            for colour, width in ((self.colours.site, 3), (self.colours.canvas, 1)):
                painter.setPen(hairline(colour, width=width))
                painter.drawPoints(dots)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        painter.setPen(QPen(QColor(self.colours.site), 1))
        painter.setBrush(QBrush(QColor(self.colours.canvas)))
        for x, y in device[attracts].tolist() if len(sites) <= _MANY_SITES else ():
            painter.drawEllipse(QPointF(x, y), radius, radius)
        painter.setPen(QPen(QColor(self.colours.warning), 1.5))
        arm = radius + 0.5
        for x, y in device[~attracts].tolist():
            painter.drawLine(QPointF(x - arm, y - arm), QPointF(x + arm, y + arm))
            painter.drawLine(QPointF(x - arm, y + arm), QPointF(x + arm, y - arm))
        painter.restore()
