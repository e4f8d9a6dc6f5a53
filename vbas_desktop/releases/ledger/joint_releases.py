"""Put several releases of the same records side by side: their outcomes, and what can be derived from what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.composite_keys import number_combinations

from .cross_release_groups import (
    ClassTiers,
    Exposure,
    JointCounts,
    ListedClasses,
    ReleaseOutcome,
    find_exposed_groups,
    find_outcome,
    find_released_classes,
    reproduces_release,
)
from .entry import LedgerEntry
from .joint_inference import count_revealed_groups
from .population_changes import match_tier_regions


@dataclass(frozen=True, eq=False)
class _ComparedRelease:
    """A release, the aggregated region of each row of the joint counts, and its classes (None: the rule decides)."""

    entry: LedgerEntry
    membership: NDArray[np.int32]
    released: ClassTiers | None


@dataclass(frozen=True, eq=False)
class JointReleases:
    """Several releases of the same records, the new one first, and the cells that they tell apart."""

    cells: JointCounts
    releases: tuple[_ComparedRelease, ...]

    @classmethod
    def build(
        cls, counts: JointCounts, entries: Sequence[LedgerEntry], listed: Sequence[ListedClasses | None]
    ) -> JointReleases:
        """Merge the regions of ``counts`` that no release tells apart, and find the classes of every release.

        listed: the classes that each release lists, where they were recomputed.
        """
        memberships = [entry.find_aggregated_regions(counts.regions) for entry in entries]
        cells, memberships = counts.merge(memberships)
        releases = [
            _ComparedRelease(entry, membership, find_released_classes(entry, cells, membership, classes))
            for entry, membership, classes in zip(entries, memberships, listed, strict=True)
        ]
        return cls(cells, tuple(releases))

    def select_pair(self, one: int, other: int) -> JointReleases:
        """Select two of the releases: they tell far fewer cells apart than all of them."""
        if len(self.releases) == 2:
            return self
        pair = (self.releases[one], self.releases[other])
        cells, memberships = self.cells.merge(
            [release.membership for release in pair], [release.entry for release in pair]
        )
        releases = [
            replace(release, membership=membership)
            for release, membership in zip(pair, memberships, strict=True)
        ]
        return JointReleases(cells, tuple(releases))

    @cached_property
    def outcomes(self) -> tuple[ReleaseOutcome, ...]:
        """The outcome of every cell in each release."""
        return tuple(
            find_outcome(release.entry, self.cells, release.membership, release.released)
            for release in self.releases
        )

    def find_exposure(self, k: int) -> Exposure:
        """Count the people whom the first release exposes together with the others, in groups of fewer than k."""
        return find_exposed_groups(self.outcomes[0], self.outcomes[1:], self.cells.sizes, k)

    def count_revealed(self) -> int:
        """Count the groups of records that one of two releases shows to be in classes which the other one lacks."""
        one, other = self.outcomes
        sizes = self.cells.sizes
        return count_revealed_groups(one, other, sizes) + count_revealed_groups(other, one, sizes)

    def reproduces(self, number: int) -> bool:
        """Return True if the records at hand give what a release lists."""
        return reproduces_release(self.releases[number].entry, self.cells, self.outcomes[number])

    def adds_nothing(self, one: int, other: int) -> bool:
        """Return True if release number ``one`` can be derived from release number ``other``."""
        return can_be_derived(
            self.releases[one].entry,
            self.outcomes[one],
            self.releases[other].entry,
            self.outcomes[other],
        )


def can_be_derived(
    entry: LedgerEntry, outcome: ReleaseOutcome, other: LedgerEntry, other_outcome: ReleaseOutcome
) -> bool:
    """Return True if a release can be derived from another one: the same, or what that has in aggregated regions."""
    if not has_same_partition(entry, other) or not outcome.has_same_own_classes(other_outcome):
        return False
    if not entry.parents:
        return True
    # What is released in larger areas follows from what is not, unless sensitive values decided about that too.
    return _has_same_tiers(entry, other) and np.array_equal(outcome.tier, other_outcome.tier)


def has_same_partition(one: LedgerEntry, other: LedgerEntry) -> bool:
    """Return True if the same initial regions are merged, and combinations made of the same columns and groups."""
    if not one.has_same_combinations(other):
        return False
    membership = other.find_aggregated_regions(one.regions)
    _, first = number_combinations([membership, one.membership])
    return (
        bool((membership >= 0).all())
        and first.size == one.aggregated_regions == other.aggregated_regions
    )


def _has_same_tiers(one: LedgerEntry, other: LedgerEntry) -> bool:
    """Return True if releases with the same aggregated regions have the same larger areas."""
    region_of_other = np.zeros(other.aggregated_regions, np.int64)
    region_of_other[other.find_aggregated_regions(one.regions)] = one.membership
    return match_tier_regions(one, other, region_of_other) is not None
