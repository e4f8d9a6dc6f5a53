"""The classes of a file: the combination of quasi-identifiers of each record. Everything after works on classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.composite_keys import make_row_keys, number_values
from vbas_desktop.model.records import MISSING, CodedRecords, as_readonly

ClassLabel = tuple[str, ...]
"""The values of a class, one for each quasi-identifier."""


@dataclass(frozen=True, eq=False)
class RecordClasses:
    """Classes in the order of their first record: ``labels[c]`` are the values of class c, ``class_of[r]`` is the class
    of record r.
    """

    columns: tuple[str, ...]
    labels: tuple[ClassLabel, ...]
    class_of: NDArray[np.int64]

    @classmethod
    def of_labels(cls, columns: Sequence[str], rows: Sequence[ClassLabel]) -> RecordClasses:
        """Build the classes from the values of each record."""
        numbers: dict[ClassLabel, int] = {}
        class_of = [numbers.setdefault(tuple(row), len(numbers)) for row in rows]
        return cls(tuple(columns), tuple(numbers), as_readonly(np.array(class_of, np.int64)))

    @classmethod
    def of_records(cls, table: CodedRecords, columns: Sequence[str]) -> RecordClasses:
        """Build the classes from the coded columns of a file; nothing is made per record but its class number."""
        codes = [table.codes(name) for name in columns]
        facts = [table.facts(name) for name in columns]
        sizes = [max(column.distinct, 1) for column in facts]
        class_of, first = number_values(make_row_keys(zip(codes, sizes, strict=True), table.rows))
        values = [column.categories.values if column.categories else None for column in facts]
        labels = [
            tuple(own[int(code[row])] if own else "" for own, code in zip(values, codes, strict=True))
            for row in first
        ]
        return cls(tuple(columns), tuple(labels), as_readonly(class_of))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Records of each class."""
        return np.bincount(self.class_of, minlength=len(self.labels)).astype(np.int64)

    @property
    def records(self) -> int:
        """Number of records."""
        return int(self.class_of.size)

    def label_as_dict(self, number: int) -> dict[str, str]:
        """Return the values of a class by column; a missing one is named."""
        return dict(zip(self.columns, (value or MISSING for value in self.labels[number]), strict=True))


def find_outliers(classes: RecordClasses, k: int) -> NDArray[np.int64]:
    """Find the k-outliers: the classes with fewer than k records."""
    return np.flatnonzero(classes.sizes < k)


def count_outlier_records(classes: RecordClasses, k: int) -> int:
    """Count the records in k-outliers."""
    return int(classes.sizes[find_outliers(classes, k)].sum())
