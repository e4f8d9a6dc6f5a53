"""Districts that grow until each has enough records; no sites are needed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.districts import find_joins, ground_of, grow, grow_from_seeds
from vbas_desktop.algorithms.site_numbers import CANADA, MODEL_CHOICES, OWN, gaps_cutoff
from vbas_desktop.approaches.base import Card, Constructed, Situation, TellingConstruction, parameter
from vbas_desktop.model.errors import Finding, Severity
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.words import agreeing, counted

SMALLEST = "smallest"
SEEDED = "seeded"
BY_SITES = "sites"
BY_MAXCOMBS = "maxcombs"
MODELS = tuple(model for model in MODEL_CHOICES if model != OWN)


@dataclass(frozen=True)
class GrowthConstruction(TellingConstruction):
    """Merges neighbouring regions to districts until none has fewer records than the cutoff.

    The cutoff is share · n / s for s sites, which for numbers by GAPS is the GAPS cutoff; with “maxcombs” it is that of
    the model for the number of possible classes e, B · e^b, whatever the number of sites. Neighbours have a common
    border, or without polygons an edge of the Gabriel graph; islands are joined to the nearest coast. Districts are
    contiguous and never below the cutoff. There are no sites.

    “smallest”: every initial region is a district at first. The smallest one below the cutoff joins the neighbour
    whose middle is nearest, again and again; then districts of twice the cutoff and more are cut in two along their
    shortest spanning tree while both parts are large enough. The order of joining does not depend on the number of
    sites, so it is found once for all of them. O(r log r).

    “seeded”, as GeoLeader grows districts: one initial region after the other becomes a seed, unless it is in a
    district already. A seed merges with the adjacent region or district whose centroid is nearest until it has the
    cutoff. When every district has, the process stops: nothing is split, so there are fewer and larger districts.
    O(r) steps over the neighbours of a district.

    References
    ----------
    The Voronoi-Based Aggregation System (thesis), § 5.3, comparison with GeoLeader.
    D. Joshi, L.-K. Soh: Redistricting using constrained polygonal clustering, IEEE Trans. Knowl. Data Eng. 24, 2012.
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
        only_with=("cutoff", BY_SITES),
    )
    method: str = parameter(
        SMALLEST,
        label="Order of growth",
        help="“smallest”: the smallest district grows first, and large ones are split. “seeded”: one seed after the "
        "other grows to the cutoff, and nothing is split, as in GeoLeader.",
        choices=(SMALLEST, SEEDED),
    )
    seeds: str = parameter(
        "file",
        label="Order of the seeds",
        help="“file”: in the order of the region file; “random”: in an order drawn with the random seed.",
        choices=("file", "random"),
        only_with=("method", SEEDED),
    )
    cutoff: str = parameter(
        BY_SITES,
        label="Cutoff",
        help="“sites”: share · n / s for s sites. “maxcombs”: that of the population model for the number of possible "
        "classes; the number of sites has no effect then.",
        choices=(BY_SITES, BY_MAXCOMBS),
    )
    model: str = parameter(
        CANADA,
        label="Population model",
        help="The published model (GAPS) of how many people a region needs, with the cutoff “maxcombs”.",
        choices=MODELS,
        only_with=("cutoff", BY_MAXCOMBS),
    )

    def construct_and_tell(self, situation: Situation, sites: NDArray[np.float64], progress: Progress) -> Constructed:
        """Grow the districts; tell the cutoff and how many islands were joined."""
        progress.update("Finding neighbours")
        pairs, bridges = situation.remember("growing ground", lambda: ground_of(situation.regions))
        cutoff = self._cutoff(situation, len(sites))
        ground = situation.points, situation.populations, pairs
        if self.method == SEEDED:
            regions = len(situation.regions)
            order = np.arange(regions) if self.seeds == "file" else situation.generator().permutation(regions)
            owner = grow_from_seeds(*ground, cutoff, order, progress, situation.weights)
        else:
            joins = situation.remember("growth", lambda: find_joins(*ground, situation.weights, progress))
            owner = grow(*ground, cutoff, joins, progress)
        told = {self.card.name: {"cutoff": cutoff, "bridges": bridges}}
        return Constructed(owner, told, _bridged(bridges))

    def _cutoff(self, situation: Situation, sites: int) -> int:
        """Compute how many records a district needs."""
        if self.cutoff == BY_SITES:
            return max(1, math.ceil(self.share * situation.records / sites))
        return max(1, math.ceil(gaps_cutoff(situation.counts.max_combinations, self.model, 0.0, 0.0)))


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
