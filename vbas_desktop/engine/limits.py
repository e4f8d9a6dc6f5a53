"""What aggregated regions must keep to, for one problem: who may be merged with whom, and how much each should hold.

Boundaries and regions that stay alone always hold. Minima and maxima are wishes: what cannot be had is listed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.places import middles
from vbas_desktop.algorithms.region_names import region_codes
from vbas_desktop.model.errors import Finding, InputError, Severity
from vbas_desktop.model.problem import Problem, Request
from vbas_desktop.model.records import frozen
from vbas_desktop.model.regions import LARGEST_NUMBER, Regions
from vbas_desktop.model.solution import Solution
from vbas_desktop.model.words import counted
from vbas_desktop.settings.limits import Limiting

from .place import distance_scale

TOLD = "limits"
"""The name under which a solution tells of its limits."""

_NOT_ALONE = ("", "0", "no", "false", "none", "nan")
_WEIGHTLESS = 1e-9
"""What a region without weight weighs, as a share of the mean: a middle must be somewhere."""
_LISTED = 5


@dataclass(frozen=True, eq=False)
class Wish:
    """How much of something (a ``column`` of the region file, or records) each aggregated region should hold; ``most``
    is infinite if there is no maximum.
    """

    what: str
    column: str | None
    amounts: NDArray[np.float64]
    least: float
    most: float


@dataclass(frozen=True, eq=False)
class Limits:
    """The limits of one problem. ``value[i]`` numbers what initial region i has in the columns ``within``.

    ``alone`` marks the initial regions that are never merged; wishes do not concern them.
    """

    within: tuple[str, ...]
    value: NDArray[np.int32]
    value_names: tuple[str, ...]
    alone: NDArray[np.bool_]
    wishes: tuple[Wish, ...]
    weights: NDArray[np.float64] | None
    weight_column: str | None = None

    @property
    def groups(self) -> list[NDArray[np.intp]]:
        """The initial regions that may be merged with each other, value by value; then each one that stays alone."""
        return _groups(self.value, self.alone)

    def unmet(self, membership: NDArray[np.int32]) -> Iterator[tuple[int, dict[str, Any]]]:
        """The wishes that these aggregated regions do not meet: the region's number, and the wish as plain data."""
        number = int(membership.max()) + 1
        concerned = np.bincount(membership, self.alone, minlength=number) == 0
        for wish in self.wishes:
            has = np.bincount(membership, wish.amounts, minlength=number)
            for name, bound, missed in (
                ("at_least", wish.least, has < wish.least),
                ("at_most", wish.most, has > wish.most),
            ):
                for region in np.flatnonzero(concerned & missed).tolist():
                    yield region, {"what": wish.what, name: _whole(bound), "has": _whole(float(has[region]))}


def _groups(value: NDArray[np.int32], alone: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    free = [np.flatnonzero((value == number) & ~alone) for number in range(int(value.max(initial=-1)) + 1)]
    return [*(members for members in free if members.size), *np.flatnonzero(alone)[:, None]]


def limits_of(request: Request) -> Limits | None:
    """The limits of a request; None if there are none. `InputError` if the region file lacks what they need."""
    wanted, problem = request.limits, request.problem
    if wanted is None or not wanted.any_limit:
        return None
    findings = wrong_limits(wanted, problem.regions)
    if findings:
        raise InputError(findings)
    value, names = _values(wanted.within, problem.regions)
    weights = None if wanted.centre_weights is None else _weights(problem.regions.numbers[wanted.centre_weights])
    alone, wishes = _alone(wanted, problem.regions), tuple(_wishes(wanted, problem))
    return Limits(wanted.within, value, names, alone, wishes, weights, wanted.centre_weights)


def boundaries_of(problem: Problem, solution: Solution) -> Limits | None:
    """The boundaries that a solution tells it keeps to; None if there are none."""
    within = tuple(solution.told.get(TOLD, {}).get("within", ()))
    if not within or any(column not in problem.regions.labels for column in within):
        return None
    value, names = _values(within, problem.regions)
    return Limits(within, value, names, np.zeros(value.size, np.bool_), (), None)


def wrong_limits(wanted: Limiting, regions: Regions) -> list[Finding]:
    """What these regions lack of what the limits need."""
    return list(_wrong(wanted, regions)) if wanted.any_limit else []


def limits_settings(request: Request) -> dict[str, Any]:
    """What decides about the limits as plain data, for those who keep what was computed; nothing without limits."""
    limits = limits_of(request)
    if limits is None:
        return {}
    digest = hashlib.sha256()
    for array in (limits.value, limits.alone, limits.weights, *(wish.amounts for wish in limits.wishes)):
        if array is not None:
            digest.update(np.ascontiguousarray(array).data)
    return {TOLD: {**request.limits.chosen_limits(), "columns": digest.hexdigest()}}


def _wrong(wanted: Limiting, regions: Regions) -> Iterator[Finding]:
    file = None if regions.source is None else regions.source.path
    for column in wanted.within:
        yield from _wrong_label(column, regions, file)
    yield from _wrong_ids(wanted.alone, regions, file)
    if wanted.alone_column is not None and wanted.alone_column not in {*regions.labels, *regions.numbers}:
        yield _no_column("alone", wanted.alone_column, "marks regions that stay alone", regions.labels, regions)
    for numbers in dict.fromkeys((wanted.population_column, wanted.centre_weights)):
        if numbers is not None:
            yield from _wrong_numbers(numbers, regions, file)
    if (wanted.min_population or wanted.max_population) and wanted.population_column is None:
        yield Finding(
            "population", "No column says how many people live in a region.", "Name it with --population-column."
        )
    for what, least, most in _bounds(wanted):
        if least and most and least > most:
            yield Finding(
                "limits",
                f"The minimum of {what} ({least:,}) is above the maximum ({most:,}).",
                "Lower the minimum or raise the maximum.",
            )


def _wrong_ids(alone: Sequence[str], regions: Regions, file: str | None) -> Iterator[Finding]:
    """Count the ids that no region has. They are not quoted: they may come from a wrong file, even from the records."""
    known = set(regions.ids)
    unknown = [number for number, id in enumerate(alone, 1) if id not in known]
    if unknown:
        listed = ", ".join(f"{number:,}" for number in unknown[:_LISTED]) + (" …" if len(unknown) > _LISTED else "")
        ids = counted(len(unknown), "id", "ids")
        examples = " and ".join(f"“{id}”" for id in dict.fromkeys((regions.ids[0], regions.ids[-1])))
        message = f"The region file lacks {ids} of those that are to stay alone: number {listed} of the list."
        yield Finding("alone", message, f"Name ids of the region file; they look like {examples}.", file=file)


def _wrong_label(column: str, regions: Regions, file: str | None) -> Iterator[Finding]:
    if column not in regions.labels:
        yield _no_column("within", column, "says within which boundaries regions lie", regions.labels, regions)
        return
    empty = [id for id, value in zip(regions.ids, regions.labels[column], strict=True) if not value.strip()]
    if empty:
        yield Finding(
            "within",
            f"{counted(len(empty), 'region has', 'regions have')} nothing in this column, the first is “{empty[0]}”.",
            "Fill the column, or choose another one.",
            file=file,
            column=column,
        )


def _wrong_numbers(column: str, regions: Regions, file: str | None) -> Iterator[Finding]:
    if column not in regions.numbers:
        yield _no_column(
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
            f"{counted(lacking.size, 'region has', 'regions have')} no number from 0 to {LARGEST_NUMBER:,.0f} in this "
            f"column, the first is “{regions.ids[int(lacking[0])]}”.",
            "Complete the column, or choose another one.",
            file=file,
            column=column,
        )


def _no_column(code: str, column: str, what: str, there: Sequence[str] | Any, regions: Regions) -> Finding:
    """The file has no such column, or it has one that cannot serve."""
    lacking = regions.lacking(code, column)
    if lacking is not None:
        return lacking
    names = ", ".join(f"“{name}”" for name in there) or "none"
    file = None if regions.source is None else regions.source.path
    return Finding(code, f"No column “{column}” of the region file {what}.", f"Columns that could: {names}.", file=file)


def _values(columns: Sequence[str], regions: Regions) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """The value of each initial region, numbered in the order of the file; of several columns the combination."""
    rows = list(zip(*(regions.labels[column] for column in columns), strict=True)) or [("",)] * len(regions)
    number = {row: place for place, row in enumerate(dict.fromkeys(rows))}
    names = tuple(", ".join(row) for row in number)
    return frozen(np.array([number[row] for row in rows], np.int32)), names


def _alone(wanted: Limiting, regions: Regions) -> NDArray[np.bool_]:
    chosen = set(wanted.alone)
    alone = np.array([id in chosen for id in regions.ids], np.bool_)
    column = wanted.alone_column
    if column is not None and column in regions.labels:
        alone |= [text.strip().casefold() not in _NOT_ALONE for text in regions.labels[column]]
    elif column is not None:
        alone |= np.nan_to_num(regions.numbers[column]) != 0
    return frozen(alone)


def _weights(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    mean = float(numbers.mean())
    return frozen(np.maximum(numbers / mean, _WEIGHTLESS) if mean > 0 else np.ones_like(numbers))


def _bounds(wanted: Limiting) -> Iterator[tuple[str, int, int]]:
    yield "records", wanted.min_records, wanted.max_records
    yield "population", wanted.min_population, wanted.max_population


def _wishes(wanted: Limiting, problem: Problem) -> Iterator[Wish]:
    for what, least, most in _bounds(wanted):
        if least or most:
            counts = what == "records"
            amounts = problem.counts.region_totals if counts else problem.regions.numbers[str(wanted.population_column)]
            column = None if counts else wanted.population_column
            yield Wish(what, column, amounts.astype(np.float64), float(least), float(most) if most else np.inf)


def with_limits_told(
    problem: Problem, limits: Limits | None, solution: Solution, part_sites: Sequence[int] = ()
) -> Solution:
    """The same solution; it tells which limits it keeps to, how many sites each part has, and the wishes not met."""
    if limits is None:
        return solution
    codes = region_codes(problem.regions, solution)
    told = {
        "within": list(limits.within),
        "boundaries": len(limits.value_names) if limits.within else 0,
        "alone": [problem.regions.ids[region] for region in np.flatnonzero(limits.alone).tolist()],
        "wishes": [
            {
                "what": wish.what,
                "column": wish.column,
                "at_least": _whole(wish.least) or None,
                "at_most": _whole(wish.most) if np.isfinite(wish.most) else None,
            }
            for wish in limits.wishes
        ],
        "centres": _centres(problem.regions, limits, solution),
        "part_sites": list(part_sites),
        "unmet": [{"region": codes[region], **wish} for region, wish in limits.unmet(solution.membership)],
    }
    return replace(solution, told={**solution.told, TOLD: told})


def _centres(regions: Regions, limits: Limits, solution: Solution) -> dict[str, Any] | None:
    """The column of weights, and how far by them it is to the middles; None if all count alike."""
    if limits.weights is None:
        return None
    middle = middles(regions.points, solution.membership, limits.weights)
    away = np.hypot(*(regions.points - middle[solution.membership]).T)
    scale, unit = distance_scale(regions.system.unit)
    mean = float(np.average(away, weights=limits.weights)) / scale
    return {"column": limits.weight_column, "mean_distance": mean, "unit": unit}


def limited(solution: Solution) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns within which a solution stays, and the ids of the initial regions that it leaves alone."""
    told = solution.told.get(TOLD, {})
    return tuple(told.get("within", ())), tuple(told.get("alone", ()))


def parts_of(regions: Regions, solution: Solution) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]] | None:
    """The initial regions of each part that was solved by itself, and its sites; None if that cannot be told."""
    told: dict[str, Any] = dict(solution.told.get(TOLD, {}))
    within, alone = limited(solution)
    counts = told.get("part_sites", [])
    if any(column not in regions.labels for column in within) or solution.sites is None:
        return None
    groups = _groups(_values(within, regions)[0], np.isin(regions.ids, alone))
    if len(groups) != len(counts) or sum(counts) != len(solution.sites):
        return None
    ends = np.cumsum(counts)
    return [(members, np.arange(end - count, end)) for members, count, end in zip(groups, counts, ends, strict=True)]


def unmet_of(solution: Solution) -> list[dict[str, Any]]:
    """The wishes that a solution does not meet, as it tells them."""
    return list(solution.told.get(TOLD, {}).get("unmet", ()))


def unmet_findings(solution: Solution) -> list[Finding]:
    """A warning that names the aggregated regions of a solution that do not meet a wish."""
    unmet = unmet_of(solution)
    if not unmet:
        return []
    named = "; ".join(in_words(each) for each in unmet[:_LISTED]) + ("; …" if len(unmet) > _LISTED else "")
    return [
        Finding(
            "unmet-wishes",
            f"Solution {solution.id} has {counted(len(unmet), 'wish', 'wishes')} that cannot be met: {named}.",
            "No neighbour is left to merge with inside the boundaries, or no region that could be parted. Lower the "
            "limits, or choose wider boundaries.",
            severity=Severity.WARNING,
        )
    ]


def in_words(unmet: dict[str, Any]) -> str:
    """An unmet wish as told by a solution, such as “A012 has 320 records instead of at least 500”."""
    least = "at_least" in unmet
    bound = f"{'at least' if least else 'at most'} {unmet['at_least' if least else 'at_most']:,}"
    what = "records" if unmet["what"] == "records" else "inhabitants"
    return f"{unmet['region']} has {unmet['has']:,} {what} instead of {bound}"


def _whole(number: float) -> int | float:
    return int(number) if float(number).is_integer() else number
