"""What several approaches share: common options, numbers of sites of the GAPS models, and moving sites."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, SerializeAsAny

from vbas_desktop.algorithms.nearest_site import find_nearest_sites
from vbas_desktop.algorithms.region_graph import region_neighbours
from vbas_desktop.algorithms.site_counts import CANADA, OWN, compute_gaps_cutoff, count_sites_for_cutoff
from vbas_desktop.model.progress import Progress, SubProgress

from .interface import Context, SiteLocation, SiteNumber, option
from .registry import create_nested

Initializer = Annotated[
    SerializeAsAny[SiteLocation], BeforeValidator(lambda value: create_nested("site_location", value))
]
"""The approach that places the first sites; it may be given by its name, or as its name and settings."""


def initializer_option(flag: str = "") -> Any:
    """Declare the approach that an approach starts from."""
    return option(
        "balanced-density",
        label="Seeding",
        help="The approach that places the sites before they are moved.",
        flag=flag,
        validate_default=True,
    )


def effort_option(default: int, item: str) -> Any:
    """Declare how long an annealing search lasts, in moves for each ``item``."""
    return option(
        default,
        label="Effort",
        help=f"How many moves are tried for each {item}; ten times as many take ten times as long.",
        ge=1,
        le=100_000,
    )


def weight_option() -> Any:
    """Declare what distance costs in an annealing search."""
    return option(
        0.1,
        label="Weight of distance",
        help="What doubling the mean distance would cost, as a share of the records that were to be suppressed at the "
        "start: 0 looks at the records only, 1 keeps regions compact.",
        ge=0.0,
        le=100.0,
    )


class GapsSiteNumber(SiteNumber):
    """As many sites as populations of the cutoff B · (diversity)^b fit into the records."""

    model: Literal["western", "central", "eastern", "canada", "own"] = option(
        CANADA,
        label="Population model",
        help="The published model (GAPS: geographic area population size) of how many people a region needs, for three "
        "parts of Canada. “canada” uses the largest of the three, “own” your own factor and exponent.",
        flag="--gaps-model",
    )
    factor: float = option(
        1978.0,
        label="Own factor B",
        help="B of your own model (model “own”).",
        ge=0.001,
        le=1e12,
        enabled_when=("model", lambda model: model == OWN),
    )
    exponent: float = option(
        0.304,
        label="Own exponent b",
        help="b of your own model (model “own”).",
        ge=0.0,
        le=10.0,
        enabled_when=("model", lambda model: model == OWN),
    )
    share: float = option(
        0.9, label="Share", help="The share of the computed number that is used.", ge=0.001, le=1.0
    )

    def sites_for(self, context: Context, diversity: float | int) -> int:
        """Compute floor(share · floor(n / cutoff)); without any diversity there is no cutoff: one for each region."""
        cutoff = compute_gaps_cutoff(diversity, self.model, self.factor, self.exponent)
        sites = count_sites_for_cutoff(context.records, cutoff, self.share)
        return len(context.regions) if sites is None else sites


USUAL_EFFORT = 200
"""Moves that are tried for each site."""

LOSSIER = 1.015
"""How far the entropy may rise, as a multiple of the start's: more released records alone make it rise."""


@dataclass(frozen=True)
class SiteSearchOptions:
    """Options of `anneal_sites`.

    effort: moves for each site. weight, longer, lossier: as in `move_sites`. uneven_percent: by how much the sum of the
    squared populations may rise. change_percent: by how much the number of sites may change. allowed_percent: the share
    of the records up to which sites may be added. leaving: sites may be removed without regard to a number.
    """

    effort: int = USUAL_EFFORT
    weight: float = 0.0
    longer: float = np.inf
    lossier: float = np.inf
    uneven_percent: float = 0.0
    change_percent: float = 0.0
    allowed_percent: float = 0.0
    leaving: bool = False


def anneal_sites(
    context: Context,
    seeds: NDArray[np.float64],
    sites: int,
    search: SiteSearchOptions,
    progress: Progress,
) -> tuple[NDArray[np.float64], Mapping[str, Any]]:
    """Move sites by simulated annealing so that fewer records are suppressed; return them with diagnostics.

    seeds: float64 (sites, 2), where the sites start. Sites without regions are removed if their number may change.
    """
    from vbas_desktop.algorithms.annealing import (
        AnnealingOptions,
        SiteCountBounds,
        SiteGuard,
        find_remote_point,
        move_sites,
    )
    from vbas_desktop.algorithms.kernels.partition_state import AnnealingData, build_partition_state

    points = context.points
    share = search.change_percent / 100
    change = None
    owner = find_nearest_sites(points, seeds, SubProgress(progress, 0.0, 0.02))
    if share > 0:
        most = min(len(points), math.floor(sites * (1 + share)))
        regions = np.unique(owner).size
        allowed = math.floor(context.records * search.allowed_percent / 100)
        change = SiteCountBounds(
            min(regions, max(1, math.ceil(sites * (1 - share)))), max(most, regions), allowed
        )
        seeds = np.vstack([seeds, np.tile(find_remote_point(points), (max(0, most - len(seeds)), 1))])
    pairs = region_neighbours(context.regions)
    data = AnnealingData(context.counts, points, pairs, context.k, context.sensitive)
    partition = build_partition_state(data, owner, seeds, progress)
    options = AnnealingOptions(search.effort * sites, context.random_seed, search.weight)
    larger = 1 + search.uneven_percent / 100
    guard = SiteGuard(search.longer, search.lossier, larger, search.leaving, change)
    result = move_sites(partition, options, guard, SubProgress(progress, 0.02, 1.0))
    diagnostics = {
        "suppressed_before": result.suppressed_before,
        "suppressed_after": result.suppressed,
        "moves": result.moves,
        "tries": result.tries,
        "stopped": result.stopped,
    }
    if change is None and not search.leaving:
        return result.centres, diagnostics
    used = np.unique(result.owner)
    return result.centres[used], {**diagnostics, "sites_before": sites, "sites_after": int(used.size)}
