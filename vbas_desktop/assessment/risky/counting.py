"""Counting over sets of columns in general: with a public table, and where the compiled search has too little room."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .found import Found
from .table import Table, joined, row_keys


def risky_rows(
    table: Table, reference: Table | None, columns: tuple[int, ...], active: NDArray[np.int32], k: int
) -> tuple[NDArray[np.int32], Found]:
    """All risky ones among the active rows, and the combinations that make them so."""
    first, counts, group = joined(_keys(table, columns, active), table.weights[active])
    risky = counts < k
    if reference is not None and all(table.columns[column] in reference.columns for column in columns):
        risky |= _public_counts(table, reference, columns, active)[first] < k
    return active[risky[group]], Found.of(columns, active[first[risky]], counts[risky])


def rows_of(table: Table, found: Found) -> NDArray[np.bool_]:
    """The distinct rows that have one of the found combinations."""
    first, _, group = joined(_keys(table, found.columns, np.arange(table.rows)), table.weights)
    wanted = np.zeros(first.size, bool)
    wanted[group[found.rows]] = True
    return wanted[group]


def _keys(table: Table, columns: tuple[int, ...], active: NDArray[np.integer]) -> NDArray[np.int64]:
    return row_keys(((table.codes[column][active], table.number_of_values(column)) for column in columns), active.size)


def _public_counts(
    table: Table, reference: Table, columns: tuple[int, ...], active: NDArray[np.int32]
) -> NDArray[np.int32]:
    """How often the values of each active row occur in the public table."""
    both = []
    for column in columns:
        other = reference.columns.index(table.columns[column])
        own_values, other_values = table.values[column], reference.values[other]
        place = {value: number for number, value in enumerate(dict.fromkeys((*own_values, *other_values)))}
        own, public = (np.array([place[v] for v in values], np.int32) for values in (own_values, other_values))
        codes = np.concatenate([own[table.codes[column][active]], public[reference.codes[other]]])
        both.append((codes, max(len(place), 1)))
    weights = np.concatenate([np.zeros(active.size, np.int32), reference.weights])
    _, counts, group = joined(row_keys(both, weights.size), weights)
    return counts[group[: active.size]]
