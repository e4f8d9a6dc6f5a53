"""Distinct rows of the searched columns with their numbers of records; values are codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.composite_keys import make_row_keys, number_values
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.records import CodedRecords, as_readonly, not_categorical


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
"""Value of an emptied column; the same category as a missing value."""


@dataclass(frozen=True, eq=False)
class DistinctRows:
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
    def from_records(
        cls, table: CodedRecords, columns: Sequence[str], progress: Progress | None = None
    ) -> DistinctRows:
        """Build the table from these columns of a record file. Raises `InputError` without columns or categories."""
        if not columns:
            raise InputError(
                Finding(
                    "no-columns", "No column is chosen.", "Choose at least one.", file=table.source.path
                )
            )
        values = []
        for name in columns:
            facts = table.facts(name)
            if facts.categories is None:
                raise InputError(not_categorical(table, facts))
            values.append(facts.categories.values)
        codes = [table.codes(name) for name in columns]
        return _collapse_records(columns, values, codes, table.rows, progress)

    @classmethod
    def from_reference(cls, public: CodedRecords, columns: Sequence[str]) -> DistinctRows:
        """Build the table of a public file from those columns that it shares with the searched ones.

        Raises `InputError` if it shares none.
        """
        shared = [name for name in columns if name in public.file_format.header]
        if not shared:
            message = "The public table shares no column with the file."
            raise InputError(
                Finding("no-shared-column", message, "Choose another.", file=public.source.path)
            )
        return cls.from_records(public, shared)

    @classmethod
    def from_rows(cls, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> DistinctRows:
        """Build a small table from its rows."""
        values = [tuple(sorted({row[j] for row in rows})) for j in range(len(columns))]
        codes = [
            np.array([names.index(row[j]) for row in rows], np.int32).reshape(len(rows))
            for j, names in enumerate(values)
        ]
        return _collapse_records(columns, values, codes, len(rows), None)

    @property
    def rows(self) -> int:
        """Number of distinct rows."""
        return int(self.weights.size)

    @cached_property
    def records(self) -> int:
        """Number of records that are not suppressed."""
        return int(self.weights.sum())

    def number_of_values(self, column: int) -> int:
        """Count the values of a column; at least 1, as a factor of composite keys."""
        return max(len(self.values[column]), 1)

    @property
    def anonymity(self) -> int | None:
        """Size of the smallest class over all columns; None without records."""
        return int(self.weights.min()) if self.rows else None

    def replace_values(self, column: int, new_values: Sequence[str]) -> DistinctRows:
        """Replace each value of a column; equal new values become one, and equal rows are joined."""
        names = tuple(sorted(set(new_values)))
        code_of = {name: number for number, name in enumerate(names)}
        new_codes = np.array([code_of[value] for value in new_values], np.int32)
        values = [names if j == column else old for j, old in enumerate(self.values)]
        codes = [new_codes[old] if j == column else old for j, old in enumerate(self.codes)]
        return _collapse_rows(self.columns, values, codes, self.weights, self.row_of, NO_PROGRESS)

    def without_column(self, column: int) -> DistinctRows:
        """Return the table without one column; rows that are equal then are joined."""
        remaining = [number for number in range(len(self.columns)) if number != column]
        names = [self.columns[number] for number in remaining]
        values = [self.values[number] for number in remaining]
        codes = [self.codes[number] for number in remaining]
        return _collapse_rows(names, values, codes, self.weights, self.row_of, NO_PROGRESS)

    def without_rows(self, rows: NDArray[np.bool_]) -> DistinctRows:
        """Return the table with the records of the marked distinct rows suppressed."""
        remaining = ~rows
        new_number = np.where(remaining, np.cumsum(remaining) - 1, -1).astype(np.int32)
        row_of = np.where(self.row_of >= 0, new_number[self.row_of], np.int32(-1)).astype(np.int32)
        return DistinctRows(
            self.columns,
            self.values,
            as_readonly(np.compress(remaining, self.codes, axis=1)),
            as_readonly(self.weights[remaining]),
            as_readonly(row_of),
        )


def _collapse_records(
    columns: Sequence[str],
    values: Sequence[tuple[str, ...]],
    codes: Sequence[NDArray[np.integer]],
    records: int,
    progress: Progress | None,
) -> DistinctRows:
    """Build the table from the codes of single records."""
    progress = progress or NO_PROGRESS
    weights = np.ones(records, np.int32)
    row_of = np.arange(records, dtype=np.int32)
    return _collapse_rows(columns, values, codes, weights, row_of, progress)


def _collapse_rows(
    columns: Sequence[str],
    values: Sequence[tuple[str, ...]],
    codes: Sequence[NDArray[np.integer]],
    weights: NDArray[np.int32],
    row_of: NDArray[np.int32],
    progress: Progress,
) -> DistinctRows:
    """Join equal rows, in the order of the first one of each."""
    numbers = [max(len(names), 1) for names in values]
    progress.update("Joining equal records")
    first, totals, group = join_equal_rows(zip(codes, numbers, strict=True), weights)
    distinct_codes = np.empty((len(columns), first.size), np.min_scalar_type(max(numbers, default=1)))
    for j, column in enumerate(codes):
        distinct_codes[j] = column[first]
    new_row_of = np.where(row_of >= 0, group[row_of], np.int32(-1))
    return DistinctRows(
        tuple(columns),
        tuple(values),
        as_readonly(distinct_codes),
        as_readonly(totals),
        as_readonly(new_row_of),
    )
