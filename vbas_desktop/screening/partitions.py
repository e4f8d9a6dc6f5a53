"""Counting partitions: the arithmetic behind the index of an anonymity vector.

index(v) = Σ_i q(n_i − i·(v_i + 1), i) with n_i = N − Σ_{j<i} j·v_j, where q(n, i) counts the partitions of n into
parts of at least i: q(n, 1) = p(n) and q(n, i + 1) = q(n, i) − q(n − i, i).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal
from functools import cache

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.compiled import compiled


def _pentagonal(n: int) -> list[tuple[int, int]]:
    terms, k = [], 1
    while k * (3 * k - 1) // 2 <= n:
        terms.append((k * (3 * k - 1) // 2, 1 if k % 2 else -1))
        terms.append((k * (3 * k + 1) // 2, 1 if k % 2 else -1))
        k += 1
    return terms


@compiled
def _add(target: NDArray[np.uint64], term: NDArray[np.uint64]) -> None:
    carry = np.uint64(0)
    for limb in range(target.size):
        total = target[limb] + term[limb]
        overflow = np.uint64(total < term[limb])
        total += carry
        carry = overflow | np.uint64(total < carry)
        target[limb] = total


@compiled
def _subtract(target: NDArray[np.uint64], term: NDArray[np.uint64]) -> None:
    borrow = np.uint64(0)
    for limb in range(target.size):
        value = target[limb]
        difference = value - term[limb]
        underflow = np.uint64(value < term[limb])
        second = np.uint64(difference < borrow)
        target[limb] = difference - borrow
        borrow = underflow | second


@compiled
def _fill_partitions(table: NDArray[np.uint64], places: NDArray[np.int64], signs: NDArray[np.int64]) -> None:
    table[0, 0] = 1
    for n in range(1, table.shape[0]):
        row = table[n]
        # All additions first: the running value then never goes below zero by more than the final subtractions allow.
        for t in range(places.size):
            if places[t] <= n and signs[t] > 0:
                _add(row, table[n - places[t]])
        for t in range(places.size):
            if places[t] <= n and signs[t] < 0:
                _subtract(row, table[n - places[t]])


@compiled
def _next_level(table: NDArray[np.uint64], top: int, part: int) -> None:
    # Descending, so that table[n - part] still holds the level before.
    for n in range(top, part - 1, -1):
        _subtract(table[n], table[n - part])


@cache
def _partition_table(people: int) -> NDArray[np.uint64]:
    bits = 3.7008 * people**0.5 + 64  # log2 p(n) < 3.7008·sqrt(n); the spare limb holds the sums before subtraction
    table = np.zeros((people + 1, int(bits // 64) + 1), np.uint64)
    terms = _pentagonal(people)
    _fill_partitions(table, np.array([t[0] for t in terms], np.int64), np.array([t[1] for t in terms], np.int64))
    table.flags.writeable = False
    return table


def partitions(n: int) -> int:
    """p(n), exactly."""
    return int.from_bytes(_partition_table(n)[n].tobytes(), "little")


class ExactCounts:
    """Exact indices for one number of people, in fixed-width integers: N × largest class × words operations."""

    def __init__(self, people: int) -> None:
        self._people = people

    def indices(self, vectors: Sequence[Sequence[int]]) -> tuple[int, ...]:
        """The index of each vector; one pass over the levels serves all of them."""
        table = _partition_table(_rounded(self._people)).copy()
        rest = [self._people] * len(vectors)
        totals = [0] * len(vectors)
        for part in range(1, max((len(vector) for vector in vectors), default=0) + 1):
            for which, vector in enumerate(vectors):
                count = vector[part - 1] if part <= len(vector) else 0
                left = rest[which] - part * (count + 1)
                if left >= 0 and part <= len(vector):
                    totals[which] += int.from_bytes(table[left].tobytes(), "little")
                rest[which] -= part * count
            if max(rest) < part:
                break
            _next_level(table, max(rest), part)
        return tuple(totals)


def _rounded(people: int) -> int:
    """Table sizes in steps, so that programmes of similar size share one table."""
    step = 64 if people < 1024 else 1024
    return -(-people // step) * step


class ApproximateCounts:
    """Indices of very many people, with an error bound: the levels that matter, from a convergent series for p(n).

    q(n, i) is a combination of p(n − d) with the coefficients of Π_{j<i}(1 − x^j); p(n) comes from the first two terms
    of its convergent series, whose relative error is below exp(−2/3·π·sqrt(2n/3)) times a small polynomial; small n
    are exact. Levels stop when all that could follow, q(n_i, i), no longer matters.
    """

    def __init__(self, digits: int = 320, tolerance: float = 1e-9) -> None:
        self._context = Context(prec=digits, Emax=10**9, Emin=-(10**9))
        self._tolerance = Decimal(tolerance)
        self._pi = _pi(self._context)
        self._p = cache(self._partitions)
        self._polynomials: list[NDArray[np.object_]] = [np.array([1], dtype=object)]

    def index(self, vector: Sequence[int], relative_to: Decimal | None) -> tuple[Decimal, Decimal]:
        """The index and a bound of its error; precise enough relative to ``relative_to`` (None: to itself)."""
        context = self._context
        rest = sum(size * count for size, count in enumerate(vector, 1))
        total, error = Decimal(0), Decimal(0)
        for part, count in enumerate(vector, 1):
            remaining, remaining_error = self._at_least(rest, part)
            scale = total if relative_to is None else relative_to
            if scale > 0 and remaining + remaining_error < scale * self._tolerance:
                return total, context.add(error, remaining + remaining_error)
            value, value_error = self._at_least(rest - part * (count + 1), part)
            total, error = context.add(total, value), context.add(error, value_error)
            rest -= part * count
        return total, error

    def _at_least(self, n: int, part: int) -> tuple[Decimal, Decimal]:
        if n < 0:
            return Decimal(0), Decimal(0)
        while len(self._polynomials) < part:
            self._polynomials.append(_times_one_minus_power(self._polynomials[-1], len(self._polynomials)))
        context, total, error = self._context, Decimal(0), Decimal(0)
        for degree, coefficient in enumerate(self._polynomials[part - 1]):
            if coefficient and degree <= n:
                value, value_error = self._p(n - degree)
                total = context.add(total, context.multiply(Decimal(int(coefficient)), value))
                error = context.add(error, context.multiply(abs(int(coefficient)), value_error))
        return max(total, Decimal(0)), error

    def _partitions(self, n: int) -> tuple[Decimal, Decimal]:
        context = self._context
        if n <= 2000:
            return Decimal(partitions(n)), Decimal(0)
        shifted = context.subtract(Decimal(n), context.divide(1, 24))
        root = shifted.sqrt(context)
        big = context.multiply(context.multiply(self._pi, context.divide(2, 3).sqrt(context)), root)
        first = self._term(big, shifted, 1)
        # A_2(n) = (−1)^n
        second = context.multiply(self._term(big, shifted, 2), -1 if n % 2 else 1)
        third = context.multiply(self._term(big, shifted, 3), 4)
        rounding = context.multiply(first, Decimal(10) ** (8 - context.prec))
        return context.add(first, second), context.add(third, rounding)

    def _term(self, big: Decimal, shifted: Decimal, k: int) -> Decimal:
        """The k-th term of the series without its root-of-unity factor: A_k·sqrt(k)/(π√2) · d/dn[sinh(…)/…]."""
        context = self._context
        z = context.divide(big, k)
        growth = context.exp(z)
        decay = context.divide(1, growth)
        cosh = context.divide(context.add(growth, decay), 2)
        sinh = context.divide(context.subtract(growth, decay), 2)
        # d/dn [ sinh(z)/sqrt(x) ] with dz/dn = z/(2x) is (z·cosh z − sinh z) / (2·x^{3/2}).
        numerator = context.subtract(context.multiply(z, cosh), sinh)
        denominator = context.multiply(2, context.multiply(shifted, shifted.sqrt(context)))
        factor = context.divide(Decimal(k).sqrt(context), context.multiply(self._pi, Decimal(2).sqrt(context)))
        return context.multiply(factor, context.divide(numerator, denominator))


def _times_one_minus_power(polynomial: NDArray[np.object_], power: int) -> NDArray[np.object_]:
    longer = np.zeros(polynomial.size + power, dtype=object)
    longer[: polynomial.size] += polynomial
    longer[power:] -= polynomial
    return longer


def _pi(context: Context) -> Decimal:
    """π to the context's precision by Machin's arctangent formula."""

    def arctan_inverse(x: int) -> Decimal:
        power = total = context.divide(1, x)
        square, n = x * x, 1
        while True:
            power = context.divide(-power, square)
            n += 2
            step = context.divide(power, n)
            if abs(step) < Decimal(10) ** -(context.prec + 5):
                return total
            total = context.add(total, step)

    return context.subtract(context.multiply(16, arctan_inverse(5)), context.multiply(4, arctan_inverse(239)))
