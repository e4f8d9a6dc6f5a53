"""ADC (anonymity-driven clustering) by differences: the accepted moves of the literal algorithm, in its order.

Sites are visited in index order; what was refused is not tried again before something it depends on has changed, so
going back to the first region after each accepted move costs nothing. The work is done in slices of bounded length,
between which progress is told and a stop is obeyed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.compiled import lean, lean_inner
from vbas_desktop.model.progress import SILENT, Progress
from vbas_desktop.model.records import EquivalenceCounts, frozen

from .accept import accept, remember_trial
from .candidates import open_visit
from .layout import LOGGED_MOVES, Fact, State
from .star import spatial_order
from .state import begin, new_state
from .trial import try_place

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
    counts: EquivalenceCounts,
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
    for start in range(0, state.boxes.size, _FIRST_BLOCKS):
        progress.update("Anonymity-driven clustering: preparing (the first time takes longer)", 0.0)
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


@lean
def advance(state: State, k: int, steps: int) -> bool:
    """Work on for about this many steps; True when nothing is left to do."""
    facts = state.facts
    facts[Fact.WORK] = 0
    facts[Fact.LOGGED] = 0
    while facts[Fact.WORK] < steps and facts[Fact.LOGGED] < LOGGED_MOVES:
        if facts[Fact.ALPHA] == 0 or facts[Fact.ALPHA] >= k:
            return True
        if facts[Fact.NEXT_CANDIDATE] >= facts[Fact.CANDIDATES]:
            site = _next_site(state)
            if site < 0:
                facts[Fact.TRIES] += _candidates_before(state, state.sites.size)
                return True
            open_visit(state, site)
        site, candidate = facts[Fact.VISITED], state.classes[facts[Fact.NEXT_CANDIDATE]]
        facts[Fact.NEXT_CANDIDATE] += 1
        if try_place(state, site, candidate.x, candidate.y):
            _log_move(state, site)
            accept(state, site, candidate.x, candidate.y)
            facts[Fact.CANDIDATES] = 0
            facts[Fact.CURSOR] = 0
        else:
            _note_refusal(state, site)
    return False


@lean_inner
def _next_site(state: State) -> int:
    for site in range(state.facts[Fact.CURSOR], state.sites.size):
        if state.sites[site].pending and state.sites[site].low > 0:
            return site
    return -1


@lean_inner
def _candidates_before(state: State, end: int) -> int:
    total = 0
    for site in range(end):
        total += state.sites[site].low
    return total


@lean_inner
def _log_move(state: State, site: int) -> None:
    facts, tried = state.facts, state.facts[Fact.NEXT_CANDIDATE]
    candidate, entry = state.classes[tried - 1], state.log[facts[Fact.LOGGED]]
    entry.site, entry.column, entry.x, entry.y = site, candidate.listed, candidate.x, candidate.y
    facts[Fact.LOGGED] += 1
    facts[Fact.MOVES] += 1
    facts[Fact.TRIES] += _candidates_before(state, site) + tried


@lean_inner
def _note_refusal(state: State, site: int) -> None:
    """Remember what the refused trial depends on; after the last candidate the site is done for now."""
    remember_trial(state, site)
    if state.facts[Fact.NEXT_CANDIDATE] == state.facts[Fact.CANDIDATES]:
        state.sites[site].pending = 0
        state.facts[Fact.CURSOR] = site + 1


def rehearse() -> None:
    """A full matrix, and rows of counts; one site moves."""
    points = np.array([(0.0, 0.0), (4.0, 0.0), (6.0, 0.0), (10.0, 0.0)])
    dense = np.array([(5, 5), (0, 3), (0, 1), (9, 0)], np.int64)
    counts = EquivalenceCounts((2,), np.arange(2, dtype=np.int64), dense=dense)
    for kept in (counts, EquivalenceCounts((2,), counts.classes, sparse=counts.rows)):
        cluster(points, kept, points[[0, 3]], k=4)
