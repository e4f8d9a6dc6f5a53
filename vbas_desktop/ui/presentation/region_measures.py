"""The figures of aggregated regions that the map can be coloured by, and their classes of colour. No Qt."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class RegionMeasure:
    """One figure of every aggregated region; NaN means there is none.

    ``kind`` is count, share (of 1), ratio or distance. ``scale``: the values that the colours are spread over, where
    they are not those of this map alone.
    """

    name: str
    title: str
    values: NDArray[np.float64] | NDArray[np.int64]
    kind: str = "count"
    unit: str = ""
    scale: NDArray[np.float64] | None = None

    def text(self, region: int) -> str:
        """Format the figure of one region with its unit, as people read it."""
        return self.format(float(self.values[region]))

    def format(self, value: float, unit: bool = True) -> str:
        """Format a value as people read it: grouped, with its unit."""
        if not np.isfinite(value):
            return "–"
        if self.kind == "share":
            return f"{100 * value:.2g} %" if 0 < value < 0.0001 else f"{100 * value:.2f} %"
        if self.kind == "ratio":
            return f"{value:.2f}"
        if self.kind == "distance":
            number = f"{value:,.1f}" if value >= 10 else f"{value:.3g}"
            return f"{number} {self.unit}".strip() if unit else number
        number = f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"
        return f"{number} {self.unit}".strip() if unit else number


def find_measure(figures: tuple[RegionMeasure, ...], name: str | None) -> RegionMeasure | None:
    """Find the figure of that name, if there is one."""
    return next((figure for figure in figures if figure.name == name), None)


def on_one_scale(
    first: RegionMeasure | None, second: RegionMeasure | None
) -> tuple[RegionMeasure | None, RegionMeasure | None]:
    """Return the measure of two solutions with one common colour scale."""
    if first is None or second is None:
        return first, second
    both = np.concatenate([first.values, second.values]).astype(np.float64)
    return replace(first, scale=both), replace(second, scale=both)


@dataclass(frozen=True, eq=False)
class Classes:
    """Class of each region (−1: no value), with lowest value, highest value and number of regions of each class."""

    of_region: NDArray[np.int8]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    counts: NDArray[np.int64]

    @property
    def without_value(self) -> int:
        """Count the regions without a value."""
        return int((self.of_region < 0).sum())


def classify(
    values: NDArray[np.floating] | NDArray[np.integer],
    number: int,
    scale: NDArray[np.float64] | None = None,
) -> Classes:
    """Sort values into at most ``number`` classes of about equally many regions, of these or of ``scale``.

    Zero is a class of its own where a twentieth of the regions or more have it, since "nothing lost here" is what
    people look for. Equal values are never in different classes.
    """
    mine = np.asarray(values, np.float64)
    reference = mine if scale is None else scale
    present = np.isfinite(reference)
    if not present.any():
        nothing = np.empty(0)
        return Classes(np.full(mine.size, -1, np.int8), nothing, nothing, np.empty(0, np.int64))
    distinct = np.unique(reference[present])
    if distinct.size <= number:
        edges = distinct[1:]
    else:
        zeros = float((reference[present] == 0).mean())
        rest = (
            reference[present & (reference != 0)]
            if zeros >= 0.05 and distinct[0] == 0
            else reference[present]
        )
        quantiles = number - 1 if rest.size < present.sum() else number
        edges = np.quantile(rest, np.arange(1, quantiles) / quantiles, method="higher")
        if quantiles < number:
            edges = np.concatenate(([rest.min()], edges))
        edges = np.unique(edges)
        edges = edges[edges > distinct[0]]
    class_numbers = np.where(present, np.searchsorted(edges, reference, side="right"), -1)
    classes = np.arange(edges.size + 1)
    low = np.array([reference[class_numbers == class_].min() for class_ in classes])
    high = np.array([reference[class_numbers == class_].max() for class_ in classes])
    there = np.isfinite(mine)
    of_region = np.where(there, np.searchsorted(edges, mine, side="right"), -1).astype(np.int8)
    return Classes(of_region, low, high, np.bincount(of_region[there], minlength=classes.size))


def spread(number: int, shades: int) -> list[int]:
    """Choose ``number`` of ``shades`` colours, evenly from the first to the last."""
    if number == 1:
        return [shades // 2]
    return [round(index * (shades - 1) / (number - 1)) for index in range(number)]
