"""Distances between classes: numbers by range, categories by matching or by a given table, weighted by column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vbas_desktop.domain.records import finite_number

from .classes import Label


@dataclass(frozen=True)
class Distance:
    """Gower-like: each column gives 0 … 1 (its weight at most), the sum is the distance.

    ``ranges[q]`` is the range of a numeric column, None for categories; ``tables[q]`` holds given distances of pairs.
    """

    ranges: tuple[float | None, ...]
    weights: tuple[float, ...]
    tables: Mapping[int, Mapping[tuple[str, str], float]] = field(default_factory=dict)

    @classmethod
    def of_labels(cls, labels: Sequence[Label], weights: Sequence[float] | None = None) -> Distance:
        """Numeric where all values of a column are numbers; weights 1 unless given."""
        width = len(labels[0]) if labels else 0
        ranges: list[float | None] = []
        for q in range(width):
            numbers = [finite_number(label[q]) for label in labels]
            known = [number for number in numbers if number is not None]
            ranges.append(max(known) - min(known) if known and len(known) == len(numbers) else None)
        return cls(tuple(ranges), tuple(weights) if weights is not None else (1.0,) * width)

    def between(self, one: Label, other: Label) -> float:
        """The weighted sum over the columns."""
        return sum(weight * self._column(q, one[q], other[q]) for q, weight in enumerate(self.weights))

    def _column(self, q: int, one: str, other: str) -> float:
        if one == other:
            return 0.0
        if q in self.tables:
            table = self.tables[q]
            return table.get((one, other), table.get((other, one), 1.0))
        width = self.ranges[q]
        first, second = finite_number(one), finite_number(other)
        if width is None or first is None or second is None:
            return 1.0
        return abs(first - second) / width if width else 0.0
