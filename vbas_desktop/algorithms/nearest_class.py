"""Find the nearest of many classes, by distance or by the levels of hierarchies; classes may grow and disappear.

The classes are in a k-d tree. Each node has bounds of the values, the largest size and the first rank of the classes
below it, so that a search leaves out every node whose best possible class is not better than the best one found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .compiled import compiled, inner

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NUMBER = 0
MATCHING = 1
TABLE = 2

_LEAF = 8


@dataclass(frozen=True, eq=False)
class DistanceColumn:
    """One column of the classes: numbers, or codes that are compared by matching or by a table of distances.

    Numbers are ``weight`` · |difference| / ``width`` apart, or 0 if the width is 0.
    """

    values: Floats
    kind: int
    weight: float = 1.0
    width: float = 1.0
    table: Floats | None = None


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


class _Measures(NamedTuple):
    """The columns as arrays, (classes, columns); tables, ancestors and costs one after the other."""

    values: Floats
    kinds: Ints
    weights: Floats
    widths: Floats
    tables: Floats
    nearest_others: Floats
    table_starts: Ints
    table_sizes: Ints
    by_level: bool
    positions: Ints
    floors: Ints
    ancestors: Ints
    ancestor_starts: Ints
    value_numbers: Ints
    costs: Floats
    least_costs: Floats
    cost_starts: Ints
    heights: Ints


class _Tree(NamedTuple):
    """The nodes. ``members[starts[n] : ends[n]]`` are the classes of node n; ``lefts[n]`` is −1 in a leaf."""

    members: Ints
    starts: Ints
    ends: Ints
    lefts: Ints
    rights: Ints
    parents: Ints
    leaf_of: Ints
    lows: Floats
    highs: Floats
    first_positions: Ints
    last_positions: Ints
    alive: NDArray[np.bool_]
    sizes: Ints
    ranks: Ints
    largest: Ints
    first_ranks: Ints


class NearestClasses:
    """The classes among which a nearest one is looked for.

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
        self._measures = _measures(columns, levels)
        self._tree = _tree(self._measures, sizes.astype(np.int64), ranks.astype(np.int64), members.astype(np.int64))

    def nearest(self, number: int) -> int:
        """Find the nearest other class of a class; −1 if there is none."""
        return int(_search(self._measures, self._tree, number))

    def nearest_of_all(self, numbers: Ints) -> Ints:
        """Find the nearest other class of each of these."""
        found: Ints = _search_all(self._measures, self._tree, numbers.astype(np.int64))
        return found

    def remove(self, number: int) -> None:
        """Take a class out."""
        self._tree.alive[number] = False
        _refresh(self._tree, number)

    def grow(self, number: int, records: int) -> None:
        """Add records to a class."""
        self._tree.sizes[number] += records
        _refresh(self._tree, number)


def _measures(columns: Sequence[DistanceColumn], levels: Sequence[LevelColumn]) -> _Measures:
    tables, others, starts, table_sizes = [np.zeros(0)], [np.zeros(0)], [], []
    for column in columns:
        starts.append(sum(part.size for part in tables))
        table = np.zeros((0, 0)) if column.table is None else column.table
        table_sizes.append(len(table))
        tables.append(table.ravel().astype(np.float64))
        apart = table + np.where(np.eye(len(table), dtype=bool), np.inf, 0.0)
        others.append(np.concatenate((apart.min(axis=1, initial=np.inf), np.zeros(table.size - len(table)))))
    number = len(columns[0].values)
    empty = np.zeros((number, 0), np.int64)
    return _Measures(
        np.ascontiguousarray(np.column_stack([column.values for column in columns]), np.float64),
        np.array([column.kind for column in columns], np.int64),
        np.array([column.weight for column in columns]),
        np.array([column.width for column in columns]),
        np.concatenate(tables),
        np.concatenate(others),
        np.array(starts, np.int64),
        np.array(table_sizes, np.int64),
        bool(levels),
        np.ascontiguousarray(np.column_stack([level.positions for level in levels])) if levels else empty,
        np.ascontiguousarray(np.column_stack([level.floors for level in levels])) if levels else empty,
        np.concatenate([np.zeros(0, np.int64), *(level.ancestors.ravel() for level in levels)]).astype(np.int64),
        _starts([level.ancestors.size for level in levels]),
        np.array([level.ancestors.shape[1] for level in levels], np.int64),
        np.concatenate([np.zeros(0), *(level.costs for level in levels)]),
        # The least cost of a level or of one above it.
        np.concatenate([np.zeros(0), *(np.minimum.accumulate(level.costs[::-1])[::-1] for level in levels)]),
        _starts([level.costs.size for level in levels]),
        np.array([len(level.costs) - 1 for level in levels], np.int64),
    )


def _starts(lengths: Sequence[int]) -> Ints:
    return np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.int64) if lengths else np.zeros(0, np.int64)


def _tree(measures: _Measures, sizes: Ints, ranks: Ints, members: Ints) -> _Tree:
    most = 2 * len(members) + 1
    columns = measures.values.shape[1]
    alive = np.zeros(len(sizes), np.bool_)
    alive[members] = True
    positions = (most, columns if measures.by_level else 0)
    tree = _Tree(
        members=members.copy(),
        starts=np.full(most, -1, np.int64),
        ends=np.full(most, -1, np.int64),
        lefts=np.full(most, -1, np.int64),
        rights=np.full(most, -1, np.int64),
        parents=np.full(most, -1, np.int64),
        leaf_of=np.full(len(sizes), -1, np.int64),
        lows=np.zeros((most, columns)),
        highs=np.zeros((most, columns)),
        first_positions=np.zeros(positions, np.int64),
        last_positions=np.zeros(positions, np.int64),
        alive=alive,
        sizes=sizes.copy(),
        ranks=ranks,
        largest=np.zeros(most, np.int64),
        first_ranks=np.zeros(most, np.int64),
    )
    _build(measures, tree)
    return tree


@compiled
def _build(measures: Any, tree: Any) -> Any:
    """Split the classes at the middle of the column with the largest spread until at most `_LEAF` are together."""
    columns = measures.values.shape[1]
    waiting = [(0, len(tree.members), -1)]
    node = 0
    while waiting:
        start, end, parent = waiting.pop()
        tree.starts[node] = start
        tree.ends[node] = end
        tree.parents[node] = parent
        if parent >= 0:
            if tree.lefts[parent] == -1:
                tree.lefts[parent] = node
            else:
                tree.rights[parent] = node
        widest = 0.0
        split = -1
        for q in range(columns):
            spread = _bound_values(measures, tree, node, q)
            if spread > widest:
                widest = spread
                split = q
        if end - start <= _LEAF or split < 0:
            for at in range(start, end):
                tree.leaf_of[tree.members[at]] = node
        else:
            part = tree.members[start:end]
            keys = measures.positions[part, split] + 0.0 if measures.by_level else measures.values[part, split]
            order = np.argsort(keys, kind="mergesort")
            tree.members[start:end] = part[order]
            sorted_keys = keys[order]
            middle = _middle(sorted_keys)
            waiting.append((start, start + middle, node))
            waiting.append((start + middle, end, node))
        node += 1
    for last in range(node - 1, -1, -1):
        _summarise(tree, last)


@inner
def _middle(keys: Any) -> Any:
    """Find the change of value that is nearest to the middle; there is one."""
    half = len(keys) // 2
    for step in range(len(keys)):
        for at in (half - step, half + step):
            if 0 < at < len(keys) and keys[at - 1] != keys[at]:
                return at
    return half


@inner
def _bound_values(measures: Any, tree: Any, node: Any, q: Any) -> Any:
    """Note the range of a column in a node; return how far apart its values may be."""
    first = tree.members[tree.starts[node]] if tree.ends[node] > tree.starts[node] else 0
    low = high = measures.values[first, q]
    for at in range(tree.starts[node], tree.ends[node]):
        value = measures.values[tree.members[at], q]
        low = min(low, value)
        high = max(high, value)
    tree.lows[node, q] = low
    tree.highs[node, q] = high
    if measures.by_level:
        first_position = last_position = measures.positions[first, q]
        for at in range(tree.starts[node], tree.ends[node]):
            position = measures.positions[tree.members[at], q]
            first_position = min(first_position, position)
            last_position = max(last_position, position)
        tree.first_positions[node, q] = first_position
        tree.last_positions[node, q] = last_position
        level = _common_level(measures, q, first_position, last_position)
        return measures.costs[measures.cost_starts[q] + level] + (1e-9 if last_position > first_position else 0.0)
    if measures.kinds[q] == NUMBER:
        return measures.weights[q] * (high - low) / measures.widths[q] if measures.widths[q] else 0.0
    return measures.weights[q] if high > low else 0.0


@inner
def _common_level(measures: Any, q: Any, one: Any, other: Any) -> Any:
    """Find the lowest level on which two values are the same."""
    start = measures.ancestor_starts[q]
    number = measures.value_numbers[q]
    for level in range(measures.heights[q]):
        if measures.ancestors[start + level * number + one] == measures.ancestors[start + level * number + other]:
            return level
    return measures.heights[q]


@inner
def _summarise(tree: Any, node: Any) -> Any:
    """Note the largest size and the first rank of the living classes of a node; a size of 0 means that none lives."""
    largest = 0
    first = np.int64(2**62)
    if tree.lefts[node] < 0:
        for at in range(tree.starts[node], tree.ends[node]):
            member = tree.members[at]
            if tree.alive[member]:
                largest = max(largest, tree.sizes[member])
                first = min(first, tree.ranks[member])
    else:
        for child in (tree.lefts[node], tree.rights[node]):
            largest = max(largest, tree.largest[child])
            first = min(first, tree.first_ranks[child])
    tree.largest[node] = largest
    tree.first_ranks[node] = first


@compiled
def _refresh(tree: Any, number: Any) -> Any:
    """Summarise the nodes above a class again."""
    node = tree.leaf_of[number]
    while node >= 0:
        _summarise(tree, node)
        node = tree.parents[node]


@inner
def _node_cost(measures: Any, tree: Any, node: Any, number: Any) -> Any:
    """Find the least that common levels with a class of a node can cost.

    Values with a common ancestor follow each other, so no position between two is further from one than the other is.
    """
    cost = 0.0
    if measures.by_level:
        for q in range(measures.positions.shape[1]):
            position = measures.positions[number, q]
            nearest = min(max(position, tree.first_positions[node, q]), tree.last_positions[node, q])
            cost += measures.least_costs[measures.cost_starts[q] + _common_level(measures, q, position, nearest)]
    return cost


@inner
def _node_distance(measures: Any, tree: Any, node: Any, number: Any) -> Any:
    """Find the least possible distance of a class of a node; rounded as distances are, so never above one."""
    distance = 0.0
    for q in range(measures.values.shape[1]):
        value = measures.values[number, q]
        low = tree.lows[node, q]
        high = tree.highs[node, q]
        part = 0.0
        if measures.kinds[q] == TABLE:
            row = measures.table_starts[q]
            if low == high:
                part = measures.tables[row + int(value) * measures.table_sizes[q] + int(low)]
            elif not low <= value <= high:
                part = measures.nearest_others[row + int(value)]
        elif low <= value <= high:
            part = 0.0
        elif measures.kinds[q] == MATCHING:
            part = 1.0
        elif measures.widths[q]:
            nearest = low if value < low else high
            part = abs(value - nearest) / measures.widths[q]
        distance += measures.weights[q] * part
    return distance


@inner
def _class_cost(measures: Any, number: Any, other: Any) -> Any:
    """Compute what it costs to bring a class and another one to their lowest common levels."""
    cost = 0.0
    if measures.by_level:
        for q in range(measures.positions.shape[1]):
            level = _common_level(measures, q, measures.positions[number, q], measures.positions[other, q])
            level = max(level, measures.floors[other, q])
            cost += measures.costs[measures.cost_starts[q] + level]
    return cost


@inner
def _class_distance(measures: Any, number: Any, other: Any) -> Any:
    """Compute the distance of two classes."""
    distance = 0.0
    for q in range(measures.values.shape[1]):
        one = measures.values[number, q]
        two = measures.values[other, q]
        part = 0.0
        if measures.kinds[q] == TABLE:
            row = measures.table_starts[q] + int(one) * measures.table_sizes[q]
            part = measures.tables[row + int(two)]
        elif one == two:
            part = 0.0
        elif measures.kinds[q] == MATCHING:
            part = 1.0
        elif measures.widths[q]:
            part = abs(one - two) / measures.widths[q]
        distance += measures.weights[q] * part
    return distance


@inner
def _is_better(one: Any, other: Any) -> Any:
    """Compare cost, distance, size and rank, in this order; sizes are negative."""
    for at in range(4):
        if one[at] != other[at]:
            return one[at] < other[at]
    return False


@compiled
def _search(measures: Any, tree: Any, number: Any) -> Any:
    """Find the best class other than ``number`` by branch and bound; −1 if there is none."""
    best = -1
    best_key = (np.inf, np.inf, 0.0, 0.0)
    # Every split halves the classes, or leaves a column with one value.
    deepest = 128 + 4 * measures.values.shape[1]
    nodes = np.empty(deepest, np.int64)
    costs = np.empty(deepest)
    distances = np.empty(deepest)
    nodes[0] = 0
    costs[0] = 0.0
    distances[0] = 0.0
    depth = 1
    while depth:
        depth -= 1
        node = nodes[depth]
        if not tree.largest[node]:
            continue
        key = (costs[depth], distances[depth], -float(tree.largest[node]), float(tree.first_ranks[node]))
        if not _is_better(key, best_key):
            continue
        if tree.lefts[node] < 0:
            for at in range(tree.starts[node], tree.ends[node]):
                other = tree.members[at]
                if other == number or not tree.alive[other]:
                    continue
                cost = _class_cost(measures, number, other)
                if cost > best_key[0]:
                    continue
                distance = _class_distance(measures, number, other)
                key = (cost, distance, -float(tree.sizes[other]), float(tree.ranks[other]))
                if _is_better(key, best_key):
                    best = other
                    best_key = key
            continue
        left = tree.lefts[node]
        right = tree.rights[node]
        left_key = (
            _node_cost(measures, tree, left, number),
            _node_distance(measures, tree, left, number),
            -float(tree.largest[left]),
            float(tree.first_ranks[left]),
        )
        right_key = (
            _node_cost(measures, tree, right, number),
            _node_distance(measures, tree, right, number),
            -float(tree.largest[right]),
            float(tree.first_ranks[right]),
        )
        if _is_better(left_key, right_key):
            left, right = right, left
            left_key, right_key = right_key, left_key
        # The better one is on top.
        nodes[depth] = left
        costs[depth] = left_key[0]
        distances[depth] = left_key[1]
        nodes[depth + 1] = right
        costs[depth + 1] = right_key[0]
        distances[depth + 1] = right_key[1]
        depth += 2
    return best


@compiled
def _search_all(measures: Any, tree: Any, numbers: Any) -> Any:
    found = np.empty(len(numbers), np.int64)
    for at in range(len(numbers)):
        found[at] = _search(measures, tree, numbers[at])
    return found


def rehearse() -> None:
    """Look for the nearest classes by distance and by levels once."""
    number = np.arange(20)
    columns = [
        DistanceColumn(number.astype(np.float64), NUMBER, 1.0, 19.0),
        DistanceColumn((number % 2).astype(np.float64), MATCHING),
    ]
    ancestors = np.array([number, np.zeros_like(number)])
    level = LevelColumn(number, ancestors, np.array([0.0, 1.0]), np.zeros_like(number))
    for levels in ((), (level, level)):
        index = NearestClasses(columns, number + 1, number, number, levels)
        index.nearest_of_all(number[:2])
        index.grow(index.nearest(0), 1)
        index.remove(0)
