"""Compare releases of different record files, such as this year's and last year's: who came, who left, who stayed.

The recipient takes rows of both that are alike for the same person (`row_groups`). So in every class, none or at least
k people may come, leave, or stay while others leave, and these groups must meet the criteria for sensitive values.

In tiers a record may be listed in a larger area in one of the two, although nobody moved. Then the other one tells in
which part of the area it is. So where both list a combination, it must be in the same regions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .entry import Hashes, Ints, LedgerEntry, ReleasedRows, make_class_keys
from .row_groups import MAX_RELEASES, RowGroups, RowListing

Texts = Mapping[str, Sequence[str]]
"""By column, values that are known as texts: a ledger has hashes only."""


@dataclass(frozen=True)
class AttributeDisclosure:
    """A sensitive column of which people learn more than the criteria of a release allow, and how many people."""

    column: str
    criteria: tuple[str, ...]
    people: int


@dataclass(frozen=True)
class PopulationChange:
    """The people and values that releases of different record files disclose together.

    people: who came, left or stayed in groups of fewer than k; classes: number of classes that they are in.
    disclosed: sensitive values of groups that are large enough.
    reason: why the releases cannot be compared.
    compared_columns: columns by which rows were compared; none if only their numbers were.
    reveals_location: people are shown to be in a part of an area, because one of the releases lists them there.
    """

    people: int = 0
    classes: int = 0
    disclosed: tuple[AttributeDisclosure, ...] = ()
    reason: str = ""
    compared_columns: tuple[str, ...] = ()
    reveals_location: bool = False

    @property
    def is_safe(self) -> bool:
        """True if the releases can be compared and expose nobody."""
        return not (self.people or self.disclosed or self.reason)


@dataclass(frozen=True, eq=False)
class ChangeComparison:
    """A new release of one record file that is compared with earlier ones of others.

    rows: the rows of the new release; None if they are not known.
    k: least number of people in a group. key: of the ledger.
    """

    new: LedgerEntry
    rows: ReleasedRows | None
    k: int
    key: bytes
    texts: Texts

    def compare(self, old: LedgerEntry) -> PopulationChange:
        """Compare the release with an earlier one."""
        region_of_old = map_old_regions(self.new, old)
        reason = self._find_reason_against(old, region_of_old)
        if region_of_old is None or reason:
            return PopulationChange(reason=reason)
        classes, old_classes = _number_alike(self.new, old, region_of_old)
        located = np.concatenate(
            (classes.find_located_by(old_classes), old_classes.find_located_by(classes))
        )
        if located.size:
            return PopulationChange(int(located.sum()), located.size, reveals_location=True)
        listings = (
            _make_listing(classes.keys, self.rows, self.new),
            _make_listing(old_classes.keys, old.rows, old),
        )
        groups = RowGroups(listings)
        is_exposed = groups.find_small(self.k)
        if region_of_old.max(initial=-1) + 1 < old.aggregated_regions:
            # Where regions were joined, those who left are known by their smaller regions, where they may be few.
            is_exposed |= groups.find_left()
        return self._count_exposed(groups, is_exposed, [old])

    def compare_jointly(self, earlier: Sequence[LedgerEntry]) -> PopulationChange:
        """Compare the release with several earlier ones at once, each of which is safe together with it.

        Somebody who left and came back is told apart by three releases, but not by any two of them. Earlier releases
        in tiers have areas of their own if the new one has no tiers, and are left out.
        """
        comparable = [
            old for old in earlier if old.rows is not None and (self.new.parents or not old.parents)
        ]
        comparable = comparable[1 - MAX_RELEASES :]
        if self.rows is None or len(comparable) < 2:
            return PopulationChange()
        listings = [RowListing(self.new.classes.keys, self.rows)]
        for old in comparable:
            region_of_old = map_old_regions(self.new, old)
            assert region_of_old is not None
            _, old_classes = _number_alike(self.new, old, region_of_old)
            listings.append(_make_listing(old_classes.keys, old.rows, old))
        groups = RowGroups(tuple(listings))
        return self._count_exposed(groups, groups.find_small(self.k), comparable)

    def _count_exposed(
        self, groups: RowGroups, is_exposed: NDArray[np.bool_], earlier: Sequence[LedgerEntry]
    ) -> PopulationChange:
        """Count whom the new release exposes, and whose sensitive values."""
        disclosed = []
        for number, entry in enumerate((self.new, *earlier)):
            for recorded in entry.criteria:
                texts = self.texts.get(recorded.column, ())
                fails = groups.find_failing(self.key, recorded, number, texts)
                people = int(groups.people[fails & ~is_exposed].sum())
                if people:
                    disclosed.append(AttributeDisclosure(recorded.column, recorded.criteria, people))
        return PopulationChange(
            people=int(groups.people[is_exposed].sum()),
            classes=groups.count_classes(is_exposed),
            disclosed=tuple(disclosed),
            compared_columns=tuple(groups.common_columns),
        )

    def _find_reason_against(self, old: LedgerEntry, region_of_old: Ints | None) -> str:
        """Say why the releases cannot be compared; empty if they can."""
        new = self.new
        if not new.has_same_combinations(old):
            return "their quasi-identifiers or groups differ"
        if set(new.released_quasi_identifiers) != set(old.released_quasi_identifiers):
            return "one lacks a quasi-identifier among its columns"
        if new.aggregated_columns or old.aggregated_columns:
            # Means of two years and the sizes of the classes give the values of whoever came or left.
            return "sensitive values are aggregated in one of them"
        if region_of_old is None:
            return "their regions overlap without being the same or joined from the earlier ones"
        column = self._find_missing_criteria_column(old)
        if column is not None:
            return (
                f"the values of “{column}” have to be compared row by row, because of its criteria, and a "
                "release lacks a quasi-identifier among its columns or has too many different rows or values"
            )
        if not new.parents and not old.parents:
            return ""
        if not new.aggregated_regions == old.aggregated_regions == np.unique(region_of_old).size:
            return "their places are in tiers, and regions were joined"
        if new.parents and old.parents and match_tier_regions(new, old, region_of_old) is None:
            return "their places are in tiers, and the larger areas differ"
        if self.rows is None or old.rows is None or set(new.columns) != set(old.columns):
            return (
                "their places are in tiers, where rows have to be compared, and their columns differ or rows are "
                "too many"
            )
        return ""

    def _find_missing_criteria_column(self, old: LedgerEntry) -> str | None:
        """Find a column with criteria that a release has among its columns, but not among its known rows."""
        for recorded in (*self.new.criteria, *old.criteria):
            for entry, rows in ((self.new, self.rows), (old, old.rows)):
                if recorded.column in entry.columns and (
                    rows is None or recorded.column not in rows.columns
                ):
                    return recorded.column
        return None


def map_old_regions(new: LedgerEntry, old: LedgerEntry) -> Ints | None:
    """Find the new aggregated region that each old one became part of as a whole.

    None if an old region was divided, or if the releases have other initial regions.
    """
    membership = new.find_aggregated_regions(old.regions).astype(np.int64)
    if (membership < 0).any() or new.regions.size != old.regions.size:
        return None
    region_of_old = np.full(old.aggregated_regions, -1, np.int64)
    region_of_old[old.membership] = membership
    return region_of_old if (region_of_old[old.membership] == membership).all() else None


def match_tier_regions(new: LedgerEntry, old: LedgerEntry, region_of_old: Ints) -> Ints | None:
    """Find the new number of each old region of all tiers; None if the tiers differ.

    region_of_old: new number of each old aggregated region.
    """
    if new.regions_by_tier != old.regions_by_tier:
        return None
    matched = [region_of_old]
    numbers = region_of_old
    starts = np.cumsum(new.regions_by_tier)
    for new_parents, old_parents, start in zip(new.parents, old.parents, starts, strict=False):
        parent_numbers = np.full(int(old_parents.max(initial=-1)) + 1, -1, np.int64)
        parent_numbers[old_parents] = new_parents[numbers]
        is_divided = (parent_numbers[old_parents] != new_parents[numbers]).any()
        if is_divided or np.unique(parent_numbers).size != parent_numbers.size:
            return None
        matched.append(parent_numbers + start)
        numbers = parent_numbers
    return np.concatenate(matched)


def _make_listing(keys: Hashes, rows: ReleasedRows | None, entry: LedgerEntry) -> RowListing:
    """List the rows of a release; its classes stand for rows without further columns if these are not known."""
    if rows is None:
        rows = ReleasedRows(np.arange(len(entry.classes), dtype=np.int32), entry.classes.sizes)
    return RowListing(keys, rows)


@dataclass(frozen=True, eq=False)
class _ComparableClasses:
    """The classes of one of two releases that number their regions alike.

    keys, sizes: key of each class, and number of its records.
    enclosing: for each step up the tiers, the keys that classes would have in the larger area, and their positions.
    """

    keys: Hashes
    sizes: Ints
    enclosing: list[tuple[Hashes, Ints]]

    def find_located_by(self, other: _ComparableClasses) -> Ints:
        """Find the sizes of the classes that this release lists and the other one lists in a larger area."""
        is_larger = np.zeros(self.keys.size, np.bool_)
        for keys, positions in self.enclosing:
            is_larger[positions] |= np.isin(keys, other.keys)
        return self.sizes[is_larger & ~np.isin(self.keys, other.keys)]


def _number_alike(
    new: LedgerEntry, old: LedgerEntry, region_of_old: Ints
) -> tuple[_ComparableClasses, _ComparableClasses]:
    """Number the regions of both releases as in the new one; larger areas as in the one that has them."""
    numbers = region_of_old
    parent_region = new.parent_region
    if new.parents and old.parents:
        matched = match_tier_regions(new, old, region_of_old)
        assert matched is not None
        numbers = matched
    elif old.parents:
        # Both have the same aggregated regions, in another order.
        numbers = np.concatenate(
            (region_of_old, np.arange(region_of_old.size, sum(old.regions_by_tier)))
        )
        parent_region = np.full(numbers.size, -1, np.int64)
        parent_region[numbers] = np.where(old.parent_region >= 0, numbers[old.parent_region], -1)
    new_regions = new.classes.regions.astype(np.int64)
    return (
        _list_comparable(new, new_regions, parent_region),
        _list_comparable(old, numbers[old.classes.regions], parent_region),
    )


def _list_comparable(entry: LedgerEntry, regions: Ints, parent_region: Ints) -> _ComparableClasses:
    classes = entry.classes
    keys = make_class_keys(regions, classes.combinations)
    enclosing = list(_list_enclosing(regions, classes.combinations, parent_region))
    return _ComparableClasses(keys, classes.sizes.astype(np.int64), enclosing)


def _list_enclosing(
    regions: Ints, combinations: Hashes, parent_region: Ints
) -> Iterator[tuple[Hashes, Ints]]:
    """Yield the keys of classes in each larger area, and the positions of the classes that have one."""
    positions = np.arange(regions.size)
    while True:
        regions = parent_region[regions]
        positions = positions[regions >= 0]
        regions = regions[regions >= 0]
        if not positions.size:
            return
        yield make_class_keys(regions, combinations[positions]), positions
