"""What searches by simulated annealing share: draws, temperatures, limits, and the best state that was met."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .compiled import lean, lean_inner
from .partition import Floats, Indices, Partition, Total

_EPOCHS = 200
_COOL_EPOCHS = 10
"""Temperatures, one after the other; at the last ones nothing that raises the costs is taken."""

_COOLED = 1 / 30
"""The last temperature above zero, as a share of the first."""


class Limits(NamedTuple):
    """What a move must obey: limits of the guard, the price of a unit of distance in records, the temperature.

    If ``most`` is above zero, the number of groups may change between ``fewest`` and ``most``: while S is above
    ``allowed`` groups may vanish, and new ones may come as long as it is not. ``groups`` is the number at the start,
    for which ``squares`` is meant: of fewer groups the sum of the squares is larger. With ``leaving`` groups may vanish
    within the same limits, if that is worth it.
    """

    squares: int
    distance: float
    bits: float
    price: float
    temperature: float = 0.0
    groups: int = 0
    fewest: int = 0
    most: int = 0
    allowed: int = 0
    leaving: bool = False


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
    """The best state that was met: first within the guard, then not above the start's S, then of lowest costs.

    If the number of groups may change: not above the allowed S, then of most groups, then of lowest costs.
    """

    def __init__(self, partition: Partition, limits: Limits) -> None:
        self._limits = limits
        self._start = int(partition.totals[Total.SUPPRESSED])
        self._rank = (np.inf,) * 6
        self.look_at(partition)

    def look_at(self, partition: Partition) -> None:
        """Keep the state if it is better than all before."""
        suppressed, distance = int(partition.totals[Total.SUPPRESSED]), float(partition.distance[0])
        too_large = max(0.0, int(partition.totals[Total.SQUARES]) - squares_limit(partition, self._limits))
        too_far = max(0.0, distance - self._limits.distance)
        too_lossy = max(0.0, float(partition.bits[0]) - self._limits.bits)
        too_many, fewer = float(suppressed > self._start), 0
        if self._limits.most:
            too_many, fewer = max(0.0, suppressed - self._limits.allowed), -int(partition.totals[Total.GROUPS])
        costs = suppressed + self._limits.price * distance
        rank = (too_large, too_far, too_lossy, too_many, fewer, costs)
        if rank < self._rank:
            self._rank, self.suppressed = rank, suppressed
            self.owner, self.centres = partition.owner.copy(), partition.centres.copy()

    def refining(self, moves: int, tries: int, stopped: bool) -> Refining:
        """The result, with how it was come by."""
        return Refining(self.owner, self.centres, self._start, self.suppressed, moves, tries, stopped)


@lean
def squares_limit(p: Partition, limits: Limits) -> float:
    """How large the sum of the squared populations may be with as many groups as there are.

    Equal groups would make it rise as their number falls; twice as fast leaves room for uneven ones on the way.
    """
    groups = p.totals[Total.GROUPS]
    return limits.squares * ((limits.groups / groups) ** 2 if limits.most > 0 and groups < limits.groups else 1.0)


def temperatures(hot: float, tries: int) -> Iterator[tuple[float, int]]:
    """The temperatures from the first one down to zero, each with the number of tries after which it ends."""
    warm = _EPOCHS - _COOL_EPOCHS
    for epoch in range(_EPOCHS):
        temperature = hot * _COOLED ** (epoch / warm) if epoch < warm else 0.0
        yield temperature, tries * (epoch + 1) // _EPOCHS


@lean_inner
def draw(draws: NDArray[np.uint64]) -> np.uint64:
    """The next 64 bits (splitmix64)."""
    draws[0] += np.uint64(0x9E3779B97F4A7C15)
    z = draws[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@lean_inner
def share(draws: NDArray[np.uint64]) -> float:
    """A number from 0 to 1, 0 excluded."""
    return (np.float64(draw(draws) >> np.uint64(11)) + 1.0) * 2.0**-53


@lean_inner
def below(draws: NDArray[np.uint64], number: int) -> int:
    """A natural number below that one, which is far smaller than 2**32."""
    return np.int64(((draw(draws) >> np.uint64(32)) * np.uint64(number)) >> np.uint64(32))  # type: ignore[return-value]
