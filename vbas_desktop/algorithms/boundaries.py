"""Boundaries between aggregated regions moved by simulated annealing, so that fewer records are to be suppressed.

A move gives one initial region to the group of a neighbour. It must leave the group that loses it in one piece and not
empty, and must not break the guard: neither the sum of the squared populations nor the sum of the distances may rise
above their limits. Of the moves that are allowed, those that lower S + weight · distances are taken always, others with
a probability that falls with the temperature. The draws come from a generator of its own, so that a seed decides all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.progress import SILENT, Cancelled, Progress

from .annealing import Best, Limits, Refining, below, share, temperatures
from .compiled import lean, lean_inner
from .partition import Partition, Total, fill_table, measure_bits, recentre, table_has_room, table_is_crowded
from .partition_moves import (
    change_of_bits,
    change_of_distance,
    change_of_squares,
    change_of_suppressed,
    changes_of_suppressed,
    move_region,
    stays_contiguous,
)

SLICE = 20_000_000
"""Steps of work (about a nanosecond each) between two looks at progress."""

SAMPLE = 4000
"""Moves that are looked at to find the first temperature."""


def move_boundaries(
    partition: Partition,
    tries: int,
    seed: int,
    weight: float,
    squares: int,
    distance: float,
    bits: float = np.inf,
    progress: Progress = SILENT,
) -> Refining:
    """Anneal from a contiguous partition; a stop gives what was best until then.

    ``tries`` moves are drawn; ``squares``, ``distance`` and ``bits`` are the limits of the guard (a start above them
    may only come down); ``weight`` is what doubling the distances would cost, in terms of the start's S.
    O(tries · counts of a region).
    """
    totals, start = partition.totals, int(partition.totals[Total.SUPPRESSED])
    price = weight * start / partition.distance[0] if partition.distance[0] > 0 else 0.0
    draws, limits = np.array([seed], np.uint64), Limits(squares, distance, bits, float(price))
    best, done, stopped = Best(partition, limits), 0, False
    hot = typical_change(partition, draws, SAMPLE) if start else 0.0
    try:
        for temperature, end in temperatures(hot, tries) if start else ():
            limits = limits._replace(temperature=temperature)
            while done < end:
                told = (
                    f"Moving boundaries: {totals[Total.SUPPRESSED]:,} records to be suppressed, {start:,} at the start"
                )
                progress.update(told, done / tries)
                done += advance(partition, limits, draws, end - done, SLICE)
                renew_if_crowded(partition)
            recentre(partition)
            measure_bits(partition)
            best.look_at(partition)
    except Cancelled:
        stopped = True
    return best.refining(int(totals[Total.MOVES]), done, stopped)


def renew_if_crowded(partition: Partition) -> None:
    """Make the table of class sizes anew, if there is one and it is nearly full."""
    if partition.keys.size and table_is_crowded(partition):
        fill_table(partition)


@lean_inner
def _propose(p: Partition, draws: NDArray[np.uint64]) -> tuple[int, int]:
    """A region, and the group of one of its neighbours that it could go to; -1 if it cannot leave."""
    i = below(draws, p.owner.size)
    around = p.first_neighbour[i + 1] - p.first_neighbour[i]
    if around == 0 or p.members[p.owner[i]] == 1:
        return i, -1
    to = p.owner[p.neighbours[p.first_neighbour[i] + below(draws, around)]]
    return i, -1 if to == p.owner[i] else to


@lean
def typical_change(p: Partition, draws: NDArray[np.uint64], sample: int) -> float:
    """The mean of |change of S| over some moves: the scale of temperatures."""
    total, number = 0, 0
    for _ in range(sample):
        i, to = _propose(p, draws)
        if to >= 0:
            total += abs(change_of_suppressed(p, i, to))
            number += 1
    return total / number if number else 0.0


@lean
def advance(p: Partition, limits: Limits, draws: NDArray[np.uint64], tries: int, work: int) -> int:
    """Draw so many moves, or as many as that much work allows; returns how many."""
    p.totals[Total.WORK] = 0
    for done in range(tries):
        if p.totals[Total.WORK] > work or table_is_crowded(p):
            return done
        p.totals[Total.WORK] += 30
        i, to = _propose(p, draws)
        # The draw is made in any case, so that what the guard refuses does not shift the draws that follow.
        allowed = -limits.temperature * np.log(share(draws))
        if to >= 0 and _within_guard(p, limits, i, to):
            here, there = changes_of_suppressed(p, i, to)
            change = here + there + limits.price * change_of_distance(p, i, to)
            # At temperature zero a move that costs nothing and gains nothing would be made to and fro.
            wanted = change <= allowed if limits.temperature > 0.0 else change < 0.0
            wanted = wanted and _keeps_bits(p, limits, i, to, here, there)
            if wanted and table_has_room(p, i) and stays_contiguous(p, i):
                move_region(p, i, to)
    return tries


@lean_inner
def _within_guard(p: Partition, limits: Limits, i: int, to: int) -> bool:
    """Whether no limit is exceeded by the move; above a limit, only moves that lower the sum are allowed."""
    squares = change_of_squares(p, i, to)
    if squares > 0 and p.totals[Total.SQUARES] + squares > limits.squares:
        return False
    distance = change_of_distance(p, i, to)
    return distance <= 0.0 or p.distance[0] + distance <= limits.distance


@lean_inner
def _keeps_bits(p: Partition, limits: Limits, i: int, to: int, here: int, there: int) -> bool:
    bits = change_of_bits(p, i, to, here, there)
    return bits <= 0.0 or p.bits[0] + bits <= limits.bits
