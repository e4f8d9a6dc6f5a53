"""Classes of a figure for colouring the map: few, with round enough borders, nothing alone in the dark."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Classes:
    """Which class each region is in (−1: no value), and the lowest and highest value and the number of each class."""

    of_region: NDArray[np.int8]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    counts: NDArray[np.int64]

    @property
    def without_value(self) -> int:
        """How many regions have no value."""
        return int((self.of_region < 0).sum())


def classify(
    values: NDArray[np.floating] | NDArray[np.integer], number: int, scale: NDArray[np.float64] | None = None
) -> Classes:
    """Sort values into at most ``number`` classes of about equally many regions, of these or of ``scale``.

    Zero is a class of its own where a twentieth of the regions or more have it, since "nothing lost here" is what
    people look for. Equal values are never in different classes.
    """
    mine = np.asarray(values, np.float64)
    known = mine if scale is None else scale
    present = np.isfinite(known)
    if not present.any():
        nothing = np.empty(0)
        return Classes(np.full(mine.size, -1, np.int8), nothing, nothing, np.empty(0, np.int64))
    distinct = np.unique(known[present])
    if distinct.size <= number:
        edges = distinct[1:]
    else:
        zeros = float((known[present] == 0).mean())
        rest = known[present & (known != 0)] if zeros >= 0.05 and distinct[0] == 0 else known[present]
        wanted = number - 1 if rest.size < present.sum() else number
        edges = np.quantile(rest, np.arange(1, wanted) / wanted, method="higher")
        if wanted < number:
            edges = np.concatenate(([rest.min()], edges))
        edges = np.unique(edges)
        edges = edges[edges > distinct[0]]
    place = np.where(present, np.searchsorted(edges, known, side="right"), -1)
    classes = np.arange(edges.size + 1)
    low = np.array([known[place == each].min() for each in classes])
    high = np.array([known[place == each].max() for each in classes])
    there = np.isfinite(mine)
    of_region = np.where(there, np.searchsorted(edges, mine, side="right"), -1).astype(np.int8)
    return Classes(of_region, low, high, np.bincount(of_region[there], minlength=classes.size))


def spread(number: int, shades: int) -> list[int]:
    """Which of ``shades`` colours stand for ``number`` classes: from the first to the last, evenly."""
    if number == 1:
        return [shades // 2]
    return [round(each * (shades - 1) / (number - 1)) for each in range(number)]
