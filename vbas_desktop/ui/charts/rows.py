"""What the charts draw: one row per solution. No Qt."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from vbas_desktop.algorithms.pareto import non_dominated


@dataclass(frozen=True)
class ChartRow:
    """One solution: its number, its approach (what it is coloured by), its sites, its measures as shown, its signs."""

    number: int
    approach: str
    sites: int
    values: Mapping[str, float | int | None]
    star: bool = False
    signs: str = ""


@dataclass(frozen=True)
class Measure:
    """How a measure is called on an axis."""

    name: str
    title: str
    unit: str = ""

    @property
    def label(self) -> str:
        """Title with unit."""
        return f"{self.title} ({self.unit})" if self.unit and self.unit not in self.title.lower() else self.title


Ranges = Mapping[str, tuple[float, float]]
"""The lowest and highest value that is wanted of some measures."""


def within(values: Mapping[str, float | int | None], ranges: Ranges) -> bool:
    """Whether all these values are known and in their ranges."""
    known = ((values.get(name), bounds) for name, bounds in ranges.items())
    return all(value is not None and low <= value <= high for value, (low, high) in known)


def approaches_of(rows: tuple[ChartRow, ...]) -> list[str]:
    """The approaches in the order of their first solution."""
    return list(dict.fromkeys(row.approach for row in rows))


def front_of(rows: tuple[ChartRow, ...], x: str, y: str) -> list[tuple[float, float]]:
    """The Pareto front of two measures, from left to right."""
    known = [(row.values.get(x), row.values.get(y)) for row in rows]
    points = [(float(a), float(b)) for a, b in known if a is not None and b is not None]
    kept = non_dominated(points)
    return sorted({point for point, keep in zip(points, kept, strict=True) if keep})


def nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round values between two bounds, about so many."""
    span = high - low
    if not math.isfinite(span) or span <= 0:
        return [low]
    step = 10.0 ** math.floor(math.log10(span / about))
    step = next(step * each for each in (1, 2, 2.5, 5, 10, 20) if span / (step * each) <= about)
    first = math.ceil(low / step - 1e-9)
    return [(first + i) * step for i in range(math.floor(high / step + 1e-9) - first + 1)]


def short_number(value: float) -> str:
    """A number for an axis: grouped, millions and billions shortened."""
    for size, letter in ((1e12, " T"), (1e9, " G"), (1e6, " M")):
        if abs(value) >= size:
            return f"{value / size:,.4g}{letter}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def padded(values: list[float], share: float = 0.06) -> tuple[float, float]:
    """Bounds with some room around values."""
    if not values:
        return 0.0, 1.0
    low, high = min(values), max(values)
    room = (high - low) * share or abs(high) * share or 1.0
    return low - room, high + room
