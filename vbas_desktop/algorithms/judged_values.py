"""Sensitive values of a partition that changes by one region at a time: which classes do not meet the criteria.

Of each class of each aggregated region the records by sensitive value are kept, so that a move changes a few numbers
and judges the two classes anew. Criteria that compare with all released records are judged by all records here: what is
released is known only at the end, where it is judged as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.sensitive import SensitiveCounts, enforced

from .compiled import lean_inner
from .diversity_kernel import figure_of, holds

MOST_BYTES = 2**28
"""If the table of values would be larger, moves are judged by k alone; what is released is not."""


class JudgedValues(NamedTuple):
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
    local: NDArray[np.int32]
    rules: NDArray[np.float64]
    table: NDArray[np.int32]
    failing: NDArray[np.bool_]
    row: NDArray[np.int64]
    sorted: NDArray[np.int64]


def judged_values(sensitive: Sequence[SensitiveCounts], classes: int) -> JudgedValues:
    """The values of the columns with criteria, for a table of so many classes of groups."""
    judged = enforced(sensitive)
    values = sum(each.harmful.size for each in judged)
    if not judged or classes * values * 4 > MOST_BYTES:
        return _of((), 0)
    return _of(judged, classes)


def _of(judged: Sequence[SensitiveCounts], classes: int) -> JudgedValues:
    from .diversity import segments, shares_of

    first = np.concatenate(([0], np.cumsum([each.harmful.size for each in judged]))).astype(np.int64)
    entries, codes, numbers = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
    rules = []
    number = 0
    for place, each in enumerate(judged):
        found = segments(each, each.cells)
        number = len(found)
        entries.append(np.repeat(np.arange(number), found.lengths))
        codes.append(found.codes + np.int32(first[place]))
        numbers.append(found.numbers)
        rules += [(place, one.number, one.limit, one.factor) for one in each.chosen.criteria]
    entry = np.concatenate(entries)
    order = np.argsort(entry, kind="stable")
    start = np.concatenate(([0], np.cumsum(np.bincount(entry, minlength=number)))).astype(np.int64)
    values = int(first[-1])
    return JudgedValues(
        start=start,
        codes=np.concatenate(codes)[order],
        numbers=np.concatenate(numbers)[order],
        first=first,
        harmful=np.concatenate([np.zeros(0, np.bool_), *(each.harmful for each in judged)]),
        shares=np.concatenate([np.zeros(0), *(shares_of(each.totals) for each in judged)]),
        local=np.arange(max((each.harmful.size for each in judged), default=0), dtype=np.int32),
        rules=np.array(rules, np.float64).reshape(-1, 4),
        table=np.zeros(classes * values, np.int32),
        failing=np.zeros(classes if judged else 0, np.bool_),
        row=np.zeros(values, np.int64),
        sorted=np.zeros(values, np.int64),
    )


@lean_inner
def are_judged(v: JudgedValues) -> bool:
    """Whether there are rules at all."""
    return v.rules.shape[0] > 0


@lean_inner
def row_fails(v: JudgedValues, cell: int, entry: int, sign: int) -> bool:
    """Whether a class would fail with the records of an entry added or taken away; sign 0: as it is."""
    values, row = v.row.size, v.row
    for value in range(values):
        row[value] = v.table[cell * values + value]
    if sign != 0:
        for at in range(v.start[entry], v.start[entry + 1]):
            row[v.codes[at]] += sign * v.numbers[at]
    for rule in range(v.rules.shape[0]):
        column, kind = np.int64(v.rules[rule, 0]), np.int64(v.rules[rule, 1])
        low, high = v.first[column], v.first[column + 1]
        limit, factor = v.rules[rule, 2], v.rules[rule, 3]
        harmful, shares = v.harmful[low:high], v.shares[low:high]
        figure = figure_of(kind, limit, v.local, row[low:high], 0, high - low, harmful, shares, v.sorted)
        if not holds(kind, limit, factor, figure):
            return True
    return False


@lean_inner
def add_values(v: JudgedValues, cell: int, entry: int, sign: int) -> None:
    """Add (or take away) the records of an entry."""
    values = v.row.size
    for at in range(v.start[entry], v.start[entry + 1]):
        v.table[cell * values + v.codes[at]] += sign * v.numbers[at]
