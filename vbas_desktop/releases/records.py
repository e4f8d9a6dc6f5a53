"""Decide which records a plan releases, and under which code.

The auditor, which reads the result back, imports nothing of this module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import CodedRecords
from vbas_desktop.settings.release import ReleaseOptions

from .plan import ReleasePlan
from .record_writer import RecordWriter
from .value_numbers import UNKNOWN, class_strides, number_values

if TYPE_CHECKING:
    from .aggregation import Aggregated
    from .notation import Notation

_DECIDING = "Looking for the released records"
_ROWS_AT_A_TIME = 1 << 18
_MOST_DIRECT = 1 << 24
"""Up to so many numbers are looked up in a table of all of them."""


class _Positions:
    """Finds the positions of numbers in an ascending array of them."""

    def __init__(self, numbers: NDArray[np.int64], limit: int) -> None:
        self._numbers = numbers
        self._direct: NDArray[np.int32] | None = None
        if limit <= _MOST_DIRECT:
            self._direct = np.full(max(1, limit), UNKNOWN, np.int32)
            self._direct[numbers] = np.arange(numbers.size)

    def find(self, numbers: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return where these numbers are; −1 for those that are not there."""
        if self._direct is not None:
            return self._direct[numbers]
        # Sorted numbers are found without jumping through memory.
        distinct, where = np.unique(numbers, return_inverse=True)
        positions = np.searchsorted(self._numbers, distinct).astype(np.int32)
        positions[positions == self._numbers.size] = 0
        positions[self._numbers[positions] != distinct] = UNKNOWN
        return positions[where.ravel()]


@dataclass(frozen=True, eq=False)
class ReleasedRecords:
    """The records of a loaded table that a plan releases.

    classes: of each considered record the number of its class among those that the plan lists; −1: not released.
    """

    plan: ReleasePlan
    table: CodedRecords
    classes: NDArray[np.int32]

    engine: ClassVar[None] = None
    """No engine has the records."""

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The numbers of the released records among the considered ones, ascending."""
        return np.flatnonzero(self.classes >= 0)

    def with_texts(self, texts: Mapping[str, Sequence[str]]) -> ReleasedRecords:
        """Return the same records with other texts for the values of some columns."""
        return replace(self, table=self.table.with_texts(texts))

    def make_writer(
        self, options: ReleaseOptions, notation: Notation, aggregated: Aggregated
    ) -> RecordWriter:
        """Make the writer of these records."""
        return RecordWriter(self, options, notation, aggregated)

    def places(self, rows: NDArray[np.integer] | slice) -> NDArray[np.int32]:
        """Return under which of all codes of the plan these records are released; −1: they are not."""
        classes = self.classes[rows]
        return np.where(classes >= 0, self.plan.areas[classes], np.int32(UNKNOWN))

    def count_values(self, name: str) -> NDArray[np.int64]:
        """Count the released records with each value of a column."""
        codes = self.table.codes(name)
        counts = np.zeros(self.table.facts(name).distinct, np.int64)
        for start in range(0, codes.size, _ROWS_AT_A_TIME):
            part = slice(start, start + _ROWS_AT_A_TIME)
            counts += np.bincount(codes[part][self.classes[part] >= 0], minlength=counts.size)
        return counts


def find_released_records(plan: ReleasePlan, table: CodedRecords, progress: Progress) -> ReleasedRecords:
    """Find the class of every considered record, and so which of them are released. O(records) time, 4 bytes each."""
    problem = plan.problem
    combinations = problem.counts.combinations
    region_of, categories_of = number_values(problem, table)
    strides = class_strides(problem.counts.n_categories)
    columns = _Positions(combinations, problem.counts.max_combinations)
    width = max(1, combinations.size)
    listed_keys = plan.places.astype(np.int64) * width + plan.columns
    positions = _Positions(listed_keys, len(plan.codes) * width)
    is_released = np.append(plan.released > 0, False)
    classes = np.full(table.rows, UNKNOWN, np.int32)
    for start in range(0, table.rows, _ROWS_AT_A_TIME):
        progress.update(_DECIDING, start / table.rows)
        part = slice(start, start + _ROWS_AT_A_TIME)
        region = region_of[table.codes(problem.region_column)[part]]
        combination = np.zeros(region.size, np.int64)
        is_known = region >= 0
        for name, category_of, stride in zip(
            problem.quasi_identifiers, categories_of, strides, strict=True
        ):
            category = category_of[table.codes(name)[part]]
            is_known &= category >= 0
            combination += stride * category
        column = columns.find(np.where(is_known, combination, 0))
        is_known &= column >= 0
        class_keys = plan.membership[region].astype(np.int64) * width + column
        class_numbers = positions.find(np.where(is_known, class_keys, 0))
        classes[part] = np.where(is_known & is_released[class_numbers], class_numbers, UNKNOWN)
    return ReleasedRecords(plan, table, classes)
