"""Criteria for sensitive values while regions are moved: records by value, and which classes fail.

Of each class of each aggregated region the records by sensitive value are kept, so that a move changes a few numbers
and judges the two classes anew. Criteria that compare with all released records are judged by all records here: what is
released is known only at the end, where it is judged as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.criteria import CLOSENESS, DISTINCT, ENTROPY, ORDERED, RECURSIVE, SHARE
from vbas_desktop.model.sensitive import SensitiveCounts, with_criteria

from ..diversity import list_class_values, shares_of
from .jit import allocating_subkernel, subkernel

_CLOSE = 1e-9
"""Two figures that differ by no more than this share of the limit are equal: sums of fractions are not exact."""

MOST_BYTES = 2**28
"""If the table of values would be larger, moves are judged by k alone; what is released is not."""


class DiversityState(NamedTuple):
    """The cells of each entry of the counts, the rules, and what is kept of the classes; empty if there are no rules.

    Entry e has ``numbers`` records of the values ``codes`` from ``start[e]`` to ``start[e + 1]``. Columns follow each
    other in one numbering of values: column s has those from ``first[s]``. ``rules`` has column, kind, limit and factor
    in each row. ``table`` has the records of each value for each class of each group, ``failing`` says which fail.
    """

    start: NDArray[np.int64]
    codes: NDArray[np.int32]
    numbers: NDArray[np.int64]
    first: NDArray[np.int64]
    harmful: NDArray[np.bool_]
    shares: NDArray[np.float64]
    rules: NDArray[np.float64]
    table: NDArray[np.int32]
    failing: NDArray[np.bool_]
    row: NDArray[np.int64]
    sorted: NDArray[np.int64]


def build_diversity_state(sensitive: Sequence[SensitiveCounts], classes: int) -> DiversityState:
    """Build the values of the columns with criteria, for a table with room for ``classes`` classes of groups."""
    judged = with_criteria(sensitive)
    n_values = sum(counts.harmful.size for counts in judged)
    if not judged or classes * n_values * 4 > MOST_BYTES:
        return _fill_diversity_state((), 0)
    return _fill_diversity_state(judged, classes)


def _fill_diversity_state(judged: Sequence[SensitiveCounts], classes: int) -> DiversityState:
    first = np.concatenate(([0], np.cumsum([counts.harmful.size for counts in judged]))).astype(np.int64)
    entries = [np.zeros(0, np.int64)]
    codes = [np.zeros(0, np.int32)]
    numbers = [np.zeros(0, np.int64)]
    rules = []
    number = 0
    for column, counts in enumerate(judged):
        class_values = list_class_values(counts, counts.cells)
        number = len(class_values)
        entries.append(np.repeat(np.arange(number), class_values.lengths))
        codes.append(class_values.codes + np.int32(first[column]))
        numbers.append(class_values.sizes)
        rules += [
            (column, criterion.number, criterion.limit, criterion.factor)
            for criterion in counts.chosen.criteria
        ]
    entry = np.concatenate(entries)
    order = np.argsort(entry, kind="stable")
    start = np.concatenate(([0], np.cumsum(np.bincount(entry, minlength=number)))).astype(np.int64)
    values = int(first[-1])
    return DiversityState(
        start=start,
        codes=np.concatenate(codes)[order],
        numbers=np.concatenate(numbers)[order],
        first=first,
        harmful=np.concatenate([np.zeros(0, np.bool_), *(counts.harmful for counts in judged)]),
        shares=np.concatenate([np.zeros(0), *(shares_of(counts.totals) for counts in judged)]),
        rules=np.array(rules, np.float64).reshape(-1, 4),
        table=np.zeros(classes * values, np.int32),
        failing=np.zeros(classes if judged else 0, np.bool_),
        row=np.zeros(values, np.int64),
        sorted=np.zeros(values, np.int64),
    )


@subkernel
def has_rules(diversity: DiversityState) -> bool:
    """Test whether there are rules at all."""
    return diversity.rules.shape[0] > 0


@subkernel
def row_fails(diversity: DiversityState, cell: int, entry: int, sign: int) -> bool:
    """Test whether a class would fail with the records of an entry added or taken away; sign 0: as it is."""
    n_values = diversity.row.size
    row = diversity.row
    for value in range(n_values):
        row[value] = diversity.table[cell * n_values + value]
    if sign != 0:
        for at in range(diversity.start[entry], diversity.start[entry + 1]):
            row[diversity.codes[at]] += sign * diversity.numbers[at]
    for rule in range(diversity.rules.shape[0]):
        column = np.int64(diversity.rules[rule, 0])
        kind = np.int64(diversity.rules[rule, 1])
        limit = diversity.rules[rule, 2]
        factor = diversity.rules[rule, 3]
        low = diversity.first[column]
        high = diversity.first[column + 1]
        harmful = diversity.harmful[low:high]
        shares = diversity.shares[low:high]
        figure = _compute_figure(kind, limit, row[low:high], harmful, shares, diversity.sorted)
        if not _meets(kind, limit, factor, figure):
            return True
    return False


@subkernel
def add_values(diversity: DiversityState, cell: int, entry: int, sign: int) -> None:
    """Add (or take away) the records of an entry."""
    values = diversity.row.size
    for at in range(diversity.start[entry], diversity.start[entry + 1]):
        diversity.table[cell * values + diversity.codes[at]] += sign * diversity.numbers[at]


@subkernel
def _compute_figure(
    kind: int, limit: float, numbers: Any, harmful: Any, shares: Any, space: Any
) -> float:
    """Compute the figure of one class that a criterion limits.

    numbers: int64, records of each value. harmful: bool per value. shares: float64, share of each value in all records.
    space: int64, work space for as many values.
    """
    size = 0
    harm = 0
    top = 0
    # Unsigned numbers: numba would look for a negative index at every access.
    for value in range(np.uint64(0), np.uint64(numbers.size)):
        size += numbers[value]
        if harmful[value]:
            harm += numbers[value]
            top = max(top, numbers[value])
    if harm == 0:
        return np.inf if kind in (DISTINCT, ENTROPY) else 0.0
    if kind == SHARE:
        return 100.0 * top / size
    if kind == DISTINCT:
        different = 0
        for value in range(numbers.size):
            different += 1 if numbers[value] > 0 else 0
        return float(different)
    if kind == ENTROPY:
        total = 0.0
        for value in range(numbers.size):
            if numbers[value] > 0:
                total -= numbers[value] * np.log(numbers[value] / size)
        return np.exp(total / size)
    if kind == CLOSENESS:
        return _sum_excess(numbers, size, harmful, shares)
    if kind == ORDERED:
        return _ordered_distance(numbers, size, shares)
    return _compute_recursive(int(limit), top, numbers, harmful, space)


@subkernel
def _sum_excess(numbers: Any, size: int, harmful: Any, shares: Any) -> float:
    """Sum up how much more frequent harmful values are than among all; if all are harmful, the total variation."""
    excess = 0.0
    for value in range(np.uint64(0), np.uint64(numbers.size)):
        if harmful[value]:
            excess += max(0.0, numbers[value] / size - shares[value])
    return excess


@subkernel
def _ordered_distance(numbers: Any, size: int, shares: Any) -> float:
    """Compute the earth mover's distance of ordered values; neighbours among those that occur are one step apart."""
    present = 0
    running = 0.0
    total = 0.0
    for value in range(shares.size):
        if shares[value] > 0.0:
            present += 1
        running += numbers[value] / size - shares[value]
        # Beyond a value that does not occur nothing has to be carried further.
        if shares[value] > 0.0 or numbers[value] > 0:
            total += abs(running)
    return total / (present - 1) if present > 1 else 0.0


@allocating_subkernel
def _compute_recursive(limit: int, top: int, numbers: Any, harmful: Any, space: Any) -> float:
    """Compute how many times as frequent as the rest the commonest harmful value is, once others are ruled out.

    With all values by frequency, r₁ ≥ r₂ ≥ …, and r_y that of the commonest harmful one: the rest is r_l + r_(l+1) + …
    if y < l; else it is r_(l−1) + r_l + … without r_y. An observer can rule out l − 2 values besides, benign ones too.
    """
    count = 0
    ahead = 0
    for value in range(numbers.size):
        if numbers[value] > 0:
            space[count] = numbers[value]
            count += 1
        if numbers[value] > top and not harmful[value]:
            ahead += 1
    descending = -np.sort(-space[:count])
    rank = ahead + 1
    rest = 0
    for j in range(limit if rank < limit else limit - 1, count + 1):
        if j != rank:
            rest += descending[j - 1]
    return top / rest if rest > 0 else np.inf


@subkernel
def _meets(kind: int, limit: float, factor: float, figure: float) -> bool:
    """Test whether a class with this figure meets the criterion."""
    if kind in (DISTINCT, ENTROPY):
        return figure >= limit * (1.0 - _CLOSE)
    if kind == RECURSIVE:
        return figure < factor * (1.0 - _CLOSE)
    return figure <= limit + _CLOSE * max(1.0, limit)
