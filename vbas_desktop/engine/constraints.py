"""Constraints on aggregated regions, resolved for one problem: which regions may be merged, and target sizes.

Boundaries and regions that stay alone always hold. Minima and maxima are targets: those that cannot be met are listed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.nearest_site import weighted_centroids
from vbas_desktop.algorithms.region_codes import make_region_codes
from vbas_desktop.model.findings import Finding, InputError, Severity
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import as_readonly
from vbas_desktop.model.regions import LARGEST_NUMBER, Regions
from vbas_desktop.model.solution import Solution
from vbas_desktop.model.text import format_count
from vbas_desktop.settings.constraints import RegionConstraints

from .geographic_representability import distance_scale
from .request import Request

CONSTRAINT_DIAGNOSTICS = "limits"
"""The name of the constraints among the diagnostics of a solution."""

_NOT_ALONE = ("", "0", "no", "false", "none", "nan")
_WEIGHTLESS = 1e-9
"""What a region without weight weighs, as a share of the mean: a middle must be somewhere."""
_LISTED = 5


@dataclass(frozen=True, eq=False)
class SizeTarget:
    """Amount that each aggregated region should hold: records, or the sum of a column of the region file.

    amounts: float64 (r,), amount of each initial region. column: None for records. most: infinite without a maximum.
    """

    what: str
    column: str | None
    amounts: NDArray[np.float64]
    least: float
    most: float


@dataclass(frozen=True, eq=False)
class ResolvedConstraints:
    """The constraints of one problem.

    value: int32 per initial region, number of its boundary by the columns ``within``. alone: bool, initial regions that
    are never merged; size targets do not concern them. weights: float64, weights of the regions in their centres.
    """

    within: tuple[str, ...]
    value: NDArray[np.int32]
    value_names: tuple[str, ...]
    alone: NDArray[np.bool_]
    size_targets: tuple[SizeTarget, ...]
    weights: NDArray[np.float64] | None
    weight_column: str | None = None

    @property
    def groups(self) -> list[NDArray[np.intp]]:
        """List the initial regions of each zone, boundary by boundary, then each region that stays alone."""
        return _groups(self.value, self.alone)

    def unmet(self, membership: NDArray[np.int32]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield number and plain data of each aggregated region that misses a size target."""
        number = int(membership.max()) + 1
        concerned = np.bincount(membership, self.alone, minlength=number) == 0
        for target in self.size_targets:
            has = np.bincount(membership, target.amounts, minlength=number)
            for name, bound, missed in (
                ("at_least", target.least, has < target.least),
                ("at_most", target.most, has > target.most),
            ):
                for region in np.flatnonzero(concerned & missed).tolist():
                    yield (
                        region,
                        {"what": target.what, name: _whole(bound), "has": _whole(float(has[region]))},
                    )


def _groups(value: NDArray[np.int32], alone: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    free = [
        np.flatnonzero((value == number) & ~alone) for number in range(int(value.max(initial=-1)) + 1)
    ]
    return [*(members for members in free if members.size), *np.flatnonzero(alone)[:, None]]


def resolve_constraints(request: Request) -> ResolvedConstraints | None:
    """Resolve the constraints of a request; None if there are none. Raises `InputError` if a column is missing."""
    settings = request.settings
    problem = request.problem
    if not settings.any_limit:
        return None
    findings = check_constraints(settings, problem.regions)
    if findings:
        raise InputError(findings)
    value, names = _number_boundaries(settings.within, problem.regions)
    weights = (
        None
        if settings.centre_weights is None
        else _scale_weights(problem.regions.numbers[settings.centre_weights])
    )
    alone = _flag_alone(settings, problem.regions)
    targets = tuple(_list_size_targets(settings, problem))
    return ResolvedConstraints(
        settings.within, value, names, alone, targets, weights, settings.centre_weights
    )


def resolve_boundaries(problem: Problem, solution: Solution) -> ResolvedConstraints | None:
    """Resolve the boundaries in the diagnostics of a solution; None if there are none."""
    within = tuple(solution.diagnostics.get(CONSTRAINT_DIAGNOSTICS, {}).get("within", ()))
    if not within or any(column not in problem.regions.labels for column in within):
        return None
    value, names = _number_boundaries(within, problem.regions)
    return ResolvedConstraints(within, value, names, np.zeros(value.size, np.bool_), (), None)


def check_constraints(settings: RegionConstraints, regions: Regions) -> list[Finding]:
    """Find what these regions lack of what the constraints need."""
    return list(_find_problems(settings, regions)) if settings.any_limit else []


def constraint_cache_key(request: Request) -> dict[str, Any]:
    """Return what decides about the constraints as plain data, for cache keys; empty without constraints."""
    constraints = resolve_constraints(request)
    if constraints is None:
        return {}
    digest = hashlib.sha256()
    for array in (
        constraints.value,
        constraints.alone,
        constraints.weights,
        *(target.amounts for target in constraints.size_targets),
    ):
        if array is not None:
            digest.update(np.ascontiguousarray(array).data)
    return {CONSTRAINT_DIAGNOSTICS: {**request.settings.chosen_limits(), "columns": digest.hexdigest()}}


def _find_problems(settings: RegionConstraints, regions: Regions) -> Iterator[Finding]:
    file = None if regions.source is None else regions.source.path
    for column in settings.within:
        yield from _find_label_problems(column, regions, file)
    yield from _find_unknown_ids(settings.alone, regions, file)
    if settings.alone_column is not None and settings.alone_column not in {
        *regions.labels,
        *regions.numbers,
    }:
        yield _describe_unsuitable_column(
            "alone", settings.alone_column, "marks regions that stay alone", regions.labels, regions
        )
    for numbers in dict.fromkeys((settings.population_column, settings.centre_weights)):
        if numbers is not None:
            yield from _find_number_problems(numbers, regions, file)
    if (settings.min_population or settings.max_population) and settings.population_column is None:
        yield Finding(
            "population",
            "No column says how many people live in a region.",
            "Name it with --population-column.",
        )
    for what, least, most in _bounds(settings):
        if least and most and least > most:
            yield Finding(
                "limits",
                f"The minimum of {what} ({least:,}) is above the maximum ({most:,}).",
                "Lower the minimum or raise the maximum.",
            )


def _find_unknown_ids(alone: Sequence[str], regions: Regions, file: str | None) -> Iterator[Finding]:
    """Count the ids that no region has. They are not quoted: they may come from a wrong file, even from the records."""
    region_ids = set(regions.ids)
    unknown = [number for number, id in enumerate(alone, 1) if id not in region_ids]
    if unknown:
        listed = ", ".join(f"{number:,}" for number in unknown[:_LISTED]) + (
            " …" if len(unknown) > _LISTED else ""
        )
        ids = format_count(len(unknown), "id", "ids")
        examples = " and ".join(f"“{id}”" for id in dict.fromkeys((regions.ids[0], regions.ids[-1])))
        message = (
            f"The region file lacks {ids} of those that are to stay alone: number {listed} of the list."
        )
        yield Finding(
            "alone", message, f"Name ids of the region file; they look like {examples}.", file=file
        )


def _find_label_problems(column: str, regions: Regions, file: str | None) -> Iterator[Finding]:
    if column not in regions.labels:
        yield _describe_unsuitable_column(
            "within", column, "says within which boundaries regions lie", regions.labels, regions
        )
        return
    empty = [
        id for id, value in zip(regions.ids, regions.labels[column], strict=True) if not value.strip()
    ]
    if empty:
        yield Finding(
            "within",
            f"{format_count(len(empty), 'region has', 'regions have')} nothing in this column, the first is "
            f"“{empty[0]}”.",
            "Fill the column, or choose another one.",
            file=file,
            column=column,
        )


def _find_number_problems(column: str, regions: Regions, file: str | None) -> Iterator[Finding]:
    if column not in regions.numbers:
        yield _describe_unsuitable_column(
            "population",
            column,
            f"has numbers from 0 to {LARGEST_NUMBER:,.0f} for the regions",
            regions.numbers,
            regions,
        )
        return
    lacking = np.flatnonzero(np.isnan(regions.numbers[column]))
    if lacking.size:
        yield Finding(
            "population",
            f"{format_count(lacking.size, 'region has', 'regions have')} no number from 0 to "
            f"{LARGEST_NUMBER:,.0f} in this "
            f"column, the first is “{regions.ids[int(lacking[0])]}”.",
            "Complete the column, or choose another one.",
            file=file,
            column=column,
        )


def _describe_unsuitable_column(
    code: str, column: str, purpose: str, suitable: Iterable[str], regions: Regions
) -> Finding:
    """Describe a column that is missing from the region file, or cannot have its purpose, such as "marks regions".

    ``suitable`` are the columns that could have it.
    """
    lacking = regions.find_missing_column(code, column)
    if lacking is not None:
        return lacking
    names = ", ".join(f"“{name}”" for name in suitable) or "none"
    file = None if regions.source is None else regions.source.path
    return Finding(
        code,
        f"No column “{column}” of the region file {purpose}.",
        f"Columns that could: {names}.",
        file=file,
    )


def _number_boundaries(
    columns: Sequence[str], regions: Regions
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Number the boundary value of each initial region in the order of the file, and name the values."""
    rows = list(zip(*(regions.labels[column] for column in columns), strict=True)) or [("",)] * len(
        regions
    )
    number = {row: index for index, row in enumerate(dict.fromkeys(rows))}
    names = tuple(", ".join(row) for row in number)
    return as_readonly(np.array([number[row] for row in rows], np.int32)), names


def _flag_alone(settings: RegionConstraints, regions: Regions) -> NDArray[np.bool_]:
    chosen = set(settings.alone)
    alone = np.array([id in chosen for id in regions.ids], np.bool_)
    column = settings.alone_column
    if column is not None and column in regions.labels:
        alone |= [text.strip().casefold() not in _NOT_ALONE for text in regions.labels[column]]
    elif column is not None:
        alone |= np.nan_to_num(regions.numbers[column]) != 0
    return as_readonly(alone)


def _scale_weights(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    mean = float(numbers.mean())
    return as_readonly(np.maximum(numbers / mean, _WEIGHTLESS) if mean > 0 else np.ones_like(numbers))


def _bounds(settings: RegionConstraints) -> Iterator[tuple[str, int, int]]:
    yield "records", settings.min_records, settings.max_records
    yield "population", settings.min_population, settings.max_population


def _list_size_targets(settings: RegionConstraints, problem: Problem) -> Iterator[SizeTarget]:
    for what, least, most in _bounds(settings):
        if least or most:
            counts = what == "records"
            amounts = (
                problem.counts.region_totals
                if counts
                else problem.regions.numbers[str(settings.population_column)]
            )
            column = None if counts else settings.population_column
            yield SizeTarget(
                what, column, amounts.astype(np.float64), float(least), float(most) if most else np.inf
            )


def with_constraint_diagnostics(
    problem: Problem,
    constraints: ResolvedConstraints | None,
    solution: Solution,
    zone_sites: Sequence[int] = (),
) -> Solution:
    """Add constraints, sites per zone and unmet size targets to the diagnostics of a solution."""
    if constraints is None:
        return solution
    codes = make_region_codes(problem.regions, solution)
    diagnostics = {
        "within": list(constraints.within),
        "boundaries": len(constraints.value_names) if constraints.within else 0,
        "alone": [problem.regions.ids[region] for region in np.flatnonzero(constraints.alone).tolist()],
        "size_targets": [
            {
                "what": target.what,
                "column": target.column,
                "at_least": _whole(target.least) or None,
                "at_most": _whole(target.most) if np.isfinite(target.most) else None,
            }
            for target in constraints.size_targets
        ],
        "centres": _measure_centres(problem.regions, constraints, solution),
        "part_sites": list(zone_sites),
        "unmet": [
            {"region": codes[region], **target}
            for region, target in constraints.unmet(solution.membership)
        ],
    }
    return replace(solution, diagnostics={**solution.diagnostics, CONSTRAINT_DIAGNOSTICS: diagnostics})


def _measure_centres(
    regions: Regions, constraints: ResolvedConstraints, solution: Solution
) -> dict[str, Any] | None:
    """Measure the weighted mean distance to the centres; None if all regions weigh the same."""
    if constraints.weights is None:
        return None
    middle = weighted_centroids(regions.points, solution.membership, constraints.weights)
    away = np.hypot(*(regions.points - middle[solution.membership]).T)
    scale, unit = distance_scale(regions.system.unit)
    mean = float(np.average(away, weights=constraints.weights)) / scale
    return {"column": constraints.weight_column, "mean_distance": mean, "unit": unit}


def list_constrained_regions(solution: Solution) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the boundary columns of a solution, and the ids of the regions that stay alone."""
    diagnostics = solution.diagnostics.get(CONSTRAINT_DIAGNOSTICS, {})
    return tuple(diagnostics.get("within", ())), tuple(diagnostics.get("alone", ()))


def list_zones(
    regions: Regions, solution: Solution
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]] | None:
    """List the initial regions and the sites of each zone; None if the regions lack the columns."""
    diagnostics: dict[str, Any] = dict(solution.diagnostics.get(CONSTRAINT_DIAGNOSTICS, {}))
    within, alone = list_constrained_regions(solution)
    counts = diagnostics.get("part_sites", [])
    if any(column not in regions.labels for column in within) or solution.sites is None:
        return None
    groups = _groups(_number_boundaries(within, regions)[0], np.isin(regions.ids, alone))
    if len(groups) != len(counts) or sum(counts) != len(solution.sites):
        return None
    ends = np.cumsum(counts)
    return [
        (members, np.arange(end - count, end))
        for members, count, end in zip(groups, counts, ends, strict=True)
    ]


def list_unmet_targets(solution: Solution) -> list[dict[str, Any]]:
    """List the size targets that a solution does not meet, from its diagnostics."""
    return list(solution.diagnostics.get(CONSTRAINT_DIAGNOSTICS, {}).get("unmet", ()))


def find_unmet_targets(solution: Solution) -> list[Finding]:
    """Warn of aggregated regions that do not meet a size target."""
    unmet = list_unmet_targets(solution)
    if not unmet:
        return []
    named = "; ".join(describe_unmet_target(target) for target in unmet[:_LISTED]) + (
        "; …" if len(unmet) > _LISTED else ""
    )
    return [
        Finding(
            "unmet-size-targets",
            f"Solution {solution.id} misses {format_count(len(unmet), 'size target')}: {named}.",
            "No neighbour is left to merge with inside the boundaries, or no region that could be split. Lower the "
            "limits, or choose wider boundaries.",
            severity=Severity.WARNING,
        )
    ]


def describe_unmet_target(unmet: dict[str, Any]) -> str:
    """Describe an unmet size target: “A012 has 320 records instead of at least 500”."""
    least = "at_least" in unmet
    bound = f"{'at least' if least else 'at most'} {unmet['at_least' if least else 'at_most']:,}"
    what = "inhabitants" if unmet["what"] == "population" else unmet["what"]
    return f"{unmet['region']} has {unmet['has']:,} {what} instead of {bound}"


def _whole(number: float) -> int | float:
    return int(number) if float(number).is_integer() else number
