"""Anonymity vectors: how many classes there are of each size, which of two vectors is better, and by how much."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import total_ordering

import numpy as np
from numpy.typing import ArrayLike

from .partitions import ApproximateCounts, ExactCounts

EXACT_LIMIT = 20_000
"""Up to this many people the index is computed exactly (about a second)."""


@total_ordering
@dataclass(frozen=True)
class AnonymityVector:
    """``counts[t - 1]`` classes have exactly t people; no trailing zeros. Smaller in lexicographic order is better."""

    counts: tuple[int, ...]

    @classmethod
    def of_sizes(cls, sizes: ArrayLike) -> AnonymityVector:
        """The vector of classes with these sizes (zeros are no classes)."""
        array = np.asarray(sizes, dtype=np.int64).ravel()
        return cls(tuple(int(count) for count in np.bincount(array[array > 0])[1:]))

    @classmethod
    def of_counts(cls, counts: Iterable[int]) -> AnonymityVector:
        """The vector with these entries, trailing zeros cut off."""
        entries = [int(count) for count in counts]
        while entries and entries[-1] == 0:
            entries.pop()
        return cls(tuple(entries))

    @property
    def people(self) -> int:
        """How many people the classes hold together."""
        return sum(size * count for size, count in enumerate(self.counts, 1))

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return sum(self.counts)

    @property
    def k(self) -> int | None:
        """The size of the smallest class: what k-anonymity alone would tell; None without people."""
        return next((size for size, count in enumerate(self.counts, 1) if count), None)

    def __lt__(self, other: AnonymityVector) -> bool:
        width = max(len(self.counts), len(other.counts))
        return self._padded(width) < other._padded(width)

    def _padded(self, width: int) -> tuple[int, ...]:
        return self.counts + (0,) * (width - len(self.counts))

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.counts))})"


def indices(*vectors: AnonymityVector) -> tuple[int, ...]:
    """For each vector of the same number of people: how many vectors are worse. Exact."""
    people = {vector.people for vector in vectors}
    if len(people) > 1:
        raise ValueError("vectors of different numbers of people cannot be ranked together")
    return ExactCounts(people.pop()).indices([vector.counts for vector in vectors])


@dataclass(frozen=True)
class Improvement:
    """How much better one plan is than another, relative to the situation before appointments; ``error`` bounds it."""

    value: float
    exact: bool
    error: float = 0.0


def improvement(
    better: AnonymityVector, worse: AnonymityVector, base: AnonymityVector, exact_limit: int = EXACT_LIMIT
) -> Improvement:
    """(index of ``better`` − index of ``worse``) / index of ``base``; 0 where the base has index 0."""
    if base.people <= exact_limit:
        first, second, reference = indices(better, worse, base)
        return Improvement((first - second) / reference if reference else 0.0, exact=True)
    counts = ApproximateCounts()
    reference_value, reference_error = counts.index(base.counts, relative_to=None)
    if reference_value == 0:
        return Improvement(0.0, exact=False)
    first_value, first_error = counts.index(better.counts, relative_to=reference_value)
    second_value, second_error = counts.index(worse.counts, relative_to=reference_value)
    value = (first_value - second_value) / reference_value
    error = (first_error + second_error + abs(value) * reference_error) / reference_value
    return Improvement(float(value), exact=False, error=float(error))
