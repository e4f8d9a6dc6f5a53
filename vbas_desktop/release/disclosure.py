"""Disclosure control: what the papers for the recipient may say is decided here and nowhere else.

A *missing cell* is a combination of aggregated region and class that the released file lacks: to the recipient it holds
anything from 0 to k − 1 records, and it must stay so. Withholding a number when it is small would not do, because that
it is withheld tells. So the papers for the recipient are made from `Told`, and `Told` holds only

- what follows from the files that are handed on: the released records, the crosswalk, the initial regions' points;
- choices that do not depend on records: k, names of approaches and released columns;
- two figures besides, both so coarse that nothing about fewer than k people follows from them, however they turn out,
  and both given or left out by a rule that looks at the released files only: between which shares of the file the
  suppressed records lie (`suppressed_share`), and how many pairs stayed together (`jaccard_told`).

Two record files that differ in suppressed records only thus give the same papers, unless the coarse share changes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.indices import DaviesBouldin
from vbas_desktop.domain.regions import Regions
from vbas_desktop.engine.place import PlaceVector
from vbas_desktop.engine.place_parts import Levels, codes_of, moves
from vbas_desktop.settings.release import ReleaseOptions

from .plan import Plan

MEASURES = ("alternative_average_distance", "precision_loss", "discernibility", "average_anonymity_deviation")
"""The ratings that follow from the released files. The others depend on sites, or on records that are not released."""

PERCENTS = (1, 2, 5, 10, 20, 50)
"""The shares of suppressed records that are told apart."""


def two_digits(value: float | None) -> float | None:
    """A derived figure as the recipient gets it: two significant digits; None if it is not defined."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.2g}")


@dataclass(frozen=True)
class Share:
    """Suppressed records in per cent of the file: from ``low`` to less than ``high``."""

    low: int = 0
    high: int = 100

    def __str__(self) -> str:
        if self == Share():
            return "not stated"
        if self.low == 0:
            return f"below {self.high} %"
        return f"{self.low} % or more" if self.high == 100 else f"{self.low} to {self.high} %"


@dataclass(frozen=True)
class ToldColumn:
    """A column that makes the classes, under the name it has in the release; ``categories`` are the released ones."""

    name: str
    categories: int
    grouped: bool


@dataclass(frozen=True, eq=False)
class Told:
    """All that the recipient is told, beside the files themselves.

    ``sizes`` are those of the released classes, ``size_regions`` the aggregated region of each. ``distances`` of
    aggregated regions and ``separation`` take every initial region once, whatever its records.
    """

    k: int
    regions: Regions
    membership: NDArray[np.int32]
    codes: tuple[str, ...]
    centres: NDArray[np.float64]
    sizes: NDArray[np.int64]
    size_regions: NDArray[np.int64]
    columns: tuple[ToldColumn, ...]
    region_column: str
    approaches: dict[str, str]
    suppressed: Share
    jaccard: float | None
    measures: dict[str, float | None]
    distances: NDArray[np.float64]
    separation: DaviesBouldin

    @cached_property
    def released_by_region(self) -> NDArray[np.int64]:
        """Released records of each aggregated region."""
        return np.bincount(self.size_regions, self.sizes, minlength=len(self.codes)).astype(np.int64)

    @cached_property
    def members_by_region(self) -> NDArray[np.int64]:
        """Number of initial regions of each aggregated region."""
        return np.bincount(self.membership, minlength=len(self.codes)).astype(np.int64)

    @property
    def records(self) -> int:
        """Records of the released file."""
        return int(self.sizes.sum())

    @property
    def anonymity(self) -> int | None:
        """The smallest released class, None if nothing is released."""
        return int(self.sizes.min()) if self.sizes.size else None

    @property
    def smallest_area(self) -> int | None:
        """The fewest released records of an aggregated region that has any."""
        areas = self.released_by_region[self.released_by_region > 0]
        return int(areas.min()) if areas.size else None

    @property
    def mean_distance(self) -> float | None:
        """How far initial regions are from the middle of their aggregated region, weighted by its released records."""
        return None if not self.records else float((self.released_by_region * self.distances).sum() / self.records)

    @property
    def levels(self) -> Levels:
        """On which level the released records are: grouped columns on 1, places on 1 where regions were merged."""
        merged = int(self.released_by_region[self.members_by_region > 1].sum())
        found = {column.name: {int(column.grouped): self.records} for column in self.columns}
        found[self.region_column] = {0: self.records - merged, 1: merged}
        return {name: {level: number for level, number in each.items() if number} for name, each in found.items()}


def tell(plan: Plan, place: PlaceVector, options: ReleaseOptions, header: Sequence[str]) -> Told:
    """What the recipient of this release is told."""
    problem = plan.problem
    names, given = dict(options.released_columns(header)), plan.solution.measures
    kept = plan.released > 0
    sizes, region = plan.released[kept], np.repeat(np.arange(len(plan.codes)), np.diff(plan.indptr))[kept]
    classes = plan.columns[kept]
    grouped = {grouping.column for grouping in problem.groupings}
    columns = tuple(
        ToldColumn(names.get(name, name), np.unique(codes_of(problem.counts, q)[classes]).size, name in grouped)
        for q, name in enumerate(problem.quasi_identifiers)
    )
    least = len(plan.codes) * np.unique(classes).size - sizes.size
    most = len(plan.codes) * math.prod(column.categories for column in columns) - sizes.size
    members = plan.members_by_region[region]
    # Every initial region counts once: how the records were spread over them is not released.
    some = (plan.released_by_region > 0)[plan.membership].astype(np.int64)
    once = moves(problem.regions.points, plan.membership, len(plan.codes), some)
    return Told(
        k=problem.k,
        regions=problem.regions,
        membership=plan.membership,
        codes=plan.codes,
        centres=plan.centres,
        sizes=sizes,
        size_regions=region,
        columns=columns,
        region_column=names.get(problem.region_column, problem.region_column),
        approaches={part: plan.solution.approaches.get(part, "") for part in ("site_location", "construction")},
        suppressed=suppressed_share(plan.records_suppressed, int(sizes.sum()), problem.k, least, most),
        jaccard=jaccard_told(place.jaccard, sizes, members, problem.k),
        measures={name: two_digits(given[name]) for name in MEASURES if name in given},
        distances=np.nan_to_num(once.by_region),
        separation=once.davies_bouldin,
    )


def suppressed_share(suppressed: int, released: int, k: int, least: int, most: int) -> Share:
    """Between which of `PERCENTS` of the file the suppressed records lie, told so that no missing cell is narrowed.

    ``least`` counts the missing cells of classes that are released somewhere, ``most`` those of all combinations of
    released values; the recipient may know which of the latter cannot be. Let one of `PERCENTS` be reached from t
    suppressed records on. That fewer than t are suppressed leaves a cell at k − 1 possible iff t ≥ k. That t or more
    are leaves a cell at 0 possible if the other cells can hold them, t ≤ (least − 1)(k − 1), or if t > most · (k − 1):
    then there are records that are in none of these cells, as many as you like. Only such t are used, so that the
    decision depends on nothing but the released files.
    """

    def reached_from(percent: int) -> int:
        return -(-percent * released // (100 - percent))

    def is_safe(t: int) -> bool:
        return t >= k and (t <= (least - 1) * (k - 1) or t > most * (k - 1))

    limits = [percent for percent in PERCENTS if is_safe(reached_from(percent))]
    return Share(
        max((percent for percent in limits if suppressed >= reached_from(percent)), default=0),
        min((percent for percent in limits if suppressed < reached_from(percent)), default=100),
    )


def jaccard_told(jaccard: float | None, sizes: NDArray[np.int64], members: NDArray[np.int64], k: int) -> float | None:
    """The share of pairs of a released class that also had the same initial region, to two decimals, or None.

    It depends on how each class of ``sizes`` was spread over the initial regions of its aggregated region, of which
    there are ``members``. With its pairs fixed between two printed values, every one of them must still be able to hold
    each number from 0 to k − 1 of the class. It can if

    - moving one record changes the pairs by no more than one printed value spans (0.01 of all pairs), so that every
      printed value can be met from below;
    - fixing that number still allows the highest printed value (all other classes in one initial region each) and the
      lowest (all others spread evenly), which is rounded up where it would not.

    All three depend on the sizes alone. Where they do not hold nothing is told, whatever the value.
    """
    merged = members > 1
    if jaccard is None or not merged.any():
        return jaccard
    size, parts = sizes[merged].astype(float), members[merged].astype(float)
    every = float(_pairs(sizes.astype(float)).sum())
    few = np.minimum(k - 1, size // 2)
    even = _pairs_if_even(size, parts)
    least = float(_pairs(sizes[~merged].astype(float)).sum() + even.sum())
    none_there = _pairs_if_even(size, parts - 1)
    few_there = _pairs_if_even(size - (k - 1), parts - 1) + _pairs(np.full_like(size, k - 1))
    rise = float((np.maximum(none_there, few_there) - even).max())
    fall = float((few * (size - few)).max())
    if max(2 * rise, 2 * fall, float(size.max())) > 0.01 * every:
        return None
    lowest = math.floor(100 * (least + rise) / every - 0.5) + 1
    return max(math.floor(100 * jaccard + 0.5), lowest) / 100


def _pairs(number: NDArray[np.float64]) -> NDArray[np.float64]:
    return number * (number - 1) / 2


def _pairs_if_even(number: NDArray[np.float64], parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """The fewest pairs that so many records make in so many places."""
    each, more = np.divmod(number, parts)
    return np.asarray(more * _pairs(each + 1) + (parts - more) * _pairs(each))
