"""Districts that grow until each has enough records; no sites are needed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.districts import ground_of, grow
from vbas_desktop.approaches.base import Card, Constructed, Situation, TellingConstruction, parameter
from vbas_desktop.domain.errors import Finding, Severity
from vbas_desktop.domain.progress import Progress
from vbas_desktop.domain.words import agreeing, counted


@dataclass(frozen=True)
class GrowthConstruction(TellingConstruction):
    """Merges the smallest district with its nearest neighbour until none has fewer records than the cutoff.

    The number of sites s says how large districts must be: cutoff = share · n / s, which for numbers by GAPS is the
    GAPS cutoff. Every initial region is a district at first. The smallest one below the cutoff joins the neighbour
    whose middle is nearest, again and again; then districts of twice the cutoff and more are cut in two along their
    shortest spanning tree while both parts are large enough. Neighbours have a common border, or without polygons an
    edge of the Gabriel graph; islands are joined to the nearest coast. Districts are contiguous and never below the
    cutoff, and there are at most n / cutoff of them. There are no sites. O(r log r).

    References
    ----------
    The Voronoi-Based Aggregation System, comparison with seeded growth.
    """

    card: ClassVar[Card] = Card(
        name="growth",
        title="Growth",
        summary="Lets districts grow over their neighbours until each has enough records.",
        formula="while a district has < share · n / s records: join the smallest to its nearest neighbour; split ≥ 2×",
        complexity="O(r log r)",
        when="Regions must be contiguous and none may be small; shapes matter less. The locations of sites have no "
        "effect.",
        order=30,
    )
    needs_sites: ClassVar[bool] = False

    share: float = parameter(
        0.9,
        label="Share",
        help="A district needs this share of the records that each would have if all had the same: share · n / s.",
        low=0.1,
        high=1.0,
    )

    def construct_and_tell(self, situation: Situation, sites: NDArray[np.float64], progress: Progress) -> Constructed:
        """The districts, how many islands were joined, and the cutoff."""
        progress.update("Finding neighbours")
        pairs, bridges = situation.remember("growing ground", lambda: ground_of(situation.regions))
        cutoff = max(1, math.ceil(self.share * situation.records / len(sites)))
        owner = grow(situation.points, situation.populations, pairs, cutoff, progress, situation.weights)
        told = {self.card.name: {"cutoff": cutoff, "bridges": bridges}}
        return Constructed(owner, told, _bridged(bridges))


def _bridged(bridges: int) -> tuple[Finding, ...]:
    if not bridges:
        return ()
    finding = Finding(
        "islands-joined",
        f"The initial regions lie in {counted(bridges + 1, 'separate piece')}; {counted(bridges, 'bridge')} between "
        f"them {agreeing(bridges, 'counts', 'count')} as common borders, so that districts can grow.",
        severity=Severity.WARNING,
    )
    return (finding,)
