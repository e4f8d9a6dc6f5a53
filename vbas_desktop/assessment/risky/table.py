"""The table that is searched: equal rows collapsed, values as codes, so that a filter works on distinct values only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.progress import Progress, Silent
from vbas_desktop.domain.records import frozen
from vbas_desktop.files.records import RecordTable

from .kernels import join_equal

_CHUNK = 1_000_000
NULL = ""
"""What an emptied column holds; the same category as a missing value."""


@dataclass(frozen=True, eq=False)
class Table:
    """Distinct rows with their numbers of records.

    ``codes[j]`` is column j as indices into ``values[j]``; ``weights[i]`` records share row i; ``row_of[r]`` is the
    distinct row of record r (−1: suppressed).
    """

    columns: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    codes: tuple[NDArray[np.integer], ...]
    weights: NDArray[np.int64]
    row_of: NDArray[np.int32]

    @classmethod
    def of_records(cls, table: RecordTable, columns: Sequence[str], progress: Progress | None = None) -> Table:
        """The chosen columns of a record file."""
        if not columns:
            raise InputError(
                Finding("no-columns", "No column is chosen.", "Choose at least one.", file=table.source.path)
            )
        codes = [table.codes(name) for name in columns]
        values = []
        for name in columns:
            categories = table.facts(name).categories
            assert categories is not None
            values.append(categories.values)
        whole = cls(
            tuple(columns),
            tuple(values),
            tuple(codes),
            np.ones(table.rows, np.int64),
            np.arange(table.rows, dtype=np.int32),
        )
        return whole.collapsed(progress)

    @classmethod
    def of_rows(cls, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
        """A small table given row by row."""
        values = [tuple(sorted({row[j] for row in rows})) for j in range(len(columns))]
        codes = [
            np.array([names.index(row[j]) for row in rows], np.int32).reshape(len(rows))
            for j, names in enumerate(values)
        ]
        size = len(rows)
        whole = cls(
            tuple(columns), tuple(values), tuple(codes), np.ones(size, np.int64), np.arange(size, dtype=np.int32)
        )
        return whole.collapsed()

    @property
    def rows(self) -> int:
        """Number of distinct rows."""
        return int(self.weights.size)

    @cached_property
    def records(self) -> int:
        """Number of records that are not suppressed."""
        return int(self.weights.sum())

    @property
    def anonymity(self) -> int | None:
        """The size of the smallest class over all columns; None without records. Rows are distinct, so it is direct."""
        return int(self.weights.min()) if self.rows else None

    def collapsed(self, progress: Progress | None = None) -> Table:
        """Equal rows joined, in the order of their first one."""
        key, radix = np.zeros(self.rows, np.int64), 1
        for codes, values in zip(self.codes, self.values, strict=True):
            number = max(len(values), 1)
            if radix * number >= 1 << 62:
                distinct, key = np.unique(key, return_inverse=True)
                radix = distinct.size
            key = key * number + codes
            radix *= number
        first, weights, inverse = _joined(key, self.weights, progress or Silent())
        row_of = np.where(self.row_of >= 0, inverse[self.row_of], np.int32(-1))
        return Table(
            self.columns,
            self.values,
            tuple(frozen(codes[first]) for codes in self.codes),
            frozen(weights),
            frozen(row_of),
        )

    def mapped(self, column: int, new_values: Sequence[str]) -> Table:
        """The table with each value of a column replaced; equal new values become one."""
        names = tuple(sorted(set(new_values)))
        place = {name: number for number, name in enumerate(names)}
        translate = np.array([place[value] for value in new_values], np.int32)
        values = tuple(names if j == column else old for j, old in enumerate(self.values))
        codes = tuple(translate[old] if j == column else old for j, old in enumerate(self.codes))
        return replace(self, values=values, codes=codes).collapsed()

    def without(self, rows: NDArray[np.bool_]) -> Table:
        """The table with the records of the marked distinct rows suppressed."""
        kept = ~rows
        number = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        row_of = np.where(self.row_of >= 0, number[self.row_of], np.int32(-1)).astype(np.int32)
        return Table(
            self.columns,
            self.values,
            tuple(frozen(codes[kept]) for codes in self.codes),
            frozen(self.weights[kept]),
            frozen(row_of),
        )


def _joined(
    keys: NDArray[np.int64], weights: NDArray[np.int64], progress: Progress
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]:
    """The first row and the records of each different key, and the number of each row's key."""
    size = keys.size
    slots = 1 << max(4, int(2 * size - 1).bit_length()) if size else 16
    first, totals, group = np.empty(size, np.int32), np.empty(size, np.int64), np.empty(size, np.int32)
    table, number_of = np.full(slots, -1, np.int64), np.empty(slots, np.int32)
    found = 0
    for start in range(0, size, _CHUNK):
        progress.update("Joining equal records", start / size)
        end = min(start + _CHUNK, size)
        found = join_equal(keys, weights, start, end, found, table, number_of, first, totals, group)
    return first[:found].copy(), totals[:found].copy(), group
