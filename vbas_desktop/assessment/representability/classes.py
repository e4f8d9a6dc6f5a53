"""The classes of a file: which combination of quasi-identifiers each record has. Everything after works on classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.composite_keys import make_row_keys, number_values
from vbas_desktop.model.records import MISSING, RecordTable, frozen

Label = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Classes:
    """``labels[c]``: the values of class c; ``class_of[r]``: the class of record r. Ordered by first record."""

    columns: tuple[str, ...]
    labels: tuple[Label, ...]
    class_of: NDArray[np.int64]

    @classmethod
    def of_labels(cls, columns: Sequence[str], rows: Sequence[Label]) -> Classes:
        """From the values of each record."""
        numbers: dict[Label, int] = {}
        class_of = [numbers.setdefault(tuple(row), len(numbers)) for row in rows]
        return cls(tuple(columns), tuple(numbers), frozen(np.array(class_of, np.int64)))

    @classmethod
    def of_records(cls, table: RecordTable, columns: Sequence[str]) -> Classes:
        """From the coded columns of a file; nothing is made per record but its class number."""
        codes = [table.codes(name) for name in columns]
        facts = [table.facts(name) for name in columns]
        sizes = [max(column.distinct, 1) for column in facts]
        class_of, first = number_values(make_row_keys(zip(codes, sizes, strict=True), table.rows))
        categories = [column.categories for column in facts]
        labels = [
            tuple(each.values[int(code[row])] if each else "" for each, code in zip(categories, codes, strict=True))
            for row in first
        ]
        return cls(tuple(columns), tuple(labels), frozen(class_of))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Records of each class."""
        return np.bincount(self.class_of, minlength=len(self.labels)).astype(np.int64)

    @property
    def records(self) -> int:
        """Number of records."""
        return int(self.class_of.size)


def outliers(classes: Classes, k: int) -> NDArray[np.int64]:
    """The k-outliers: classes with fewer than k records."""
    return np.flatnonzero(classes.sizes < k)


def outlier_records(classes: Classes, k: int) -> int:
    """How many records are in k-outliers."""
    return int(classes.sizes[outliers(classes, k)].sum())


def named(classes: Classes, number: int) -> dict[str, str]:
    """The values of a class by column."""
    return dict(zip(classes.columns, (value or MISSING for value in classes.labels[number]), strict=True))
