"""Anonymity vectors: the number of classes of each size, their order, and the improvement of one over another.

The improvement is measured by counting partitions: index(v) = Σ_i q(n_i − i·(v_i + 1), i) with n_i = N − Σ_{j<i} j·v_j,
where q(n, i) counts the partitions of n into parts of at least i: q(n, 1) = p(n) and q(n, i + 1) = q(n, i) − q(n − i,
i).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, total_ordering

import numpy as np
from numpy.typing import ArrayLike, NDArray

_TOLERANCE = 1e-9
"""Share of an index, in units of the largest count of the base, that may be neglected."""

_CHECK_LEVELS = 64
"""Number of levels after which the counts are tested for fitting into 64 bits."""


@cache
def _partition_numbers(people: int) -> tuple[int, ...]:
    """Compute p(0) … p(people) by Euler's recurrence over the pentagonal numbers k(3k ∓ 1)/2."""
    terms: list[tuple[int, int]] = []
    k = 1
    while k * (3 * k - 1) // 2 <= people:
        sign = 1 if k % 2 else -1
        terms += [(k * (3 * k - 1) // 2, sign), (k * (3 * k + 1) // 2, sign)]
        k += 1
    numbers = [1]
    for n in range(1, people + 1):
        total = 0
        for pentagonal, sign in terms:
            if pentagonal > n:
                break
            total += numbers[n - pentagonal] if sign > 0 else -numbers[n - pentagonal]
        numbers.append(total)
    return tuple(numbers)


def count_partitions(n: int) -> int:
    """Count the partitions of n, p(n), exactly."""
    return _partition_numbers(_round_table_size(n))[n]


def _round_table_size(people: int) -> int:
    """Round up to a table size, so that programmes of similar size share one cached table."""
    step = 64 if people < 1024 else 1024
    return -(-people // step) * step


def compute_exact_indices(people: int, vectors: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Compute the index of each vector; all vectors are of the same number of people.

    One pass over the levels serves all vectors: O(people × largest class) additions of integers of any size.
    """
    # counts[n] is q(n, part). Python's whole numbers, until all of them fit into 64 bits.
    counts = np.array(_partition_numbers(_round_table_size(people))[: people + 1], dtype=object)
    remaining = [people] * len(vectors)
    totals = [0] * len(vectors)
    for part in range(1, max((len(vector) for vector in vectors), default=0) + 1):
        for number, vector in enumerate(vectors):
            if part <= len(vector):
                unplaced = remaining[number] - part * (vector[part - 1] + 1)
                totals[number] += int(counts[unplaced]) if unplaced >= 0 else 0
                remaining[number] -= part * vector[part - 1]
        top = max(remaining)
        if top < part:
            break
        # q(n, part + 1) = q(n, part) − q(n − part, part), which is q(n, part) where n lies between one and two parts.
        counts = counts[: top + 1]
        counts[2 * part :] -= counts[part : max(part, counts.size - part)]
        counts[part] = 0
        if counts.dtype == object and part % _CHECK_LEVELS == 0 and max(counts.tolist()) < 1 << 62:
            counts = counts.astype(np.int64)
    return tuple(totals)


_EXACT_LOGARITHMS = 2_000
"""Up to this n the logarithm of p(n) comes from the exact number."""


def estimate_log_partitions(n: int) -> float:
    """Estimate the natural logarithm of p(n), to about 12 digits.

    For large n from the first term of Hardy and Ramanujan's series, (z − 1)·exp(z) / (4√2·π·r³) with r = √(n − 1/24)
    and z = π·√(2/3)·r. Its relative error is about exp(−z/2), below 1e-25 here. The source prints its limit
    exp(π·√(2n/3)) / (4n√3), which is 0.1 % too large for 100,000 people.
    """
    if n <= _EXACT_LOGARITHMS:
        return math.log(count_partitions(n))
    root = math.sqrt(n - 1 / 24)
    growth = math.pi * math.sqrt(2 / 3) * root
    return growth + math.log(growth - 1) - math.log(4 * math.sqrt(2) * math.pi) - 3 * math.log(root)


def estimate_index(vector: AnonymityVector, log_unit: float) -> tuple[float, float]:
    """Estimate the index of a vector of very many people, and a bound of the error, in units of exp(``log_unit``).

    q(n, i) is a combination of p(n − d) with the coefficients of Π_{j<i}(1 − x^j). Each level cancels two to three
    digits of the numbers before, so an absolute error of 1e-12 remains about that. Levels stop when all that could
    follow, q(n_i, i), no longer matters.
    """
    remaining = vector.people
    total = 0.0
    error = 0.0
    coefficients = np.ones(1)
    for size, count in enumerate(vector.counts, 1):
        rest, rest_error = _estimate_count(remaining, coefficients, log_unit)
        if rest + rest_error < _TOLERANCE:
            return total, error + rest + rest_error
        value, value_error = _estimate_count(remaining - size * (count + 1), coefficients, log_unit)
        total += value
        error += value_error
        remaining -= size * count
        # Times 1 − x^size.
        coefficients = np.append(coefficients, np.zeros(size)) - np.append(np.zeros(size), coefficients)
    return total, error


def _estimate_count(n: int, coefficients: NDArray[np.float64], log_unit: float) -> tuple[float, float]:
    """Estimate Σ_d coefficients[d]·p(n − d) and a bound of its error, in units of exp(``log_unit``)."""
    total = 0.0
    error = 0.0
    for degree, coefficient in enumerate(coefficients.tolist()):
        if not coefficient or degree > n:
            continue
        log_partitions = estimate_log_partitions(n - degree)
        value = coefficient * math.exp(min(log_partitions - log_unit, _LARGEST_EXPONENT))
        total += value
        # The rounding of a logarithm is an error of its exponential, relative to that.
        error += abs(value) * _ROUNDINGS * (abs(log_partitions) + abs(log_unit) + 1)
    return max(total, 0.0), error


_LARGEST_EXPONENT = 700.0
"""Larger exponents overflow; a vector has such counts only if it is far better than the base."""

_ROUNDINGS = 8 * 2.0**-53
"""Bound of the relative error of a logarithm that a few roundings make."""


EXACT_LIMIT = 20_000
"""Up to this many people the index is computed exactly (about a second)."""


@total_ordering
@dataclass(frozen=True)
class AnonymityVector:
    """Number of classes of each size: ``counts[t - 1]`` classes have exactly t people.

    There are no trailing zeros. The smaller vector in lexicographic order is the better one.
    """

    counts: tuple[int, ...]

    @classmethod
    def of_sizes(cls, sizes: ArrayLike) -> AnonymityVector:
        """Build the vector of classes with these sizes; zeros are no classes."""
        array = np.asarray(sizes, dtype=np.int64).ravel()
        return cls(tuple(int(count) for count in np.bincount(array[array > 0])[1:]))

    @classmethod
    def of_counts(cls, counts: Iterable[int]) -> AnonymityVector:
        """Build the vector with these entries, without trailing zeros."""
        entries = [int(count) for count in counts]
        while entries and entries[-1] == 0:
            entries.pop()
        return cls(tuple(entries))

    @property
    def people(self) -> int:
        """Number of people in all classes."""
        return sum(size * count for size, count in enumerate(self.counts, 1))

    @property
    def classes(self) -> int:
        """Number of classes."""
        return sum(self.counts)

    @property
    def k(self) -> int | None:
        """Size of the smallest class, as k-anonymity states it; None without people."""
        return next((size for size, count in enumerate(self.counts, 1) if count), None)

    def __lt__(self, other: AnonymityVector) -> bool:
        width = max(len(self.counts), len(other.counts))
        return self._pad(width) < other._pad(width)

    def _pad(self, width: int) -> tuple[int, ...]:
        return self.counts + (0,) * (width - len(self.counts))

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.counts))})"


def compute_indices(*vectors: AnonymityVector) -> tuple[int, ...]:
    """Count, for each vector, the vectors of the same number of people that are worse. Exact.

    Raises ValueError if the vectors are of different numbers of people.
    """
    people = {vector.people for vector in vectors}
    if len(people) > 1:
        raise ValueError("vectors of different numbers of people cannot be ranked together")
    return compute_exact_indices(people.pop(), [vector.counts for vector in vectors])


@dataclass(frozen=True)
class Improvement:
    """Improvement of one plan over another, relative to the vector before appointments; ``error`` bounds its error."""

    value: float
    exact: bool
    error: float = 0.0


def compute_improvement(
    better: AnonymityVector,
    worse: AnonymityVector,
    base: AnonymityVector,
    exact_limit: int = EXACT_LIMIT,
) -> Improvement:
    """Compute (index of ``better`` − index of ``worse``) / index of ``base``; 0 where the base has index 0.

    Exact for up to ``exact_limit`` people.
    """
    if base.people <= exact_limit:
        exact_first, exact_second, exact_reference = compute_indices(better, worse, base)
        return Improvement(
            (exact_first - exact_second) / exact_reference if exact_reference else 0.0, exact=True
        )
    unplaced = base.people - base.counts[0] - 1
    if unplaced < 0:
        return Improvement(0.0, exact=False)
    # The largest count of the base's index, which has it as its first term.
    log_unit = estimate_log_partitions(unplaced)
    reference, reference_error = estimate_index(base, log_unit)
    first, first_error = estimate_index(better, log_unit)
    second, second_error = estimate_index(worse, log_unit)
    value = (first - second) / reference
    error = (first_error + second_error + abs(value) * reference_error) / reference
    return Improvement(value, exact=False, error=error)
