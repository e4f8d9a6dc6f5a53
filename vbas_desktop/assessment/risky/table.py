"""The table that is searched: equal rows collapsed, values as codes, so that a filter works on distinct values only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.composite_keys import make_row_keys, number_values
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.progress import Progress, Silent
from vbas_desktop.model.records import RecordTable, frozen, not_categorical


def join_equal_rows(
    columns: Iterable[tuple[NDArray[np.integer], int]], weights: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Join the rows that agree in all columns, in the order of the first row of each group.

    A column is its codes and the number of values that they can have; ``weights`` are the records of each row. Returns
    the first row and the records of each group, and the group of each row.
    """
    group, first = number_values(make_row_keys(columns, weights.size))
    totals = np.bincount(group, weights, first.size)
    return first.astype(np.int32), totals.astype(np.int32), group.astype(np.int32)


NULL = ""
"""What an emptied column holds; the same category as a missing value."""


@dataclass(frozen=True, eq=False)
class Table:
    """Distinct rows with their numbers of records.

    ``codes[j]`` is column j as indices into ``values[j]``, in the smallest type that holds those of all columns;
    ``weights[i]`` records share row i; ``row_of[r]`` is the distinct row of record r (−1: suppressed).
    """

    columns: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    codes: NDArray[np.unsignedinteger]
    weights: NDArray[np.int32]
    row_of: NDArray[np.int32]

    @classmethod
    def of_records(cls, table: RecordTable, columns: Sequence[str], progress: Progress | None = None) -> Table:
        """The chosen columns of a record file."""
        if not columns:
            raise InputError(
                Finding("no-columns", "No column is chosen.", "Choose at least one.", file=table.source.path)
            )
        values = []
        for name in columns:
            facts = table.facts(name)
            if facts.categories is None:
                raise InputError(not_categorical(table, facts))
            values.append(facts.categories.values)
        codes = [table.codes(name) for name in columns]
        return _of_single_records(columns, values, codes, table.rows, progress)

    @classmethod
    def of_public(cls, public: RecordTable, columns: Sequence[str]) -> Table:
        """A public table as far as it shares the searched columns, which are looked up in it."""
        shared = [name for name in columns if name in public.dialect.header]
        if not shared:
            message = "The public table shares no column with the file."
            raise InputError(Finding("no-shared-column", message, "Choose another.", file=public.source.path))
        return cls.of_records(public, shared)

    @classmethod
    def of_rows(cls, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
        """A small table given row by row."""
        values = [tuple(sorted({row[j] for row in rows})) for j in range(len(columns))]
        codes = [
            np.array([names.index(row[j]) for row in rows], np.int32).reshape(len(rows))
            for j, names in enumerate(values)
        ]
        return _of_single_records(columns, values, codes, len(rows), None)

    @property
    def rows(self) -> int:
        """Number of distinct rows."""
        return int(self.weights.size)

    @cached_property
    def records(self) -> int:
        """Number of records that are not suppressed."""
        return int(self.weights.sum())

    def number_of_values(self, column: int) -> int:
        """How many values a column has; at least one, so that it can count a row."""
        return max(len(self.values[column]), 1)

    @property
    def anonymity(self) -> int | None:
        """The size of the smallest class over all columns; None without records. Rows are distinct, so it is direct."""
        return int(self.weights.min()) if self.rows else None

    def mapped(self, column: int, new_values: Sequence[str]) -> Table:
        """The table with each value of a column replaced; equal new values become one, and so do equal rows."""
        names = tuple(sorted(set(new_values)))
        place = {name: number for number, name in enumerate(names)}
        translate = np.array([place[value] for value in new_values], np.int32)
        values = [names if j == column else old for j, old in enumerate(self.values)]
        codes = [translate[old] if j == column else old for j, old in enumerate(self.codes)]
        return _collapsed(self.columns, values, codes, self.weights, self.row_of, Silent())

    def without_column(self, column: int) -> Table:
        """Return the table without one column, with the rows that are then equal joined."""
        left = [number for number in range(len(self.columns)) if number != column]
        names = [self.columns[number] for number in left]
        values = [self.values[number] for number in left]
        codes = [self.codes[number] for number in left]
        return _collapsed(names, values, codes, self.weights, self.row_of, Silent())

    def without(self, rows: NDArray[np.bool_]) -> Table:
        """The table with the records of the marked distinct rows suppressed."""
        kept = ~rows
        number = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        row_of = np.where(self.row_of >= 0, number[self.row_of], np.int32(-1)).astype(np.int32)
        return Table(
            self.columns,
            self.values,
            frozen(np.compress(kept, self.codes, axis=1)),
            frozen(self.weights[kept]),
            frozen(row_of),
        )


def _of_single_records(
    columns: Sequence[str],
    values: Sequence[tuple[str, ...]],
    codes: Sequence[NDArray[np.integer]],
    records: int,
    progress: Progress | None,
) -> Table:
    progress = progress or Silent()
    one_each, itself = np.ones(records, np.int32), np.arange(records, dtype=np.int32)
    return _collapsed(columns, values, codes, one_each, itself, progress)


def _collapsed(
    columns: Sequence[str],
    values: Sequence[tuple[str, ...]],
    codes: Sequence[NDArray[np.integer]],
    weights: NDArray[np.int32],
    row_of: NDArray[np.int32],
    progress: Progress,
) -> Table:
    """Equal rows joined, in the order of their first one."""
    numbers = [max(len(names), 1) for names in values]
    progress.update("Joining equal records")
    first, totals, group = join_equal_rows(zip(codes, numbers, strict=True), weights)
    kept = np.empty((len(columns), first.size), np.min_scalar_type(max(numbers, default=1)))
    for j, column in enumerate(codes):
        kept[j] = column[first]
    new_row_of = np.where(row_of >= 0, group[row_of], np.int32(-1))
    return Table(tuple(columns), tuple(values), frozen(kept), frozen(totals), frozen(new_row_of))
