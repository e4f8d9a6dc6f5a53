"""Group the rows of releases of different record files by the releases that list them.

The recipient takes rows that are alike in the columns that all releases have for the same person. So people are told
apart by their class and by the set of releases that list them: those who came are in the later release only, those who
left in the earlier one, those who stayed in both. A release tells something new of every group that it divides, and
each of these groups must have enough people and must meet the criteria for sensitive values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.composite_keys import number_combinations, number_values
from vbas_desktop.model.criteria import Criterion, parse_criterion
from vbas_desktop.model.text import MISSING

from .attribute_disclosure import find_failing_groups, rank_numbers
from .entry import Hashes, Ints, RecordedCriteria, ReleasedRows, hash_values, make_class_keys

MAX_RELEASES = 60
"""Sets of releases are bits of a 64-bit number."""

_SCALE = 1 << 20
"""Expected numbers of people are rounded to this part of one: a power of two, so that whole numbers stay exact."""


class RowListing(NamedTuple):
    """The rows of one release; ``keys`` are those of its classes, with regions numbered alike in all releases."""

    keys: Hashes
    rows: ReleasedRows


class _NumberedRows(NamedTuple):
    """Rows of several releases, alike ones with the same number.

    numbers: number of each row of each release. classes: class of each number.
    """

    numbers: list[Ints]
    classes: Ints


class _People(NamedTuple):
    """People with alike rows who are in the same releases.

    rows: number of the row. releases: set of releases as bits. counts: number of people.
    """

    rows: Ints
    releases: Ints
    counts: Ints


class _Groups(NamedTuple):
    """Groups of people: the group of each entry of `_People`, and the class and set of releases of each group."""

    of_people: Ints
    classes: Ints
    releases: Ints


class _ColumnValues(NamedTuple):
    """The values of a sensitive column in all releases: sorted hashes, rank of each, and if harmful, by rank."""

    hashes: Hashes
    ranks: Ints
    is_harmful: NDArray[np.bool_]

    def find_ranks(self, hashes: Hashes) -> Ints:
        """Find the rank of each of these values."""
        return self.ranks[np.searchsorted(self.hashes, hashes)]


@dataclass(frozen=True, eq=False)
class RowGroups:
    """The people of several releases by class and by the releases that list them; the first release is the new one."""

    listings: tuple[RowListing, ...]

    @cached_property
    def common_columns(self) -> list[str]:
        """The columns by which rows of all releases can be compared."""
        first, *others = (listing.rows.columns for listing in self.listings)
        return [name for name in first if all(name in columns for columns in others)]

    @cached_property
    def _numbered_rows(self) -> _NumberedRows:
        # Keys, not numbers of classes: each release numbers its own.
        class_keys = [listing.keys[listing.rows.classes] for listing in self.listings]
        all_classes, _ = number_values(np.concatenate(class_keys))
        ends = np.cumsum([keys.size for keys in class_keys])[:-1]
        row_keys = [
            make_class_keys(classes, listing.rows.hash_rows(self.common_columns))
            for classes, listing in zip(np.split(all_classes, ends), self.listings, strict=True)
        ]
        numbers, first = number_values(np.concatenate(row_keys))
        return _NumberedRows(np.split(numbers, ends), all_classes[first])

    @cached_property
    def _people(self) -> _People:
        numbers, classes = self._numbered_rows
        counts = np.stack(
            [
                np.bincount(row_numbers, listing.rows.counts, classes.size).astype(np.int64)
                for row_numbers, listing in zip(numbers, self.listings, strict=True)
            ]
        )
        # Of alike rows as many as possible are the same people: with 3 and 5 of them, 3 are in both and 2 in one.
        levels = np.sort(counts, axis=0)
        people = np.diff(levels, axis=0, prepend=0)
        bits = (np.int64(1) << np.arange(len(self.listings)))[:, None]
        parts = []
        for level, level_people in zip(levels, people, strict=True):
            rows = np.flatnonzero(level_people)
            releases = ((counts[:, rows] >= level[rows]) * bits).sum(axis=0)
            parts.append(_People(rows, releases, level_people[rows]))
        return _People(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    @cached_property
    def _groups(self) -> _Groups:
        classes = self._numbered_rows.classes[self._people.rows]
        groups, first = number_combinations([classes, self._people.releases])
        return _Groups(groups, classes[first], self._people.releases[first])

    @cached_property
    def people(self) -> Ints:
        """Number of people of each group."""
        groups = self._groups
        return np.bincount(groups.of_people, self._people.counts, groups.classes.size).astype(np.int64)

    @cached_property
    def is_divided(self) -> NDArray[np.bool_]:
        """True for the groups that the new release tells apart and the earlier ones alone do not."""
        groups = self._groups
        earlier_group, _ = number_combinations([groups.classes, groups.releases >> 1])
        earlier_people = np.bincount(earlier_group, self.people, earlier_group.size)[earlier_group]
        return (groups.releases == 1) | (earlier_people != self.people)

    def find_small(self, k: int) -> NDArray[np.bool_]:
        """Find the groups of fewer than k people that the new release tells apart."""
        return self.is_divided & (self.people < k)

    def find_left(self) -> NDArray[np.bool_]:
        """Find the groups that the new release does not list although it lists others of their classes."""
        groups = self._groups
        is_in_new = (groups.releases & 1) == 1
        return ~is_in_new & np.isin(groups.classes, groups.classes[is_in_new])

    def count_classes(self, groups: NDArray[np.bool_]) -> int:
        """Count the classes that these groups are in."""
        return int(np.unique(self._groups.classes[groups]).size)

    def find_failing(
        self, key: bytes, recorded: RecordedCriteria, release: int, texts: Sequence[str]
    ) -> NDArray[np.bool_]:
        """Find the groups that the new release tells apart and that miss the criteria of one of the releases.

        release: number of the release that has the criteria. texts: known values of the column, to find their order.
        """
        is_failing = np.zeros(self.people.size, np.bool_)
        showing = [
            number
            for number, listing in enumerate(self.listings)
            if recorded.column in listing.rows.columns
        ]
        if not showing:
            return is_failing
        columns = [self.listings[number].rows.columns[recorded.column] for number in showing]
        hashes = np.unique(np.concatenate([column.values for column in columns]))
        known_ranks = _rank_values(key, recorded.column, hashes, texts)
        ranks = np.arange(hashes.size) if known_ranks is None else known_ranks
        is_harmful = np.empty(hashes.size, np.bool_)
        is_harmful[ranks] = ~np.isin(hashes, _list_benign(key, recorded))
        values = _ColumnValues(hashes, ranks, is_harmful)
        compared_rows = self.listings[release if release in showing else showing[0]].rows
        compared = compared_rows.columns[recorded.column]
        row_ranks = values.find_ranks(compared.values)[compared.codes]
        totals = np.bincount(row_ranks, compared_rows.counts, hashes.size).astype(np.int64)
        pairs, sizes = self._count_values(recorded.column, values)
        for criterion in map(parse_criterion, recorded.criteria):
            does_harm = is_harmful
            if criterion.kind == "ordered-closeness" and known_ranks is None:
                # The order of a hashed value may be unknown. The distance without order is never smaller.
                criterion = Criterion("closeness", criterion.limit)
                does_harm = np.ones_like(is_harmful)
            is_failing[find_failing_groups(pairs, sizes, does_harm, totals, [criterion])] = True
        return is_failing & self.is_divided

    def _count_values(self, column: str, values: _ColumnValues) -> tuple[Ints, Ints]:
        """Count the values of a column in each group: group · number of values + rank, and the number, scaled.

        If rows are compared without the column, it is not known who of alike rows is in the group; then their values
        count in proportion.
        """
        numbers = self._numbered_rows.numbers
        people = self._people
        groups = self._groups.of_people
        source = np.full(groups.size, -1)
        for release in reversed(range(len(self.listings))):
            if column in self.listings[release].rows.columns:
                source[(people.releases >> release) & 1 == 1] = release
        pairs = [np.zeros(0, np.int64)]
        weights = [np.zeros(0)]
        for release in np.unique(source[source >= 0]).tolist():
            rows = self.listings[release].rows
            row_ranks = values.find_ranks(rows.columns[column].values)[rows.columns[column].codes]
            part = np.flatnonzero(source == release)
            part_of_match, matched_row = _match_rows(people.rows[part], numbers[release])
            totals = np.bincount(numbers[release], rows.counts)
            share = rows.counts[matched_row] / totals[numbers[release][matched_row]]
            matched_people = part[part_of_match]
            pairs.append(groups[matched_people] * values.hashes.size + row_ranks[matched_row])
            weights.append(people.counts[matched_people] * share)
        distinct, pair_numbers = np.unique(np.concatenate(pairs), return_inverse=True)
        sizes = np.bincount(pair_numbers, np.concatenate(weights), distinct.size)
        return distinct, np.rint(sizes * _SCALE).astype(np.int64)


def _match_rows(wanted: Ints, numbers: Ints) -> tuple[Ints, Ints]:
    """List all pairs of a position in ``wanted`` and a position in ``numbers`` that hold the same number."""
    order = np.argsort(numbers, kind="stable")
    start = np.searchsorted(numbers[order], wanted, "left")
    end = np.searchsorted(numbers[order], wanted, "right")
    lengths = end - start
    positions = np.repeat(np.arange(wanted.size), lengths)
    offsets = np.arange(positions.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return positions, order[start[positions] + offsets]


def _list_benign(key: bytes, recorded: RecordedCriteria) -> Hashes:
    """List the hashes of benign values, with that of the empty value if it is named as it is shown."""
    missing, empty = hash_values(key, recorded.column, [MISSING, ""])
    benign = recorded.plain_benign
    return np.append(benign, empty) if missing in benign else benign


def _rank_values(key: bytes, column: str, hashes: Hashes, texts: Sequence[str]) -> Ints | None:
    """Rank hashed values by the numbers that they stand for; None if one is not known."""
    text_of_hash = dict(zip(hash_values(key, column, texts).tolist(), texts, strict=True))
    return rank_numbers([text_of_hash.get(value, "") for value in hashes.tolist()])
