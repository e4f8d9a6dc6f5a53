"""Boundaries between aggregated regions moved by simulated annealing, so that fewer records are to be suppressed.

A move gives one initial region to the group of a neighbour. It must leave the group that loses it in one piece and not
empty, and must not break the guard: neither the sum of the squared populations nor the sum of the distances may rise
above their limits. Of the moves that are allowed, those that lower S + weight · distances are taken always, others with
a probability that falls with the temperature. The draws come from a generator of its own, so that a seed decides all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.domain.progress import Cancelled, Progress, Silent

from .compiled import compiled, inner
from .partition import (
    Floats,
    Indices,
    Partition,
    Total,
    change_of_distance,
    change_of_squares,
    change_of_suppressed,
    fill_table,
    move_region,
    recentre,
    stays_contiguous,
    table_has_room,
    table_is_crowded,
)

_EPOCHS = 200
_COOL_EPOCHS = 10
"""Temperatures, one after the other; at the last ones nothing that raises the costs is taken."""

_COOLED = 1 / 30
"""The last temperature above zero, as a share of the first."""

_SLICE = 20_000_000
"""Steps of work (about a nanosecond each) between two looks at progress."""

_SAMPLE = 4000


class Limits(NamedTuple):
    """What a move must obey: limits of the guard, the price of a unit of distance in records, the temperature."""

    squares: int
    distance: float
    price: float
    temperature: float


@dataclass(frozen=True, eq=False)
class Refining:
    """The best partition that was met, and how it compares with the start."""

    owner: Indices
    centres: Floats
    suppressed_before: int
    suppressed: int
    moves: int
    tries: int
    stopped: bool


def move_boundaries(
    partition: Partition,
    tries: int,
    seed: int,
    weight: float,
    squares: int,
    distance: float,
    progress: Progress | None = None,
    on_epoch: Callable[[Partition], Any] | None = None,
) -> Refining:
    """Anneal from a contiguous partition; a stop gives what was best until then.

    ``tries`` moves are drawn; ``squares`` and ``distance`` are the limits of the guard (a start above them may only
    come down); ``weight`` is what doubling the distances would cost, in terms of the start's S. ``on_epoch`` sees the
    partition after each temperature. O(tries · counts of a region).
    """
    progress = progress or Silent()
    totals, start = partition.totals, int(partition.totals[Total.SUPPRESSED])
    price = weight * start / partition.distance[0] if partition.distance[0] > 0 else 0.0
    draws = np.array([seed], np.uint64)
    hot = _typical_change(partition, draws, _SAMPLE) if start else 0.0
    limits, best = Limits(squares, distance, price, hot), _Best(partition, squares, distance, price)
    done, epochs = 0, _EPOCHS if start else 0
    try:
        for epoch in range(epochs):
            cool = epoch >= epochs - _COOL_EPOCHS
            limits = limits._replace(temperature=0.0 if cool else hot * _COOLED ** (epoch / (epochs - _COOL_EPOCHS)))
            end = tries * (epoch + 1) // epochs
            while done < end:
                told = (
                    f"Moving boundaries: {totals[Total.SUPPRESSED]:,} records to be suppressed, {start:,} at the start"
                )
                progress.update(told, done / tries)
                done += advance(partition, limits, draws, end - done, _SLICE)
                if partition.keys.size:
                    _renew_if_crowded(partition)
            recentre(partition)
            best.look_at(partition)
            if on_epoch is not None:
                on_epoch(partition)
    except Cancelled:
        best.stopped = True
    return Refining(
        best.owner, best.centres, start, best.suppressed, int(totals[Total.MOVES]), done, stopped=best.stopped
    )


class _Best:
    """The best state that was met: first within the guard, then not above the start's S, then of lowest costs."""

    def __init__(self, partition: Partition, squares: int, distance: float, price: float) -> None:
        self._squares, self._distance, self._price = squares, distance, price
        self._start = int(partition.totals[Total.SUPPRESSED])
        self._rank = (np.inf, np.inf, True, np.inf)
        self.stopped = False
        self.look_at(partition)

    def look_at(self, partition: Partition) -> None:
        suppressed, distance = int(partition.totals[Total.SUPPRESSED]), float(partition.distance[0])
        too_large = max(0, int(partition.totals[Total.SQUARES]) - self._squares)
        too_far = max(0.0, distance - self._distance)
        rank = (too_large, too_far, suppressed > self._start, suppressed + self._price * distance)
        if rank < self._rank:
            self._rank, self.suppressed = rank, suppressed
            self.owner, self.centres = partition.owner.copy(), partition.centres.copy()


def _renew_if_crowded(partition: Partition) -> None:
    if crowded(partition):
        fill_table(partition)


@compiled
def crowded(p: Partition) -> bool:
    """Whether the table of class sizes is to be made anew."""
    return table_is_crowded(p)


@inner
def _draw(draws: NDArray[np.uint64]) -> np.uint64:
    """The next 64 bits (splitmix64)."""
    draws[0] += np.uint64(0x9E3779B97F4A7C15)
    z = draws[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inner
def _share(draws: NDArray[np.uint64]) -> float:
    """A number from 0 to 1, 0 excluded."""
    return (np.float64(_draw(draws) >> np.uint64(11)) + 1.0) * 2.0**-53


@inner
def _below(draws: NDArray[np.uint64], number: int) -> int:
    """A natural number below that one, which is far smaller than 2**32."""
    return np.int64(((_draw(draws) >> np.uint64(32)) * np.uint64(number)) >> np.uint64(32))  # type: ignore[return-value]


@inner
def _propose(p: Partition, draws: NDArray[np.uint64]) -> tuple[int, int]:
    """A region, and the group of one of its neighbours that it could go to; -1 if it cannot leave."""
    i = _below(draws, p.owner.size)
    around = p.first_neighbour[i + 1] - p.first_neighbour[i]
    if around == 0 or p.members[p.owner[i]] == 1:
        return i, -1
    to = p.owner[p.neighbours[p.first_neighbour[i] + _below(draws, around)]]
    return i, -1 if to == p.owner[i] else to


@compiled
def _typical_change(p: Partition, draws: NDArray[np.uint64], sample: int) -> float:
    """The mean of |change of S| over some moves: the scale of temperatures."""
    total, number = 0, 0
    for _ in range(sample):
        i, to = _propose(p, draws)
        if to >= 0:
            total += abs(change_of_suppressed(p, i, to))
            number += 1
    return total / number if number else 0.0


@compiled
def advance(p: Partition, limits: Limits, draws: NDArray[np.uint64], tries: int, work: int) -> int:
    """Draw so many moves, or as many as that much work allows; returns how many."""
    p.totals[Total.WORK] = 0
    for done in range(tries):
        if p.totals[Total.WORK] > work or table_is_crowded(p):
            return done
        p.totals[Total.WORK] += 30
        i, to = _propose(p, draws)
        # The draw is made in any case, so that what the guard refuses does not shift the draws that follow.
        allowed = -limits.temperature * np.log(_share(draws))
        if to >= 0 and _within_guard(p, limits, i, to):
            change = change_of_suppressed(p, i, to) + limits.price * change_of_distance(p, i, to)
            # At temperature zero a move that costs nothing and gains nothing would be made to and fro.
            wanted = change <= allowed if limits.temperature > 0.0 else change < 0.0
            if wanted and table_has_room(p, i) and stays_contiguous(p, i):
                move_region(p, i, to)
    return tries


@inner
def _within_guard(p: Partition, limits: Limits, i: int, to: int) -> bool:
    """Whether no limit is exceeded by the move; above a limit, only moves that lower the sum are allowed."""
    squares = change_of_squares(p, i, to)
    if squares > 0 and p.totals[Total.SQUARES] + squares > limits.squares:
        return False
    distance = change_of_distance(p, i, to)
    return distance <= 0.0 or p.distance[0] + distance <= limits.distance
