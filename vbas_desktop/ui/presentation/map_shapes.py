"""Transform shapes into map coordinates: frames, rings of vertices, and tiles of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from vbas_desktop.algorithms.polygons import Shapes, explode_in_blocks
from vbas_desktop.model.regions import CoordinateKind, Regions

_SAME_POINT = 1e-9
"""Corners that are nearer than this share of the map's size are one corner."""


@dataclass(frozen=True)
class Frame:
    """Transforms coordinates into map coordinates: east to the right, north up.

    With latitudes as x the axes change places and degrees of longitude shrink with the cosine of the middle latitude.
    """

    swapped: bool = False
    x_scale: float = 1.0

    def to_map(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Transform points (n, 2) into map coordinates."""
        if not self.swapped:
            return points
        return np.column_stack((points[:, 1] * self.x_scale, points[:, 0]))

    def from_map(self, x: float, y: float) -> tuple[float, float]:
        """Transform map coordinates back into coordinates of the regions."""
        return (y, x / self.x_scale) if self.swapped else (x, y)


@dataclass(frozen=True, eq=False)
class Rings:
    """The rings of many shapes in one array, ready to become painter paths.

    ``joined[i]`` says whether vertex i is joined to vertex i + 1; the vertices of shape j are
    ``starts[j]:starts[j + 1]``.
    """

    xy: NDArray[np.float64]
    joined: NDArray[np.bool_]
    starts: NDArray[np.int64]

    def of(self, shapes: NDArray[np.integer]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return vertices and joints of some of the shapes."""
        counts = self.starts[shapes + 1] - self.starts[shapes]
        offsets = np.repeat(self.starts[shapes] - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
        index = np.arange(int(counts.sum())) + offsets
        return self.xy[index], self.joined[index]


@dataclass(frozen=True, eq=False)
class Tiles:
    """Shapes sorted into square tiles by their first corner.

    members: the shapes of each tile. boxes: float64 (tiles, 4), smallest and largest coordinates of these shapes: x, y,
    x, y; zeros for a tile without any.
    """

    members: tuple[NDArray[np.intp], ...]
    boxes: NDArray[np.float64]


def frame_of(regions: Regions) -> Frame:
    """Return the frame that puts north up."""
    if regions.system.kind is not CoordinateKind.DEGREES or len(regions) == 0:
        return Frame()
    latitudes = regions.points[:, 0]
    middle = float(latitudes.min() + latitudes.max()) / 2
    # Coordinates that are no latitudes are drawn as they are rather than squeezed to nothing.
    return Frame(True, float(np.cos(np.radians(middle))) if abs(middle) <= 85 else 1.0)


def rings_of(shapes: Shapes, frame: Frame) -> Rings:
    """Transform the rings of shapes into map coordinates, holes included (fill them odd-even)."""
    parts, shape = explode_in_blocks(shapely.get_parts, shapes)
    rings, part = explode_in_blocks(shapely.get_rings, parts)
    return _join_lines(rings, shape[part], len(shapes), frame)


def lines_of(shapes: Shapes, frame: Frame) -> Rings:
    """Transform lines into map coordinates, to be stroked."""
    parts, shape = explode_in_blocks(shapely.get_parts, shapes)
    return _join_lines(parts, shape, len(shapes), frame)


def _join_lines(lines: Shapes, shape: NDArray[np.integer], number: int, frame: Frame) -> Rings:
    """Join the vertices of lines; ``shape`` is the number of the shape of each line, below ``number``."""
    xy, line = explode_in_blocks(shapely.get_coordinates, lines)
    joined = np.append(line[1:] == line[:-1], False)[: len(xy)]
    starts = np.searchsorted(shape[line], np.arange(number + 1)).astype(np.int64)
    return Rings(frame.to_map(xy), joined, starts)


def sort_into_tiles(rings: Rings, across: int = 8) -> Tiles:
    """Sort shapes into ``across`` × ``across`` tiles, so that a part of the map draws some of them only."""
    shapes = np.flatnonzero(np.diff(rings.starts))
    low = rings.xy.min(axis=0)
    span = np.maximum(np.ptp(rings.xy, axis=0), 1e-12)
    corners = rings.xy[rings.starts[shapes]]
    column, row = np.minimum((corners - low) / span * across, across - 1).astype(np.int64).T
    tile = row * across + column
    members = tuple(shapes[tile == number] for number in range(across * across))
    # A line along an axis has no width, and what is empty meets nothing.
    least = float(span.max()) * 1e-9
    boxes = np.zeros((len(members), 4))
    for number, own in enumerate(members):
        if own.size:
            xy, _ = rings.of(own)
            boxes[number, :2] = xy.min(axis=0)
            boxes[number, 2:] = np.maximum(xy.max(axis=0), boxes[number, :2] + least)
    return Tiles(members, boxes)


def find_shared_edges(rings: Rings) -> Rings:
    """Find the edges that two shapes share, each once; if no edge is shared, the shapes are lines: all their edges."""
    first = np.flatnonzero(rings.joined)
    ends = np.stack([rings.xy[first], rings.xy[first + 1]], axis=1)
    size = float(np.ptp(rings.xy, axis=0).max()) if len(rings.xy) else 0.0
    keys = (
        np.rint(ends / (size * _SAME_POINT)).astype(np.int64)
        if size
        else np.zeros((len(ends), 2, 2), np.int64)
    )
    is_turned = (keys[:, 0, 0] > keys[:, 1, 0]) | (
        (keys[:, 0, 0] == keys[:, 1, 0]) & (keys[:, 0, 1] > keys[:, 1, 1])
    )
    keys[is_turned] = keys[is_turned, ::-1]
    _, edge, counts = np.unique(keys.reshape(-1, 4), axis=0, return_index=True, return_counts=True)
    chosen = edge[counts > 1] if (counts > 1).any() else edge
    xy = ends[chosen].reshape(-1, 2)
    joined = np.arange(len(xy)) % 2 == 0
    return Rings(xy, joined, np.array([0, len(xy)], np.int64))
