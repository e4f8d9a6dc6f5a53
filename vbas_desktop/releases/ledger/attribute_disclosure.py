"""Find sensitive values that several releases disclose together although each of them meets its criteria.

People are told apart as far as their outcomes in all releases differ. A group of people with the same outcomes may be
large enough and yet have one illness. So the criteria of a release hold for the groups that it is divided into, too.

Criteria also decide which classes a release lists. Where a release without tiers shows all its quasi-identifiers, its
own classes say what was left out. Otherwise that is worked out again from the records, by k and by the criteria.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.composite_keys import number_combinations
from vbas_desktop.algorithms.diversity import ValueCounts, shares_of
from vbas_desktop.algorithms.suppression import Aggregation, suppress_locally
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.model.criteria import Criterion, SensitiveColumn
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import Grouping, RecordTable, finite_number
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.sensitive import SensitiveCounts
from vbas_desktop.model.tiers import NOT_RELEASED

from .cross_release_groups import JointCounts, ListedClasses, ReleaseOutcome
from .entry import Hashes, Ints, LedgerEntry, hash_combinations, hash_regions, hash_values

_GROUP_PREFIX = "\0group "
"""Begins the name of a group of which only the hash is known; no value begins so."""


def list_values(table: RecordTable, column: str) -> Sequence[str]:
    """List the different values of a column; none if the table does not have it, or it has too many."""
    for facts in table.columns:
        if facts.name == column and facts.categories is not None:
            return facts.categories.values
    return ()


def find_failing_groups(
    pairs: Ints, sizes: Ints, is_harmful: NDArray[np.bool_], totals: Ints, criteria: Sequence[Criterion]
) -> Ints:
    """Find the groups of people that miss a criterion.

    pairs: group · number of values + value, ascending. sizes: number of records of each pair.
    is_harmful: for each value; for ordered closeness, values must be numbered in their order.
    totals: number of records of each value in the whole release.
    """
    occurs = sizes > 0
    group, value = np.divmod(pairs[occurs], is_harmful.size)
    groups, starts = np.unique(group, return_index=True)
    counts = ValueCounts(is_harmful, np.append(starts, group.size), value, sizes[occurs])
    return np.asarray(groups[~counts.meet_criteria(criteria, shares_of(totals))])


def rank_numbers(texts: Sequence[str]) -> Ints | None:
    """Rank texts by the numbers that they stand for; None if one is not a number."""
    numbers = [finite_number(text) for text in texts]
    if None in numbers:
        return None
    ranks = np.empty(len(numbers), np.int64)
    ranks[np.argsort(np.array(numbers, np.float64), kind="stable")] = np.arange(len(numbers))
    return ranks


@dataclass(frozen=True, eq=False)
class ReleaseView:
    """One of several releases as its recipient sees it: the outcome of every cell, and the released columns."""

    outcome: ReleaseOutcome
    columns: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class CriteriaCounts:
    """The criteria of one release, and the records counted by the values of the sensitive column.

    release: position of the release among all that are compared.
    problem: the counts, with this one sensitive column.
    """

    release: int
    problem: Problem

    @property
    def sensitive_column(self) -> SensitiveColumn:
        """The column with its criteria."""
        return self.problem.sensitive[0].chosen


def find_disclosed_attributes(
    criteria: Sequence[CriteriaCounts],
    cells: JointCounts,
    merged_rows: Ints,
    releases: Sequence[ReleaseView],
) -> Iterator[tuple[SensitiveColumn, int]]:
    """Find the columns of which people learn more than the criteria allow, with the number of people concerned.

    releases: all releases, the new one first. The criteria of every release hold for all groups of which some release
    shows the column. Groups that the earlier releases disclose already, and that the new one does not divide, are not
    counted again.
    merged_rows: row of ``cells`` that each initial region was merged into.
    """
    groups, _ = number_combinations([release.outcome.released_class for release in releases])
    earlier_groups, _ = number_combinations([release.outcome.released_class for release in releases[1:]])
    sizes = np.bincount(groups, cells.sizes)[groups]
    earlier_sizes = np.bincount(earlier_groups, cells.sizes)[earlier_groups]
    for release_criteria in criteria:
        column = release_criteria.sensitive_column
        values = _SensitiveCells.count(release_criteria.problem, cells, merged_rows)
        totals = values.count_values(releases[release_criteria.release].outcome.is_released)
        is_shown = _find_cells_with_column(column.column, releases)
        was_shown = _find_cells_with_column(column.column, releases[1:])
        fails = values.find_failing_cells(groups, is_shown, column.criteria, totals)
        failed = values.find_failing_cells(earlier_groups, was_shown, column.criteria, totals)
        is_new = fails & ~(failed & (sizes == earlier_sizes))
        people = int(cells.sizes[is_new].sum())
        if people:
            yield column, people


def _find_cells_with_column(column: str, releases: Sequence[ReleaseView]) -> NDArray[np.bool_]:
    """Find the cells of which some release shows a column."""
    is_shown = np.zeros(releases[0].outcome.released_class.size, np.bool_)
    for release in releases:
        if column in release.columns:
            is_shown |= release.outcome.is_released
    return is_shown


@dataclass(frozen=True, eq=False)
class _SensitiveCells:
    """Records by cell of the joint counts and sensitive value: cell, code of the value, and number of records."""

    is_harmful: NDArray[np.bool_]
    cells: Ints
    values: Ints
    sizes: Ints

    @classmethod
    def count(cls, problem: Problem, joint: JointCounts, merged_rows: Ints) -> _SensitiveCells:
        """Assign the counts by sensitive value to the cells of the joint counts."""
        sensitive: SensitiveCounts = problem.sensitive[0]
        counts = sensitive.cells
        columns = counts.table.indices
        rows = merged_rows[counts.list_class_regions()]
        # The sensitive value is the last column of a combination.
        combinations = counts.combinations // max(1, counts.n_categories[-1])
        joint_columns = np.searchsorted(joint.counts.combinations, combinations[columns])
        n_columns = joint.counts.n_combinations
        keys = joint.cell_rows * n_columns + joint.cell_columns
        cells = np.searchsorted(keys, rows * n_columns + joint_columns)
        return cls(sensitive.harmful, cells, sensitive.codes[columns].astype(np.int64), counts.sizes)

    def count_values(self, is_counted: NDArray[np.bool_]) -> Ints:
        """Count the records of each value in some of the cells."""
        selected = is_counted[self.cells]
        return np.bincount(self.values[selected], self.sizes[selected], self.is_harmful.size).astype(
            np.int64
        )

    def find_failing_cells(
        self, groups: Ints, is_shown: NDArray[np.bool_], criteria: Sequence[Criterion], totals: Ints
    ) -> NDArray[np.bool_]:
        """Find the shown cells in groups that miss a criterion.

        groups: group of each cell. totals: number of records of each value in the whole release.
        """
        selected = is_shown[self.cells]
        pairs = groups[self.cells[selected]] * self.is_harmful.size + self.values[selected]
        keys, pair_numbers = np.unique(pairs, return_inverse=True)
        sizes = np.bincount(pair_numbers, self.sizes[selected], minlength=keys.size).astype(np.int64)
        failing = find_failing_groups(keys, sizes, self.is_harmful, totals, criteria)
        return is_shown & np.isin(groups, failing)


def recompute_listed_classes(
    key: bytes, table: RecordTable, regions: Regions, entry: LedgerEntry
) -> ListedClasses | None:
    """Work out from the records which classes a release with criteria lists; None if its own classes say it.

    Raises `InputError` if the records lack a column or region of the release.
    """
    if not entry.criteria or (entry.releases_all_quasi_identifiers and not entry.parents):
        return None
    membership = entry.find_aggregated_regions(hash_regions(key, regions.ids))
    if (membership < 0).any():
        raise InputError([])
    for name in (*entry.groups, *(recorded.column for recorded in entry.criteria)):
        if name not in table.file_format.header:
            raise InputError([])
    problem = build_problem(
        table,
        regions,
        region_column=entry.region_column,
        quasi_identifiers=entry.quasi_identifiers,
        k=entry.k,
        unknown_regions="suppress",
        groupings=[_restore_grouping(key, table, entry, name) for name in entry.groups],
        sensitive=[
            recorded.restore(key, list_values(table, recorded.column)) for recorded in entry.criteria
        ],
    )
    tiers = entry.tiers if entry.parents else None
    aggregation = Aggregation(
        problem.counts, entry.k, membership, entry.aggregated_regions, tiers, problem.sensitive
    )
    suppression = suppress_locally(aggregation)
    value_hashes = {
        number: _hash_groups(key, categories.column, categories.values)
        for number, categories in enumerate(problem.categories)
    }
    combinations = hash_combinations(problem.counts, value_hashes)
    is_listed = suppression.tier_of != NOT_RELEASED
    aggregated = suppression.aggregated
    return ListedClasses(
        aggregated.list_class_regions()[is_listed],
        combinations[aggregated.table.indices[is_listed]],
        suppression.tier_of[is_listed],
    )


def _restore_grouping(key: bytes, table: RecordTable, entry: LedgerEntry, column: str) -> Grouping:
    """Restore the groups of a column in a release, each named after its hash."""
    values = list_values(table, column)
    hashes = hash_values(key, column, values)
    groups = entry.recode(column, hashes)
    recoded = np.flatnonzero(groups != hashes).tolist()
    return Grouping(column, {values[number]: f"{_GROUP_PREFIX}{groups[number]}" for number in recoded})


def _hash_groups(key: bytes, column: str, categories: Sequence[str]) -> Hashes:
    """Hash the categories of a column; those named after a hash have it already."""
    hashes = hash_values(key, column, categories)
    for number, category in enumerate(categories):
        if category.startswith(_GROUP_PREFIX):
            hashes[number] = np.uint64(int(category.removeprefix(_GROUP_PREFIX)))
    return hashes
