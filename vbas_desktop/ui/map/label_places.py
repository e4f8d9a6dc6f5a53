"""Which labels are drawn: the most important ones that have room and do not overlap. No Qt."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Boxes = NDArray[np.float64]
"""Left, top, right and bottom of each label in pixels."""


def without_overlap(boxes: Boxes) -> NDArray[np.intp]:
    """The labels that can stand together, taken in their order: one that would touch an earlier one is left out."""
    if not len(boxes):
        return np.empty(0, np.intp)
    size = float(max(1.0, np.max(boxes[:, 2:] - boxes[:, :2])))
    tiles: dict[tuple[int, int], list[tuple[float, float, float, float]]] = {}
    kept = []
    for number, (left, top, right, bottom) in enumerate(boxes.tolist()):
        # No label is wider than a tile, so those that it could touch are in the tiles of its corners.
        columns = range(math.floor(left / size), math.floor(right / size) + 1)
        rows = range(math.floor(top / size), math.floor(bottom / size) + 1)
        mine = [(column, row) for column in columns for row in rows]
        if any(
            left <= other[2] and other[0] <= right and top <= other[3] and other[1] <= bottom
            for tile in mine
            for other in tiles.get(tile, ())
        ):
            continue
        kept.append(number)
        for tile in mine:
            tiles.setdefault(tile, []).append((left, top, right, bottom))
    return np.array(kept, np.intp)


def with_room(
    width: NDArray[np.float64], height: float, room: NDArray[np.float64], share: float = 0.5
) -> NDArray[np.bool_]:
    """Labels whose place is large enough: a share of the text has to fit into the width of what it names.

    ``room`` is the width and height of each place in pixels. So labels vanish as the map is zoomed out.
    """
    return np.asarray((room[:, 0] >= share * width) & (room[:, 1] >= share * height))
