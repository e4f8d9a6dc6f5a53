"""Boundaries moved so that fewer records have to be suppressed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.adjacency import known_neighbours
from vbas_desktop.algorithms.contiguity import bridged, join_pieces
from vbas_desktop.algorithms.places import middles
from vbas_desktop.approaches.base import Card, Refined, Refinement, Situation, parameter
from vbas_desktop.approaches.declaration import effort_parameter, weight_parameter
from vbas_desktop.approaches.site_moving import LOSSIER
from vbas_desktop.model.progress import Progress, Span


@dataclass(frozen=True)
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

    card: ClassVar[Card] = Card(
        name="boundaries",
        title="Boundaries",
        summary="Moves the boundaries between neighbours so that fewer records have to be suppressed.",
        formula="minimise S + w · S₀ · D/D₀;  Σ population² ≤ at the start;  D ≤ (1 + x) · D₀;  each in one piece",
        complexity="O(tries · classes of an initial region)",
        when="Every suppressed record counts and you can wait: the same number of regions loses only a fraction as "
        "many records. The boundaries then follow the records; docs/refinement.md says what that reveals.",
        order=30,
        reveals="The boundaries follow the records: anybody who knows that they were refined learns a little about "
        "which classes would have been small elsewhere. How much is measured in docs/refinement.md.",
    )
    share: ClassVar[float] = 0.8
    remaining_loss: ClassVar[float] = 0.6

    effort: int = effort_parameter(1000, "initial region")
    weight: float = weight_parameter()
    longer_percent: float = parameter(
        5.0,
        label="Longer distance (percent)",
        help="By how much the mean distance to the middle of the regions may rise at most, in percent.",
        low=0.0,
        high=1000.0,
    )

    @property
    def without_search(self) -> None:
        """Nothing: moving boundaries takes longer than all trials of a number of sites together."""
        return

    def refine(
        self, situation: Situation, owner: NDArray[np.int32], sites: NDArray[np.float64] | None, progress: Progress
    ) -> Refined:
        """The best owners that were met, and the sites in the middle of what they own."""
        from vbas_desktop.algorithms.annealing import move_boundaries
        from vbas_desktop.algorithms.kernels.partition_state import Total, new_partition, recentre

        pairs, _ = situation.remember(
            "bridged graph", lambda: bridged(known_neighbours(situation.regions), situation.points)
        )
        points, counts, k = situation.points, situation.counts, situation.k
        centres = middles(points, owner, situation.weights) if sites is None else sites
        before = new_partition(
            counts, points, pairs, owner, centres, k, situation.sensitive, situation.weights, progress
        )
        suppressed, squares = int(before.totals[Total.SUPPRESSED]), int(before.totals[Total.SQUARES])
        # Sites will be in the middle of what they own; what they are compared with must be measured alike.
        recentre(before)
        bits = float(before.bits[0]) * LOSSIER
        distance = float(before.distance[0]) * (1 + self.longer_percent / 100)
        del before
        joined = join_pieces(owner, pairs, points, centres, situation.populations, progress)
        partition = new_partition(counts, points, pairs, joined, centres, k, situation.sensitive, situation.weights)
        found = move_boundaries(
            partition,
            self.effort * len(points),
            situation.random_seed,
            self.weight,
            squares,
            distance,
            bits,
            Span(progress, 0.05, 1.0),
        )
        told = {
            "suppressed_before": suppressed,
            "suppressed_after": found.suppressed,
            "moved_regions": int(np.count_nonzero(found.owner != owner)),
            "moves": found.moves,
            "tries": found.tries,
            "stopped": found.stopped,
        }
        places = None if sites is None else found.centres
        return Refined(found.owner, places, {self.card.name: told}, stopped=found.stopped)
