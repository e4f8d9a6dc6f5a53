"""A partition of the initial regions with what it costs; `partition_moves` changes it by one region at a time.

S is the number of records to be suppressed: of each aggregated region and class the records that are there, if they are
fewer than k or if their sensitive values do not meet the criteria. The class sizes of the aggregated regions are a full
matrix while that is small, else a table of the pairs (aggregated region, class) that were ever filled; `cell_of` serves
both.

Of each class of each aggregated region the records by sensitive value are kept, so that a move changes a few numbers
and judges the two classes anew. Criteria that compare with all released records are judged by all records here: what is
released is known only at the end, where it is judged as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.adjacency import adjacency_lists
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.criteria import CLOSENESS, DISTINCT, ENTROPY, ORDERED, RECURSIVE, SHARE
from vbas_desktop.model.progress import SILENT, Progress
from vbas_desktop.model.sensitive import SensitiveCounts, enforced

from .jit import allocating_subkernel, kernel, subkernel
from .preparation import prepare

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Indices = NDArray[np.int32]

_FULL_BYTES = 2**24
"""A matrix of class sizes up to this size is taken, however few of its cells are filled."""

_FILLED_AT_FIRST = 0.7
_FILLED_AT_MOST = 0.9
"""Shares of the table of pairs: what the start fills at most, and when it is made anew."""


_CLOSE = 1e-9
"""Two figures that differ by no more than this share of the limit are equal: sums of fractions are not exact."""


class Total(IntEnum):
    """Positions in ``Partition.totals``: whole numbers that are kept by differences."""

    SUPPRESSED = 0
    SQUARES = 1
    FILLED = 2
    MOVES = 3
    STAMP = 4
    WORK = 5
    GROUPS = 6


class Partition(NamedTuple):
    """Everything of a partition that changes, and what the changes are computed from.

    Entry e of region i's counts (from ``start[i]`` to ``start[i + 1]``) is ``values[e]`` of class ``columns[e]``.
    ``keys`` is empty if ``sizes`` is a full matrix. ``distance[0]`` is the sum of the distances to the centres, by
    ``weight``, ``bits[0]`` the estimated non-uniform entropy (see `change_of_bits`); ``spread`` and ``group_spread``
    are Σ population · log2(population).
    """

    owner: Indices
    start: Integers
    columns: Indices
    values: Integers
    keys: Integers
    sizes: Indices
    population: Integers
    group_population: Integers
    group_suppressed: Integers
    spread: Floats
    group_spread: Floats
    members: Integers
    first_neighbour: Integers
    neighbours: Indices
    points: Floats
    weight: Floats
    centres: Floats
    totals: Integers
    distance: Floats
    bits: Floats
    seen: Integers
    queue: Indices
    judged: JudgedValues
    classes: int
    k: int


def new_partition(
    counts: ClassCounts,
    points: Floats,
    pairs: NDArray[np.integer],
    owner: NDArray[np.integer],
    centres: Floats,
    k: int,
    sensitive: Sequence[SensitiveCounts] = (),
    weights: Floats | None = None,
    progress: Progress = SILENT,
) -> Partition:
    """The partition with these owners; ``pairs`` is the graph of the initial regions. The counts are not copied.

    ``weights`` say how much each initial region counts in means and distances; all alike if there are none.
    """
    groups, width, regions = len(centres), counts.n_combinations, len(points)
    first, neighbours = adjacency_lists(pairs, regions)
    cells = _table_cells(counts, groups)
    judged = judged_values(sensitive, cells or groups * width)
    population = counts.region_totals
    partition = Partition(
        owner=np.array(owner, np.int32),
        start=_shown(counts.table.indptr.astype(np.int64)),
        columns=_shown(counts.table.indices.astype(np.int32, copy=False)),
        values=_shown(counts.table.data),
        keys=np.empty(cells, np.int64),
        sizes=np.empty(cells or groups * width, np.int32),
        population=population.copy(),
        group_population=np.bincount(owner, population, minlength=groups).astype(np.int64),
        group_suppressed=np.zeros(groups, np.int64),
        spread=np.asarray(population * np.log2(np.maximum(population, 1)), float),
        group_spread=np.zeros(groups),
        members=np.bincount(owner, minlength=groups),
        first_neighbour=first,
        neighbours=neighbours,
        points=_shown(np.ascontiguousarray(points)),
        weight=_shown(np.ones(regions) if weights is None else np.ascontiguousarray(weights)),
        centres=np.array(centres, float),
        totals=np.zeros(len(Total), np.int64),
        distance=np.zeros(1),
        bits=np.zeros(1),
        seen=np.zeros(regions, np.int64),
        queue=np.zeros(regions, np.int32),
        judged=judged,
        classes=width,
        k=k,
    )
    prepare(progress, fill_table, partition)
    prepare(progress, _all_bits, partition)
    fill_table(partition)
    partition.totals[Total.SQUARES] = int((partition.group_population**2).sum())
    partition.totals[Total.GROUPS] = np.count_nonzero(partition.members)
    measure_distance(partition)
    measure_bits(partition)
    return partition


def _shown(array: NDArray[Any]) -> NDArray[Any]:
    """The array for reading only: loops are compiled anew for arrays of which one may be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def _table_cells(counts: ClassCounts, groups: int) -> int:
    """Cells of the table of pairs, 0 if a full matrix is better."""
    cells = int(counts.table.nnz / _FILLED_AT_FIRST) + 8
    full = groups * counts.n_combinations * 4
    return 0 if full <= max(_FULL_BYTES, cells * 12) else cells


def measure_distance(partition: Partition) -> None:
    """Add up the distances of the regions to the centres of theirs, by weight."""
    away = partition.points - partition.centres[partition.owner]
    partition.distance[0] = float((partition.weight * np.sqrt((away * away).sum(axis=1))).sum())


def recentre(partition: Partition) -> None:
    """Move each centre to the mean point of its regions where that makes the sum of their distances smaller."""
    owner, points, weight, groups = partition.owner, partition.points, partition.weight, len(partition.centres)
    whole = np.bincount(owner, weight, minlength=groups)
    whole[partition.members == 0] = 1.0
    means = np.column_stack([np.bincount(owner, weight * points[:, axis], minlength=groups) / whole for axis in (0, 1)])
    old, new = points - partition.centres[owner], points - means[owner]
    gain = weight * (np.sqrt((new * new).sum(axis=1)) - np.sqrt((old * old).sum(axis=1)))
    better = np.bincount(owner, gain, minlength=groups) < 0
    partition.centres[better] = means[better]
    measure_distance(partition)


def measure_bits(partition: Partition) -> None:
    """Estimate the non-uniform entropy from scratch."""
    partition.group_spread[:] = np.bincount(partition.owner, partition.spread, len(partition.group_spread))
    partition.bits[0] = _all_bits(partition)


@kernel
def _all_bits(p: Partition) -> float:
    bits = 0.0
    for group in range(p.members.size):
        bits += bits_of(p.group_population[group], p.group_suppressed[group], p.group_spread[group])
    return bits


@subkernel
def bits_of(population: int, suppressed: int, spread: float) -> float:
    """Bits that the released records of a group lose, if the same share of each of its regions is released."""
    if population == 0:
        return 0.0
    return (population - suppressed) * (np.log2(population) - spread / population)


@kernel
def fill_table(p: Partition) -> None:
    """Class sizes and S from the owners, from scratch."""
    p.keys[:] = -1
    p.sizes[:] = 0
    p.judged.table[:] = 0
    p.totals[Total.FILLED] = 0
    for i in range(p.owner.size):
        add_counts(p, i, p.owner[i], 1)
    p.group_suppressed[:] = 0
    sizes, k, judged = p.sizes, p.k, are_judged(p.judged)
    for cell in range(sizes.size):
        if judged:
            p.judged.failing[cell] = sizes[cell] >= k and row_fails(p.judged, cell, 0, 0)
        if 0 < sizes[cell] < k or (judged and p.judged.failing[cell]):
            key = cell if p.keys.size == 0 else p.keys[cell]
            p.group_suppressed[key // p.classes] += sizes[cell]
    p.totals[Total.SUPPRESSED] = p.group_suppressed.sum()


@subkernel
def table_is_crowded(p: Partition) -> bool:
    """Whether the table of pairs should be made anew, without those that are empty by now."""
    return p.keys.size > 0 and p.totals[Total.FILLED] > p.keys.size * _FILLED_AT_MOST


@subkernel
def table_has_room(p: Partition, i: int) -> bool:
    """Whether the table of pairs can take all that region i might bring."""
    return p.keys.size == 0 or p.totals[Total.FILLED] + p.start[i + 1] - p.start[i] < p.keys.size


@subkernel
def cell_of(keys: Integers, key: int) -> int:
    """Where the size of a pair is; of a pair that was never filled, the free place where it would be."""
    if keys.size == 0:
        return key
    scattered = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    cell: Any = np.int64(((scattered >> np.uint64(32)) * np.uint64(keys.size)) >> np.uint64(32))
    while keys[cell] != key and keys[cell] >= 0:
        cell += 1
        if cell == keys.size:
            cell = 0
    return cell  # type: ignore[no-any-return]


@subkernel
def add_counts(p: Partition, i: int, group: int, sign: int) -> None:
    """Add (or take away) the counts of a region to the class sizes of a group."""
    keys, sizes, columns, values, first = p.keys, p.sizes, p.columns, p.values, np.int64(group) * p.classes
    for e in range(p.start[i], p.start[i + 1]):
        number = values[e]
        key = first + columns[e]
        cell = cell_of(keys, key)
        if keys.size > 0 and keys[cell] < 0:
            keys[cell] = key
            p.totals[Total.FILLED] += 1
        sizes[cell] += sign * number
        if are_judged(p.judged):
            add_values(p.judged, cell, e, sign)


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
    from vbas_desktop.algorithms.diversity import list_class_values, shares_of

    first = np.concatenate(([0], np.cumsum([each.harmful.size for each in judged]))).astype(np.int64)
    entries, codes, numbers = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
    rules = []
    number = 0
    for place, each in enumerate(judged):
        found = list_class_values(each, each.cells)
        number = len(found)
        entries.append(np.repeat(np.arange(number), found.lengths))
        codes.append(found.codes + np.int32(first[place]))
        numbers.append(found.sizes)
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


@subkernel
def are_judged(v: JudgedValues) -> bool:
    """Whether there are rules at all."""
    return v.rules.shape[0] > 0


@subkernel
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


@subkernel
def add_values(v: JudgedValues, cell: int, entry: int, sign: int) -> None:
    """Add (or take away) the records of an entry."""
    values = v.row.size
    for at in range(v.start[entry], v.start[entry + 1]):
        v.table[cell * values + v.codes[at]] += sign * v.numbers[at]


@subkernel
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


@subkernel
def _more_than_all(codes: Any, numbers: Any, low: int, high: int, size: int, harmful: Any, shares: Any) -> float:
    """By how much harmful values are more frequent than among all; if all are harmful, the total variation."""
    more = 0.0
    for i in range(np.uint64(low), np.uint64(high)):
        code = np.uint64(codes[i])
        if harmful[code]:
            more += max(0.0, numbers[i] / size - shares[code])
    return more


@subkernel
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


@allocating_subkernel
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


@subkernel
def holds(kind: int, limit: float, factor: float, figure: float) -> bool:
    """Whether a class with this figure meets the criterion."""
    if kind in (DISTINCT, ENTROPY):
        return figure >= limit * (1.0 - _CLOSE)
    if kind == RECURSIVE:
        return figure < factor * (1.0 - _CLOSE)
    return figure <= limit + _CLOSE * max(1.0, limit)
