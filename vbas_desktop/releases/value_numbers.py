"""Number the values of a record table as a problem has them: initial regions and categories of quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import RecordTable

UNKNOWN = -1
"""The number of what is not there."""


class ValueLookup:
    """Finds the number of a value that a text stands for, after all groupings of its column."""

    def __init__(self, values: Sequence[str], groupings: Sequence[Mapping[str, str]] = ()) -> None:
        self._number_of = {value: number for number, value in enumerate(values)}
        self._groupings = groupings

    def group(self, text: str) -> str:
        """Return what a value is called after all groupings."""
        for groups in self._groupings:
            text = groups.get(text, text)
        return text

    def find(self, text: str) -> int:
        """Return the number of the value that a text stands for; −1 if it stands for none."""
        return self._number_of.get(self.group(text), UNKNOWN)


def value_lookups(problem: Problem) -> list[ValueLookup]:
    """Return the lookups of initial regions and of the categories of each quasi-identifier."""
    lookups = [ValueLookup(problem.regions.ids)]
    for name, categories in zip(problem.quasi_identifiers, problem.categories, strict=True):
        groupings = [grouping.groups for grouping in problem.groupings if grouping.column == name]
        lookups.append(ValueLookup(categories.values, groupings))
    return lookups


def number_values(
    problem: Problem, table: RecordTable
) -> tuple[NDArray[np.int32], list[NDArray[np.int32]]]:
    """Return the initial region of each code of the table's region column, and the category of each of the others.

    A code that stands for none has −1.
    """
    numbers = []
    for name, lookup in zip(
        (problem.region_column, *problem.quasi_identifiers), value_lookups(problem), strict=True
    ):
        categories = table.facts(name).categories
        assert categories is not None
        numbers.append(np.array([lookup.find(value) for value in categories.values], np.int32))
    return numbers[0], numbers[1:]


def class_strides(n_categories: Sequence[int]) -> NDArray[np.int64]:
    """Return what a category of each quasi-identifier adds to the number of a combination."""
    sizes = [int(np.prod(n_categories[q + 1 :], dtype=object)) for q in range(len(n_categories))]
    return np.array(sizes, np.int64)
