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
from vbas_desktop.model.progress import SILENT, Progress
from vbas_desktop.model.records import frozen

from .kernels.adc_search import advance
from .kernels.adc_state import Fact, State, begin, new_state
from .kernels.preparation import prepare
from .kernels.spatial_index import spatial_order

_SLICE = 4_000_000
"""Steps of work (about a nanosecond each) between two looks at progress."""


_FIRST_BLOCKS = 256
"""Blocks of points that get their first owners between two looks at progress."""


@dataclass(frozen=True, eq=False)
class Clustering:
    """Where the sites ended, and how they came there.

    ``moved_site``, ``moved_class`` (a column of the counts) and ``moved_to`` list the accepted moves in order.
    ``anonymity`` is the lowest one at the end, ``anonymity_before`` at the start (None without records). ``tries`` is
    the number of candidates that the literal algorithm evaluates for the same moves, in so many ``passes`` over the
    regions; ``trials`` is how many of them had to be computed here.
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
        """How many moves were accepted."""
        return int(self.moved_site.size)


def cluster(
    points: NDArray[np.float64],
    counts: ClassCounts,
    sites: NDArray[np.float64],
    k: int,
    progress: Progress = SILENT,
    order: NDArray[np.int64] | None = None,
) -> Clustering:
    """Move sites, one at a time, as long as that raises α·s − (number of regions at α) and α is below k.

    ``order`` is the `spatial_order` of the points, for those who run more than once on the same ones.
    Complexity: O(r log s + non-zero counts) to begin; a trial costs O(points near the site) in most cases.
    """
    order = spatial_order(points) if order is None else order
    state = new_state(points, order, counts, np.array(sites, float))
    prepare(progress, begin, state, 0, _FIRST_BLOCKS)
    prepare(progress, advance, state, k, _SLICE)
    for start in range(0, state.boxes.size, _FIRST_BLOCKS):
        progress.update("Anonymity-driven clustering: assigning regions to sites", 0.0)
        begin(state, start, start + _FIRST_BLOCKS)
    before, logs = int(state.facts[Fact.ALPHA]) or None, list[NDArray[Any]]()
    while True:
        done = advance(state, k, _SLICE)
        logs.append(state.log[: state.facts[Fact.LOGGED]].copy())
        alpha, moves = int(state.facts[Fact.ALPHA]), int(state.facts[Fact.MOVES])
        progress.update(f"Anonymity-driven clustering: anonymity {alpha} of {k}, {moves:,} moves", min(alpha / k, 1.0))
        if done:
            return _clustering(state, logs, before, k)


def _clustering(state: State, logs: list[NDArray[Any]], before: int | None, k: int) -> Clustering:
    owner = np.empty(state.points.size, np.int32)
    owner[state.points["file"]] = state.points["owner"]
    facts, log = state.facts, np.concatenate(logs)
    after = int(facts[Fact.ALPHA]) or None
    # Every pass but the last ends with an accepted move; there is a last one unless α reached k.
    passes = log.size + (after is not None and after < k)
    return Clustering(
        sites=frozen(np.column_stack([state.sites["x"], state.sites["y"]])),
        owner=frozen(owner),
        moved_site=frozen(log["site"]),
        moved_class=frozen(log["column"]),
        moved_to=frozen(np.column_stack([log["x"], log["y"]])),
        anonymity_before=before,
        anonymity=after,
        tries=int(facts[Fact.TRIES]),
        trials=int(facts[Fact.TRIALS]),
        passes=passes,
    )
