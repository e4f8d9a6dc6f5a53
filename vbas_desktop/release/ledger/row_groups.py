"""Group the rows of releases of different record files by the releases that list them.

The recipient takes rows that are alike in the columns that all releases have for the same person. So people are told
apart by their cell and by the set of releases that list them: those who came are in the later release only, those who
left in the earlier one, those who stayed in both. A release tells something new of every group that it divides, and
each of these groups must have enough people and must meet the criteria for sensitive values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.composite_keys import number_combinations
from vbas_desktop.model.criteria import Criterion, criterion_of
from vbas_desktop.model.words import MISSING

from .entry import Rows, cell_keys
from .group_criteria import find_failing_groups, rank_numbers
from .guarded import Guarded
from .keyed import Hashes, value_hashes
from .numbering import Ints

MOST_RELEASES = 60
"""Sets of releases are bits of a 64-bit number."""

_SCALE = 1 << 20
"""Expected numbers of people are rounded to this part of one: a power of two, so that whole numbers stay exact."""


class Listing(NamedTuple):
    """The rows of one release; ``keys`` are those of its cells, with places numbered alike in all releases."""

    keys: Hashes
    rows: Rows


class _Parts(NamedTuple):
    """People with alike rows who are in the same releases: number of the row, set of releases as bits, how many."""

    row: Ints
    releases: Ints
    people: Ints


@dataclass(frozen=True, eq=False)
class RowGroups:
    """The people of several releases by cell and by the releases that list them; the first release is the new one."""

    listings: tuple[Listing, ...]

    @cached_property
    def common(self) -> list[str]:
        """The columns by which rows of all releases can be compared."""
        first, *others = (listing.rows.columns for listing in self.listings)
        return [name for name in first if all(name in columns for columns in others)]

    @cached_property
    def _cells(self) -> Hashes:
        return np.unique(np.concatenate([listing.keys for listing in self.listings]))

    @cached_property
    def _numbered_rows(self) -> tuple[list[Ints], Ints]:
        """The number of each row of each release, alike rows having the same; and the cell of each number."""
        cells = [np.searchsorted(self._cells, listing.keys)[listing.rows.cell] for listing in self.listings]
        keys = [
            cell_keys(cell, listing.rows.hashes(self.common))
            for cell, listing in zip(cells, self.listings, strict=True)
        ]
        _, first, number = np.unique(np.concatenate(keys), return_index=True, return_inverse=True)
        ends = np.cumsum([each.size for each in keys])[:-1]
        return np.split(number.ravel(), ends), np.concatenate(cells)[first]

    @cached_property
    def _parts(self) -> _Parts:
        numbers, cells = self._numbered_rows
        counts = np.stack(
            [
                np.bincount(number, listing.rows.counts, cells.size).astype(np.int64)
                for number, listing in zip(numbers, self.listings, strict=True)
            ]
        )
        # Of alike rows as many as possible are the same people: with 3 and 5 of them, 3 are in both and 2 in one.
        levels = np.sort(counts, axis=0)
        people = np.diff(levels, axis=0, prepend=0)
        bits = (np.int64(1) << np.arange(len(self.listings)))[:, None]
        parts = []
        for level, number in zip(levels, people, strict=True):
            row = np.flatnonzero(number)
            releases = ((counts[:, row] >= level[row]) * bits).sum(axis=0)
            parts.append(_Parts(row, releases, number[row]))
        return _Parts(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    @cached_property
    def _groups(self) -> tuple[Ints, Ints, Ints]:
        """The group of each part, and cell and set of releases of each group."""
        _, cells = self._numbered_rows
        cell = cells[self._parts.row]
        group, first = number_combinations([cell, self._parts.releases])
        return group, cell[first], self._parts.releases[first]

    @cached_property
    def people(self) -> Ints:
        """The number of people of each group."""
        group, cell, _ = self._groups
        return np.bincount(group, self._parts.people, cell.size).astype(np.int64)

    @cached_property
    def divided(self) -> NDArray[np.bool_]:
        """The groups that the earlier releases alone do not tell apart from others."""
        _, cell, releases = self._groups
        whole, _ = number_combinations([cell, releases >> 1])
        before = np.bincount(whole, self.people, whole.size)[whole]
        return (releases == 1) | (before != self.people)

    def few(self, k: int) -> NDArray[np.bool_]:
        """The groups of fewer than k people that the new release tells apart."""
        return self.divided & (self.people < k)

    def left(self) -> NDArray[np.bool_]:
        """The groups that the new release does not list although it lists others of their cells."""
        _, cell, releases = self._groups
        new = np.zeros(self._cells.size, np.bool_)
        new[cell[(releases & 1) == 1]] = True
        return new[cell] & ((releases & 1) == 0)

    def number_of_cells(self, groups: NDArray[np.bool_]) -> int:
        """How many cells these groups are in."""
        return int(np.unique(self._groups[1][groups]).size)

    def missing_criteria(self, key: bytes, guarded: Guarded, owner: int, texts: Sequence[str]) -> NDArray[np.bool_]:
        """The groups that the new release tells apart and that miss the criteria of release number ``owner``.

        ``texts`` are known values of the column, by which their order is found.
        """
        shown = [listing.rows.columns.get(guarded.column) for listing in self.listings]
        if all(column is None for column in shown):
            return np.zeros(self.people.size, np.bool_)
        values = np.unique(np.concatenate([column.values for column in shown if column is not None]))
        ranks = _rank_values(key, guarded.column, values, texts)
        place = np.arange(values.size) if ranks is None else ranks
        harmful = np.empty(values.size, np.bool_)
        harmful[place] = ~np.isin(values, _benign(key, guarded))
        owner = owner if shown[owner] is not None else next(i for i, column in enumerate(shown) if column is not None)
        listing = self.listings[owner]
        column = listing.rows.columns[guarded.column]
        everybody = np.bincount(
            place[np.searchsorted(values, column.values)][column.codes], listing.rows.counts, values.size
        ).astype(np.int64)
        pairs, number = self._count_values(guarded.column, values, place)
        missed = np.zeros(self.people.size, np.bool_)
        for criterion in map(criterion_of, guarded.criteria):
            does_harm = harmful
            if criterion.kind == "ordered-closeness" and ranks is None:
                # The order of a hashed value may be unknown. The distance without order is never smaller.
                criterion = Criterion("closeness", criterion.limit)
                does_harm = np.ones_like(harmful)
            missed[find_failing_groups(pairs, number, does_harm, everybody, [criterion])] = True
        return missed & self.divided

    def _count_values(self, column: str, values: Hashes, place: Ints) -> tuple[Ints, Ints]:
        """Count the values of a column in each group: group · values + place of the value, and the number, scaled.

        If rows are compared without the column, it is not known who of alike rows is in the group; then their values
        count in proportion.
        """
        numbers, _ = self._numbered_rows
        group, _, _ = self._groups
        source = np.full(group.size, -1)
        for release in reversed(range(len(self.listings))):
            if column in self.listings[release].rows.columns:
                source[(self._parts.releases >> release) & 1 == 1] = release
        keys, weights = [np.zeros(0, np.int64)], [np.zeros(0)]
        for release in np.unique(source[source >= 0]).tolist():
            rows = self.listings[release].rows
            codes = place[np.searchsorted(values, rows.columns[column].values)][rows.columns[column].codes]
            part = np.flatnonzero(source == release)
            at, row = _expand(self._parts.row[part], numbers[release])
            total = np.bincount(numbers[release], rows.counts)
            share = rows.counts[row] / total[numbers[release][row]]
            keys.append(group[part[at]] * values.size + codes[row])
            weights.append(self._parts.people[part[at]] * share)
        pairs, where = np.unique(np.concatenate(keys), return_inverse=True)
        number = np.bincount(where.ravel(), np.concatenate(weights), pairs.size)
        return pairs, np.rint(number * _SCALE).astype(np.int64)


def _expand(wanted: Ints, numbers: Ints) -> tuple[Ints, Ints]:
    """All pairs of a place in ``wanted`` and a place in ``numbers`` that hold the same number."""
    order = np.argsort(numbers, kind="stable")
    start, end = (np.searchsorted(numbers[order], wanted, side) for side in ("left", "right"))
    length = end - start
    at = np.repeat(np.arange(wanted.size), length)
    inside = np.arange(at.size) - np.repeat(np.cumsum(length) - length, length)
    return at, order[start[at] + inside]


def _benign(key: bytes, guarded: Guarded) -> Hashes:
    """The hashes of benign values, with that of the empty value if it is named as it is shown."""
    missing, empty = value_hashes(key, guarded.column, [MISSING, ""])
    benign = guarded.plain_benign
    return np.append(benign, empty) if missing in benign else benign


def _rank_values(key: bytes, column: str, values: Hashes, texts: Sequence[str]) -> Ints | None:
    """Rank hashed values by the numbers that they stand for; None if one is not known."""
    known: Mapping[int, str] = dict(zip(value_hashes(key, column, texts).tolist(), texts, strict=True))
    return rank_numbers([known.get(value, "") for value in values.tolist()])
