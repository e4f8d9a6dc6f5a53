"""What the location approaches that move sites to suppress less share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.adjacency import known_neighbours
from vbas_desktop.algorithms.ahead import make_ready
from vbas_desktop.algorithms.nearest import nearest_sites
from vbas_desktop.domain.progress import Progress, Span

from .base import SiteLocation, Situation

USUAL_EFFORT = 200
"""Moves that are tried for each site."""

_REHEARSAL = "vbas_desktop.algorithms.boundaries_rehearsal:rehearse"


def moved_sites(
    situation: Situation,
    seeding: SiteLocation,
    sites: int,
    effort: int,
    weight: float,
    longer: float,
    progress: Progress,
) -> tuple[NDArray[np.float64], Mapping[str, Any]]:
    """Places moved from those of the seeding so that fewer records are to be suppressed, and how that was done."""
    make_ready(_REHEARSAL, progress)
    # The compiler takes most of a second to import: only those who use it wait for it, and can be stopped.
    from vbas_desktop.algorithms.partition import new_partition
    from vbas_desktop.algorithms.site_moves import move_sites

    points = situation.points
    seeds = seeding.locate(situation, sites, Span(progress, 0.0, 0.1))
    owner = nearest_sites(points, seeds, Span(progress, 0.1, 0.12))
    pairs = known_neighbours(situation.regions)
    partition = new_partition(situation.counts, points, pairs, owner, seeds, situation.k)
    tries, rest = effort * sites, Span(progress, 0.12, 1.0)
    found = move_sites(partition, tries, situation.random_seed, weight, longer, rest)
    told = {
        "suppressed_before": found.suppressed_before,
        "suppressed_after": found.suppressed,
        "moves": found.moves,
        "tries": found.tries,
        "stopped": found.stopped,
    }
    return found.centres, told
