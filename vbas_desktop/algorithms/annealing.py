"""What searches by simulated annealing share: draws, temperatures, limits, and the best state that was met."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .compiled import inner
from .partition import Floats, Indices, Partition, Total

_EPOCHS = 200
_COOL_EPOCHS = 10
"""Temperatures, one after the other; at the last ones nothing that raises the costs is taken."""

_COOLED = 1 / 30
"""The last temperature above zero, as a share of the first."""


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


class Best:
    """The best state that was met: first within the guard, then not above the start's S, then of lowest costs."""

    def __init__(self, partition: Partition, limits: Limits) -> None:
        self._limits = limits
        self._start = int(partition.totals[Total.SUPPRESSED])
        self._rank = (np.inf, np.inf, True, np.inf)
        self.look_at(partition)

    def look_at(self, partition: Partition) -> None:
        """Keep the state if it is better than all before."""
        suppressed, distance = int(partition.totals[Total.SUPPRESSED]), float(partition.distance[0])
        too_large = max(0, int(partition.totals[Total.SQUARES]) - self._limits.squares)
        too_far = max(0.0, distance - self._limits.distance)
        rank = (too_large, too_far, suppressed > self._start, suppressed + self._limits.price * distance)
        if rank < self._rank:
            self._rank, self.suppressed = rank, suppressed
            self.owner, self.centres = partition.owner.copy(), partition.centres.copy()

    def refining(self, moves: int, tries: int, stopped: bool) -> Refining:
        """The result, with how it was come by."""
        return Refining(self.owner, self.centres, self._start, self.suppressed, moves, tries, stopped)


def temperatures(hot: float, tries: int) -> Iterator[tuple[float, int]]:
    """The temperatures from the first one down to zero, each with the number of tries after which it ends."""
    warm = _EPOCHS - _COOL_EPOCHS
    for epoch in range(_EPOCHS):
        temperature = hot * _COOLED ** (epoch / warm) if epoch < warm else 0.0
        yield temperature, tries * (epoch + 1) // _EPOCHS


@inner
def draw(draws: NDArray[np.uint64]) -> np.uint64:
    """The next 64 bits (splitmix64)."""
    draws[0] += np.uint64(0x9E3779B97F4A7C15)
    z = draws[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inner
def share(draws: NDArray[np.uint64]) -> float:
    """A number from 0 to 1, 0 excluded."""
    return (np.float64(draw(draws) >> np.uint64(11)) + 1.0) * 2.0**-53


@inner
def below(draws: NDArray[np.uint64], number: int) -> int:
    """A natural number below that one, which is far smaller than 2**32."""
    return np.int64(((draw(draws) >> np.uint64(32)) * np.uint64(number)) >> np.uint64(32))  # type: ignore[return-value]
