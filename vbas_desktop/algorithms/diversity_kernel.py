"""The figures of the criteria for sensitive values as compiled loops (see `diversity`).

A class is a list of values (codes) with their numbers of records; numbers may be 0. Every kind of criterion comes down
to one figure of the class and a limit. A class without a harmful value passes all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vbas_desktop.model.criteria import CLOSENESS, DISTINCT, ENTROPY, ORDERED, RECURSIVE, SHARE

from .compiled import compiled, inner, lean

CLOSE = 1e-9
"""Two figures that differ by no more than this share of the limit are equal: sums of fractions are not exact."""


@inner
def figure_of(
    kind: int, limit: float, codes: Any, numbers: Any, low: int, high: int, harmful: Any, shares: Any, sorted_: Any
) -> float:
    """The figure of the values ``low`` … ``high`` − 1. ``shares`` are those of all released records by code."""
    size, harm, top = 0, 0, 0
    # Unsigned numbers: numba would look for a negative index at every access.
    for i in range(np.uint64(low), np.uint64(high)):
        size += numbers[i]
        if harmful[np.uint64(codes[i])]:
            harm += numbers[i]
            top = max(top, numbers[i])
    if harm == 0:
        return np.inf if kind in (DISTINCT, ENTROPY) else 0.0
    if kind == SHARE:
        return 100.0 * top / size
    if kind == DISTINCT:
        different = 0
        for i in range(low, high):
            different += 1 if numbers[i] > 0 else 0
        return float(different)
    if kind == ENTROPY:
        total = 0.0
        for i in range(low, high):
            if numbers[i] > 0:
                total -= numbers[i] * np.log(numbers[i] / size)
        return np.exp(total / size)
    if kind == CLOSENESS:
        return _more_than_all(codes, numbers, low, high, size, harmful, shares)
    if kind == ORDERED:
        return _ordered_distance(codes, numbers, low, high, size, shares)
    return _recursive(int(limit), top, codes, numbers, low, high, harmful, sorted_)


@inner
def _more_than_all(codes: Any, numbers: Any, low: int, high: int, size: int, harmful: Any, shares: Any) -> float:
    """By how much harmful values are more frequent than among all; if all are harmful, the total variation."""
    more = 0.0
    for i in range(np.uint64(low), np.uint64(high)):
        code = np.uint64(codes[i])
        if harmful[code]:
            more += max(0.0, numbers[i] / size - shares[code])
    return more


@inner
def _ordered_distance(codes: Any, numbers: Any, low: int, high: int, size: int, shares: Any) -> float:
    """The earth mover's distance of values in their order, neighbours among those that occur being one step apart."""
    present, running, total, at = 0, 0.0, 0.0, low
    for code in range(shares.size):
        mine = 0
        while at < high and codes[at] == code:
            mine += numbers[at]
            at += 1
        if shares[code] > 0.0:
            present += 1
        running += mine / size - shares[code]
        # Beyond a value that does not occur nothing has to be carried further.
        if shares[code] > 0.0 or mine > 0:
            total += abs(running)
    return total / (present - 1) if present > 1 else 0.0


@inner
def _recursive(
    limit: int, top: int, codes: Any, numbers: Any, low: int, high: int, harmful: Any, sorted_: Any
) -> float:
    """How many times as frequent as the rest the commonest harmful value is, once others are ruled out.

    With all values by frequency, r₁ ≥ r₂ ≥ …, and r_y that of the commonest harmful one: the rest is r_l + r_(l+1) + …
    if y < l; else it is r_(l−1) + r_l + … without r_y. An observer can rule out l − 2 values besides, benign ones too.
    """
    count, place = 0, -1
    for i in range(low, high):
        if numbers[i] > 0:
            sorted_[count] = numbers[i]
            count += 1
    descending = -np.sort(-sorted_[:count])
    ahead = 0
    for i in range(low, high):
        if numbers[i] > top and not harmful[codes[i]]:
            ahead += 1
    place = ahead + 1
    rest = 0
    for j in range(limit if place < limit else limit - 1, count + 1):
        if j != place:
            rest += descending[j - 1]
    return top / rest if rest > 0 else np.inf


@inner
def holds(kind: int, limit: float, factor: float, figure: float) -> bool:
    """Whether a class with this figure meets the criterion."""
    if kind in (DISTINCT, ENTROPY):
        return figure >= limit * (1.0 - CLOSE)
    if kind == RECURSIVE:
        return figure < factor * (1.0 - CLOSE)
    return figure <= limit + CLOSE * max(1.0, limit)


@compiled
def figures(
    kind: int, limit: float, starts: Any, codes: Any, numbers: Any, harmful: Any, shares: Any, first: int, out: Any
) -> None:
    """The figure of each class ``first`` …; the values of class e are from ``starts[e]`` to ``starts[e + 1]``."""
    sorted_ = np.empty(shares.size, np.int64)
    for e in range(out.size):
        low, high = starts[first + e], starts[first + e + 1]
        out[e] = figure_of(kind, limit, codes, numbers, low, high, harmful, shares, sorted_)


@compiled
def judge(
    kind: int,
    limit: float,
    factor: float,
    starts: Any,
    codes: Any,
    numbers: Any,
    harmful: Any,
    shares: Any,
    first: int,
    good: Any,
) -> None:
    """Of the classes ``first`` … that are good so far, note which do not meet a criterion."""
    sorted_ = np.empty(shares.size, np.int64)
    for e in range(good.size):
        if good[e]:
            low, high = starts[first + e], starts[first + e + 1]
            figure = figure_of(kind, limit, codes, numbers, low, high, harmful, shares, sorted_)
            good[e] = holds(kind, limit, factor, figure)


@lean
def add_totals(starts: Any, codes: Any, numbers: Any, kept: Any, totals: Any) -> None:
    """Add the records of each value in the classes that are kept."""
    for e in range(kept.size):
        if kept[e]:
            for i in range(np.uint64(starts[e]), np.uint64(starts[e + 1])):
                totals[np.uint64(codes[i])] += numbers[i]


@compiled
def starts_of_classes(indptr: Any, columns: Any, class_of: Any, starts: Any) -> int:
    """Where the cells of each (region, class) begin; returns how many of these there are."""
    count = 0
    for region in range(indptr.size - 1):
        last = -1
        for at in range(indptr[region], indptr[region + 1]):
            here = class_of[columns[at]]
            if here != last:
                starts[count] = at
                count += 1
                last = here
    starts[count] = columns.size
    return count
