"""The lattice of levels, and the counts of any of its nodes from the finest counts: no record is read again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.certainty import share_of_domain
from vbas_desktop.model.counts import ClassCounts, make_table
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import Grouping
from vbas_desktop.model.sensitive import SensitiveCounts

from .ladders import Ladder

Node = tuple[int, ...]
"""One level for each quasi-identifier, in their order."""

_LEFT_OUT = -1


@dataclass(frozen=True, eq=False)
class Lattice:
    """All combinations of levels that are allowed. ``allowed[i]`` lists the levels of the i-th ladder, ascending."""

    ladders: tuple[Ladder, ...]
    allowed: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return math.prod(len(levels) for levels in self.allowed)

    def by_height(self) -> list[list[Node]]:
        """The nodes by the sum of their levels, ascending; within a height in order of the levels."""
        heights: dict[int, list[Node]] = {}
        for node in product(*self.allowed):
            heights.setdefault(sum(node), []).append(node)
        return [heights[height] for height in sorted(heights)]

    def groupings(self, node: Node) -> tuple[Grouping, ...]:
        """What a node does to the values of the records."""
        made = (ladder.grouping(level) for ladder, level in zip(self.ladders, node, strict=True))
        return tuple(grouping for grouping in made if grouping is not None)

    def category_penalties(self, node: Node) -> tuple[NDArray[np.float64], ...]:
        """Compute the certainty penalty of each group of a node, attribute by attribute."""
        groups = (ladder.grouped(level)[1] for ladder, level in zip(self.ladders, node, strict=True))
        return tuple(share_of_domain(np.bincount(codes), codes.size) for codes in groups) if any(node) else ()

    @cached_property
    def _most_bits(self) -> float:
        return sum(ladder.entropy(0) for ladder in self.ladders)

    def detail(self, node: Node) -> float:
        """The share of the attributes' information that a node keeps: entropies of the columns, 0 to 1."""
        bits = sum(ladder.entropy(level) for ladder, level in zip(self.ladders, node, strict=True))
        return bits / self._most_bits if self._most_bits else 1.0


def lattice_of(
    ladders: tuple[Ladder, ...], pins: Mapping[str, int] | None = None, minima: Mapping[str, int] | None = None
) -> Lattice:
    """The lattice under the user's conditions: a pinned column keeps its level, a minimum leaves so many categories."""
    pins, minima = pins or {}, minima or {}
    known = [ladder.column for ladder in ladders]
    for column in (*pins, *minima):
        if column not in known:
            finding = Finding("no-ladder", "The column is no quasi-identifier.", f"They are {', '.join(known)}.")
            raise InputError(replace(finding, column=column))
    return Lattice(ladders, tuple(_levels(ladder, pins, minima) for ladder in ladders))


def _levels(ladder: Ladder, pins: Mapping[str, int], minima: Mapping[str, int]) -> tuple[int, ...]:
    every = range(len(ladder.rungs))
    pinned = pins.get(ladder.column)
    if pinned is not None and pinned not in every:
        message = f"The ladder has no level {pinned}."
        raise InputError(Finding("no-such-level", message, f"Choose 0 to {every[-1]}.", column=ladder.column))
    least = minima.get(ladder.column, 0)
    levels = tuple(
        level for level in every if ladder.rungs[level].number >= least and (pinned is None or level == pinned)
    )
    if not levels:
        most = ladder.rungs[0 if pinned is None else pinned].number
        message = f"No level leaves {least:,} categories."
        raise InputError(Finding("minimum", message, f"Choose at most {most:,}.", column=ladder.column))
    return levels


@dataclass(frozen=True, eq=False)
class Finest:
    """The problem with the categories as they are, and what joining its classes needs."""

    problem: Problem
    lattice: Lattice

    @cached_property
    def codes(self) -> tuple[NDArray[np.int64], ...]:
        """The category of each quasi-identifier for each class that occurs."""
        counts = self.problem.counts
        return tuple(counts.decode_column(q) for q in range(len(counts.n_categories)))

    def joined(self, node: Node) -> tuple[tuple[int, ...], NDArray[np.int64], NDArray[np.int64]]:
        """Category numbers and classes of a node, and which of its classes each of the finest ones becomes."""
        numbers, whole = [], np.zeros(self.problem.counts.n_combinations, np.int64)
        for ladder, level, codes in zip(self.lattice.ladders, node, self.codes, strict=True):
            numbers.append(ladder.number(level))
            _, mapping = ladder.grouped(level)
            whole = whole * numbers[-1] + mapping[codes]
        classes, column = np.unique(whole, return_inverse=True)
        return tuple(numbers), classes, column.ravel()

    def joined_totals(self, node: Node) -> NDArray[np.int64]:
        """The records of each class of a node in the whole file. O(classes)."""
        _, classes, column = self.joined(node)
        return np.bincount(column, self.problem.counts.combination_totals, classes.size).astype(np.int64)

    def lost_at_least(self, node: Node) -> int:
        """The records that are lost whatever the place: those of classes below k in the whole file."""
        totals = self.joined_totals(node)
        return int(totals[totals < self.problem.k].sum()) + self.problem.unknown_region_records

    def counts_at(self, node: Node, least: int = 1) -> ClassCounts:
        """The counts of a node, as if the records had been counted with its groups.

        Classes of fewer than ``least`` records in the whole file are left out on the way, not from a copy.
        """
        joining = self._large(node, least)
        if joining is None:
            return self.problem.counts
        return _join_combinations(self.problem.counts, *joining)

    def values_at(self, node: Node, least: int = 1) -> tuple[SensitiveCounts, ...]:
        """The sensitive values of the same classes."""
        joining = self._large(node, least)
        if joining is None:
            return self.problem.sensitive
        return tuple(self._joined_values(each, *joining) for each in self.problem.sensitive)

    def _large(self, node: Node, least: int) -> tuple[tuple[int, ...], NDArray[np.int64], NDArray[np.int64]] | None:
        """What `joined` gives, without the classes of fewer than ``least`` records; None if all stay as they are."""
        numbers, classes, column = self.joined(node)
        large = self.joined_totals(node) >= least
        if large.all():
            return (numbers, classes, column) if any(node) else None
        return numbers, classes[large], np.where(large, np.cumsum(large) - 1, _LEFT_OUT)[column]

    def _joined_values(
        self,
        sensitive: SensitiveCounts,
        numbers: tuple[int, ...],
        classes: NDArray[np.int64],
        column: NDArray[np.int64],
    ) -> SensitiveCounts:
        """The cells of a sensitive column with the classes joined."""
        cells = sensitive.cells
        values = cells.n_categories[-1]
        fine, code = np.divmod(cells.combinations, values)
        becomes = column[np.searchsorted(self.problem.counts.combinations, fine)]
        kept = becomes != _LEFT_OUT
        joined, where = np.unique(classes[becomes[kept]] * values + code[kept], return_inverse=True)
        becomes[kept] = where.ravel()
        return sensitive.with_cells(_join_combinations(cells, (*numbers, values), joined, becomes))


def _join_combinations(
    counts: ClassCounts, n_categories: tuple[int, ...], combinations: NDArray[np.int64], column: NDArray[np.int64]
) -> ClassCounts:
    """Add up the columns that become the same combination; column j becomes ``column[j]``, or is left out."""
    kept = column != _LEFT_OUT
    ends = np.concatenate(([0], np.cumsum(kept)))
    joining = make_table(np.ones(ends[-1], np.int64), column[kept], ends, (column.size, combinations.size))
    joined = counts.table @ joining
    joined.sort_indices()
    return ClassCounts(n_categories, combinations, joined)


def coarser(one: Node, other: Node) -> bool:
    """Whether a node joins at least what another one joins, and more."""
    return one != other and all(mine >= theirs for mine, theirs in zip(one, other, strict=True))
