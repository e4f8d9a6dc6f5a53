"""Generalise k-outliers: in the whole file, among themselves, or with the semantically closest conforming class.

These are the three strategies of source 002, § 3.6.2 (a), (b) and (c). All work on classes, never on records.

The *common levels* of two classes are, column by column, the lowest levels on which their values are the same. They
cost the sum of the shares of the hierarchies that lie below them. The semantically closest class is the one with which
the common levels cost least; of several, the one at the least distance, then the larger one, then the first one.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.nearest_class import NearestClasses
from vbas_desktop.model.progress import SILENT, Progress

from .classes import Classes
from .coded_classes import CodedClasses, Ints, distance_columns, level_columns, number_rows
from .distance_tables import Distance

_STAGE = "Generalising small classes"


def generalise_everywhere(coded: CodedClasses, k: int, progress: Progress = SILENT) -> Ints:
    """Find the levels that cost least, the same for all classes, such that none is below k.

    The file has at least k records, so the highest levels will do.

    Ties: lower levels of earlier columns. Most combinations are ruled out by two of their columns alone, others by the
    class that failed last, in O(classes).
    """
    choices = sorted(
        product(*(range(column.height + 1) for column in coded.columns)),
        key=lambda choice: (sum(float(c.costs[n]) for c, n in zip(coded.columns, choice, strict=True)), choice),
    )
    every = np.arange(coded.number)
    failing = _find_failing_pairs(coded, k, progress)
    witness = 0
    for tried, choice in enumerate(choices):
        progress.update(_STAGE, tried / len(choices))
        if any(fails[choice[one], choice[other]] for one, other, fails in failing):
            continue
        codes = [column.on_levels(every, level) for column, level in zip(coded.columns, choice, strict=True)]
        alike = np.ones(coded.number, np.bool_)
        for column in codes:
            alike &= column == column[witness]
        if coded.sizes[alike].sum() < k:
            continue
        number, group = number_rows(np.column_stack(codes))
        totals = np.bincount(group, coded.sizes, number)
        if totals.min() >= k:
            break
        witness = int(np.flatnonzero(group == totals.argmin())[0])
    return np.tile(np.array(choice, np.int64), (coded.number, 1))


def _find_failing_pairs(coded: CodedClasses, k: int, progress: Progress) -> list[tuple[int, int, NDArray[np.bool_]]]:
    """Find the levels of each two columns on which these two alone have combinations of fewer than k records.

    With further columns there are even fewer, so that no combination of levels with such a pair will do.
    """
    every = np.arange(coded.number)
    found = []
    for (one, first), (other, second) in combinations(enumerate(coded.columns), 2):
        fails = np.zeros((first.height + 1, second.height + 1), np.bool_)
        for levels in np.ndindex(*fails.shape):
            progress.update(_STAGE)
            codes = first.on_levels(every, levels[0]) * len(second.texts) + second.on_levels(every, levels[1])
            _, group = np.unique(codes, return_inverse=True)
            fails[levels] = np.bincount(group, coded.sizes).min() < k
        found.append((one, other, fails))
    return found


def generalise_outliers(
    coded: CodedClasses, k: int, classes: Classes, distance: Distance, progress: Progress = SILENT
) -> Ints:
    """Find the levels of each class if outliers are generalised among themselves first.

    Outliers climb together, the column with the smallest share next, until they are in a group of k records or more.
    A group takes its lowest common levels. Those that are at the top and still fewer than k (so there are fewer than k
    records of them) are generalised with the closest class of the groups of k or more.
    """
    levels = np.zeros((coded.number, len(coded.columns)), np.int64)
    small = _is_small(coded, levels, k)
    for step in _climb(coded):
        progress.update(_STAGE)
        if not small.any():
            break
        levels[small] = step
        small = _is_small(coded, levels, k)
    levels[small] = 0
    levels[~small] = _lowest_common(coded, levels, ~small)[~small]
    if small.any():
        levels = _join_closest(coded, levels, small, classes, distance, progress)
    return levels


def generalise_with_closest(
    coded: CodedClasses, k: int, classes: Classes, distance: Distance, progress: Progress = SILENT
) -> Ints:
    """Find the levels of each class if every outlier is generalised with the closest conforming class.

    Without any conforming class, outliers are generalised among themselves.
    """
    small = coded.sizes < k
    if small.all():
        return generalise_outliers(coded, k, classes, distance, progress)
    levels = np.zeros((coded.number, len(coded.columns)), np.int64)
    return _join_closest(coded, levels, small, classes, distance, progress) if small.any() else levels


def _climb(coded: CodedClasses) -> list[Ints]:
    """List the levels that outliers go through, from the first step to the top of all hierarchies."""
    level = np.zeros(len(coded.columns), np.int64)
    steps = []
    while (level < coded.heights).any():
        possible = np.flatnonzero(level < coded.heights).tolist()
        cheapest = min(possible, key=lambda q: (float(coded.columns[q].costs[level[q] + 1]), q))
        level[cheapest] += 1
        steps.append(level.copy())
    return steps


def _is_small(coded: CodedClasses, levels: Ints, k: int) -> NDArray[np.bool_]:
    """Tell which classes are in groups of fewer than k records on these levels."""
    number, group = number_rows(coded.codes_on(levels))
    small: NDArray[np.bool_] = (np.bincount(group, coded.sizes, number) < k)[group]
    return small


def _lowest_common(coded: CodedClasses, levels: Ints, chosen: NDArray[np.bool_]) -> Ints:
    """Lower the classes of each group to the lowest levels, up to their present ones, on which they are the same.

    Where the classes of a group are on different levels and the same on none that all of them may have, they stay.
    """
    members = np.flatnonzero(chosen)
    number, group = number_rows(coded.codes_on(levels)[members])
    first = np.full(number, coded.number, np.int64)
    np.minimum.at(first, group, members)
    lowered = levels.copy()
    for q, column in enumerate(coded.columns):
        common = np.zeros(number, np.int64)
        np.maximum.at(common, group, column.common_levels(members, first[group]))
        allowed = np.full(number, column.height, np.int64)
        np.minimum.at(allowed, group, levels[members, q])
        lowered[members, q] = np.where((common <= allowed)[group], common[group], levels[members, q])
    return lowered


def _join_closest(
    coded: CodedClasses,
    levels: Ints,
    small: NDArray[np.bool_],
    classes: Classes,
    distance: Distance,
    progress: Progress,
) -> Ints:
    """Generalise each small class with the group of the closest other class; a group takes the common levels of all."""
    number, group = number_rows(coded.codes_on(levels))
    # A small class belongs to no group, even if it has the same text as one.
    totals = np.bincount(group[~small], coded.sizes[~small], number).astype(np.int64)
    columns = distance_columns(classes.labels, distance)
    ranks = np.arange(coded.number)
    index = NearestClasses(columns, totals[group], ranks, np.flatnonzero(~small), level_columns(coded, levels))
    outliers = np.flatnonzero(small)
    closest = index.find_all_nearest(outliers, progress)
    group[outliers] = group[closest]
    first = np.full(number, coded.number, np.int64)
    np.minimum.at(first, group, ranks)
    grows = np.zeros(number, np.bool_)
    grows[group[outliers]] = True
    members = np.flatnonzero(grows[group])
    joined = levels.copy()
    for q, column in enumerate(coded.columns):
        needed = np.zeros(number, np.int64)
        np.maximum.at(needed, group[members], column.common_levels(members, first[group[members]]))
        joined[members, q] = needed[group[members]]
    return joined
