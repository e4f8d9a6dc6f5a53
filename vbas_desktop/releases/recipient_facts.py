"""Disclosure control: what the papers for the recipient may say is decided here and nowhere else.

A *missing cell* is a combination of aggregated region and class that the released file lacks: to the recipient it holds
anything from 0 to k − 1 records, and it must stay so. Withholding a number when it is small would not do, because that
it is withheld tells. So the papers for the recipient are made from `RecipientFacts`, and `RecipientFacts` holds only

- what follows from the files that are handed on: the released records, the crosswalk, the initial regions' points;
- choices that do not depend on records: k, names of approaches and released columns;
- two figures besides, both so coarse that nothing about fewer than k people follows from them, however they turn out,
  and both given or left out by a rule that looks at the released files only: between which shares of the file the
  suppressed records lie (`coarsen_suppressed_share`), and how many pairs stayed together (`coarsen_jaccard`).

Two record files that differ in suppressed records only thus give the same papers, unless the coarse share changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.validity_indices import DaviesBouldin, compute_worst_index
from vbas_desktop.analysis.representability.attributes import ValueRange, describe_values
from vbas_desktop.engine.constraints import CONSTRAINT_DIAGNOSTICS
from vbas_desktop.engine.geographic_representability import (
    HEIGHT,
    Displacements,
    GeographicRepresentability,
    Levels,
    compute_column_precision,
    compute_region_precision,
    measure_displacements,
)
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import group_sizes
from vbas_desktop.model.text import format_count
from vbas_desktop.settings.release import ReleaseOptions

from .plan import ReleasedPartition, ReleasePlan

NOT_IN_TIERS = ("precision_loss",)
"""In tiers it depends on where in a larger area its records are, which is not released."""

MEASURES = (
    "alternative_average_distance",
    "precision_loss",
    "discernibility",
    "average_anonymity_deviation",
)
"""The ratings that follow from the released files. The others depend on sites, or on records that are not released."""

_NAMED = 20
"""How many regions that miss a size target are named."""

PERCENTS = (1, 2, 5, 10, 20, 50)
"""The shares of suppressed records that are told apart."""


def round_to_two_digits(value: float | None) -> float | None:
    """Round a derived figure for the recipient to two significant digits; None if it is not defined."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.2g}")


@dataclass(frozen=True)
class PercentRange:
    """Suppressed records in per cent of the file: from ``low`` to less than ``high``."""

    low: int = 0
    high: int = 100

    def __str__(self) -> str:
        if self == PercentRange():
            return "not stated"
        if self.low == 0:
            return f"below {self.high} %"
        return f"{self.low} % or more" if self.high == 100 else f"{self.low} to {self.high} %"


@dataclass(frozen=True)
class RecipientColumn:
    """A column that makes the classes, under the name it has in the release; ``categories`` are the released ones.

    ``values`` are their type and range.

    ``grouped``: the groupings take at least two values together. ``renamed``: they only give values other names.
    """

    name: str
    categories: int
    grouped: bool
    renamed: bool = False
    values: ValueRange | None = None


@dataclass(frozen=True)
class RecipientSensitive:
    """A sensitive column of the release: the criteria in words, and figures that the released file shows itself.

    There are none if the file lacks the region column or a quasi-identifier: its classes are others then. Benign values
    are not named, since one that the file lacks would be known to occur.
    """

    name: str
    criteria: tuple[str, ...]
    figures: Mapping[str, float | None]


@dataclass(frozen=True)
class FallbackExample:
    """A class that is released in a larger area: its values, and how many of it are released there and inside."""

    code: str
    values: dict[str, str]
    records: int
    inside: dict[str, int]
    regions: int


@dataclass(frozen=True, eq=False, kw_only=True)
class RecipientFacts(ReleasedPartition):
    """All that the recipient is told, beside the files themselves.

    ``sizes`` are those of the released classes, ``size_regions`` the aggregated region of each; in tiers, those of the
    places above follow, numbered on tier by tier. ``distances`` of places, ``separation`` and ``ratios`` (its largest
    (S_i + S_j)/D_ij of each place) take every initial region once, whatever its records. ``example`` is a released
    class of a larger area, by columns and values. ``limits`` are what the regions keep to, in words. ``whole``: the
    file has the region column and all quasi-identifiers, so that its rows tell the classes. ``counted_columns`` are the
    released columns for which k holds, ``other_columns`` those that are released as they are. Filters by
    the columns ``chosen_by`` left out ``left_out`` of the file's records.
    """

    k: int
    sizes: NDArray[np.int64]
    size_regions: NDArray[np.int64]
    columns: tuple[RecipientColumn, ...]
    region_column: str
    approaches: dict[str, str]
    suppressed: PercentRange
    jaccard: float | None
    measures: dict[str, float | None]
    distances: NDArray[np.float64]
    separation: DaviesBouldin
    ratios: NDArray[np.float64]
    example: FallbackExample | None = None
    sensitive: tuple[RecipientSensitive, ...] = ()
    limits: tuple[tuple[str, str], ...] = ()
    whole: bool = True
    counted_columns: tuple[str, ...] = ()
    other_columns: tuple[str, ...] = ()
    chosen_by: tuple[str, ...] = ()
    left_out: PercentRange = PercentRange()

    @cached_property
    def released_by_place(self) -> NDArray[np.int64]:
        """Records released with each code, tier by tier."""
        places = sum(len(tier.codes) for tier in self.tiers)
        return np.bincount(self.size_regions, self.sizes, minlength=places).astype(np.int64)

    @cached_property
    def released_by_region(self) -> NDArray[np.int64]:
        """Records released with the code of each aggregated region."""
        return self.released_by_place[: len(self.codes)]

    @property
    def records(self) -> int:
        """Records of the released file."""
        return int(self.sizes.sum())

    @property
    def anonymity(self) -> int | None:
        """The smallest released class, None if nothing is released."""
        return int(self.sizes.min()) if self.sizes.size else None

    @property
    def mean_distance(self) -> float | None:
        """Mean distance of initial regions to the middle of their released region, weighted by its released records."""
        return (
            None
            if not self.records
            else float((self.released_by_place * self.distances).sum() / self.records)
        )

    @property
    def levels(self) -> Levels:
        """On which level the released records are: grouped columns on 1, places on 1 where regions were merged."""
        merged = int(self.released_by_region[self.members_by_region > 1].sum())
        levels = {column.name: {int(column.grouped): self.records} for column in self.columns}
        levels[self.region_column] = {0: int(self.released_by_region.sum()) - merged, 1: merged}
        for tier, fallback_tier in enumerate(self.coarser, 2):
            levels[self.region_column][tier] = int(fallback_tier.released_by_region.sum())
        return {
            name: {level: number for level, number in records_by_level.items() if number}
            for name, records_by_level in levels.items()
        }

    @property
    def precision_by_column(self) -> dict[str, float] | None:
        """The precision of each quasi-identifier and of the place; None if nothing is released.

        It follows from the released file and the crosswalk.
        """
        by_column = compute_column_precision(self.levels, self.heights)
        merged = np.concatenate([tier.members_by_region for tier in self.tiers])
        region_precision = compute_region_precision(self.released_by_place, merged, len(self.regions))
        if by_column is None or region_precision is None:
            return None
        return {**by_column, self.region_column: region_precision}

    @property
    def heights(self) -> dict[str, int]:
        """Number of levels above the values of a column, for columns with another number than `HEIGHT`."""
        return {self.region_column: max(HEIGHT, 1 + len(self.coarser))} if self.coarser else {}


def _describe_constraints(plan: ReleasePlan, released: NDArray[np.int64]) -> Iterator[tuple[str, str]]:
    """Describe the constraints, as far as crosswalk, region file and released records of the regions show them."""
    constraints = plan.solution.diagnostics.get(CONSTRAINT_DIAGNOSTICS, {})
    if constraints.get("within"):
        columns = " or ".join(f"“{column}”" for column in constraints["within"])
        yield "Boundaries", f"no aggregated region holds initial regions with two values of {columns}"
    if constraints.get("alone"):
        yield (
            "Never merged",
            f"{format_count(len(constraints['alone']), 'initial region stays', 'initial regions stay')} alone",
        )
    for constraint in constraints.get("size_targets", ()):
        least = constraint["at_least"]
        most = constraint["at_most"]
        if constraint["what"] == "records":
            if least and released.min() >= least:
                yield "Records of each region", f"at least {least:,}"
            continue
        bounds = " and ".join(
            f"{word} {bound:,}" for word, bound in (("at least", least), ("at most", most)) if bound
        )
        others = [
            unmet["region"] for unmet in constraints["unmet"] if unmet["what"] == constraint["what"]
        ]
        more = f" and {len(others) - _NAMED:,} more" if len(others) > _NAMED else ""
        but = f", but for {', '.join(others[:_NAMED])}{more}" if others else ""
        apart = "; regions that stay alone apart" if constraints["alone"] else ""
        yield f"{constraint['what'].capitalize()} of each region", f"{bounds}{but}{apart}"


def collect_recipient_facts(
    plan: ReleasePlan,
    geography: GeographicRepresentability,
    options: ReleaseOptions,
    header: Sequence[str],
) -> RecipientFacts:
    """Collect what may be stated to the recipient of this release."""
    problem = plan.problem
    names = dict(options.released_columns(header))
    measures = plan.solution.measures
    sizes, region, classes = _released_classes(plan)
    columns = tuple(
        _describe_column(problem, q, names.get(name, name), classes)
        for q, name in enumerate(problem.quasi_identifiers)
    )
    least = len(plan.codes) * np.unique(classes).size - sizes.size
    most = len(plan.codes) * math.prod(column.categories for column in columns) - sizes.size
    moves = _measure_moves_of_regions(plan)
    used = (problem.region_column, *problem.quasi_identifiers)
    has_all_classes = all(name in names for name in used)
    members = np.concatenate([tier.members_by_region for tier in plan.tiers])[region]
    return RecipientFacts(
        k=problem.k,
        regions=problem.regions,
        membership=plan.membership,
        codes=plan.codes,
        centres=plan.centres,
        cell_sites=plan.cell_sites,
        sizes=sizes,
        size_regions=region,
        columns=columns,
        region_column=names.get(problem.region_column, problem.region_column),
        approaches={
            part: plan.solution.approaches.get(part, "")
            for part in ("site_location", "construction", "tiers")
        },
        # What is left at the end of the tiers is less than a few classes: any number could tell of it.
        suppressed=PercentRange()
        if plan.coarser
        else coarsen_suppressed_share(plan.records_suppressed, int(sizes.sum()), problem.k, least, most),
        jaccard=None
        if plan.coarser
        else coarsen_jaccard(geography.table.jaccard, sizes, members, problem.k),
        measures={
            name: round_to_two_digits(measures[name])
            for name in MEASURES
            if name in measures and not (plan.coarser and name in NOT_IN_TIERS)
        },
        distances=np.nan_to_num(moves.by_region),
        separation=moves.davies_bouldin,
        ratios=moves.ratios,
        names=plan.names,
        parents=plan.parents,
        coarser=plan.coarser,
        example=_make_example(plan, tuple(column.name for column in columns)) if plan.coarser else None,
        sensitive=tuple(_describe_sensitive(plan, names, has_all_classes, options.aggregate)),
        limits=tuple(_describe_constraints(plan, plan.released_by_region)),
        whole=has_all_classes,
        counted_columns=tuple(names[name] for name in used if name in names),
        other_columns=tuple(new_name for name, new_name in names.items() if name not in used),
        chosen_by=()
        if problem.selection is None
        else tuple(names.get(n, n) for n in problem.selection.columns),
        left_out=coarsen_left_out_share(problem.records_left_out, int(sizes.sum()), problem.k),
    )


def _describe_column(
    problem: Problem, q: int, new_name: str, classes: NDArray[np.int64]
) -> RecipientColumn:
    """Describe a quasi-identifier. The groupings alone tell whether values were merged, not the values that occur."""
    name = problem.quasi_identifiers[q]
    codes = np.unique(problem.counts.decode_column(q)[classes]).tolist()
    values = describe_values([problem.categories[q].values[code] for code in codes])
    has_groups = any(grouping.column == name for grouping in problem.groupings)
    is_merged = max(group_sizes(problem.groupings, name).values(), default=1) > 1
    return RecipientColumn(new_name, len(codes), is_merged, has_groups and not is_merged, values)


_SENSITIVE = ("largest_share_percent", "least_entropy", "largest_closeness", "largest_ordered_closeness")
_SENSITIVE_WHOLE = ("least_distinct",)
"""The figures of sensitive columns that follow from the released file, with two digits or as they are."""


def _describe_sensitive(
    plan: ReleasePlan, names: Mapping[str, str], has_all_classes: bool, aggregated: Sequence[str]
) -> Iterator[RecipientSensitive]:
    """Tell of the sensitive columns; what the values were before they were aggregated is not told."""
    for column in plan.problem.sensitive:
        if column.column in names:
            is_shown = has_all_classes and column.column not in aggregated
            figures = plan.solution.sensitive.get(column.column, {}) if is_shown else {}
            figures_to_round = {name: round_to_two_digits(figures.get(name)) for name in _SENSITIVE}
            figures_to_round |= {name: figures.get(name) for name in _SENSITIVE_WHOLE}
            stated = {name: value for name, value in figures_to_round.items() if value is not None}
            yield RecipientSensitive(
                names[column.column],
                tuple(criterion.in_words for criterion in column.chosen.criteria),
                stated,
            )


def _released_classes(
    plan: ReleasePlan,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Size, place and class of everything that is released, tier by tier."""
    is_released = plan.released_here > 0
    sizes = [plan.released_here[is_released]]
    classes = [plan.columns[is_released].astype(np.int64)]
    regions = [plan.places[is_released].astype(np.int64)]
    start = len(plan.codes)
    for tier in plan.coarser:
        sizes.append(tier.sizes)
        classes.append(tier.size_classes)
        regions.append(start + tier.size_places)
        start += len(tier.codes)
    return np.concatenate(sizes), np.concatenate(regions), np.concatenate(classes)


def _measure_moves_of_regions(plan: ReleasePlan) -> Displacements:
    """Measure how far initial regions are from the middle of their area; each counts once in each tier.

    How the records were spread over them is not released.
    """
    tiers = plan.tiers
    starts = np.cumsum([0, *(len(tier.codes) for tier in tiers)])
    is_released = [(tier.released_by_region > 0)[tier.membership].astype(np.int64) for tier in tiers]
    regions = [tier.membership + start for tier, start in zip(tiers, starts, strict=False)]
    points = plan.regions.points
    worst = compute_worst_index(points, np.ones(len(points), np.int64))
    in_tiers = np.tile(points, (len(tiers), 1))
    return measure_displacements(
        in_tiers, np.concatenate(regions), int(starts[-1]), np.concatenate(is_released), worst
    )


def _make_example(plan: ReleasePlan, columns: tuple[str, ...]) -> FallbackExample | None:
    """Choose the largest class released in the first tier above, with what its children release of it themselves."""
    tier = next(
        (number for number, fallback_tier in enumerate(plan.coarser, 1) if fallback_tier.sizes.size),
        None,
    )
    if tier is None or plan.solution.tiers is None:
        return None
    fallback_tier_used = plan.coarser[tier - 1]
    # The largest one; of equal ones the first by place and class.
    at = int(np.argmax(fallback_tier_used.sizes))
    parent = int(fallback_tier_used.size_places[at])
    column = int(fallback_tier_used.size_classes[at])
    inside = plan.solution.tiers.ancestors[tier] == parent
    is_listed = inside[plan.places] & (plan.columns == column) & (plan.released_here > 0)
    listed = zip(plan.places[is_listed].tolist(), plan.released_here[is_listed].tolist(), strict=True)
    records_inside = {plan.codes[number]: records for number, records in listed}
    counts = plan.problem.counts
    problem = plan.problem
    labels = (
        problem.categories[q].label(code) for q, code in enumerate(counts.decode_combination(column))
    )
    values = dict(zip(columns, labels, strict=True))
    return FallbackExample(
        fallback_tier_used.codes[parent],
        values,
        int(fallback_tier_used.sizes[at]),
        records_inside,
        int(inside.sum()),
    )


def coarsen_suppressed_share(
    suppressed: int, released: int, k: int, least: int, most: int
) -> PercentRange:
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
    return PercentRange(
        max((percent for percent in limits if suppressed >= reached_from(percent)), default=0),
        min((percent for percent in limits if suppressed < reached_from(percent)), default=100),
    )


def coarsen_left_out_share(left_out: int, released: int, k: int) -> PercentRange:
    """Return between which shares of the file the records lie that a filter leaves out.

    The shares are those of `PERCENTS`, as if the file had the released records and those left out. A border is used
    only if it stands for k records or more, and for at least k more than the border below it: so neither side of it
    tells of fewer than k people. Which borders are used depends on the released file alone.
    """
    borders: list[tuple[int, int]] = []
    last = 0
    for percent in PERCENTS:
        reached_from = -(-percent * released // (100 - percent))
        if reached_from - last >= k:
            borders.append((percent, reached_from))
            last = reached_from
    return PercentRange(
        max((percent for percent, start in borders if left_out >= start), default=0),
        min((percent for percent, start in borders if left_out < start), default=100),
    )


def coarsen_jaccard(
    jaccard: float | None, sizes: NDArray[np.int64], members: NDArray[np.int64], k: int
) -> float | None:
    """Round the share of pairs of a class that also had the same initial region; None if it could tell too much.

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
    size = sizes[merged].astype(float)
    parts = members[merged].astype(float)
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
    """Compute the fewest pairs that so many records make in so many places."""
    per_place, more = np.divmod(number, parts)
    return np.asarray(more * _pairs(per_place + 1) + (parts - more) * _pairs(per_place))
