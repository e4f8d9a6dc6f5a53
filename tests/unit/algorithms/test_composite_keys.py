"""Keys and numbers of rows: those that a dictionary of tuples gives."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.algorithms.composite_keys import (
    LARGEST_KEY,
    make_row_keys,
    number_combinations,
    number_values,
)

HASHES = st.integers(0, (1 << 64) - 1) | st.integers(0, 3).map(lambda number: number << 62)


def numbered(rows):
    numbers = {}
    found = [numbers.setdefault(row, len(numbers)) for row in rows]
    return found, [found.index(number) for number in range(len(numbers))]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(HASHES, st.integers(-2, 3), st.integers(0, 1)), min_size=1, max_size=60))
def test_rows_are_numbered_in_the_order_of_their_first_one(rows):
    columns = [
        np.array(column, kind)
        for column, kind in zip(zip(*rows, strict=True), ("u8", "i4", "u1"), strict=True)
    ]
    numbers, first = number_combinations(columns)
    assert (numbers.tolist(), first.tolist()) == numbered(rows)


def test_nothing_has_no_numbers():
    numbers, first = number_values(np.zeros(0, np.int64))
    assert (numbers.size, first.size) == (0, 0)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 40), min_size=5, max_size=5), max_size=40),
    st.sampled_from([41, 1 << 20, LARGEST_KEY // 64]),
)
def test_keys_are_equal_exactly_where_rows_are(rows, n_values):
    """With large numbers of values, five columns do not fit into one key, which is then made of numbers of rows."""
    columns = np.array(rows, np.int32).reshape(len(rows), 5).T
    keys = make_row_keys([(codes, n_values) for codes in columns], len(rows))
    assert (keys >= 0).all()
    assert numbered(keys.tolist())[0] == numbered([tuple(row) for row in rows])[0]
