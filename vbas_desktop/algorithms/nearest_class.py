"""Find the nearest of many classes, by distance or by the levels of hierarchies; classes may grow and disappear.

The classes are divided into parts of some hundreds with similar values. The ranges of values of a part bound how near
any of its classes can be, so that a search compares a class with all classes of few parts at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.progress import NO_PROGRESS, Progress

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_PART = 256
_PART_WITH_LEVELS = 128
"""Classes of a part, at most: with levels more parts must be compared, so that smaller ones pay."""
_BLOCK = 2048
_BLOCK_BOUNDS = 1 << 21
"""Classes that are looked for together, at most, and how many bounds they may have with all parts."""


@dataclass(frozen=True, eq=False)
class DistanceColumn:
    """One column of the classes: numbers, or codes that are compared by matching or by a ``table`` of distances.

    Numbers are ``weight`` · |difference| / ``width`` apart, or 0 if the width is 0. Without width and table, different
    codes are ``weight`` apart.
    """

    values: Floats
    weight: float = 1.0
    width: float | None = None
    table: Floats | None = None

    def measure(self, first: Floats, second: Floats) -> Floats:
        """Compute the distances of values, element by element."""
        if self.table is not None:
            return self.weight * self.table[first.astype(np.int64), second.astype(np.int64)]
        if self.width is None:
            return self.weight * (first != second)
        if not self.width:
            return np.zeros(np.broadcast_shapes(first.shape, second.shape))
        return self.weight * (np.abs(first - second) / self.width)

    def bound(self, values: Floats, lows: Floats, highs: Floats) -> Floats:
        """Compute the least distances of values from ranges; rounded like distances, so never above one of them."""
        if self.table is None:
            return self.measure(values, np.clip(values, lows, highs))
        is_outside = (values < lows) | (values > highs)
        other = np.where(is_outside, self._nearest_others[values.astype(np.int64)], 0.0)
        return np.where(lows == highs, self.measure(values, lows), self.weight * other)

    def spread(self, values: Floats) -> float:
        """Compute the largest distance that two of the values may have, scaled as in `measure`; 0 if all are equal."""
        low = values.min()
        high = values.max()
        if self.table is not None or self.width is None:
            return self.weight if high > low else 0.0
        return float(self.weight * (high - low) / self.width) if self.width else 0.0

    @cached_property
    def _nearest_others(self) -> Floats:
        """Compute the distance of each code of the table to the nearest other one."""
        assert self.table is not None
        apart = self.table + np.where(np.eye(len(self.table), dtype=bool), np.inf, 0.0)
        nearest: Floats = apart.min(axis=1, initial=np.inf)
        return nearest


@dataclass(frozen=True, eq=False)
class LevelColumn:
    """One column in a hierarchy.

    ``positions[c]`` is the place of the value of class c among all values, sorted so that values with a common ancestor
    follow each other. ``ancestors[level, position]`` is the code of a value on a level, ``costs[level]`` what it costs
    to be on that level, ``floors[c]`` the lowest level that class c may be on.
    """

    positions: Ints
    ancestors: Ints
    costs: Floats
    floors: Ints

    def find_common_levels(self, first: Ints, second: Ints) -> Ints:
        """Find the lowest levels on which the values of positions are the same, element by element."""
        levels = np.full(np.broadcast_shapes(first.shape, second.shape), len(self.costs) - 1)
        for level in reversed(range(len(self.costs) - 1)):
            levels[self.ancestors[level][first] == self.ancestors[level][second]] = level
        return levels

    def bound(self, positions: Ints, first: Ints, last: Ints) -> Floats:
        """Compute the least cost of a common level with a value between two positions.

        Values with a common ancestor follow each other, so no position between two is further from one than the other.
        """
        levels = self.find_common_levels(positions, np.clip(positions, first, last))
        # A floor may raise a class to a higher level, which may cost less.
        return np.minimum.accumulate(self.costs[::-1])[::-1][levels]

    def spread(self, positions: Ints) -> float:
        """Compute what the common level of all these values costs, and a little more if they differ."""
        first = positions.min()
        last = positions.max()
        return float(self.costs[self.find_common_levels(first, last)]) + (1e-9 if last > first else 0.0)


class NearestClasses:
    """The classes among which the nearest one of another class is looked for.

    Parameters
    ----------
    columns
        The columns by which distances are measured.
    sizes, ranks
        Of all classes; of classes that are equally near, the larger one is taken, then the one of lower rank.
    members
        The classes that may be found; all of them may be looked for.
    levels
        If given, the class is nearest with which the lowest common levels cost least; distances decide between equals.
    """

    def __init__(
        self,
        columns: Sequence[DistanceColumn],
        sizes: Ints,
        ranks: Ints,
        members: Ints,
        levels: Sequence[LevelColumn] = (),
    ) -> None:
        self._columns = columns
        self._levels = levels
        self._sizes = sizes.astype(np.int64)
        self._ranks = ranks.astype(np.int64)
        self._parts = self._divide(members, _PART_WITH_LEVELS if levels else _PART)
        self._part_of = np.full(sizes.size, -1)
        for number, part in enumerate(self._parts):
            self._part_of[part] = number
        # The bounds of a part stay valid when classes are removed.
        self._ranges = [_find_ranges(column.values, self._parts) for column in columns]
        self._level_ranges = [_find_ranges(level.positions, self._parts) for level in levels]
        # For each member of the parts that were asked for already: a bound of its distance from other parts.
        self._elsewhere = np.zeros(sizes.size)
        self._bounded: set[int] = set()

    def find_all_nearest(self, numbers: Ints, progress: Progress = NO_PROGRESS) -> Ints:
        """Find the nearest other class of each of these; −1 if there is none."""
        nearest = np.full(self._sizes.size, -1)
        blocks = self._divide(numbers, max(1, min(_BLOCK, _BLOCK_BOUNDS // max(1, len(self._parts)))))
        for done, block in enumerate(blocks):
            progress.update("Looking for the nearest classes", done / len(blocks))
            nearest[block] = self._search(block)
        return nearest[numbers]

    def find_nearest(self, number: int) -> int:
        """Find the other class at the least distance from one of the members; −1 if there is none."""
        own = int(self._part_of[number])
        nearest, distance = self._find_nearest_of(number, self._parts[own])
        if distance < self._bound_elsewhere(own, number):
            return nearest
        _, bounds = self._bound(np.array([number]))
        near = np.flatnonzero(bounds[0] <= distance)
        classes = np.concatenate([self._parts[part] for part in near.tolist()])
        return self._find_nearest_of(number, classes)[0]

    def remove(self, number: int) -> None:
        """Take a class out."""
        part = self._part_of[number]
        members = self._parts[part]
        self._parts[part] = members[members != number]

    def grow(self, number: int, records: int) -> None:
        """Add records to a class."""
        self._sizes[number] += records

    def _divide(self, members: Ints, most: int) -> list[Ints]:
        """Divide classes at the middle of the column with the largest spread until at most ``most`` are together."""
        columns: list[tuple[DistanceColumn | LevelColumn, NDArray[Any]]] = [
            (level, level.positions) for level in self._levels
        ]
        columns = columns or [(column, column.values) for column in self._columns]
        waiting = [members.astype(np.int64)] if members.size else []
        parts = []
        while waiting:
            part = waiting.pop()
            spreads = (
                [column.spread(values[part]) for column, values in columns]
                if part.size > most
                else [0.0]
            )
            widest = int(np.argmax(spreads))
            if spreads[widest] <= 0:
                parts.append(part)
                continue
            values = columns[widest][1]
            part = part[np.argsort(values[part], kind="stable")]
            middle = _find_middle(values[part])
            waiting += [part[middle:], part[:middle]]
        return parts

    def _bound(self, numbers: Ints) -> tuple[Floats, Floats]:
        """Bound the costs and distances of these classes from the classes of every part, (classes, parts)."""
        shape = (numbers.size, len(self._parts))
        cost = np.zeros(shape)
        distance = np.zeros(shape)
        for level, (first, last) in zip(self._levels, self._level_ranges, strict=True):
            cost += level.bound(level.positions[numbers][:, None], first, last)
        for column, (low, high) in zip(self._columns, self._ranges, strict=True):
            distance += column.bound(column.values[numbers][:, None], low, high)
        return cost, distance

    def _bound_elsewhere(self, part: int, number: int) -> float:
        """Bound the distance of a member from all classes of other parts."""
        if part not in self._bounded:
            self._bounded.add(part)
            members = self._parts[part]
            _, bounds = self._bound(members)
            bounds[:, part] = np.inf
            self._elsewhere[members] = bounds.min(axis=1)
        return float(self._elsewhere[number])

    def _find_nearest_of(self, number: int, classes: Ints) -> tuple[int, float]:
        """Find the nearest of these classes by distance, and its distance; −1 if there is none but the class itself."""
        distance = np.zeros(classes.size)
        for column in self._columns:
            distance += column.measure(column.values[number], column.values[classes])
        distance[classes == number] = np.inf
        least = distance.min(initial=np.inf)
        if least == np.inf:
            return -1, np.inf
        nearest = classes[distance == least]
        if nearest.size > 1:
            sizes = self._sizes[nearest]
            nearest = nearest[sizes == sizes.max()]
        return int(nearest[self._ranks[nearest].argmin()]), float(least)

    def _search(self, numbers: Ints) -> Ints:
        """Find the nearest class of each of these by costs and distances, part by part from the nearest one on."""
        cost_bounds, distance_bounds = self._bound(numbers)
        cost, distance = np.full((2, numbers.size), np.inf)
        nearest = np.full(numbers.size, -1)
        for part in np.lexsort((distance_bounds.min(axis=0), cost_bounds.min(axis=0))).tolist():
            cheaper = cost_bounds[:, part] < cost
            nearer = (cost_bounds[:, part] == cost) & (distance_bounds[:, part] <= distance)
            rows = np.flatnonzero(cheaper | nearer)
            if not rows.size or not self._parts[part].size:
                continue
            in_part = self._find_nearest_in(numbers[rows], self._parts[part])
            better = _is_better(
                self._keys(*in_part), self._keys(cost[rows], distance[rows], nearest[rows])
            )
            better &= np.isfinite(in_part[0])
            rows = rows[better]
            cost[rows], distance[rows], nearest[rows] = (column[better] for column in in_part)
        return nearest

    def _find_nearest_in(self, numbers: Ints, classes: Ints) -> tuple[Floats, Floats, Ints]:
        """Find the nearest of some classes to each of others: its cost, its distance, and which it is."""
        cost = np.zeros((numbers.size, classes.size))
        for level in self._levels:
            levels = level.find_common_levels(
                level.positions[numbers][:, None], level.positions[classes]
            )
            cost += level.costs[np.maximum(levels, level.floors[classes])]
        cost[numbers[:, None] == classes] = np.inf
        least_cost = cost.min(axis=1)
        is_best = cost == least_cost[:, None]
        # Most classes are the cheapest of none, and need no distance.
        some = is_best.any(axis=0)
        classes = classes[some]
        is_best = is_best[:, some]
        distance = np.zeros(is_best.shape)
        for column in self._columns:
            distance += column.measure(column.values[numbers][:, None], column.values[classes])
        distance[~is_best] = np.inf
        least = distance.min(axis=1)
        is_best &= distance == least[:, None]
        sizes = np.where(is_best, self._sizes[classes], -1)
        is_best &= sizes == sizes.max(axis=1)[:, None]
        ranks = np.where(is_best, self._ranks[classes], np.iinfo(np.int64).max)
        return least_cost, least, classes[ranks.argmin(axis=1)]

    def _keys(self, cost: Floats, distance: Floats, classes: Ints) -> tuple[Floats | Ints, ...]:
        """List what decides between classes, in this order."""
        return cost, distance, -self._sizes[classes], self._ranks[classes]


def _is_better(first: Sequence[Floats | Ints], second: Sequence[Floats | Ints]) -> NDArray[np.bool_]:
    """Compare keys lexicographically, element by element."""
    better = np.zeros(first[0].size, np.bool_)
    for mine, theirs in zip(reversed(first), reversed(second), strict=True):
        better = (mine < theirs) | ((mine == theirs) & better)
    return better


def _find_ranges(values: NDArray[Any], parts: Sequence[Ints]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Find the lowest and the highest value of each part."""
    return np.array([values[part].min() for part in parts]), np.array(
        [values[part].max() for part in parts]
    )


def _find_middle(keys: NDArray[Any]) -> int:
    """Find the change of value that is nearest to the middle of sorted keys that are not all the same."""
    half = len(keys) // 2
    before, after = (int(np.searchsorted(keys, keys[half], side)) for side in ("left", "right"))
    if before == 0 or (after < len(keys) and after - half < half - before):
        return after
    return before
