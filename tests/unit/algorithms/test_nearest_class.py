"""The nearest class: found by comparing every pair, with ties of all kinds."""

import numpy as np
import pytest

from vbas_desktop.algorithms.nearest_class import DistanceColumn, LevelColumn, NearestClasses
from vbas_desktop.model.progress import NO_PROGRESS, Cancelled

CLASSES = 900
"""More than one part has, so that bounds decide."""


class StopAtOnce:
    def update(self, stage, fraction=None):
        raise Cancelled


def make_columns(draw, classes=CLASSES):
    """A number, a number without width, codes that match or not, and codes with a table; few values, so many ties."""
    table = draw.integers(0, 4, (5, 5)).astype(float)
    table = np.triu(table, 1) + np.triu(table, 1).T
    return [
        DistanceColumn(draw.integers(0, 30, classes).astype(float), 0.7, 29.0),
        DistanceColumn(draw.integers(0, 3, classes).astype(float), 1.0, 0.0),
        DistanceColumn(draw.integers(0, 12, classes).astype(float), 1.0),
        DistanceColumn(draw.integers(0, 5, classes).astype(float), 0.5, table=table),
    ]


def make_levels(draw, classes=CLASSES):
    """Two hierarchies over sixteen values each, in which pairs and then fours of values are the same."""
    ancestors = np.array([np.arange(16), np.arange(16) // 2, np.arange(16) // 4, np.zeros(16, int)])
    costs = np.array([0.0, 0.25, 0.5, 1.0])
    return [
        LevelColumn(draw.integers(0, 16, classes), ancestors, costs, draw.integers(0, 3, classes))
        for _ in range(2)
    ]


def distance(columns, one, other):
    total = 0.0
    for column in columns:
        mine, theirs = column.values[one], column.values[other]
        if column.table is not None:
            part = column.table[int(mine), int(theirs)]
        elif column.width is None:
            part = float(mine != theirs)
        else:
            part = abs(mine - theirs) / column.width if column.width else 0.0
        total += column.weight * part
    return total


def cost(levels, one, other):
    total = 0.0
    for column in levels:
        first, second = (
            column.ancestors[:, column.positions[one]],
            column.ancestors[:, column.positions[other]],
        )
        common = next(level for level in range(4) if first[level] == second[level])
        total += column.costs[max(common, column.floors[other])]
    return total


def slow_nearest(number, members, columns, sizes, ranks, levels=()):
    def key(other):
        return cost(levels, number, other), distance(columns, number, other), -sizes[other], ranks[other]

    return min((other for other in members if other != number), key=key, default=-1)


@pytest.mark.parametrize("with_levels", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_of_all_classes_the_nearest_then_largest_then_first_is_found(seed, with_levels):
    draw = np.random.default_rng(seed)
    columns, sizes, ranks = make_columns(draw), draw.integers(1, 4, CLASSES), draw.permutation(CLASSES)
    levels = make_levels(draw) if with_levels else ()
    members = draw.permutation(CLASSES)[:700]
    numbers = draw.permutation(CLASSES)[:60]
    found = NearestClasses(columns, sizes, ranks, members, levels).find_all_nearest(numbers)
    assert found.tolist() == [slow_nearest(n, members, columns, sizes, ranks, levels) for n in numbers]


@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_class_is_found_while_classes_grow_and_disappear(seed):
    draw = np.random.default_rng(seed)
    columns, sizes, ranks = make_columns(draw), draw.integers(1, 4, CLASSES), draw.permutation(CLASSES)
    index = NearestClasses(columns, sizes, ranks, np.arange(CLASSES))
    left, now = set(range(CLASSES)), sizes.copy()
    for step, number in enumerate(draw.permutation(CLASSES)[: CLASSES - 1].tolist()):
        found = index.find_nearest(number)
        if step % 17 == 0 or len(left) < 20:
            assert found == slow_nearest(number, left, columns, now, ranks)
        index.remove(number)
        left.remove(number)
        index.grow(found, int(now[number]))
        now[found] += now[number]
    (last,) = left
    assert index.find_nearest(last) == -1


def test_without_others_nothing_is_nearest():
    columns = make_columns(np.random.default_rng(0), 3)
    for members in ([], [1]):
        index = NearestClasses(columns, np.ones(3, int), np.arange(3), np.array(members, int))
        assert index.find_all_nearest(np.array([1]), NO_PROGRESS).tolist() == [-1]


def test_a_search_can_be_stopped():
    draw = np.random.default_rng(0)
    index = NearestClasses(
        make_columns(draw), np.ones(CLASSES, int), np.arange(CLASSES), np.arange(CLASSES)
    )
    with pytest.raises(Cancelled):
        index.find_all_nearest(np.arange(CLASSES), StopAtOnce())
