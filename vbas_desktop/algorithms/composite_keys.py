"""Keys for rows of several columns: one whole number per row, equal exactly where the rows agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

LARGEST_KEY = 1 << 62
"""Keys stay below this, so that none overflows."""


def make_row_keys(columns: Iterable[tuple[NDArray[np.integer], int]], rows: int) -> NDArray[np.int64]:
    """Compute a key for each row. A column is its codes and the number of values that they can have."""
    keys = np.zeros(rows, np.int64)
    radix = 1
    for codes, n_values in columns:
        if radix * n_values >= LARGEST_KEY:
            keys, first = number_values(keys)
            radix = first.size
        keys = keys * n_values + codes
        radix *= n_values
    return keys


def number_values(values: NDArray[np.generic]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the different values from 0 on in the order in which they occur.

    Returns the number of each value, and for each number the index of its first value.
    """
    numbers, distinct = pd.factorize(values)
    return np.asarray(numbers, np.int64), _first_rows(numbers, len(distinct))


def number_combinations(
    columns: Sequence[NDArray[np.generic]], *, sort: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the different rows of several columns, as `number_values` does for one.

    With ``sort``, numbers ascend with the rows (by the first column, then by the second, and so on).
    """
    numbers, distinct = pd.factorize(columns[0], sort=sort)
    for column in columns[1:]:
        codes, values = pd.factorize(column, sort=sort)
        numbers, distinct = pd.factorize(numbers * np.int64(len(values)) + codes, sort=sort)
    return np.asarray(numbers, np.int64), _first_rows(numbers, len(distinct))


def _first_rows(numbers: NDArray[np.integer], n_distinct: int) -> NDArray[np.int64]:
    """Find the first row that has each number."""
    first = np.empty(n_distinct, np.int64)
    # Of several assignments to the same item numpy keeps the last one; backwards that is the first row.
    first[numbers[::-1]] = np.arange(numbers.size - 1, -1, -1)
    return first
