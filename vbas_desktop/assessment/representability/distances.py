"""Distances between classes: numbers by range, categories by matching or by a given table, weighted by column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vbas_desktop.domain.records import finite_number

from .classes import Classes, Label
from .distance_tables import DistanceTable, check_listed


@dataclass(frozen=True)
class Distance:
    """Gower-like: each column gives 0 … 1 (its weight at most), the sum is the distance.

    ``ranges[q]`` is the range of a numeric column, None for categories; ``tables[q]`` holds given distances.
    """

    ranges: tuple[float | None, ...]
    weights: tuple[float, ...]
    tables: Mapping[int, DistanceTable] = field(default_factory=dict)

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

    @classmethod
    def of_classes(
        cls,
        classes: Classes,
        weights: Sequence[float] | None = None,
        tables: Mapping[str, DistanceTable] | None = None,
    ) -> Distance:
        """The distance of a file's classes; refused if a table lacks values of the file."""
        given = tables or {}
        check_listed(classes, given)
        plain = cls.of_labels(classes.labels, weights)
        places = {q: given[name] for q, name in enumerate(classes.columns) if name in given}
        return cls(plain.ranges, plain.weights, places)

    def meaning(self, q: int) -> str:
        """How the values of a column are compared, in words."""
        if q in self.tables:
            return "given table"
        return "matching" if self.ranges[q] is None else "by range"

    def between(self, one: Label, other: Label) -> float:
        """The weighted sum over the columns."""
        return sum(weight * self._column(q, one[q], other[q]) for q, weight in enumerate(self.weights))

    def _column(self, q: int, one: str, other: str) -> float:
        if one == other:
            return 0.0
        if q in self.tables:
            return self.tables[q].between(one, other)
        width = self.ranges[q]
        first, second = finite_number(one), finite_number(other)
        if width is None or first is None or second is None:
            return 1.0
        return abs(first - second) / width if width else 0.0
