"""A partition of the initial regions with what it costs; `partition_moves` changes it by one region at a time.

S is the number of records to be suppressed: of each aggregated region and class the records that are there, if they are
fewer than k or if their sensitive values do not meet the criteria (`judged_values`). The class sizes of the aggregated
regions are a full matrix while that is small, else a table of the pairs (aggregated region, class) that were ever
filled; `cell_of` serves both.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.records import EquivalenceCounts
from vbas_desktop.model.sensitive import SensitiveCounts

from .adjacency import adjacency_lists
from .compiled import lean, lean_inner
from .judged_values import JudgedValues, add_values, are_judged, judged_values, row_fails

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Indices = NDArray[np.int32]

_FULL_BYTES = 2**24
"""A matrix of class sizes up to this size is taken, however few of its cells are filled."""

_FILLED_AT_FIRST = 0.7
_FILLED_AT_MOST = 0.9
"""Shares of the table of pairs: what the start fills at most, and when it is made anew."""


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

    Entry e of region i's counts (from ``start[i]`` to ``start[i + 1]``) is ``values[e]`` of class
    ``columns[e - shift[i]]``: of a full matrix all rows share one list of classes. ``keys`` is empty if ``sizes`` is a
    full matrix. ``distance[0]`` is the sum of the distances to the centres, by ``weight``, ``bits[0]`` the estimated
    non-uniform entropy (see `change_of_bits`); ``spread`` and ``group_spread`` are Σ population · log2(population).
    """

    owner: Indices
    start: Integers
    shift: Integers
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
    counts: EquivalenceCounts,
    points: Floats,
    pairs: NDArray[np.integer],
    owner: NDArray[np.integer],
    centres: Floats,
    k: int,
    sensitive: Sequence[SensitiveCounts] = (),
    weights: Floats | None = None,
) -> Partition:
    """The partition with these owners; ``pairs`` is the graph of the initial regions. The counts are not copied.

    ``weights`` say how much each initial region counts in means and distances; all alike if there are none.
    """
    groups, width, regions = len(centres), counts.classes.size, len(points)
    first, neighbours = adjacency_lists(pairs, regions)
    cells = _table_cells(counts, groups)
    judged = judged_values(sensitive, cells or groups * width)
    start, shift, columns, values = _counts_in_place(counts, by_rows=judged.rules.size > 0)
    population = counts.region_totals
    partition = Partition(
        owner=np.array(owner, np.int32),
        start=start,
        shift=shift,
        columns=columns,
        values=values,
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
    fill_table(partition)
    partition.totals[Total.SQUARES] = int((partition.group_population**2).sum())
    partition.totals[Total.GROUPS] = np.count_nonzero(partition.members)
    measure_distance(partition)
    measure_bits(partition)
    return partition


def _counts_in_place(counts: EquivalenceCounts, by_rows: bool = False) -> tuple[Integers, Integers, Indices, Integers]:
    regions, width = counts.regions, counts.classes.size
    if counts.dense is not None and not by_rows:
        start = np.arange(regions + 1, dtype=np.int64) * width
        columns = np.arange(width, dtype=np.int32)
        values = np.ascontiguousarray(counts.dense).ravel()
        return _shown(start), start[:-1].copy(), _shown(columns), _shown(values)
    indptr, columns, values = counts.rows
    return _shown(indptr), np.zeros(regions, np.int64), _shown(columns), _shown(values)


def _shown(array: NDArray[Any]) -> NDArray[Any]:
    """The array for reading only: loops are compiled anew for arrays of which one may be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def _table_cells(counts: EquivalenceCounts, groups: int) -> int:
    """Cells of the table of pairs, 0 if a full matrix is better."""
    cells = int(counts.stored / _FILLED_AT_FIRST) + 8
    full = groups * counts.classes.size * 4
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


@lean
def _all_bits(p: Partition) -> float:
    bits = 0.0
    for group in range(p.members.size):
        bits += bits_of(p.group_population[group], p.group_suppressed[group], p.group_spread[group])
    return bits


@lean_inner
def bits_of(population: int, suppressed: int, spread: float) -> float:
    """Bits that the released records of a group lose, if the same share of each of its regions is released."""
    if population == 0:
        return 0.0
    return (population - suppressed) * (np.log2(population) - spread / population)


@lean
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


@lean
def table_is_crowded(p: Partition) -> bool:
    """Whether the table of pairs should be made anew, without those that are empty by now."""
    return p.keys.size > 0 and p.totals[Total.FILLED] > p.keys.size * _FILLED_AT_MOST


@lean_inner
def table_has_room(p: Partition, i: int) -> bool:
    """Whether the table of pairs can take all that region i might bring."""
    return p.keys.size == 0 or p.totals[Total.FILLED] + p.start[i + 1] - p.start[i] < p.keys.size


@lean_inner
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


@lean_inner
def add_counts(p: Partition, i: int, group: int, sign: int) -> None:
    """Add (or take away) the counts of a region to the class sizes of a group."""
    keys, sizes, columns, values, first = p.keys, p.sizes, p.columns, p.values, np.int64(group) * p.classes
    shift = p.shift[i]
    for e in range(p.start[i], p.start[i + 1]):
        number = values[e]
        if number == 0:
            continue
        key = first + columns[e - shift]
        cell = cell_of(keys, key)
        if keys.size > 0 and keys[cell] < 0:
            keys[cell] = key
            p.totals[Total.FILLED] += 1
        sizes[cell] += sign * number
        if are_judged(p.judged):
            add_values(p.judged, cell, e, sign)
