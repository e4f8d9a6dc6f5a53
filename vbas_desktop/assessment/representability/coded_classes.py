"""Classes as arrays of codes: the values of each column on each level of its hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.composite_keys import make_row_keys, number_values
from vbas_desktop.algorithms.nearest_class import DistanceColumn, LevelColumn
from vbas_desktop.model.records import finite_number

from .classes import Classes, Label
from .distance_tables import Distance
from .hierarchy import Hierarchy

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """One column of the classes and its hierarchy.

    ``positions[c]`` is the place of the value of class c among the distinct values, sorted so that values with a common
    ancestor follow each other; ``ancestors[level, position]`` the code of a value on a level, ``texts[code]`` what it
    is. The same text has the same code on every level. ``costs[level]`` is the share of the detail that is lost there.
    """

    positions: Ints
    ancestors: Ints
    texts: tuple[str, ...]
    costs: NDArray[np.float64]

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.ancestors) - 1

    def on_levels(self, classes: Ints, levels: Ints | int) -> Ints:
        """Look up the codes of these classes on these levels."""
        found: Ints = self.ancestors[levels, self.positions[classes]]
        return found

    def common_levels(self, one: Ints, other: Ints) -> Ints:
        """Find the lowest level on which the values of two classes are the same, pair by pair."""
        differs = self.ancestors[:, self.positions[one]] != self.ancestors[:, self.positions[other]]
        return np.minimum(differs.sum(axis=0), self.height)


def code_column(values: Sequence[str], hierarchy: Hierarchy) -> CodedColumn:
    """Code the values that the classes have in one column."""
    distinct = sorted(set(values))
    height = hierarchy.height
    paths = {value: tuple(hierarchy.on_level(value, level) for level in range(height + 1)) for value in distinct}
    order = sorted(distinct, key=lambda value: paths[value][::-1])
    codes: dict[str, int] = {}
    for value in order:
        for text in paths[value]:
            codes.setdefault(text, len(codes))
    ancestors = np.array([[codes[paths[value][level]] for value in order] for level in range(height + 1)], np.int64)
    position_of = {value: position for position, value in enumerate(order)}
    positions = np.fromiter((position_of[value] for value in values), np.int64, len(values))
    costs = np.array([hierarchy.share(level) for level in range(height + 1)])
    return CodedColumn(positions, ancestors.reshape(height + 1, len(order)), tuple(codes), costs)


@dataclass(frozen=True, eq=False)
class CodedClasses:
    """All classes of a file with their hierarchies."""

    columns: tuple[CodedColumn, ...]
    sizes: Ints

    @classmethod
    def of_classes(cls, classes: Classes, hierarchies: Sequence[Hierarchy]) -> CodedClasses:
        """Code the classes of a file; one hierarchy per column."""
        columns = [
            code_column([label[q] for label in classes.labels], hierarchy) for q, hierarchy in enumerate(hierarchies)
        ]
        return cls(tuple(columns), classes.sizes)

    @property
    def number(self) -> int:
        """The number of classes."""
        return len(self.sizes)

    @property
    def heights(self) -> Ints:
        """The highest level of each column."""
        return np.array([column.height for column in self.columns], np.int64)

    def codes_on(self, levels: Ints) -> Ints:
        """Look up the codes of all classes, (classes, columns), on levels of the same shape."""
        every = np.arange(self.number)
        return np.column_stack([column.on_levels(every, levels[:, q]) for q, column in enumerate(self.columns)])

    def labels_of(self, codes: Ints) -> tuple[Label, ...]:
        """Write codes as labels."""
        texts = [np.array(column.texts, object)[codes[:, q]].tolist() for q, column in enumerate(self.columns)]
        return tuple(zip(*texts, strict=True))


def number_rows(codes: Ints) -> tuple[int, Ints]:
    """Number the distinct rows of a table of codes; return how many there are and the number of each row."""
    columns = [(column, int(column.max(initial=0)) + 1) for column in codes.T]
    numbers, first = number_values(make_row_keys(columns, len(codes)))
    return first.size, numbers


def distance_columns(labels: Sequence[Label], distance: Distance) -> list[DistanceColumn]:
    """Code the columns of classes as their distances need them."""
    return [_distance_column([label[q] for label in labels], distance, q) for q in range(len(distance.weights))]


def _distance_column(values: Sequence[str], distance: Distance, q: int) -> DistanceColumn:
    weight = distance.weights[q]
    if q in distance.tables:
        table = distance.tables[q]
        rows = np.array([table.places[value] for value in values], np.float64)
        return DistanceColumn(rows, weight, table=table.distances)
    width = distance.ranges[q]
    if width is not None:
        numbers = np.array([finite_number(value) for value in values], np.float64)
        return DistanceColumn(numbers, weight, width)
    codes: dict[str, int] = {}
    numbered = [codes.setdefault(value, len(codes)) for value in values]
    return DistanceColumn(np.array(numbered, np.float64), weight)


def level_columns(coded: CodedClasses, floors: Ints) -> list[LevelColumn]:
    """Describe the hierarchies for a search by common levels; ``floors`` are the levels that the classes are on."""
    return [
        LevelColumn(column.positions, column.ancestors, column.costs, floors[:, q])
        for q, column in enumerate(coded.columns)
    ]
