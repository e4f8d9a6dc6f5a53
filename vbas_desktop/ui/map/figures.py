"""The figures of aggregated regions that the map can be coloured by and the hover card tells."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Figure:
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
        """The figure of one region with its unit, as people read it."""
        return self.format(float(self.values[region]))

    def format(self, value: float, unit: bool = True) -> str:
        """A value as people read it: grouped, with its unit."""
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


def figure_named(figures: tuple[Figure, ...], name: str | None) -> Figure | None:
    """The figure of that name, if there is one."""
    return next((figure for figure in figures if figure.name == name), None)


def on_one_scale(first: Figure | None, second: Figure | None) -> tuple[Figure | None, Figure | None]:
    """The same figure of two solutions in colours that mean the same on both maps."""
    if first is None or second is None:
        return first, second
    both = np.concatenate([first.values, second.values]).astype(np.float64)
    return replace(first, scale=both), replace(second, scale=both)
