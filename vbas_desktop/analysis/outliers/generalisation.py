"""Generalise k-outliers: in the whole file, among themselves, or with the semantically closest conforming class.

These are the three strategies of source 002, § 3.6.2 (a), (b) and (c). All work on classes, never on records.

The *common levels* of two classes are, column by column, the lowest levels on which their values are the same. They
cost the sum of the shares of the hierarchies that lie below them. The semantically closest class is the one with which
the common levels cost least; of several, the one at the least distance, then the larger one, then the first one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.composite_keys import make_row_keys, number_values
from vbas_desktop.algorithms.nearest_class import DistanceColumn, LevelColumn, NearestClasses
from vbas_desktop.model.progress import NO_PROGRESS, Progress

from ..representability.hierarchy import Hierarchy
from ..representability.record_classes import ClassLabel, RecordClasses

Ints = NDArray[np.int64]

_STAGE = "Generalising small classes"


@dataclass(frozen=True, eq=False)
class GeneralisableColumn:
    """One column of the classes and its hierarchy.

    ``positions[c]`` is the position of the value of class c among the distinct values, sorted so that values with a
    common ancestor follow each other; ``ancestors[level, position]`` the code of a value on a level, ``texts[code]``
    its text. The same text has the same code on every level. ``costs[level]`` is the share of the detail that is lost
    there.
    """

    positions: Ints
    ancestors: Ints
    texts: tuple[str, ...]
    costs: NDArray[np.float64]

    @property
    def height(self) -> int:
        """Highest level."""
        return len(self.ancestors) - 1

    def on_levels(self, classes: Ints, levels: Ints | int) -> Ints:
        """Look up the codes of these classes on these levels."""
        codes: Ints = self.ancestors[levels, self.positions[classes]]
        return codes

    def common_levels(self, first: Ints, second: Ints) -> Ints:
        """Find the lowest level on which the values of two classes are the same, pair by pair."""
        differs = self.ancestors[:, self.positions[first]] != self.ancestors[:, self.positions[second]]
        return np.minimum(differs.sum(axis=0), self.height)


def code_column(values: Sequence[str], hierarchy: Hierarchy) -> GeneralisableColumn:
    """Code the values that the classes have in one column."""
    distinct = sorted(set(values))
    height = hierarchy.height
    paths = {
        value: tuple(hierarchy.on_level(value, level) for level in range(height + 1))
        for value in distinct
    }
    order = sorted(distinct, key=lambda value: paths[value][::-1])
    codes: dict[str, int] = {}
    for value in order:
        for text in paths[value]:
            codes.setdefault(text, len(codes))
    ancestors = np.array(
        [[codes[paths[value][level]] for value in order] for level in range(height + 1)], np.int64
    )
    position_of = {value: position for position, value in enumerate(order)}
    positions = np.fromiter((position_of[value] for value in values), np.int64, len(values))
    costs = np.array([hierarchy.share(level) for level in range(height + 1)])
    return GeneralisableColumn(positions, ancestors.reshape(height + 1, len(order)), tuple(codes), costs)


@dataclass(frozen=True, eq=False)
class CodedClasses:
    """All classes of a file with their hierarchies."""

    columns: tuple[GeneralisableColumn, ...]
    sizes: Ints

    @classmethod
    def of_classes(cls, classes: RecordClasses, hierarchies: Sequence[Hierarchy]) -> CodedClasses:
        """Code the classes of a file; one hierarchy per column."""
        columns = [
            code_column([label[q] for label in classes.labels], hierarchy)
            for q, hierarchy in enumerate(hierarchies)
        ]
        return cls(tuple(columns), classes.sizes)

    @property
    def number(self) -> int:
        """Number of classes."""
        return len(self.sizes)

    @property
    def heights(self) -> Ints:
        """Highest level of each column."""
        return np.array([column.height for column in self.columns], np.int64)

    def codes_on(self, levels: Ints) -> Ints:
        """Look up the codes of all classes, (classes, columns), on levels of the same shape."""
        classes = np.arange(self.number)
        return np.column_stack(
            [column.on_levels(classes, levels[:, q]) for q, column in enumerate(self.columns)]
        )

    def labels_of(self, codes: Ints) -> tuple[ClassLabel, ...]:
        """Write codes as labels."""
        texts = [
            np.array(column.texts, object)[codes[:, q]].tolist() for q, column in enumerate(self.columns)
        ]
        return tuple(zip(*texts, strict=True))


def number_rows(codes: Ints) -> tuple[int, Ints]:
    """Number the distinct rows of a table of codes; return how many there are and the number of each row."""
    columns = [(column, int(column.max(initial=0)) + 1) for column in codes.T]
    numbers, first = number_values(make_row_keys(columns, len(codes)))
    return first.size, numbers


def level_columns(coded: CodedClasses, floors: Ints) -> list[LevelColumn]:
    """Describe the hierarchies for a search by common levels; ``floors`` are the levels that the classes are on."""
    return [
        LevelColumn(column.positions, column.ancestors, column.costs, floors[:, q])
        for q, column in enumerate(coded.columns)
    ]


def generalise_everywhere(coded: CodedClasses, k: int, progress: Progress = NO_PROGRESS) -> Ints:
    """Find the levels that cost least, the same for all classes, such that none is below k.

    The file has at least k records, so the highest levels will do.

    Ties: lower levels of earlier columns. Most combinations are ruled out by two of their columns alone, others by the
    class that failed last, in O(classes).
    """
    choices = sorted(
        product(*(range(column.height + 1) for column in coded.columns)),
        key=lambda choice: (_compute_cost(coded, choice), choice),
    )
    classes = np.arange(coded.number)
    failing_pairs = _find_failing_pairs(coded, k, progress)
    witness = 0
    for n_tried, choice in enumerate(choices):
        progress.update(_STAGE, n_tried / len(choices))
        if any(fails[choice[first], choice[second]] for first, second, fails in failing_pairs):
            continue
        codes = [
            column.on_levels(classes, level) for column, level in zip(coded.columns, choice, strict=True)
        ]
        is_alike = np.ones(coded.number, np.bool_)
        for column in codes:
            is_alike &= column == column[witness]
        if coded.sizes[is_alike].sum() < k:
            continue
        n_groups, group = number_rows(np.column_stack(codes))
        totals = np.bincount(group, coded.sizes, n_groups)
        if totals.min() >= k:
            break
        witness = int(np.flatnonzero(group == totals.argmin())[0])
    return np.tile(np.array(choice, np.int64), (coded.number, 1))


def _compute_cost(coded: CodedClasses, levels: Sequence[int]) -> float:
    """Sum the shares of the detail that are lost on these levels, one for each column."""
    return sum(float(column.costs[level]) for column, level in zip(coded.columns, levels, strict=True))


def _find_failing_pairs(
    coded: CodedClasses, k: int, progress: Progress
) -> list[tuple[int, int, NDArray[np.bool_]]]:
    """Find the levels of each two columns on which these two alone have combinations of fewer than k records.

    With further columns there are even fewer, so that no combination of levels with such a pair will do.
    """
    classes = np.arange(coded.number)
    failing_pairs = []
    for (q, first), (p, second) in combinations(enumerate(coded.columns), 2):
        fails = np.zeros((first.height + 1, second.height + 1), np.bool_)
        for levels in np.ndindex(*fails.shape):
            progress.update(_STAGE)
            codes = first.on_levels(classes, levels[0]) * len(second.texts) + second.on_levels(
                classes, levels[1]
            )
            _, group = np.unique(codes, return_inverse=True)
            fails[levels] = np.bincount(group, coded.sizes).min() < k
        failing_pairs.append((q, p, fails))
    return failing_pairs


def generalise_outliers(
    coded: CodedClasses, k: int, columns: Sequence[DistanceColumn], progress: Progress = NO_PROGRESS
) -> Ints:
    """Find the levels of each class if outliers are generalised among themselves first.

    Outliers climb together, the column with the smallest share next, until they are in a group of k records or more.
    A group takes its lowest common levels. Those that are at the top and still fewer than k (so there are fewer than k
    records of them) are generalised with the closest class of the groups of k or more.
    """
    levels = np.zeros((coded.number, len(coded.columns)), np.int64)
    small = _find_small(coded, levels, k)
    for step in _list_climbing_steps(coded):
        progress.update(_STAGE)
        if not small.any():
            break
        levels[small] = step
        small = _find_small(coded, levels, k)
    levels[small] = 0
    levels[~small] = _lower_to_common_levels(coded, levels, ~small)[~small]
    if small.any():
        levels = _join_closest(coded, levels, small, columns, progress)
    return levels


def generalise_with_closest(
    coded: CodedClasses, k: int, columns: Sequence[DistanceColumn], progress: Progress = NO_PROGRESS
) -> Ints:
    """Find the levels of each class if every outlier is generalised with the closest conforming class.

    Without any conforming class, outliers are generalised among themselves.
    """
    small = coded.sizes < k
    if small.all():
        return generalise_outliers(coded, k, columns, progress)
    levels = np.zeros((coded.number, len(coded.columns)), np.int64)
    return _join_closest(coded, levels, small, columns, progress) if small.any() else levels


def _list_climbing_steps(coded: CodedClasses) -> list[Ints]:
    """List the levels that outliers go through, from the first step to the top of all hierarchies."""
    level = np.zeros(len(coded.columns), np.int64)
    steps = []
    while (level < coded.heights).any():
        possible = np.flatnonzero(level < coded.heights).tolist()
        cheapest = min(possible, key=lambda q: (float(coded.columns[q].costs[level[q] + 1]), q))
        level[cheapest] += 1
        steps.append(level.copy())
    return steps


def _find_small(coded: CodedClasses, levels: Ints, k: int) -> NDArray[np.bool_]:
    """Tell of each class if it is in a group of fewer than k records on these levels."""
    number, group = number_rows(coded.codes_on(levels))
    small: NDArray[np.bool_] = (np.bincount(group, coded.sizes, number) < k)[group]
    return small


def _lower_to_common_levels(coded: CodedClasses, levels: Ints, chosen: NDArray[np.bool_]) -> Ints:
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
    columns: Sequence[DistanceColumn],
    progress: Progress,
) -> Ints:
    """Generalise each small class with the group of the closest other class; a group takes the common levels of all."""
    number, group = number_rows(coded.codes_on(levels))
    # A small class belongs to no group, even if it has the same text as one.
    totals = np.bincount(group[~small], coded.sizes[~small], number).astype(np.int64)
    ranks = np.arange(coded.number)
    index = NearestClasses(
        columns, totals[group], ranks, np.flatnonzero(~small), level_columns(coded, levels)
    )
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
