"""Anonymity vectors: how many classes there are of each size, which of two vectors is better, and by how much.

How much is measured by counting partitions: index(v) = Σ_i q(n_i − i·(v_i + 1), i) with n_i = N − Σ_{j<i} j·v_j, where
q(n, i) counts the partitions of n into parts of at least i: q(n, 1) = p(n) and q(n, i + 1) = q(n, i) − q(n − i, i).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from functools import cache, total_ordering

import numpy as np
from numpy.typing import ArrayLike, NDArray

_PRECISE = Context(prec=320, Emax=10**9, Emin=-(10**9))
_TOLERANCE = Decimal("1e-9")
"""How precisely indices are computed that cannot be had exactly, and what of them does not matter."""

_CHECK_LEVELS = 64
"""After so many levels it is looked whether the numbers have become small."""


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


def partitions(n: int) -> int:
    """p(n), exactly."""
    return _partition_numbers(_rounded(n))[n]


def _rounded(people: int) -> int:
    """Table sizes in steps, so that programmes of similar size share one table."""
    step = 64 if people < 1024 else 1024
    return -(-people // step) * step


def exact_indices(people: int, vectors: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Compute the index of each vector of so many people; one pass over the levels serves all of them.

    O(N × largest class) additions of whole numbers of any size.
    """
    # counts[n] is q(n, part). Python's whole numbers, until all of them fit into 64 bits.
    counts = np.array(_partition_numbers(_rounded(people))[: people + 1], dtype=object)
    rest = [people] * len(vectors)
    totals = [0] * len(vectors)
    for part in range(1, max((len(vector) for vector in vectors), default=0) + 1):
        for which, vector in enumerate(vectors):
            if part <= len(vector):
                left = rest[which] - part * (vector[part - 1] + 1)
                totals[which] += int(counts[left]) if left >= 0 else 0
                rest[which] -= part * vector[part - 1]
        top = max(rest)
        if top < part:
            break
        # q(n, part + 1) = q(n, part) − q(n − part, part), which is q(n, part) where n lies between one and two parts.
        counts = counts[: top + 1]
        counts[2 * part :] -= counts[part : max(part, counts.size - part)]
        counts[part] = 0
        if counts.dtype == object and part % _CHECK_LEVELS == 0 and max(counts.tolist()) < 1 << 62:
            counts = counts.astype(np.int64)
    return tuple(totals)


class ApproximateCounts:
    """Indices of very many people, with an error bound: the levels that matter, from a convergent series for p(n).

    q(n, i) is a combination of p(n − d) with the coefficients of Π_{j<i}(1 − x^j); p(n) comes from the first two terms
    of its convergent series, whose relative error is below exp(−2/3·π·sqrt(2n/3)) times a small polynomial; small n
    are exact. Levels stop when all that could follow, q(n_i, i), no longer matters.
    """

    def __init__(self) -> None:
        self._pi = _pi()
        self._p = cache(self._partitions)
        self._polynomials: list[NDArray[np.object_]] = [np.array([1], dtype=object)]

    def index(self, vector: Sequence[int], relative_to: Decimal | None) -> tuple[Decimal, Decimal]:
        """The index and a bound of its error; precise enough relative to ``relative_to`` (None: to itself)."""
        rest = sum(size * count for size, count in enumerate(vector, 1))
        total, error = Decimal(0), Decimal(0)
        with localcontext(_PRECISE):
            for part, count in enumerate(vector, 1):
                remaining, remaining_error = self._at_least(rest, part)
                scale = total if relative_to is None else relative_to
                if scale > 0 and remaining + remaining_error < scale * _TOLERANCE:
                    return total, error + remaining + remaining_error
                value, value_error = self._at_least(rest - part * (count + 1), part)
                total, error = total + value, error + value_error
                rest -= part * count
        return total, error

    def _at_least(self, n: int, part: int) -> tuple[Decimal, Decimal]:
        total, error = Decimal(0), Decimal(0)
        while len(self._polynomials) < part:
            self._polynomials.append(_times_one_minus_power(self._polynomials[-1], len(self._polynomials)))
        for degree, coefficient in enumerate(self._polynomials[part - 1].tolist()):
            if coefficient and degree <= n:
                value, value_error = self._p(n - degree)
                total += coefficient * value
                error += abs(coefficient) * value_error
        return max(total, Decimal(0)), error

    def _partitions(self, n: int) -> tuple[Decimal, Decimal]:
        if n <= 2000:
            return Decimal(partitions(n)), Decimal(0)
        shifted = n - Decimal(1) / 24
        big = self._pi * (Decimal(2) / 3).sqrt() * shifted.sqrt()
        first, second, third = (self._term(big, shifted, k) for k in (1, 2, 3))
        rounding = first * Decimal(10) ** (8 - _PRECISE.prec)
        # A_2(n) = (−1)^n
        return first + (-second if n % 2 else second), 4 * third + rounding

    def _term(self, big: Decimal, shifted: Decimal, k: int) -> Decimal:
        """The k-th term of the series without its root-of-unity factor: A_k·sqrt(k)/(π√2) · d/dn[sinh(…)/…]."""
        z = big / k
        growth = z.exp()
        cosh, sinh = (growth + 1 / growth) / 2, (growth - 1 / growth) / 2
        # d/dn [ sinh(z)/sqrt(x) ] with dz/dn = z/(2x) is (z·cosh z − sinh z) / (2·x^{3/2}).
        slope = (z * cosh - sinh) / (2 * (shifted * shifted.sqrt()))
        return Decimal(k).sqrt() / (self._pi * Decimal(2).sqrt()) * slope


def _times_one_minus_power(polynomial: NDArray[np.object_], power: int) -> NDArray[np.object_]:
    longer = np.zeros(polynomial.size + power, dtype=object)
    longer[: polynomial.size] += polynomial
    longer[power:] -= polynomial
    return longer


def _pi() -> Decimal:
    """π by Machin's arctangent formula."""

    def arctan_inverse(x: int) -> Decimal:
        power = total = Decimal(1) / x
        square, n = x * x, 1
        while True:
            power = -power / square
            n += 2
            step = power / n
            if abs(step) < Decimal(10) ** -(_PRECISE.prec + 5):
                return total
            total += step

    with localcontext(_PRECISE):
        return 16 * arctan_inverse(5) - 4 * arctan_inverse(239)


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
    return exact_indices(people.pop(), [vector.counts for vector in vectors])


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
