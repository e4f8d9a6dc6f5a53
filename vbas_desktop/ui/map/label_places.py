"""Which labels are drawn: the most important ones that have room and do not overlap. No Qt."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Boxes = NDArray[np.float64]
"""Left, top, right and bottom in pixels, of each label or of what is drawn already."""


def without_overlap(choices: NDArray[np.float64], taken: Boxes) -> tuple[NDArray[np.intp], Boxes]:
    """The labels that can stand together, and where, taken in their order.

    ``choices`` are the boxes that each label could have, (n, c, 4), the best first. It gets the first that touches
    neither an earlier label nor anything of ``taken``; if there is none, it is left out.
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

    for box in taken.tolist():
        put(tuple(box))
    kept, boxes = [], []
    for number, mine in enumerate(choices.tolist()):
        box = next((tuple(each) for each in mine if is_free(each)), None)
        if box is not None:
            kept.append(number)
            boxes.append(box)
            put(box)
    return np.array(kept, np.intp), np.array(boxes, np.float64).reshape(-1, 4)


def with_room(
    width: NDArray[np.float64], height: float, room: NDArray[np.float64], share: float = 0.5
) -> NDArray[np.bool_]:
    """Labels whose place is large enough: a share of the text has to fit into the width of what it names.

    ``room`` is the width and height of each place in pixels. So labels vanish as the map is zoomed out.
    """
    return np.asarray((room[:, 0] >= share * width) & (room[:, 1] >= share * height))
