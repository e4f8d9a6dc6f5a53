"""What the engine insists on: requests that make sense, and approaches that return what they promise."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.approaches.base import Approach, Situation
from vbas_desktop.approaches.registry import approaches
from vbas_desktop.model.errors import Finding, InputError, Severity
from vbas_desktop.model.problem import Request
from vbas_desktop.model.records import frozen
from vbas_desktop.model.tiers import NOWHERE, Tiers


def check_request(request: Request) -> None:
    """Refuse, with every reason at once, what cannot be run."""
    findings = [*_problem_findings(request), *_setting_findings(request)]
    if findings:
        raise InputError(findings)


def _problem_findings(request: Request) -> Iterator[Finding]:
    problem = request.problem
    if len(problem.regions) == 0:
        yield Finding("no-regions", "There are no initial regions.", "Choose a region file with at least one region.")
    elif problem.counts.n_regions != len(problem.regions):
        yield Finding("counts-mismatch", "The counts belong to other regions.", "Load both files again.")
    elif not np.isfinite(problem.regions.points).all():
        row = int(np.flatnonzero(~np.isfinite(problem.regions.points).all(axis=1))[0])
        yield Finding("coordinates", f"Initial region number {row + 1:,} has no finite coordinates.", "Correct them.")
    if problem.records == 0:
        yield Finding("no-records", "There are no records.", "Choose a record file with at least one record.")
    if problem.k < 1:
        yield Finding("k", f"k is {problem.k}, but must be at least 1.", "Usual values are 5 to 20.")


def _setting_findings(request: Request) -> Iterator[Finding]:
    if not (math.isfinite(request.range_step_percent) and request.range_step_percent > 0):
        yield Finding("range-step", "The range step must be above 0 percent.", "The usual step is 10.")
    if request.range_reach < 0:
        yield Finding("range-reach", "The range reach must be 0 or more.", "The usual reach is 2; 0 means one number.")
    if request.random_seed < 0:
        yield Finding("random-seed", "The random seed must be 0 or more.")
    taken = {measure.card.name for measure in request.measures} or set(approaches("rating"))
    unknown = [name for name in request.pareto_measures if name not in taken | {"seconds"}]
    if unknown:
        known = ", ".join(sorted(taken))
        yield Finding("measure", f"There is no measure “{unknown[0]}” to compare by.", f"Measured are: {known}.")


def unused_files(request: Request) -> Iterator[Finding]:
    """A warning if the crosswalk of an earlier release is named and nothing keeps to it."""
    if request.problem.regions.earlier is not None and request.construction.card.name != "coarsen":
        yield Finding(
            "earlier-unused",
            "The crosswalk of an earlier release is named, but this construction does not keep to its regions.",
            "Choose the construction “Coarsen” (--construction coarsen).",
            severity=Severity.WARNING,
        )


def check_sites(places: NDArray[np.float64], sites: int, approach: Approach) -> NDArray[np.float64]:
    """The places as the solution keeps them; an approach that broke its promise is named."""
    places = np.ascontiguousarray(places, dtype=np.float64)
    if places.shape != (sites, 2) or not np.isfinite(places).all():
        raise _broken(approach, f"did not return {sites:,} finite places")
    return places


def check_owner(
    owner: NDArray[np.int32], situation: Situation, places: NDArray[np.float64] | None, approach: Approach
) -> NDArray[np.int32]:
    """The owners as the solution keeps them: exactly one existing site, or one region, for each initial region."""
    owner = np.ascontiguousarray(owner)
    most = len(situation.regions) if places is None else len(places)
    fits = owner.shape == (len(situation.regions),) and np.issubdtype(owner.dtype, np.integer)
    if not fits or owner.min() < 0 or owner.max() >= most:
        raise _broken(approach, "did not return one existing site for each initial region")
    return owner.astype(np.int32)


def check_all_kept(before: NDArray[np.int32], after: NDArray[np.int32], approach: Approach) -> None:
    """A refinement changes what aggregated regions own, never how many there are."""
    if not np.array_equal(before, after) and not np.array_equal(np.unique(before), np.unique(after)):
        raise _broken(approach, "did not keep every aggregated region")


def check_tiers(tiers: Tiers, places: int, approach: Approach) -> Tiers:
    """The tiers as the solution keeps them: every place lies in one of the next tier, up to a single one."""
    number, fits = places, bool(tiers.parents) and len(tiers) < NOWHERE
    fits = fits and len(tiers.titles) == len(tiers.names) == len(tiers)
    for parent in tiers.parents:
        fits = fits and parent.shape == (number,) and np.issubdtype(parent.dtype, np.integer)
        if not fits:
            break
        number = int(parent.max()) + 1
        fits = bool(np.array_equal(np.unique(parent), np.arange(number)))
    if not fits or number != 1:
        raise _broken(approach, "did not return places that lie in one another, up to a single one")
    return replace(tiers, parents=tuple(frozen(parent.astype(np.int32)) for parent in tiers.parents))


def _broken(approach: Approach, what: str) -> InputError:
    return InputError(
        Finding(
            "broken-approach",
            f"The approach “{approach.card.title}” {what}.",
            "Choose another approach, or tell whoever wrote it.",
        )
    )
