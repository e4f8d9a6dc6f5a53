"""Districts that grow until each has enough records; no sites are needed."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.region_graph import build_growth_graph
from vbas_desktop.algorithms.regionalisation import (
    compute_merge_sequence,
    grow_districts,
    grow_from_seeds,
)
from vbas_desktop.algorithms.site_counts import CANADA, compute_gaps_cutoff
from vbas_desktop.model.findings import Finding, Severity
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.text import format_count, inflect
from vbas_desktop.settings.option import Level

from ..interface import Construction, ConstructionResult, Context, Metadata, option

SMALLEST = "smallest"
SEEDED = "seeded"
BY_SITES = "sites"
BY_MAXCOMBS = "maxcombs"


class GrowthConstruction(Construction):
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

    metadata: ClassVar[Metadata] = Metadata(
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

    share: float = option(
        0.9,
        label="Share",
        help="A district needs this share of the records that each would have if all had the same: share · n / s.",
        ge=0.1,
        le=1.0,
        enabled_when=("cutoff", lambda cutoff: cutoff == BY_SITES),
    )
    method: Literal["smallest", "seeded"] = option(
        SMALLEST,
        label="Order of growth",
        help="“smallest”: the smallest district grows first, and large ones are split. “seeded”: one seed after the "
        "other grows to the cutoff, and nothing is split, as in GeoLeader.",
    )
    seeds: Literal["file", "random"] = option(
        "file",
        label="Order of the seeds",
        level=Level.RESEARCH,
        help="“file”: in the order of the region file; “random”: in an order drawn with the random seed.",
        enabled_when=("method", lambda method: method == SEEDED),
    )
    cutoff: Literal["sites", "maxcombs"] = option(
        BY_SITES,
        label="Cutoff",
        help="“sites”: share · n / s for s sites. “maxcombs”: that of the population model for the number of possible "
        "classes; the number of sites has no effect then.",
    )
    model: Literal["western", "central", "eastern", "canada"] = option(
        CANADA,
        label="Population model",
        help="The published model (GAPS) of how many people a region needs, with the cutoff “maxcombs”.",
        enabled_when=("cutoff", lambda cutoff: cutoff == BY_MAXCOMBS),
    )

    def build_partition(
        self, context: Context, sites: NDArray[np.float64], progress: Progress
    ) -> ConstructionResult:
        """Grow the districts; tell the cutoff and how many islands were joined."""
        progress.update("Finding neighbours")
        pairs, bridges = context.cached("growing ground", lambda: build_growth_graph(context.regions))
        cutoff = self._cutoff(context, len(sites))
        ground = context.points, context.populations, pairs
        if self.method == SEEDED:
            regions = len(context.regions)
            order = (
                np.arange(regions) if self.seeds == "file" else context.generator().permutation(regions)
            )
            owner = grow_from_seeds(*ground, cutoff, order, progress, context.weights)
        else:
            joins = context.cached(
                "growth", lambda: compute_merge_sequence(*ground, context.weights, progress)
            )
            owner = grow_districts(*ground, cutoff, joins, progress)
        diagnostics = {self.metadata.name: {"cutoff": cutoff, "bridges": bridges}}
        return ConstructionResult(owner, diagnostics, _list_bridge_findings(bridges))

    def _cutoff(self, context: Context, sites: int) -> int:
        """Compute how many records a district needs."""
        if self.cutoff == BY_SITES:
            return max(1, math.ceil(self.share * context.records / sites))
        return max(
            1, math.ceil(compute_gaps_cutoff(context.counts.max_combinations, self.model, 0.0, 0.0))
        )


def _list_bridge_findings(bridges: int) -> tuple[Finding, ...]:
    if not bridges:
        return ()
    finding = Finding(
        "islands-joined",
        f"The initial regions lie in {format_count(bridges + 1, 'separate piece')}; "
        f"{format_count(bridges, 'bridge')} between "
        f"them {inflect(bridges, 'counts', 'count')} as common borders, so that districts can grow.",
        severity=Severity.WARNING,
    )
    return (finding,)
