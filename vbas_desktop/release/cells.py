"""Cells of the sites as released shapes: whether a solution has them, and what they reveal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vbas_desktop.algorithms.nearest import nearest_sites
from vbas_desktop.approaches.registry import approaches
from vbas_desktop.model.errors import Finding, InputError, Severity
from vbas_desktop.model.solution import Solution
from vbas_desktop.settings.release import ReleaseOptions

from .plan import Plan

SITES = "sites-revealed"
"""The code of the refusal to reveal sites that were placed by the records."""

CONFIRM_HINT = " If you agree to that, add --confirm-sites."

_UNION = "Release the union of the initial regions (--shapes union)."


def with_cells(plan: Plan, options: ReleaseOptions) -> Plan:
    """Return the plan with the sites whose cells are its shapes, if cells are wanted.

    Raises `InputError` if the cells would not be the released regions, or if they reveal sites that were placed by the
    records and nobody agreed to that.
    """
    if options.shapes != "cells":
        return plan
    solution = plan.solution
    reason = _why_no_cells(solution)
    if reason:
        message = f"The cells of the sites cannot be the shapes of these regions: {reason}."
        raise InputError(Finding("shapes", message, _UNION))
    assert solution.sites is not None
    sites = solution.sites[solution.owners_used]
    if not np.array_equal(nearest_sites(plan.regions.points, sites), plan.membership):
        message = "The cells of the sites cannot be the shapes of these regions: limits gave some to another site."
        raise InputError(Finding("shapes", message, _UNION))
    if uses_records(solution) and not options.confirm_sites:
        raise InputError(Finding(SITES, _revealing(solution), _UNION + CONFIRM_HINT))
    return replace(plan, cell_sites=sites)


def uses_records(solution: Solution) -> bool:
    """Tell whether the sites of a solution were placed by the records, not by the initial regions alone."""
    kind = approaches("site_location").get(solution.approaches.get("site_location", ""))
    return bool(getattr(kind, "uses_records", True))


def cells_findings(plan: Plan) -> tuple[Finding, ...]:
    """Warn that the released cells reveal sites that were placed by the records."""
    if plan.cell_sites is None or not uses_records(plan.solution):
        return ()
    return (Finding("cells-reveal", _revealing(plan.solution), "This was confirmed.", Severity.WARNING),)


def _revealing(solution: Solution) -> str:
    kind = approaches("site_location").get(solution.approaches.get("site_location", ""))
    title = "another approach" if kind is None else kind.card.title
    return (
        f"The cells reveal the exact sites, which were placed by the records (“{title}”): anybody can compute the "
        "sites from the borders, and learns from them where records are."
    )


def _why_no_cells(solution: Solution) -> str:
    """Say why a solution is not a plain Voronoi diagram; empty if it is one."""
    construction = solution.approaches.get("construction", "")
    refinement = solution.approaches.get("refinement", "none")
    if construction != "voronoi":
        return f"the construction is “{construction}”, and only “voronoi” gives every place to its nearest site"
    if refinement != "none":
        return f"the refinement “{refinement}” gave initial regions to other sites than the nearest"
    if solution.tiers is not None:
        return "the release is in tiers, whose larger places have no sites"
    return "" if solution.sites is not None else "there are no sites"
