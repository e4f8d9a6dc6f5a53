"""Longitudes on both sides of the date line: one continuous range to compute in, cut again where maps end.

The data have an empty range of longitudes somewhere. Where the widest one is not the one at ±180°, longitudes west of
its middle (the *cut*) are counted on beyond 180°, so that neighbours across the date line are neighbours in numbers.
"""

from __future__ import annotations

import numpy as np
import shapely
from numpy.typing import NDArray

from .polygons import Shapes, explode_in_blocks, extract_polygons, make_shape_array

_BINS = 3600
"""The empty range is found to a tenth of a degree."""


def find_cut_of_points(longitudes: NDArray[np.float64]) -> float | None:
    """Find where to cut the circle of longitudes so that points stay together; None if ±180° does."""
    return _cut(longitudes, longitudes)


def find_cut_of_shapes(shapes: Shapes) -> float | None:
    """Find where to cut the circle of longitudes so that shapes stay together; edges take the shorter way round."""
    parts, _ = explode_in_blocks(shapely.get_parts, shapes[~shapely.is_missing(shapes)])
    rings, _ = explode_in_blocks(shapely.get_rings, parts)
    xy, ring = explode_in_blocks(shapely.get_coordinates, rings)
    joined = ring[1:] == ring[:-1]
    return _cut(xy[:-1, 0][joined], xy[1:, 0][joined])


def unwrap_longitudes(longitudes: NDArray[np.float64], cut: float | None) -> NDArray[np.float64]:
    """Count longitudes from the cut eastward, beyond 180° where needed."""
    if cut is None:
        return longitudes
    turned = longitudes - 360 * np.floor((longitudes - cut) / 360)
    # What need not be turned keeps its digits.
    return np.where((longitudes >= cut) & (longitudes < cut + 360), longitudes, turned)


def wrap_longitudes(longitudes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bring longitudes between −180° and 180°, as files have them."""
    return np.where(longitudes > 180, longitudes - 360, longitudes)


def unwrap_shapes(shapes: Shapes, cut: float | None) -> Shapes:
    """Shift shapes in longitude and latitude so that none jumps at the date line."""
    if cut is None:
        return shapes
    return shapely.transform(
        shapes, lambda xy: np.column_stack((unwrap_longitudes(xy[:, 0], cut), xy[:, 1]))
    )


def split_at_antimeridian(shapes: Shapes) -> tuple[Shapes, NDArray[np.intp]]:
    """Cut continuous shapes at the date line into what lies west and east of it; return also the shape of each piece.

    The pieces stay where they are; `wrap_pieces` takes the eastern ones back by a whole turn.
    """
    bounds = shapely.bounds(shapes)
    crossing = np.flatnonzero((bounds[:, 0] < 180) & (bounds[:, 2] > 180))
    if not crossing.size:
        return shapes, np.arange(len(shapes))
    low = np.nanmin(bounds[:, 1]) - 1
    high = np.nanmax(bounds[:, 3]) + 1
    halves = shapely.box(-181, low, 180, high), shapely.box(180, low, 541, high)
    pieces: list[shapely.Geometry] = []
    owner: list[int] = []
    whole = np.ones(len(shapes), np.bool_)
    whole[crossing] = False
    for number, shape in enumerate(shapes):
        parts = (
            [shape]
            if whole[number]
            else [extract_polygons(shapely.intersection(shape, half)) for half in halves]
        )
        filled = [part for part in parts if not part.is_empty]
        pieces += filled
        owner += [number] * len(filled)
    return make_shape_array(pieces), np.array(owner, np.intp)


def wrap_pieces(pieces: Shapes) -> Shapes:
    """Bring the pieces of `split_at_antimeridian` to longitudes between −180° and 180°."""
    east = shapely.bounds(pieces)[:, 0] >= 180
    moved = pieces.copy()
    moved[east] = shapely.transform(pieces[east], lambda xy: np.column_stack((xy[:, 0] - 360, xy[:, 1])))
    return moved


def _cut(starts: NDArray[np.float64], ends: NDArray[np.float64]) -> float | None:
    """Return the middle of the widest range of longitudes that no edge passes, if the date line is not in it."""
    finite = np.isfinite(starts) & np.isfinite(ends)
    starts = starts[finite]
    ends = ends[finite]
    if starts.size == 0 or max(np.ptp(starts), np.ptp(ends)) <= 180:
        return None
    low = np.minimum(starts, ends)
    high = np.maximum(starts, ends)
    over = high - low > 180
    passed = np.zeros(_BINS + 1, np.int64)
    for start, end in (
        (low[~over], high[~over]),
        (high[over], np.full(over.sum(), 180.0)),
        (-180.0, low[over]),
    ):
        np.add.at(passed, _bin(start), 1 if np.ndim(start) else np.size(end))
        np.add.at(passed, _bin(end) + 1, -1)
    empty = np.flatnonzero(np.cumsum(passed[:-1]) == 0)
    if not empty.size:
        return None
    # Twice round, so that a range over ±180° is in one piece.
    runs = np.split(
        twice := np.concatenate((empty, empty + _BINS)), np.flatnonzero(np.diff(twice) > 1) + 1
    )
    widest = max(runs, key=len)
    middle = (widest[0] + widest[-1] + 1) / 2 / _BINS * 360 - 180
    holds_date_line = (
        widest[0] % _BINS == 0 or widest[-1] >= _BINS > widest[0] or widest[-1] % _BINS == _BINS - 1
    )
    return None if holds_date_line else round(float(middle), 2)


def _bin(longitudes: NDArray[np.float64] | float) -> NDArray[np.int64]:
    numbers = np.floor((np.asarray(longitudes) + 180) / 360 * _BINS).astype(np.int64)
    return np.clip(np.atleast_1d(numbers), 0, _BINS - 1)
