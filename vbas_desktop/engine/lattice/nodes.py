"""The lattice of levels, and the counts of any of its nodes from the finest counts: no record is read again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.certainty_penalty import compute_value_penalty
from vbas_desktop.model.counts import ClassCounts, make_table
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import Grouping
from vbas_desktop.model.sensitive import SensitiveCounts

from .hierarchies import CodedHierarchy

Node = tuple[int, ...]
"""One level for each quasi-identifier, in their order."""

_LEFT_OUT = -1


@dataclass(frozen=True, eq=False)
class Lattice:
    """All combinations of levels that are allowed. ``allowed[i]`` lists the levels of the i-th hierarchy, ascending."""

    hierarchies: tuple[CodedHierarchy, ...]
    allowed: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        """Count the nodes."""
        return math.prod(len(levels) for levels in self.allowed)

    def by_height(self) -> list[list[Node]]:
        """List the nodes by the sum of their levels, ascending; within a height in order of the levels."""
        heights: dict[int, list[Node]] = {}
        for node in product(*self.allowed):
            heights.setdefault(sum(node), []).append(node)
        return [heights[height] for height in sorted(heights)]

    def groupings(self, node: Node) -> tuple[Grouping, ...]:
        """List the recodings of a node."""
        groupings = (
            hierarchy.get_grouping(level)
            for hierarchy, level in zip(self.hierarchies, node, strict=True)
        )
        return tuple(grouping for grouping in groupings if grouping is not None)

    def category_penalties(self, node: Node) -> tuple[NDArray[np.float64], ...]:
        """Compute the certainty penalty of each group of a node, attribute by attribute."""
        groups = (
            hierarchy.encode_level(level)[1]
            for hierarchy, level in zip(self.hierarchies, node, strict=True)
        )
        return (
            tuple(compute_value_penalty(np.bincount(codes), codes.size) for codes in groups)
            if any(node)
            else ()
        )

    @cached_property
    def _most_bits(self) -> float:
        return sum(hierarchy.compute_entropy(0) for hierarchy in self.hierarchies)

    def detail(self, node: Node) -> float:
        """Compute the share of the attributes' entropy that a node keeps, 0 to 1."""
        bits = sum(
            hierarchy.compute_entropy(level)
            for hierarchy, level in zip(self.hierarchies, node, strict=True)
        )
        return bits / self._most_bits if self._most_bits else 1.0


def build_lattice(
    hierarchies: tuple[CodedHierarchy, ...],
    pins: Mapping[str, int] | None = None,
    minima: Mapping[str, int] | None = None,
) -> Lattice:
    """Build the lattice under conditions: a pinned column keeps its level, a minimum of groups bounds its levels."""
    pins = pins or {}
    minima = minima or {}
    columns = [hierarchy.column for hierarchy in hierarchies]
    for column in (*pins, *minima):
        if column not in columns:
            finding = Finding(
                "no-hierarchy", "The column is no quasi-identifier.", f"They are {', '.join(columns)}."
            )
            raise InputError(replace(finding, column=column))
    return Lattice(hierarchies, tuple(_levels(hierarchy, pins, minima) for hierarchy in hierarchies))


def _levels(
    hierarchy: CodedHierarchy, pins: Mapping[str, int], minima: Mapping[str, int]
) -> tuple[int, ...]:
    every = range(len(hierarchy.levels))
    pinned = pins.get(hierarchy.column)
    if pinned is not None and pinned not in every:
        message = f"The hierarchy has no level {pinned}."
        raise InputError(
            Finding("no-such-level", message, f"Choose 0 to {every[-1]}.", column=hierarchy.column)
        )
    least = minima.get(hierarchy.column, 0)
    levels = tuple(
        level
        for level in every
        if hierarchy.count_groups(level) >= least and (pinned is None or level == pinned)
    )
    if not levels:
        most = hierarchy.count_groups(0 if pinned is None else pinned)
        message = f"No level leaves {least:,} categories."
        raise InputError(
            Finding("minimum", message, f"Choose at most {most:,}.", column=hierarchy.column)
        )
    return levels


@dataclass(frozen=True, eq=False)
class BaseTable:
    """The problem with the categories as they are, and what joining its classes needs."""

    problem: Problem
    lattice: Lattice

    @cached_property
    def codes(self) -> tuple[NDArray[np.int64], ...]:
        """Decode the category of each quasi-identifier for each combination that occurs."""
        counts = self.problem.counts
        return tuple(counts.decode_column(q) for q in range(len(counts.n_categories)))

    def join_combinations(
        self, node: Node
    ) -> tuple[tuple[int, ...], NDArray[np.int64], NDArray[np.int64]]:
        """Return category numbers and combinations of a node, and the combination that each of the finest becomes."""
        numbers = []
        whole = np.zeros(self.problem.counts.n_combinations, np.int64)
        for hierarchy, level, codes in zip(self.lattice.hierarchies, node, self.codes, strict=True):
            numbers.append(hierarchy.count_categories(level))
            _, mapping = hierarchy.encode_level(level)
            whole = whole * numbers[-1] + mapping[codes]
        classes, column = np.unique(whole, return_inverse=True)
        return tuple(numbers), classes, column.ravel()

    def sum_combinations(self, node: Node) -> NDArray[np.int64]:
        """Count the records of each combination of a node in the whole file. O(combinations)."""
        _, classes, column = self.join_combinations(node)
        return np.bincount(column, self.problem.counts.combination_totals, classes.size).astype(np.int64)

    def lost_at_least(self, node: Node) -> int:
        """Count the records that no partition can release: those of combinations below k in the whole file."""
        totals = self.sum_combinations(node)
        return int(totals[totals < self.problem.k].sum()) + self.problem.unknown_region_records

    def counts_at(self, node: Node, least: int = 1) -> ClassCounts:
        """Compute the counts of a node, as if the records had been counted with its groups.

        Classes of fewer than ``least`` records in the whole file are left out on the way, not from a copy.
        """
        joining = self._join_large(node, least)
        if joining is None:
            return self.problem.counts
        return _join_combinations(self.problem.counts, *joining)

    def values_at(self, node: Node, least: int = 1) -> tuple[SensitiveCounts, ...]:
        """Compute the sensitive counts of a node for the same combinations."""
        joining = self._join_large(node, least)
        if joining is None:
            return self.problem.sensitive
        return tuple(self._join_values(counts, *joining) for counts in self.problem.sensitive)

    def _join_large(
        self, node: Node, least: int
    ) -> tuple[tuple[int, ...], NDArray[np.int64], NDArray[np.int64]] | None:
        """Join as `joined` does, without combinations below ``least``; None if nothing changes."""
        numbers, classes, column = self.join_combinations(node)
        large = self.sum_combinations(node) >= least
        if large.all():
            return (numbers, classes, column) if any(node) else None
        return numbers, classes[large], np.where(large, np.cumsum(large) - 1, _LEFT_OUT)[column]

    def _join_values(
        self,
        sensitive: SensitiveCounts,
        numbers: tuple[int, ...],
        classes: NDArray[np.int64],
        column: NDArray[np.int64],
    ) -> SensitiveCounts:
        """Join the cells of a sensitive column as the combinations are joined."""
        cells = sensitive.cells
        values = cells.n_categories[-1]
        fine, code = np.divmod(cells.combinations, values)
        becomes = column[np.searchsorted(self.problem.counts.combinations, fine)]
        is_kept = becomes != _LEFT_OUT
        join_combinations, where = np.unique(
            classes[becomes[is_kept]] * values + code[is_kept], return_inverse=True
        )
        becomes[is_kept] = where.ravel()
        return sensitive.with_cells(
            _join_combinations(cells, (*numbers, values), join_combinations, becomes)
        )


def _join_combinations(
    counts: ClassCounts,
    n_categories: tuple[int, ...],
    combinations: NDArray[np.int64],
    column: NDArray[np.int64],
) -> ClassCounts:
    """Add up the columns that become the same combination; column j becomes ``column[j]``, or is left out."""
    is_kept = column != _LEFT_OUT
    ends = np.concatenate(([0], np.cumsum(is_kept)))
    joining = make_table(
        np.ones(ends[-1], np.int64), column[is_kept], ends, (column.size, combinations.size)
    )
    joined = counts.table @ joining
    joined.sort_indices()
    return ClassCounts(n_categories, combinations, joined)


def is_coarser(node: Node, other: Node) -> bool:
    """Test whether a node joins at least what another one joins, and more."""
    return node != other and all(mine >= theirs for mine, theirs in zip(node, other, strict=True))
