"""The stages of one partition: locate the sites, construct, meet size targets, refine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.approaches.interface import ConstructionResult, Context, Refinement, SiteLocation
from vbas_desktop.model.progress import NO_PROGRESS, Progress, SubProgress
from vbas_desktop.model.records import as_readonly
from vbas_desktop.model.solution import UnrefinedPartition

from .constraint_zones import Zone, meet_size_targets
from .outcome import RegionPartition
from .request import Request
from .validation import check_all_kept, check_owner, check_sites


def build_zone_partition(
    request: Request,
    zone: Zone | None,
    context: Context,
    sites: int,
    progress: Progress,
    is_plain: bool = False,
) -> RegionPartition:
    """Build the partition of the regions that may be merged with each other; without a zone that is all of them.

    ``is_plain``: sites stay where searches begin, and nothing is refined.
    """
    if zone is not None and len(zone) == 1:
        point = as_readonly(context.points.copy()) if request.construction.needs_sites else None
        return RegionPartition(point, as_readonly(np.zeros(1, np.int32)), {})
    location = request.site_location.initializer if is_plain else request.site_location
    refinement = None if is_plain else request.refinement
    refined_from = 1.0 if refinement is None else 1.0 - refinement.share
    constructed_from = 0.95 * refined_from
    located, diagnostics = _locate_sites(
        request, location, context, sites, SubProgress(progress, 0.0, constructed_from)
    )
    is_stopped = any(facts.get("stopped") for facts in diagnostics.values())
    # The best sites until the stop: what follows takes a moment and is done all the same.
    progress = NO_PROGRESS if is_stopped else progress
    progress.update("Merging regions", constructed_from)
    result = ConstructionResult.of(
        request.construction.build_partition(
            context,
            np.full((sites, 2), np.nan) if located is None else located,
            SubProgress(progress, constructed_from, refined_from),
        )
    )
    owner = check_owner(result.owner, context, located, request.construction)
    partition = RegionPartition(
        located,
        as_readonly(owner),
        {**diagnostics, **result.diagnostics},
        result.findings,
        stopped=is_stopped,
        detoured=result.detoured,
    )
    if zone is not None:
        partition = meet_size_targets(zone, partition, progress)
    if refinement is not None and not is_stopped:
        partition = _refine(refinement, partition, context, SubProgress(progress, refined_from, 1.0))
        if zone is not None:
            partition = meet_size_targets(
                zone, partition, NO_PROGRESS if partition.stopped else progress
            )
    return partition


def _locate_sites(
    request: Request, location: SiteLocation, context: Context, sites: int, progress: Progress
) -> tuple[NDArray[np.float64] | None, Mapping[str, Any]]:
    """Locate the sites, float64 (sites, 2), and return the diagnostics; None if the construction needs no sites."""
    if not request.construction.needs_sites:
        return None, {}
    progress.update("Placing the sites", 0.0)
    located, diagnostics = location.locate_with_diagnostics(context, sites, progress)
    number = len(located) if location.changes_number else sites
    return as_readonly(check_sites(located, number, location)), diagnostics


def _refine(
    refinement: Refinement, partition: RegionPartition, context: Context, progress: Progress
) -> RegionPartition:
    """Refine a partition; the one before is kept beside it if that changes anything."""
    result = refinement.refine(context, partition.owner, partition.sites, progress)
    sites = partition.sites
    if sites is not None and result.sites is not None:
        sites = as_readonly(check_sites(result.sites, len(sites), refinement))
    owner = check_owner(result.owner, context, sites, refinement)
    check_all_kept(partition.owner, owner, refinement)
    has_equal_sites = sites is None or partition.sites is None or np.array_equal(sites, partition.sites)
    is_unchanged = np.array_equal(owner, partition.owner) and has_equal_sites
    return replace(
        partition,
        sites=sites,
        owner=as_readonly(owner),
        diagnostics={**partition.diagnostics, **result.diagnostics},
        unrefined=None if is_unchanged else UnrefinedPartition(partition.owner, partition.sites),
        stopped=result.stopped,
    )
