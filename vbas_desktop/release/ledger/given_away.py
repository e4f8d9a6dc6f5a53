"""Whether several releases together give sensitive values away although each of them meets its criteria.

People are told apart as far as their fates in all releases differ. A group of people with the same fates may be large
enough and yet have one illness. So the criteria of a release hold for the groups that it is divided into, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.composite_keys import number_combinations
from vbas_desktop.model.criteria import Sensitive
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.sensitive import SensitiveCounts

from .fates import NOT_RELEASED, Atoms, Fates
from .group_criteria import find_failing_groups
from .numbering import Ints


@dataclass(frozen=True, eq=False)
class Judging:
    """A release with criteria: the number of it among all, and the counts that its criteria are judged by."""

    release: int
    problem: Problem

    @property
    def chosen(self) -> Sensitive:
        """The column with its criteria."""
        return self.problem.sensitive[0].chosen


@dataclass(frozen=True, eq=False)
class Shown:
    """What one release shows: the fates of all atoms, and its columns."""

    fates: Fates
    columns: tuple[str, ...]


def given_away(
    judging: Sequence[Judging], atoms: Atoms, merged: Ints, releases: Sequence[Shown]
) -> Iterator[tuple[Sensitive, int]]:
    """Columns of which people learn more than the criteria allow, and of how many; the first release is the new one.

    ``merged`` says which of the atoms' regions each initial region is in. The criteria of every release hold for all
    groups of which some release shows the column. Groups that the earlier releases give away already, and that the new
    one does not divide, are not counted again.
    """
    groups, _ = number_combinations([each.fates.fate for each in releases])
    earlier, _ = number_combinations([each.fates.fate for each in releases[1:]])
    for each in judging:
        cells = _Cells.of(each.problem, atoms, merged)
        everybody = cells.totals(releases[each.release].fates.fate != NOT_RELEASED)
        now = cells.failing(groups, _shows(each.chosen, releases), each.chosen, everybody)
        before = cells.failing(earlier, _shows(each.chosen, releases[1:]), each.chosen, everybody)
        size, size_before = (np.bincount(number, cells.counts)[number] for number in (groups, earlier))
        found = int(cells.counts[now & ~(before & (size == size_before))].sum())
        if found:
            yield each.chosen, found


def _shows(chosen: Sensitive, releases: Sequence[Shown]) -> NDArray[np.bool_]:
    """The atoms of which some release shows the sensitive column."""
    listed = np.zeros(releases[0].fates.fate.size, np.bool_)
    for release in releases:
        if chosen.column in release.columns:
            listed |= release.fates.fate != NOT_RELEASED
    return listed


@dataclass(frozen=True, eq=False)
class _Cells:
    """Records by atom and sensitive value."""

    sensitive: SensitiveCounts
    atom: Ints
    value: Ints
    number: Ints
    counts: Ints

    @classmethod
    def of(cls, problem: Problem, atoms: Atoms, merged: Ints) -> _Cells:
        """Those of a problem, put to the atoms that its initial regions were taken together to."""
        (sensitive,) = problem.sensitive
        cells = sensitive.cells
        columns = cells.table.indices
        region = merged[cells.list_class_regions()]
        kind = cells.combinations // max(1, cells.n_categories[-1])
        where, column, counts = atoms.cells
        width = atoms.counts.n_combinations
        wanted = region * width + np.searchsorted(atoms.counts.combinations, kind[columns])
        atom = np.searchsorted(where * width + column, wanted)
        return cls(sensitive, atom, sensitive.codes[columns].astype(np.int64), cells.sizes, counts)

    def totals(self, listed: NDArray[np.bool_]) -> Ints:
        """The listed records of each value."""
        mine = listed[self.atom]
        return np.bincount(self.value[mine], self.number[mine], self.sensitive.harmful.size).astype(np.int64)

    def failing(self, groups: Ints, listed: NDArray[np.bool_], chosen: Sensitive, everybody: Ints) -> NDArray[np.bool_]:
        """The listed atoms that are in groups which miss a criterion; ``everybody`` has the records of each value."""
        mine = listed[self.atom]
        width = self.sensitive.harmful.size
        keys, cell = np.unique(groups[self.atom[mine]] * width + self.value[mine], return_inverse=True)
        number = np.bincount(cell.ravel(), self.number[mine], minlength=keys.size).astype(np.int64)
        failing = find_failing_groups(keys, number, self.sensitive.harmful, everybody, chosen.criteria)
        return listed & np.isin(groups, failing)
