"""Checks of requests, and of what approaches return."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.approaches.interface import Approach, Context
from vbas_desktop.approaches.registry import list_approaches
from vbas_desktop.model.findings import Finding, InputError, Severity
from vbas_desktop.model.records import as_readonly
from vbas_desktop.model.tiers import NOT_RELEASED, Tiers

from .request import Request


def check_request(request: Request) -> None:
    """Refuse, with every reason at once, what cannot be run."""
    findings = [*_problem_findings(request), *_setting_findings(request)]
    if findings:
        raise InputError(findings)


def _problem_findings(request: Request) -> Iterator[Finding]:
    problem = request.problem
    if len(problem.regions) == 0:
        yield Finding(
            "no-regions",
            "There are no initial regions.",
            "Choose a region file with at least one region.",
        )
    elif problem.counts.n_regions != len(problem.regions):
        yield Finding("counts-mismatch", "The counts belong to other regions.", "Load both files again.")
    elif not np.isfinite(problem.regions.points).all():
        row = int(np.flatnonzero(~np.isfinite(problem.regions.points).all(axis=1))[0])
        yield Finding(
            "coordinates",
            f"Initial region number {row + 1:,} has no finite coordinates.",
            "Correct them.",
        )
    if problem.records == 0:
        yield Finding(
            "no-records", "There are no records.", "Choose a record file with at least one record."
        )
    if problem.k < 1:
        yield Finding("k", f"k is {problem.k}, but must be at least 1.", "Usual values are 5 to 20.")


def _setting_findings(request: Request) -> Iterator[Finding]:
    measured = {measure.metadata.name for measure in request.measures} or set(list_approaches("rating"))
    unknown = [name for name in request.pareto_measures if name not in measured | {"seconds"}]
    if unknown:
        listed = ", ".join(sorted(measured))
        yield Finding(
            "measure", f"There is no measure “{unknown[0]}” to compare by.", f"Measured are: {listed}."
        )


def find_unused_files(request: Request) -> Iterator[Finding]:
    """Warn if the crosswalk of an earlier release is named and the construction does not use it."""
    if request.problem.regions.earlier is not None and request.construction.metadata.name != "coarsen":
        yield Finding(
            "earlier-unused",
            "The crosswalk of an earlier release is named, but this construction does not keep to its regions.",
            "Choose the construction “Coarsen” (--construction coarsen).",
            severity=Severity.WARNING,
        )


def check_sites(located: NDArray[np.float64], sites: int, approach: Approach) -> NDArray[np.float64]:
    """Return the sites as a float64 array of shape (sites, 2). Raises `InputError` naming the approach."""
    located = np.ascontiguousarray(located, dtype=np.float64)
    if located.shape != (sites, 2) or not np.isfinite(located).all():
        raise _broken(approach, f"did not return {sites:,} finite places")
    return located


def check_owner(
    owner: NDArray[np.int32], context: Context, sites: NDArray[np.float64] | None, approach: Approach
) -> NDArray[np.int32]:
    """Return the owners as int32: one existing site, or region, per initial region. Raises `InputError`."""
    owner = np.ascontiguousarray(owner)
    most = len(context.regions) if sites is None else len(sites)
    fits = owner.shape == (len(context.regions),) and np.issubdtype(owner.dtype, np.integer)
    if not fits or owner.min() < 0 or owner.max() >= most:
        raise _broken(approach, "did not return one existing site for each initial region")
    return owner.astype(np.int32)


def check_all_kept(before: NDArray[np.int32], after: NDArray[np.int32], approach: Approach) -> None:
    """Check that a refinement kept every aggregated region. Raises `InputError`."""
    if not np.array_equal(before, after) and not np.array_equal(np.unique(before), np.unique(after)):
        raise _broken(approach, "did not keep every aggregated region")


def check_tiers(tiers: Tiers, n_areas: int, approach: Approach) -> Tiers:
    """Return the tiers as int32: each area in one of the next tier, up to a single one. Raises `InputError`."""
    number = n_areas
    fits = bool(tiers.parents) and len(tiers) < NOT_RELEASED
    fits = fits and len(tiers.titles) == len(tiers.names) == len(tiers)
    for parent in tiers.parents:
        fits = fits and parent.shape == (number,) and np.issubdtype(parent.dtype, np.integer)
        if not fits:
            break
        number = int(parent.max()) + 1
        fits = bool(np.array_equal(np.unique(parent), np.arange(number)))
    if not fits or number != 1:
        raise _broken(approach, "did not return places that lie in one another, up to a single one")
    return replace(
        tiers, parents=tuple(as_readonly(parent.astype(np.int32)) for parent in tiers.parents)
    )


def _broken(approach: Approach, what: str) -> InputError:
    return InputError(
        Finding(
            "broken-approach",
            f"The approach “{approach.metadata.title}” {what}.",
            "Choose another approach, or tell whoever wrote it.",
        )
    )
