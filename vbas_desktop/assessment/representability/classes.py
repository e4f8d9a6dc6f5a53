"""The classes of a file: which combination of quasi-identifiers each record has. Everything after works on classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.io.records.table import RecordTable
from vbas_desktop.model.records import MISSING, frozen

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
        key, radix = np.zeros(table.rows, np.int64), 1
        for name in columns:
            facts = table.facts(name)
            number = max(facts.distinct, 1)
            if radix * number >= 1 << 62:
                distinct, key = np.unique(key, return_inverse=True)
                radix = distinct.size
            key = key * number + table.codes(name)
            radix *= number
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        rank = np.empty(first.size, np.int64)
        order = np.argsort(first, kind="stable")
        rank[order] = np.arange(first.size)
        codes = [(table.codes(name), table.facts(name).categories) for name in columns]
        labels = [
            tuple(categories.values[int(code[row])] if categories else "" for code, categories in codes)
            for row in first[order]
        ]
        return cls(tuple(columns), tuple(labels), frozen(rank[inverse]))

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
