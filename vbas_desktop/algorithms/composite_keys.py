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
    numbers = np.asarray(numbers, np.int64)
    first = np.empty(len(distinct), np.int64)
    # Of several assignments to the same item numpy keeps the last one; backwards that is the first value.
    first[numbers[::-1]] = np.arange(numbers.size - 1, -1, -1)
    return numbers, first


def number_combinations(columns: Sequence[NDArray[np.generic]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the different rows of several columns; as `number_values` does for one."""
    coded = [pd.factorize(column) for column in columns]
    return number_values(make_row_keys([(codes, max(len(values), 1)) for codes, values in coded], columns[0].size))
