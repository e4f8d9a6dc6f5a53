"""What the location approaches that move sites to suppress less share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.adjacency import known_neighbours
from vbas_desktop.algorithms.nearest import nearest_sites
from vbas_desktop.model.progress import Progress, Span

from .base import Situation

USUAL_EFFORT = 200
"""Moves that are tried for each site."""

LOSSIER = 1.015
"""How far the entropy may rise, as a multiple of the start's: more released records alone make it rise."""


@dataclass(frozen=True)
class Search:
    """What a search for places may do: effort, weight and limits as in `move_sites`.

    ``uneven_percent`` is by how much the sum of the squared populations may rise, ``change_percent`` by how much the
    number of sites may change, ``allowed_percent`` the share of the records that may be suppressed with sites that are
    added, ``leaving`` whether sites may go without regard to a number.
    """

    effort: int = USUAL_EFFORT
    weight: float = 0.0
    longer: float = np.inf
    lossier: float = np.inf
    uneven_percent: float = 0.0
    change_percent: float = 0.0
    allowed_percent: float = 0.0
    leaving: bool = False


def moved_sites(
    situation: Situation, seeds: NDArray[np.float64], sites: int, search: Search, progress: Progress
) -> tuple[NDArray[np.float64], Mapping[str, Any]]:
    """Places moved from where they begin so that fewer records are to be suppressed, and how that was done."""
    from vbas_desktop.algorithms.annealing import Change, idle_place, move_sites
    from vbas_desktop.algorithms.kernels.partition_state import new_partition

    points, share, change = situation.points, search.change_percent / 100, None
    owner = nearest_sites(points, seeds, Span(progress, 0.0, 0.02))
    if share > 0:
        most, regions = min(len(points), math.floor(sites * (1 + share))), np.unique(owner).size
        allowed = math.floor(situation.records * search.allowed_percent / 100)
        change = Change(min(regions, max(1, math.ceil(sites * (1 - share)))), max(most, regions), allowed)
        seeds = np.vstack([seeds, np.tile(idle_place(points), (max(0, most - len(seeds)), 1))])
    pairs = known_neighbours(situation.regions)
    partition = new_partition(
        situation.counts, points, pairs, owner, seeds, situation.k, situation.sensitive, progress=progress
    )
    tries, rest = search.effort * sites, Span(progress, 0.02, 1.0)
    seed, limits = situation.random_seed, (search.weight, search.longer, search.lossier)
    larger = 1 + search.uneven_percent / 100
    found = move_sites(partition, tries, seed, *limits, change, rest, larger, search.leaving)
    told = {
        "suppressed_before": found.suppressed_before,
        "suppressed_after": found.suppressed,
        "moves": found.moves,
        "tries": found.tries,
        "stopped": found.stopped,
    }
    if change is None and not search.leaving:
        return found.centres, told
    used = np.unique(found.owner)
    return found.centres[used], {**told, "sites_before": sites, "sites_after": int(used.size)}
