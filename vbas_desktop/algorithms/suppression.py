"""Suppress classes locally: find which class of each aggregated region is released, and in which tier.

A class is released where it has k or more records and its sensitive values meet the criteria that are set. Criteria
that compare a class with all released records are first judged by all records of the file. Then what does not meet
them by the released records is taken out, until everything that is left does: taking out changes what is released.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import hstack

from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.sensitive import SensitiveCounts, with_criteria
from vbas_desktop.model.tiers import NOT_RELEASED, Tiers

from .aggregation import (
    aggregate,
    count_pairs,
    find_class_tiers,
    split_evenly,
    sum_by_region,
    sum_large_classes,
)
from .diversity import ClassValues, compares_with_all, list_class_values, shares_of
from .tier_suppression import find_release_tiers

_CLASSES_PER_COUNT = 8_000_000
_CLASSES_PER_PART = 2_000_000
"""Classes of initial regions that are aggregated at a time where combinations can be judged by themselves: more if the
released records are only counted than if the released classes are kept, which takes memory in each thread."""


@dataclass(frozen=True, eq=False)
class Aggregation:
    """Initial regions that are to be merged, and what decides about the release of their classes.

    membership: number of the aggregated region, below ``n_groups``, of each initial region.
    tiers: larger areas above the aggregated regions, if there are any.
    sensitive: sensitive values of the records that ``counts`` has.
    """

    counts: ClassCounts
    k: int
    membership: NDArray[np.int32]
    n_groups: int
    tiers: Tiers | None = None
    sensitive: Sequence[SensitiveCounts] = ()

    @property
    def judged(self) -> Aggregation:
        """Drop the sensitive columns that have no criteria: they decide nothing."""
        return replace(self, sensitive=with_criteria(self.sensitive))

    @property
    def memberships(self) -> tuple[NDArray[np.int32], ...]:
        """Return the area of each initial region, tier by tier; without tiers there is one."""
        return (
            (self.membership,) if self.tiers is None else tuple(self.tiers.memberships(self.membership))
        )

    @property
    def n_areas(self) -> tuple[int, ...]:
        """Return the number of areas of each tier."""
        return (self.n_groups,) if self.tiers is None else self.tiers.n_areas

    def raise_to(self, counts: ClassCounts, tier: int) -> ClassCounts:
        """Add up counts of the aggregated regions to those of the areas of a tier."""
        if tier == 0 or self.tiers is None:
            return counts
        return aggregate(counts, self.tiers.ancestors[tier], self.tiers.n_areas[tier])


@dataclass(frozen=True, eq=False)
class LocalSuppression:
    """Decision about each class of the aggregated regions.

    aggregated: counts of the aggregated regions; classes that are lost may be missing.
    tier_of: tier in which each class of ``aggregated`` is released (NOWHERE: in none).
    values: sensitive values of the same classes, one item for each sensitive column.
    """

    aggregation: Aggregation
    aggregated: ClassCounts
    tier_of: NDArray[np.uint8]
    values: tuple[ClassValues, ...] = ()

    @property
    def n_tiers(self) -> int:
        """Number of tiers, the aggregated regions included."""
        return len(self.aggregation.n_areas)

    @cached_property
    def records(self) -> int:
        """Number of released records."""
        return int(self.aggregated.sizes.sum(where=self.tier_of != NOT_RELEASED))

    @cached_property
    def released(self) -> tuple[ClassCounts, ...]:
        """Classes that the areas of each tier release, tier by tier."""
        in_tier = (self.aggregated.select_classes(self.tier_of == tier) for tier in range(self.n_tiers))
        return tuple(self.aggregation.raise_to(counts, tier) for tier, counts in enumerate(in_tier))

    def release_values(self, values: ClassValues, tier: int) -> ClassValues:
        """List the sensitive values of the classes that the areas of one tier release."""
        return list_class_values(
            values.column, self.aggregation.raise_to(values.select(self.tier_of == tier), tier)
        )


def suppress_locally(
    aggregation: Aggregation, progress: Progress = NO_PROGRESS, released_only: bool = False
) -> LocalSuppression:
    """Find which classes are released if the initial regions are merged like this. O(classes and cells).

    ``released_only`` allows to leave out lost classes where it is known at once which these are: it takes less memory.
    """
    counts = aggregation.counts
    k = aggregation.k
    tiers = aggregation.tiers
    by_size = tiers is None and not aggregation.sensitive
    least = k if by_size and released_only else 1
    aggregated = aggregate(counts, aggregation.membership, aggregation.n_groups, progress, least)
    values = tuple(
        list_class_values(
            column, aggregate(column.cells, aggregation.membership, aggregation.n_groups, progress)
        )
        for column in aggregation.sensitive
    )
    judged = [class_values for class_values in values if class_values.column.chosen.criteria]
    if tiers is not None:
        refusing = partial(_refuse, aggregation, aggregated, judged, progress) if judged else None
        tier_of = find_release_tiers(aggregated, tiers, k, progress, refusing)
    else:
        good = aggregated.sizes >= k
        for class_values in judged:
            good &= class_values.meet_criteria(
                class_values.column.chosen.criteria, shares_of(class_values.column.totals), progress
            )
        tier_of = np.where(good, 0, NOT_RELEASED).astype(np.uint8)
    suppression = LocalSuppression(aggregation, aggregated, tier_of, values)
    return _settle(
        suppression,
        [class_values for class_values in judged if compares_with_all(class_values.column)],
        progress,
    )


def _refuse(
    aggregation: Aggregation,
    aggregated: ClassCounts,
    judged: Sequence[ClassValues],
    progress: Progress,
    tier: int,
    rest: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find which areas of a tier must not release which combinations of the rest because of sensitive values."""
    areas = []
    columns = []
    for class_values in judged:
        there = list_class_values(
            class_values.column, aggregation.raise_to(class_values.select(rest), tier)
        )
        bad = ~there.meet_criteria(
            class_values.column.chosen.criteria, shares_of(class_values.column.totals), progress
        )
        areas.append(there.areas[bad])
        columns.append(np.searchsorted(aggregated.combinations, there.combinations[bad]))
    return np.concatenate(areas), np.concatenate(columns)


def _settle(
    suppression: LocalSuppression, judged: Sequence[ClassValues], progress: Progress
) -> LocalSuppression:
    """Take out what does not meet the criteria by the released records, until all that is released does."""
    while judged:
        tier_of = suppression.tier_of.copy()
        for class_values in judged:
            shares = shares_of(class_values.total_values(suppression.tier_of != NOT_RELEASED))
            for tier in range(suppression.n_tiers):
                released = suppression.release_values(class_values, tier)
                bad = ~released.meet_criteria(class_values.column.chosen.criteria, shares, progress)
                tier_of[_list_classes(suppression, released, bad, tier)] = NOT_RELEASED
        if np.array_equal(tier_of, suppression.tier_of):
            break
        suppression = replace(suppression, tier_of=tier_of)
    return suppression


def _list_classes(
    suppression: LocalSuppression, released: ClassValues, bad: NDArray[np.bool_], tier: int
) -> NDArray[np.intp]:
    """List the classes of the aggregated regions that make up the bad ones of a tier's areas."""
    if not bad.any():
        return np.zeros(0, np.intp)
    counts = suppression.aggregated
    area = counts.list_class_regions()
    if suppression.aggregation.tiers is not None:
        area = suppression.aggregation.tiers.ancestors[tier][area].astype(np.int64)
    width = max(1, counts.n_combinations)
    keys = released.areas[bad] * width + np.searchsorted(counts.combinations, released.combinations[bad])
    return np.flatnonzero(
        (suppression.tier_of == tier) & np.isin(area * width + counts.table.indices, keys)
    )


def count_released(
    aggregation: Aggregation, progress: Progress = NO_PROGRESS
) -> tuple[NDArray[np.int64], ...]:
    """Count the records that each area releases, tier by tier, without keeping the released classes."""
    if aggregation.tiers is None and not aggregation.sensitive:
        totals = sum_large_classes(
            aggregation.counts, aggregation.membership, aggregation.n_groups, aggregation.k, progress
        )
        return (totals,)
    totals_by_tier = tuple(np.zeros(number, np.int64) for number in aggregation.n_areas)
    for part in _split_combinations(aggregation, _CLASSES_PER_COUNT):
        suppression = suppress_locally(part, progress)
        for tier, totals in enumerate(totals_by_tier):
            sizes = np.where(suppression.tier_of == tier, suppression.aggregated.sizes, 0)
            here = sum_by_region(suppression.aggregated.table, sizes)
            area = (
                np.arange(here.size) if aggregation.tiers is None else aggregation.tiers.ancestors[tier]
            )
            np.add.at(totals, area, here)
    return totals_by_tier


@dataclass(frozen=True, eq=False)
class ReleasedClasses:
    """The classes that are released, by tier and area.

    classes: classes that the areas of each tier release, tier by tier.
    records: released records of each initial region, tiers × regions.
    pairs: pairs of these records that are of the same class, tiers × regions.
    log_sum: sum of n · ln n over the classes of the initial regions, n being the released records of a class.
    suppression: how that was decided; None if some combinations were looked at at a time.
    """

    classes: tuple[ClassCounts, ...]
    records: NDArray[np.int64]
    pairs: NDArray[np.int64]
    log_sum: float
    suppression: LocalSuppression | None = None


def release_classes(aggregation: Aggregation, progress: Progress = NO_PROGRESS) -> ReleasedClasses:
    """Find the classes that are released, and count the released records of the initial regions.

    If size alone decides in tiers, some combinations are looked at at a time: the counts of the aggregated regions,
    nearly as large as those of the file, are then never in memory as a whole.
    """
    shape = len(aggregation.n_areas), aggregation.counts.n_regions
    records = np.zeros(shape, np.int64)
    pairs = np.zeros(shape, np.int64)
    log_sum = 0.0
    parts = (
        list(_split_combinations(aggregation, _CLASSES_PER_PART))
        if not aggregation.sensitive
        else [aggregation]
    )
    released = []
    for part in parts:
        suppression = suppress_locally(part, progress, released_only=True)
        log_sum += _add_released(suppression, records, pairs, progress)
        released.append(suppression.released)
    if len(parts) == 1:
        return ReleasedClasses(released[0], records, pairs, log_sum, suppression)
    tables = [
        hstack([counts.table for counts in tier], format="csr") for tier in zip(*released, strict=True)
    ]
    classes = tuple(replace(aggregation.counts, table=table) for table in tables)
    return ReleasedClasses(classes, records, pairs, log_sum)


def _add_released(
    suppression: LocalSuppression,
    records: NDArray[np.int64],
    pairs: NDArray[np.int64],
    progress: Progress,
) -> float:
    """Add the released records and their pairs by tier and initial region; return the sum of n · ln n."""
    aggregation = suppression.aggregation
    log_sum = 0.0
    for regions, table, tiers in find_class_tiers(
        aggregation.counts, aggregation.membership, suppression.aggregated, suppression.tier_of, progress
    ):
        for tier in range(suppression.n_tiers):
            sizes = np.where(tiers == tier, table.data, 0)
            records[tier, regions] += sum_by_region(table, sizes)
            pairs[tier, regions] += sum_by_region(table, count_pairs(sizes))
        sizes = table.data[tiers != NOT_RELEASED]
        log_sum += float((sizes * np.log(sizes)).sum())
    return log_sum


def _split_combinations(aggregation: Aggregation, classes_per_part: int) -> Iterator[Aggregation]:
    """Split an aggregation into some combinations each, as far as these can be judged by themselves."""
    counts = aggregation.counts
    alone = aggregation.tiers is None or any(
        compares_with_all(column) for column in aggregation.sensitive
    )
    if alone or counts.table.nnz <= classes_per_part:
        yield aggregation
        return
    n_parts = -(-counts.table.nnz // classes_per_part)
    for first, end in split_evenly(counts.combination_totals, counts.records / n_parts):
        part = _slice_combinations(counts, first, end)
        low = part.combinations[0]
        high = part.combinations[-1]
        sensitive = []
        for column in aggregation.sensitive:
            combination = column.cells.combinations // max(1, column.cells.n_categories[-1])
            edges = np.searchsorted(combination, low), np.searchsorted(combination, high, side="right")
            sensitive.append(column.with_cells(_slice_combinations(column.cells, *edges)))
        yield replace(aggregation, counts=part, sensitive=sensitive)


def _slice_combinations(counts: ClassCounts, first: int, end: int) -> ClassCounts:
    """Select the combinations of consecutive columns."""
    return replace(counts, combinations=counts.combinations[first:end], table=counts.table[:, first:end])
