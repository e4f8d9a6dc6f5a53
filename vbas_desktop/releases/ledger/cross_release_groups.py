"""Find the groups of people that several releases of the same records tell apart.

Each release has one outcome for each record: the class that it is released in, or none. In tiers the class may be one
of a larger area than the aggregated region. The recipient of several releases may be able to tell which of their rows
are the same person, by the other columns. Then people are told apart as far as their outcomes differ, and no further.
So releases are safe together if every group of records with the same outcome in all of them has at least k, and if no
class that a release lacks is shown to hold somebody (`joint_inference`).

Records of one initial region with the same quasi-identifiers have the same outcomes. So outcomes are found once for
each cell of the joint counts, not for each record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import coo_array

from vbas_desktop.algorithms.composite_keys import number_combinations, number_values
from vbas_desktop.algorithms.tier_suppression import Refuse, decide_in_tiers
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.tiers import NOT_RELEASED

from .entry import Hashes, Ints, LedgerEntry, hash_combinations, hash_regions, make_class_keys

NO_CLASS = -1
"""The class of a cell that is not released, or whose initial region a release does not have."""


@dataclass(frozen=True, eq=False)
class JointCounts:
    """The records by initial region and by combination of all quasi-identifiers of all releases that are compared.

    regions: hash of each row of ``counts``.
    columns: the quasi-identifiers.
    values: hashes of the categories of each column, in the order of their codes.
    is_recoded: the categories are groups already, the same in all releases.
    """

    regions: Hashes
    columns: tuple[str, ...]
    values: tuple[Hashes, ...]
    counts: ClassCounts
    is_recoded: bool = False

    @property
    def sizes(self) -> Ints:
        """Number of records of each cell."""
        return self.counts.sizes

    @cached_property
    def cell_rows(self) -> Ints:
        """Row of ``counts`` that each cell is in."""
        return self.counts.list_class_regions()

    @cached_property
    def cell_columns(self) -> Ints:
        """Column of ``counts`` that each cell is in."""
        return self.counts.table.indices.astype(np.int64)

    def hash_combinations_in(self, entry: LedgerEntry) -> Hashes:
        """Hash each combination of ``counts`` as a release recodes it, by the quasi-identifiers of the release."""
        hashes = {}
        for name in entry.quasi_identifiers:
            number = self.columns.index(name)
            values = self.values[number]
            hashes[number] = values if self.is_recoded else entry.recode(name, values)
        return hash_combinations(self.counts, hashes)

    def merge(
        self, memberships: Sequence[NDArray[np.int32]], releases: Sequence[LedgerEntry] = ()
    ) -> tuple[JointCounts, list[NDArray[np.int32]]]:
        """Merge initial regions that no release tells apart; return the new counts and their memberships.

        memberships: aggregated region of each row in each release. With ``releases``, combinations that none of them
        tells apart are merged as well. Outcomes stay the same.
        """
        row, first_row = number_combinations(memberships)
        column = first_column = np.arange(self.counts.n_combinations)
        if releases:
            column, first_column = number_combinations(
                [self.hash_combinations_in(entry) for entry in releases]
            )
        if first_row.size == row.size and first_column.size == column.size:
            return self, list(memberships)
        cells = (row[self.cell_rows], column[self.cell_columns])
        table = coo_array((self.sizes, cells), shape=(first_row.size, first_column.size)).tocsr()
        counts = ClassCounts(self.counts.n_categories, self.counts.combinations[first_column], table)
        merged = replace(self, regions=self.regions[first_row], counts=counts)
        return merged, [membership[first_row] for membership in memberships]


def find_membership(entry: LedgerEntry, key: bytes, ids: Sequence[str]) -> NDArray[np.int32]:
    """Find the aggregated region of each initial region; those that the release does not have are one more."""
    membership = entry.find_aggregated_regions(hash_regions(key, ids))
    return np.where(membership < 0, entry.aggregated_regions, membership).astype(np.int32)


@dataclass(frozen=True, eq=False)
class TierClasses:
    """The classes of the regions of one tier, released or not.

    numbers: the class that each cell belongs to.
    bounds: for each cell, the largest number of records of this class that may be unreleased as far as a recipient
        knows.
    """

    numbers: Ints
    bounds: Ints


@dataclass(frozen=True, eq=False)
class ReleaseOutcome:
    """The outcome of every cell of the joint counts in one release.

    released_class: number of the class that the cell is released in; `NO_CLASS` if it is not released.
    own_class: number of the class of its aggregated region that the cell belongs to, released or not.
    tier: the tier in which it is released; `NOT_RELEASED` if in none.
    tiers: the classes of each tier.
    """

    k: int
    released_class: Ints
    own_class: Ints
    tier: NDArray[np.integer]
    tiers: tuple[TierClasses, ...]

    @property
    def is_released(self) -> NDArray[np.bool_]:
        """True for the cells that are released."""
        return self.released_class != NO_CLASS

    @property
    def is_unlisted(self) -> NDArray[np.bool_]:
        """True for the cells that the release does not list in their aggregated region, though it has this region."""
        return (self.tier != 0) & (self.own_class != NO_CLASS)

    def has_same_own_classes(self, other: ReleaseOutcome) -> bool:
        """Return True if both releases have the same classes of aggregated regions, and release the same ones there."""
        if self.k != other.k or not np.array_equal(self.tier == 0, other.tier == 0):
            return False
        own, _ = number_values(self.own_class)
        theirs, _ = number_values(other.own_class)
        return bool(np.array_equal(own, theirs))


class ListedClasses(NamedTuple):
    """The classes of aggregated regions that a release lists.

    regions: aggregated region of each.
    combinations: hash of its combination of all quasi-identifiers.
    tier: the tier in which it is listed.
    """

    regions: NDArray[np.integer]
    combinations: Hashes
    tier: NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class OwnClasses:
    """The classes of the aggregated regions of a release: region · number of combinations + combination.

    numbers: class of each cell of the joint counts; `NO_CLASS` if the release does not have its initial region.
    combinations: hashes of the different combinations, ascending.
    """

    numbers: Ints
    combinations: Hashes

    @classmethod
    def of_release(
        cls, entry: LedgerEntry, cells: JointCounts, membership: NDArray[np.int32]
    ) -> OwnClasses:
        """Number the classes of a release; ``membership`` is the aggregated region of each row of the counts.

        Merged counts, and parts of these, have the same numbers as the counts that they were made from.
        """
        combinations, codes = np.unique(cells.hash_combinations_in(entry), return_inverse=True)
        table = cells.counts.table
        first = np.repeat(membership.astype(np.int64) * combinations.size, np.diff(table.indptr))
        numbers = np.where(first >= 0, first + codes[table.indices], NO_CLASS)
        return cls(numbers, combinations)

    def find(self, listed: ListedClasses) -> tuple[Ints, NDArray[np.uint8]]:
        """Find numbers and tiers of listed classes; those whose combination does not occur are left out."""
        codes = pd.Index(self.combinations).get_indexer(listed.combinations)
        occurs = codes >= 0
        numbers = listed.regions[occurs].astype(np.int64) * self.combinations.size + codes[occurs]
        return numbers, listed.tier[occurs]


class ClassTiers(NamedTuple):
    """Numbers of the classes of aggregated regions that a release lists, and the tier of each."""

    numbers: Ints
    tier: NDArray[np.uint8]


def find_released_classes(
    entry: LedgerEntry,
    cells: JointCounts,
    membership: NDArray[np.int32],
    listed: ListedClasses | None = None,
) -> ClassTiers | None:
    """Find the classes of aggregated regions that a release lists; None if it has tiers and the rule decides.

    If all quasi-identifiers are released, the recorded classes say it. Otherwise they are counted again, unless
    ``listed`` was determined (`recompute_listed_classes`).
    """
    if listed is None and entry.parents:
        return None
    own = OwnClasses.of_release(entry, cells, membership)
    if listed is not None:
        return ClassTiers(*own.find(listed))
    if entry.releases_all_quasi_identifiers:
        recorded = entry.classes
        tiers = np.zeros(len(recorded), np.uint8)
        return ClassTiers(*own.find(ListedClasses(recorded.regions, recorded.combinations, tiers)))
    is_known = own.numbers >= 0
    class_of_cell, first = number_values(own.numbers[is_known])
    sizes = np.bincount(class_of_cell, cells.sizes[is_known], minlength=first.size)
    released = own.numbers[is_known][first[sizes >= entry.k]]
    return ClassTiers(released, np.zeros(released.size, np.uint8))


def find_outcome(
    entry: LedgerEntry,
    cells: JointCounts,
    membership: NDArray[np.int32],
    released: ClassTiers | None = None,
) -> ReleaseOutcome:
    """Find what becomes of every cell in a release.

    membership: aggregated region of each row of the counts. released: the classes that the release lists
    (`find_released_classes`), if they were found before.
    """
    own = OwnClasses.of_release(entry, cells, membership)
    if released is None:
        released = find_released_classes(entry, cells, membership)
    if entry.parents or released is None:
        return _find_outcome_in_tiers(entry, own, cells.sizes, released)
    is_released = np.isin(own.numbers, released.numbers)
    tier = np.where(is_released, 0, NOT_RELEASED).astype(np.uint8)
    bounds = np.broadcast_to(np.int64(entry.k - 1), own.numbers.shape)
    return ReleaseOutcome(
        k=entry.k,
        released_class=np.where(is_released, own.numbers, NO_CLASS),
        own_class=own.numbers,
        tier=tier,
        tiers=(TierClasses(own.numbers, bounds),),
    )


def _find_outcome_in_tiers(
    entry: LedgerEntry, own: OwnClasses, sizes: Ints, released: ClassTiers | None
) -> ReleaseOutcome:
    """Find the outcome in a release with tiers, by what it lists if that is known, otherwise by the rule of tiers."""
    n_cells = own.numbers.size
    n_combinations = own.combinations.size
    known = np.flatnonzero(own.numbers >= 0)
    classes, class_of_known = np.unique(own.numbers[known], return_inverse=True)
    class_sizes = np.bincount(class_of_known, sizes[known], minlength=classes.size).astype(np.int64)
    unreleased = np.ones(classes.size, np.bool_)
    listed_tier = None
    refuse = None
    if released is not None:
        index = pd.Index(released.numbers).get_indexer(classes)
        listed_tier = np.where(index >= 0, np.append(released.tier, np.uint8(0))[index], NOT_RELEASED)
        refuse = _refuse_unlisted(listed_tier, unreleased)
    decisions = decide_in_tiers(
        classes // n_combinations, classes % n_combinations, class_sizes, entry.tiers, entry.k, refuse
    )
    released_class = np.full(n_cells, NO_CLASS)
    tier = np.full(n_cells, NOT_RELEASED, np.uint8)
    tiers = []
    first_region = 0
    for number, decision in enumerate(decisions):
        unreleased &= ~decision.released[decision.sum_of]
        tier_class = decision.sum_of[class_of_known]
        is_released_here = decision.released[tier_class] & (tier[known] == NOT_RELEASED)
        if listed_tier is not None:
            is_released_here &= listed_tier[class_of_known] == number
        class_numbers = (first_region + decision.area) * n_combinations + decision.column
        released_class[known[is_released_here]] = class_numbers[tier_class[is_released_here]]
        tier[known[is_released_here]] = number
        numbers = np.full(n_cells, NO_CLASS)
        bounds = np.zeros(n_cells, np.int64)
        numbers[known] = tier_class
        bounds[known] = decision.bound[tier_class]
        tiers.append(TierClasses(numbers, bounds))
        first_region += entry.regions_by_tier[number]
    return ReleaseOutcome(entry.k, released_class, own.numbers, tier, tuple(tiers))


def _refuse_unlisted(listed_tier: NDArray[np.integer], unreleased: NDArray[np.bool_]) -> Refuse:
    """Make a rule that refuses in every tier what the release does not list there, whatever its size.

    unreleased: the classes that no tier has released yet; updated by the caller. What is listed nowhere may have k
    records or more. It counts as fewer, which bounds it more tightly.
    """

    def refuse(tier: int, column: Ints, area: Ints, sum_of: Ints) -> NDArray[np.bool_]:
        is_unlisted = np.ones(column.size, np.bool_)
        is_unlisted[sum_of[unreleased & (listed_tier == tier)]] = False
        return is_unlisted

    return refuse


def reproduces_release(entry: LedgerEntry, cells: JointCounts, outcome: ReleaseOutcome) -> bool:
    """Return True if the records at hand give just the numbers that were released.

    They are compared class by class if the release has tiers and all its quasi-identifiers.
    """
    is_released = outcome.is_released
    sizes = cells.sizes[is_released]
    if int(sizes.sum()) != entry.records:
        return False
    if not entry.parents or not entry.releases_all_quasi_identifiers:
        return True
    hashes = cells.hash_combinations_in(entry)
    n_combinations = np.unique(hashes).size
    regions = outcome.released_class[is_released] // n_combinations
    keys = make_class_keys(regions, hashes[cells.cell_columns[is_released]])
    class_of_cell, first = number_values(keys)
    recorded = entry.classes.find(keys[first])
    if first.size != len(entry.classes) or (recorded < 0).any():
        return False
    return np.array_equal(np.bincount(class_of_cell, sizes, first.size), entry.classes.sizes[recorded])


@dataclass(frozen=True)
class Exposure:
    """People who can be singled out, and the groups of fewer than k that they are in.

    revealed: groups of records that prove of classes which a release lacks that somebody is in them.
    """

    people: int = 0
    groups: int = 0
    revealed: int = 0


def find_exposed_groups(
    new: ReleaseOutcome, earlier: Sequence[ReleaseOutcome], sizes: Ints, k: int
) -> Exposure:
    """Find groups of fewer than k records that the new release isolates by differencing with earlier ones.

    Records are in one group if every release has them in the same class, or does not release them. A group counts if
    some release releases it, and if the earlier releases alone left it in a group of k or more, or did not release it.

    sizes: number of records of each cell. O(cells).
    """
    was_released = np.any([outcome.is_released for outcome in earlier], axis=0)
    is_released = was_released | new.is_released
    earlier_group, _ = number_combinations([outcome.released_class for outcome in earlier])
    group, first = number_combinations([earlier_group, new.released_class])
    group_sizes = np.bincount(group, sizes)
    earlier_sizes = np.bincount(earlier_group, sizes)[earlier_group[first]]
    was_protected = (earlier_sizes >= k) | ~was_released[first]
    exposed = (group_sizes < k) & is_released[first] & was_protected
    return Exposure(int(group_sizes[exposed].sum()), int(np.count_nonzero(exposed)))
