"""What an aggregation releases: of each class of each aggregated region whether it is, and in which tier.

A class is released where it has k or more records and its sensitive values meet the criteria that are set. Criteria
that compare a class with all released records are first judged by all records of the file. Then what does not meet
them by the released records is taken out, until everything that is left does: taking out changes what is released.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.progress import SILENT, Progress
from vbas_desktop.model.records import EquivalenceCounts
from vbas_desktop.model.sensitive import SensitiveCounts, enforced
from vbas_desktop.model.tiers import NOWHERE, Tiers

from .diversity import Segments, compares_with_all, segments, shares_of
from .grouping import (
    aggregate,
    of_classes,
    records_by_tier,
    released_totals,
    side_by_side,
    smallest_classes,
    with_entries,
    without_small_classes,
)
from .tier_release import released_in_tier, tiers_of_classes

_SMALL = 200_000
_PARTS = 6
"""Stored counts of which a copy does not matter; into how many parts larger ones are cut."""


@dataclass(frozen=True, eq=False)
class Aggregation:
    """Initial regions that are to be merged, and what decides about the release of their classes.

    ``membership[i]`` is the aggregated region of initial region i, one of ``groups``; ``tiers`` are larger places above
    these, if there are any; ``sensitive`` has the values of the records that ``counts`` has.
    """

    counts: EquivalenceCounts
    k: int
    membership: NDArray[np.int32]
    groups: int
    tiers: Tiers | None = None
    sensitive: Sequence[SensitiveCounts] = ()

    @property
    def judged(self) -> Aggregation:
        """The same without the sensitive columns of which nothing must hold: they decide nothing."""
        return replace(self, sensitive=enforced(self.sensitive))

    @property
    def memberships(self) -> tuple[NDArray[np.int32], ...]:
        """Tier by tier the place of each initial region; without tiers there is one."""
        return (self.membership,) if self.tiers is None else tuple(self.tiers.memberships(self.membership))

    @property
    def places(self) -> tuple[int, ...]:
        """How many places each tier has."""
        return (self.groups,) if self.tiers is None else self.tiers.places

    def some(self, first: int, end: int) -> Aggregation:
        """The same with the classes ``first`` … ``end`` − 1 only."""
        if end - first == self.counts.classes.size:
            return self
        counts = of_classes(self.counts, first, end)
        sensitive = [each.with_cells(of_classes(each.cells, *_range_of(each, counts))) for each in self.sensitive]
        return replace(self, counts=counts, sensitive=sensitive)


@dataclass(frozen=True, eq=False)
class Decided:
    """Which classes are released where. ``aggregated`` are the counts of the aggregated regions, before suppression.

    ``decided`` is the tier of each of their entries (NOWHERE: in none), or None if the size alone decides and there
    are no tiers. ``values`` are the sensitive values of the same entries, one for each column in question.
    """

    given: Aggregation
    aggregated: EquivalenceCounts
    values: tuple[Segments, ...] = ()
    decided: NDArray[np.uint8] | None = None

    @cached_property
    def tier_of(self) -> NDArray[np.uint8]:
        """The tier of each entry of the counts, or NOWHERE."""
        if self.decided is not None:
            return self.decided
        return np.where(self.aggregated.rows[2] >= self.given.k, 0, NOWHERE).astype(np.uint8)

    @property
    def number(self) -> int:
        """How many tiers there are."""
        return len(self.given.places)

    @cached_property
    def records(self) -> int:
        """The released records."""
        return int(self.aggregated.rows[2].sum(where=self.tier_of != NOWHERE))

    @cached_property
    def here(self) -> EquivalenceCounts:
        """What is released in the aggregated regions themselves."""
        counts = self.aggregated
        if self.decided is None:
            return without_small_classes(counts, self.given.k)
        kept = with_entries(counts, self.decided == 0)
        return EquivalenceCounts.from_rows(counts.category_numbers, counts.classes, *kept.rows)

    @cached_property
    def classes(self) -> tuple[EquivalenceCounts, ...]:
        """What is released in the places of each tier."""
        tiers = self.given.tiers
        if tiers is None:
            return (self.here,)
        above = range(1, len(tiers))
        return self.here, *(released_in_tier(self.aggregated, self.tier_of, tiers, tier) for tier in above)

    def by_tier(self, progress: Progress = SILENT) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Count the released records and pairs of one class of each tier and initial region; sum n · ln n."""
        given = self.given
        listed = self.here if self.decided is None else self.aggregated
        return records_by_tier(given.counts, given.membership, listed, self.decided, self.number, progress)

    def released_values(self, values: Segments, tier: int) -> Segments:
        """The sensitive values of the classes that are released in one tier, one row per place of it."""
        kept = with_entries(values.cells, np.repeat(self.tier_of == tier, values.lengths))
        return segments(values.column, _raised(kept, self.given.tiers, tier))


def _raised(cells: EquivalenceCounts, tiers: Tiers | None, tier: int) -> EquivalenceCounts:
    """The counts of aggregated regions as those of the places of a tier."""
    return cells if tier == 0 or tiers is None else aggregate(cells, tiers.ancestors[tier], tiers.places[tier])


def decide(given: Aggregation, progress: Progress = SILENT, released_only: bool = False) -> Decided:
    """What is released if the initial regions are aggregated like this. O(counts and cells stored).

    Who asks for what is ``released_only`` may be given counts without what is lost, where that is known at once.
    """
    k, membership, groups, tiers = given.k, given.membership, given.groups, given.tiers
    by_size = released_only and tiers is None and not given.sensitive
    aggregated = aggregate(given.counts, membership, groups, progress, least=k if by_size else 0)
    values = tuple(
        segments(each, aggregate(each.cells, membership, groups, progress, in_rows=True), progress)
        for each in given.sensitive
    )
    found = Decided(given, aggregated, values)
    judged = tuple(each for each in values if each.column.chosen.criteria)
    if tiers is not None:
        barring = partial(_barred, found, judged) if judged else None
        found = replace(found, decided=tiers_of_classes(aggregated, tiers, k, progress, barring))
    elif judged:
        good = aggregated.rows[2] >= k
        for each in judged:
            good = each.meets(shares_of(each.column.totals), progress=progress, among=good)
        found = replace(found, decided=np.where(good, 0, NOWHERE).astype(np.uint8))
    return _settled(found, [each for each in judged if compares_with_all(each.column)], progress)


def released_by_place(given: Aggregation, progress: Progress = SILENT) -> tuple[NDArray[np.int64], ...]:
    """Of each tier the records that each of its places releases: `decide` without the memory that it takes.

    Each class is judged by itself, so some are looked at at a time, unless a criterion compares them with all others.
    """
    counts = given.counts
    if given.tiers is None and not given.sensitive:
        return (released_totals(counts, given.membership, given.groups, given.k, progress),)
    alone = any(compares_with_all(each) for each in given.sensitive)
    totals = tuple(np.zeros(number, np.int64) for number in given.places)
    for first, end in pairwise([0, counts.classes.size] if alone else _cuts(counts)):
        # What was made for these classes is gone before the next ones are taken.
        found = decide(given.some(first, end), progress)
        _add_released(totals, found)
        del found
    return totals


@dataclass(frozen=True, eq=False)
class Placed:
    """Tier by tier the classes that its places release, and of each initial region the records and pairs of a class.

    ``logs`` are sums of n · ln n over the classes of an initial region, n being its released records of the class.
    ``found`` is how that was decided; None if the size alone decides in tiers.
    """

    classes: tuple[EquivalenceCounts, ...]
    records: NDArray[np.int64]
    pairs: NDArray[np.int64]
    logs: NDArray[np.float64]
    found: Decided | None = None


def placed(given: Aggregation, progress: Progress = SILENT) -> Placed:
    """What is released where.

    If the size alone decides in tiers, some classes are looked at at a time: so the counts of the aggregated regions,
    nearly as large as those of the file, are never there as a whole.
    """
    if given.tiers is None or given.sensitive:
        found = decide(given, progress, released_only=True)
        return Placed(found.classes, *found.by_tier(progress), found)
    parts: list[list[EquivalenceCounts]] = [[] for _ in given.places]
    records, pairs = np.zeros((2, len(parts), given.counts.regions), np.int64)
    logs = np.zeros(records.shape, np.float64)
    for first, end in pairwise(_cuts(given.counts)):
        found = decide(given.some(first, end), progress)
        own = found.by_tier(progress)
        records, pairs, logs = records + own[0], pairs + own[1], logs + own[2]
        for made, each in zip(parts, found.classes, strict=True):
            made.append(each)
        del found
    whole = (made[0] if len(made) == 1 else side_by_side(made, given.counts) for made in parts)
    return Placed(tuple(whole), records, pairs, logs)


def anonymity_before_suppression(
    counts: EquivalenceCounts, membership: NDArray[np.int32], groups: int
) -> NDArray[np.int64]:
    """Find the size of the smallest class of each group of initial regions; 0 for groups without records.

    Some classes are taken at a time, so that the counts of all groups are never in memory together. O(counts stored).
    """
    largest = np.iinfo(np.int64).max
    smallest = np.full(groups, largest)
    for first, end in pairwise(_cuts(counts)):
        part = counts if end - first == counts.classes.size else of_classes(counts, first, end)
        sizes, _ = smallest_classes(aggregate(part, membership, groups))
        smallest = np.minimum(smallest, np.where(sizes > 0, sizes, largest))
    return np.where(smallest < largest, smallest, 0)


def _add_released(totals: Sequence[NDArray[np.int64]], found: Decided) -> None:
    """Add what is released to the totals of the places of each tier."""
    ends, _, sizes = found.aggregated.rows
    for tier, total in enumerate(totals):
        running = np.zeros(sizes.size + 1, np.int64)
        np.multiply(sizes, found.tier_of == tier, out=running[1:])
        here = np.diff(np.cumsum(running, out=running)[ends])
        tiers = found.given.tiers
        # As floating-point numbers, but exact: nobody has 2**53 records.
        total += here if tiers is None else np.bincount(tiers.ancestors[tier], here, total.size).astype(np.int64)


def _cuts(counts: EquivalenceCounts) -> list[int]:
    """Where parts of about as many records begin and end among the classes; small counts are one part."""
    if counts.stored <= _SMALL:
        return [0, counts.classes.size]
    records = np.cumsum(counts.class_totals)
    cuts = np.searchsorted(records, np.arange(1, _PARTS) * (records[-1] / _PARTS))
    return [int(cut) for cut in np.unique(np.concatenate(([0], cuts, [counts.classes.size])))]


def _range_of(values: SensitiveCounts, counts: EquivalenceCounts) -> tuple[int, int]:
    """Where the values of consecutive classes begin and end among the columns of the cells."""
    number = max(1, values.cells.category_numbers[-1])
    first, end = np.searchsorted(values.cells.classes, (counts.classes[0] * number, (counts.classes[-1] + 1) * number))
    return int(first), int(end)


def _barred(
    found: Decided, judged: Sequence[Segments], tier: int, rest: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which places of a tier must not release which classes of the rest, because of their sensitive values."""
    places, classes = [], []
    for each in judged:
        kept = with_entries(each.cells, np.repeat(rest, each.lengths))
        there = segments(each.column, _raised(kept, found.given.tiers, tier))
        bad = ~there.meets(shares_of(each.column.totals))
        places.append(there.places[bad])
        classes.append(np.searchsorted(found.aggregated.classes, there.classes[bad]))
    return np.concatenate(places).astype(np.int64), np.concatenate(classes).astype(np.int64)


def _settled(found: Decided, judged: Sequence[Segments], progress: Progress) -> Decided:
    """Take out what does not meet the criteria by the released records, until all that is released does."""
    while judged:
        tier_of = found.tier_of.copy()
        for each in judged:
            shares = shares_of(each.totals(found.tier_of != NOWHERE))
            # Of what is released in its own region, all values are there already.
            here = found.tier_of == 0
            tier_of[here & ~each.meets(shares, progress=progress, among=here)] = NOWHERE
            for tier in range(1, found.number):
                released = found.released_values(each, tier)
                bad = ~released.meets(shares, progress=progress)
                tier_of[_entries(found, released, bad, tier)] = NOWHERE
        if np.array_equal(tier_of, found.tier_of):
            break
        found = replace(found, decided=tier_of)
    return found


def _entries(found: Decided, released: Segments, bad: NDArray[np.bool_], tier: int) -> NDArray[np.intp]:
    """The entries of the counts that make up the classes in question of a tier's places."""
    if not bad.any():
        return np.zeros(0, np.intp)
    counts = found.aggregated
    indptr, columns, _ = counts.rows
    place = np.repeat(np.arange(counts.regions, dtype=np.int64), np.diff(indptr))
    if found.given.tiers is not None:
        place = found.given.tiers.ancestors[tier][place].astype(np.int64)
    width = max(1, counts.classes.size)
    keys = released.places[bad] * width + np.searchsorted(counts.classes, released.classes[bad])
    return np.flatnonzero((found.tier_of == tier) & np.isin(place * width + columns, keys))
