"""ADC (anonymity-driven clustering) by differences: the accepted moves of the literal algorithm, in its order.

Sites are visited in index order; what was refused is not tried again before something it depends on has changed, so
going back to the first region after each accepted move costs nothing. The work is done in slices of bounded length,
between which progress is reported and a stop is obeyed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.records import as_readonly

from .kernels.adc_search import advance, prepare_adc
from .kernels.adc_state import Fact, State, begin, new_state
from .kernels.spatial_index import spatial_order

_SLICE = 4_000_000
"""Steps of work (about a nanosecond each) between two looks at progress."""


_FIRST_BLOCKS = 256
"""Blocks of points that get their first owners between two looks at progress."""


@dataclass(frozen=True, eq=False)
class AdcResult:
    """Final positions of the sites, and the moves that led there.

    sites: float64 (sites, 2). owner: int32, site of each region. moved_site, moved_class (a column of the counts),
    moved_to (moves, 2): the accepted moves in order. anonymity, anonymity_before: the lowest one at the end and at the
    start, None without records. tries: candidates that the literal algorithm evaluates for the same moves, in
    ``passes`` passes over the regions. trials: how many of them had to be computed here.
    """

    sites: NDArray[np.float64]
    owner: NDArray[np.int32]
    moved_site: NDArray[np.int64]
    moved_class: NDArray[np.int64]
    moved_to: NDArray[np.float64]
    anonymity_before: int | None
    anonymity: int | None
    tries: int
    trials: int
    passes: int

    @property
    def moves(self) -> int:
        """Count the accepted moves."""
        return int(self.moved_site.size)


def run_adc(
    points: NDArray[np.float64],
    counts: ClassCounts,
    sites: NDArray[np.float64],
    k: int,
    progress: Progress = NO_PROGRESS,
    order: NDArray[np.int64] | None = None,
) -> AdcResult:
    """Move sites, one at a time, as long as that raises α·s − (number of regions at α) and α is below k.

    points: float64 (regions, 2). sites: float64 (sites, 2). order: the `spatial_order` of the points, for callers that
    run more than once on the same ones.
    Complexity: O(r log s + non-zero counts) to begin; a trial costs O(points near the site) in most cases.
    """
    order = spatial_order(points) if order is None else order
    state = new_state(points, order, counts, np.array(sites, float))
    prepare_adc(state, progress)
    for start in range(0, state.boxes.size, _FIRST_BLOCKS):
        progress.update("Anonymity-driven clustering: assigning regions to sites", 0.0)
        begin(state, start, start + _FIRST_BLOCKS)
    before = int(state.facts[Fact.ALPHA]) or None
    logs = list[NDArray[Any]]()
    while True:
        done = advance(state, k, _SLICE)
        logs.append(state.log[: state.facts[Fact.LOGGED]].copy())
        alpha = int(state.facts[Fact.ALPHA])
        moves = int(state.facts[Fact.MOVES])
        progress.update(
            f"Anonymity-driven clustering: anonymity {alpha} of {k}, {moves:,} moves",
            min(alpha / k, 1.0),
        )
        if done:
            return _build_result(state, logs, before, k)


def _build_result(state: State, logs: list[NDArray[Any]], before: int | None, k: int) -> AdcResult:
    owner = np.empty(state.points.size, np.int32)
    owner[state.points["file"]] = state.points["owner"]
    facts = state.facts
    log = np.concatenate(logs)
    after = int(facts[Fact.ALPHA]) or None
    # Every pass but the last ends with an accepted move; there is a last one unless α reached k.
    passes = log.size + (after is not None and after < k)
    return AdcResult(
        sites=as_readonly(np.column_stack([state.sites["x"], state.sites["y"]])),
        owner=as_readonly(owner),
        moved_site=as_readonly(log["site"]),
        moved_class=as_readonly(log["column"]),
        moved_to=as_readonly(np.column_stack([log["x"], log["y"]])),
        anonymity_before=before,
        anonymity=after,
        tries=int(facts[Fact.TRIES]),
        trials=int(facts[Fact.TRIALS]),
        passes=passes,
    )
