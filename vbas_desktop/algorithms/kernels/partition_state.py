"""A partition of the initial regions with what it costs; `partition_moves` changes it by one region at a time.

S is the number of records to be suppressed: of each aggregated region and class the records that are there, if they are
fewer than k or if their sensitive values do not meet the criteria. The class sizes of the aggregated regions are a full
matrix while that is small, else a table of the pairs (aggregated region, class) that were ever filled; `cell_of` serves
both.

Whether sensitive values meet the criteria is judged in `diversity`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.sensitive import SensitiveCounts

from ..region_graph import build_adjacency
from .diversity import DiversityState, add_values, build_diversity_state, has_rules, row_fails
from .jit import kernel, prepare, subkernel

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Indices = NDArray[np.int32]

_FULL_BYTES = 2**24
"""A matrix of class sizes up to this size is taken, however few of its cells are filled."""

_FILLED_AT_FIRST = 0.7
_FILLED_AT_MOST = 0.9
"""Shares of the table of pairs: what the start fills at most, and when it is made anew."""


class Total(IntEnum):
    """Positions in ``PartitionState.totals``: whole numbers that are kept by differences."""

    SUPPRESSED = 0
    SQUARES = 1
    FILLED = 2
    MOVES = 3
    STAMP = 4
    WORK = 5
    GROUPS = 6


class PartitionState(NamedTuple):
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
    visited: Integers
    queue: Indices
    diversity: DiversityState
    classes: int
    k: int


@dataclass(frozen=True, eq=False)
class AnnealingData:
    """Data that all partitions of the same initial regions share.

    counts: records by region and class. points: float64 (regions, 2). pairs: integers (pairs, 2), the graph of the
    regions. weights: how much each region counts in means and distances; all alike if there are none.
    """

    counts: ClassCounts
    points: Floats
    pairs: NDArray[np.integer]
    k: int
    sensitive: Sequence[SensitiveCounts] = ()
    weights: Floats | None = None


def build_partition_state(
    data: AnnealingData, owner: NDArray[np.integer], centres: Floats, progress: Progress = NO_PROGRESS
) -> PartitionState:
    """Build the state of the partition with these owners and centres. Counts and points are not copied."""
    counts = data.counts
    points = data.points
    weights = data.weights
    groups = len(centres)
    width = counts.n_combinations
    regions = len(points)
    first, neighbours = build_adjacency(data.pairs, regions)
    cells = _table_cells(counts, groups)
    diversity = build_diversity_state(data.sensitive, cells or groups * width)
    population = counts.region_totals
    partition = PartitionState(
        owner=np.array(owner, np.int32),
        start=_as_readonly(counts.table.indptr.astype(np.int64)),
        columns=_as_readonly(counts.table.indices.astype(np.int32, copy=False)),
        values=_as_readonly(counts.table.data),
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
        points=_as_readonly(np.ascontiguousarray(points)),
        weight=_as_readonly(np.ones(regions) if weights is None else np.ascontiguousarray(weights)),
        centres=np.array(centres, float),
        totals=np.zeros(len(Total), np.int64),
        distance=np.zeros(1),
        bits=np.zeros(1),
        visited=np.zeros(regions, np.int64),
        queue=np.zeros(regions, np.int32),
        diversity=diversity,
        classes=width,
        k=data.k,
    )
    prepare(progress, fill_table, partition)
    prepare(progress, _all_bits, partition)
    fill_table(partition)
    partition.totals[Total.SQUARES] = int((partition.group_population**2).sum())
    partition.totals[Total.GROUPS] = np.count_nonzero(partition.members)
    measure_distance(partition)
    measure_bits(partition)
    return partition


def _as_readonly(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view: loops are compiled anew for arrays of which one may be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def _table_cells(counts: ClassCounts, groups: int) -> int:
    """Compute the cells of the table of pairs, 0 if a full matrix is better."""
    cells = int(counts.table.nnz / _FILLED_AT_FIRST) + 8
    full = groups * counts.n_combinations * 4
    return 0 if full <= max(_FULL_BYTES, cells * 12) else cells


def measure_distance(partition: PartitionState) -> None:
    """Add up the distances of the regions to the centres of theirs, by weight."""
    away = partition.points - partition.centres[partition.owner]
    partition.distance[0] = float((partition.weight * np.sqrt((away * away).sum(axis=1))).sum())


def recentre(partition: PartitionState) -> None:
    """Move each centre to the mean point of its regions where that makes the sum of their distances smaller."""
    owner = partition.owner
    points = partition.points
    weight = partition.weight
    groups = len(partition.centres)
    whole = np.bincount(owner, weight, minlength=groups)
    whole[partition.members == 0] = 1.0
    means = np.column_stack(
        [np.bincount(owner, weight * points[:, axis], minlength=groups) / whole for axis in (0, 1)]
    )
    old = points - partition.centres[owner]
    new = points - means[owner]
    gain = weight * (np.sqrt((new * new).sum(axis=1)) - np.sqrt((old * old).sum(axis=1)))
    better = np.bincount(owner, gain, minlength=groups) < 0
    partition.centres[better] = means[better]
    measure_distance(partition)


def measure_bits(partition: PartitionState) -> None:
    """Estimate the non-uniform entropy from scratch."""
    partition.group_spread[:] = np.bincount(
        partition.owner, partition.spread, len(partition.group_spread)
    )
    partition.bits[0] = _all_bits(partition)


@kernel
def _all_bits(state: PartitionState) -> float:
    bits = 0.0
    for group in range(state.members.size):
        bits += bits_of(
            state.group_population[group], state.group_suppressed[group], state.group_spread[group]
        )
    return bits


@subkernel
def bits_of(population: int, suppressed: int, spread: float) -> float:
    """Compute the bits that the released records of a group lose, if each of its regions releases the same share."""
    if population == 0:
        return 0.0
    return (population - suppressed) * (np.log2(population) - spread / population)


@kernel
def fill_table(state: PartitionState) -> None:
    """Compute the class sizes and S from the owners, from scratch."""
    state.keys[:] = -1
    state.sizes[:] = 0
    state.diversity.table[:] = 0
    state.totals[Total.FILLED] = 0
    for i in range(state.owner.size):
        add_counts(state, i, state.owner[i], 1)
    state.group_suppressed[:] = 0
    sizes = state.sizes
    k = state.k
    judged = has_rules(state.diversity)
    for cell in range(sizes.size):
        if judged:
            state.diversity.failing[cell] = sizes[cell] >= k and row_fails(state.diversity, cell, 0, 0)
        if 0 < sizes[cell] < k or (judged and state.diversity.failing[cell]):
            key = cell if state.keys.size == 0 else state.keys[cell]
            state.group_suppressed[key // state.classes] += sizes[cell]
    state.totals[Total.SUPPRESSED] = state.group_suppressed.sum()


@subkernel
def table_is_crowded(state: PartitionState) -> bool:
    """Test whether the table of pairs should be made anew, without those that are empty by now."""
    return state.keys.size > 0 and state.totals[Total.FILLED] > state.keys.size * _FILLED_AT_MOST


@subkernel
def table_has_room(state: PartitionState, i: int) -> bool:
    """Test whether the table of pairs can take all that region i might bring."""
    return (
        state.keys.size == 0
        or state.totals[Total.FILLED] + state.start[i + 1] - state.start[i] < state.keys.size
    )


@subkernel
def cell_of(keys: Integers, key: int) -> int:
    """Find the cell of a pair; of a pair that was never filled, the free cell where it would be."""
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
def add_counts(state: PartitionState, i: int, group: int, sign: int) -> None:
    """Add (or take away) the counts of a region to the class sizes of a group."""
    keys = state.keys
    sizes = state.sizes
    columns = state.columns
    values = state.values
    first = np.int64(group) * state.classes
    for e in range(state.start[i], state.start[i + 1]):
        number = values[e]
        key = first + columns[e]
        cell = cell_of(keys, key)
        if keys.size > 0 and keys[cell] < 0:
            keys[cell] = key
            state.totals[Total.FILLED] += 1
        sizes[cell] += sign * number
        if has_rules(state.diversity):
            add_values(state.diversity, cell, e, sign)
