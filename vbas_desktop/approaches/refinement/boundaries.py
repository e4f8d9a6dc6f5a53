"""Boundaries moved so that fewer records have to be suppressed."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.nearest_site import weighted_centroids
from vbas_desktop.algorithms.region_graph import (
    bridge_islands,
    reassign_detached_pieces,
    region_neighbours,
)
from vbas_desktop.model.progress import Progress, SubProgress

from ..interface import Context, Metadata, Refinement, RefinementResult, option
from ..shared import LOSSIER, effort_option, weight_option


class BoundariesRefinement(Refinement):
    """Hands single initial regions over to neighbours as long as that leaves fewer records to be suppressed.

    S is the number of records in classes that are suppressed, summed over the aggregated regions: smaller than k, or
    with sensitive values that do not meet the criteria. After joining scattered
    pieces (as “contiguous” does) single regions are handed over by simulated annealing on S + weight · S₀ · D / D₀,
    where D is the mean distance to the sites: a neighbour is drawn, the change of S is known from the two class lists
    that change, and what lowers the costs is done, what raises them with a probability that falls with the
    temperature. Four things never happen: a region is not left in several pieces or empty; the sum of the squared
    populations does not rise; the mean distance to the middle of the regions does not rise by more than is allowed; the
    non-uniform entropy (estimated from released shares) does not rise by more than 1.5 %.
    Sites move to the middle of what they own where that shortens distances. The best state that was met is the result,
    also after a stop.
    O(tries · classes of an initial region).

    References
    ----------
    S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi: Optimization by simulated annealing, Science 220, 1983.
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="boundaries",
        title="Boundaries",
        summary="Moves the boundaries between neighbours so that fewer records have to be suppressed.",
        formula="minimise S + w · S₀ · D/D₀;  Σ population² ≤ at the start;  D ≤ (1 + x) · D₀;  each in one piece",
        complexity="O(tries · classes of an initial region)",
        when="Every suppressed record counts and you can wait: the same number of regions loses only a fraction as "
        "many records. The boundaries then follow the records; docs/refinement.md says what that reveals.",
        order=30,
        discloses="The boundaries follow the records: anybody who knows that they were refined learns a little about "
        "which classes would have been small elsewhere. How much is measured in docs/refinement.md.",
    )
    share: ClassVar[float] = 0.8
    remaining_loss: ClassVar[float] = 0.6

    effort: int = effort_option(1000, "initial region")
    weight: float = weight_option()
    longer_percent: float = option(
        5.0,
        label="Longer distance (percent)",
        help="By how much the mean distance to the middle of the regions may rise at most, in percent.",
        ge=0.0,
        le=1000.0,
    )

    @property
    def without_search(self) -> None:
        """Return None: moving boundaries takes longer than all trials of a number of sites together."""
        return

    def refine(
        self,
        context: Context,
        owner: NDArray[np.int32],
        sites: NDArray[np.float64] | None,
        progress: Progress,
    ) -> RefinementResult:
        """Move boundaries, starting from contiguous regions; sites go to the middle of what they own."""
        from vbas_desktop.algorithms.annealing import AnnealingOptions, BoundaryGuard, move_boundaries
        from vbas_desktop.algorithms.kernels.partition_state import (
            AnnealingData,
            Total,
            build_partition_state,
            recentre,
        )

        pairs, _ = context.cached(
            "bridged graph", lambda: bridge_islands(region_neighbours(context.regions), context.points)
        )
        points = context.points
        data = AnnealingData(
            context.counts, points, pairs, context.k, context.sensitive, context.weights
        )
        centres = weighted_centroids(points, owner, context.weights) if sites is None else sites
        before = build_partition_state(data, owner, centres, progress)
        suppressed, squares = int(before.totals[Total.SUPPRESSED]), int(before.totals[Total.SQUARES])
        # Sites will be in the middle of what they own; what they are compared with must be measured alike.
        recentre(before)
        bits = float(before.bits[0]) * LOSSIER
        distance = float(before.distance[0]) * (1 + self.longer_percent / 100)
        del before
        joined = reassign_detached_pieces(owner, pairs, points, centres, context.populations, progress)
        partition = build_partition_state(data, joined, centres)
        options = AnnealingOptions(self.effort * len(points), context.random_seed, self.weight)
        guard = BoundaryGuard(squares, distance, bits)
        best = move_boundaries(partition, options, guard, SubProgress(progress, 0.05, 1.0))
        diagnostics = {
            "suppressed_before": suppressed,
            "suppressed_after": best.suppressed,
            "moved_regions": int(np.count_nonzero(best.owner != owner)),
            "moves": best.moves,
            "tries": best.tries,
            "stopped": best.stopped,
        }
        moved_sites = None if sites is None else best.centres
        return RefinementResult(
            best.owner, moved_sites, {self.metadata.name: diagnostics}, stopped=best.stopped
        )
