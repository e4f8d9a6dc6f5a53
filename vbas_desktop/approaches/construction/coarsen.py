"""The aggregated regions of an earlier release joined; none of them is ever cut."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.aggregation import dense_membership
from vbas_desktop.algorithms.nearest_site import weighted_centroids
from vbas_desktop.algorithms.region_graph import bridge_components, build_growth_graph, contract_graph
from vbas_desktop.algorithms.regionalisation import MergeSequence, merge_smallest_first
from vbas_desktop.model.findings import Finding, InputError, Severity
from vbas_desktop.model.progress import Progress, SubProgress

from ..interface import Construction, ConstructionResult, Context, Metadata


class CoarsenConstruction(Construction):
    """Joins the aggregated regions of an earlier release until there are as many as sites; their borders stay.

    The earlier region with the fewest records joins the neighbour whose middle is nearest, again and again. With as
    many sites as there were regions, or more, the regions are the earlier ones. Runs with fewer sites of the same
    records only join further what runs with more sites have, so none of these partitions cuts across another. There
    are no sites. O(r log r).

    References
    ----------
    Several releases, in the documentation of this program.
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="coarsen",
        title="Coarsen",
        summary="Joins the aggregated regions of an earlier release and never cuts one.",
        formula="while there are > s regions: join the one with the fewest records to its nearest neighbour",
        complexity="O(r log r)",
        when="Somebody has an earlier release of these people. Needs its crosswalk. The locations of sites have no "
        "effect.",
        order=40,
    )
    needs_sites: ClassVar[bool] = False

    def build_partition(
        self, context: Context, sites: NDArray[np.float64], progress: Progress
    ) -> ConstructionResult:
        """Join the earlier regions; the diagnostics say how many there were."""
        progress.update("Joining regions", 0.0)
        earlier = context.regions.earlier
        number = np.arange(len(context.regions)) if earlier is None else earlier.region
        block, used = dense_membership(number.astype(np.int32))
        pairs, _ = context.cached("growing ground", lambda: build_growth_graph(context.regions))
        weights = np.ones(len(block)) if context.weights is None else context.weights

        def find_joins() -> MergeSequence:
            points = weighted_centroids(context.points, block, weights)
            return merge_smallest_first(
                points,
                np.bincount(block, weights).astype(np.float64),
                np.bincount(block, context.populations).astype(np.float64),
                bridge_components(points, contract_graph(pairs, block)),
                SubProgress(progress, stage="Joining regions"),
            )

        joins = context.cached("coarsening", find_joins)
        joined = joins.groups_left(used.size, len(sites))
        diagnostics = {self.metadata.name: {"earlier_regions": int(used.size)}}
        return ConstructionResult(joined[block], diagnostics, (_NO_FILE,) if earlier is None else ())

    def check_result(self, context: Context, owner: NDArray[np.int32]) -> None:
        """Refuse a partition in which a refinement or a limit cut an earlier region."""
        earlier = context.regions.earlier
        if earlier is None:
            return
        first = np.full(len(earlier.codes), -1, np.int32)
        first[earlier.region[::-1]] = owner[::-1]
        cut = np.flatnonzero(first[earlier.region] != owner)
        if cut.size:
            code = earlier.codes[int(earlier.region[cut[0]])]
            message = f"“Coarsen” joins earlier regions only, but the region “{code}” of the earlier release was cut."
            remedy = (
                "Choose no refinement, and no boundaries, regions that stay alone or maxima that part what was one "
                "region then."
            )
            raise InputError(Finding("coarsen", message, remedy))


_NO_FILE = Finding(
    "no-earlier-release",
    "No earlier release is named: the construction “Coarsen” joins initial regions.",
    "Name its crosswalk with --coarsen-from, or in Input under “Reading options”, or choose another construction.",
    severity=Severity.WARNING,
)
