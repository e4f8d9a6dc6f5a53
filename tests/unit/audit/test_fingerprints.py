"""Sums of fingerprints and numbers of combinations are what a naive recount gives."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.audit import combinations
from vbas_desktop.audit.coded_file import ReadOptions, read_arrays
from vbas_desktop.audit.combinations import count_pairs, number_combinations
from vbas_desktop.audit.fingerprints import hash_rows, summarise_rows
from vbas_desktop.audit.row_order import follows_order, is_sorted_by, sketch
from vbas_desktop.audit.text_hashes import TextHasher

quick = settings(max_examples=150, deadline=None)
rows_of_text = st.lists(st.tuples(*[st.sampled_from(["", "a", "b", "é", "07", "7"])] * 3), max_size=30)


def coded(rows, cut=0, hasher=None):
    """Rows as a file that came in two batches."""
    batches = [
        [pa.array([row[at] for row in part], pa.string()) for at in range(3)]
        for part in (rows[:cut], rows[cut:])
    ]
    return read_arrays(batches, ReadOptions(range(3), hasher or TextHasher()))


@quick
@given(rows_of_text, rows_of_text, st.integers(0, 30), st.randoms(use_true_random=False))
def test_sums_are_equal_for_the_same_rows_in_any_order_and_for_no_others(rows, others, cut, draw):
    hasher = TextHasher()

    def total(some, cut=0):
        return summarise_rows(hash_rows(coded(some, cut, hasher), hasher, 3)).total

    shuffled = draw.sample(rows, len(rows))
    assert total(rows).equals(total(shuffled, cut))
    assert total(rows).equals(total(others)) == (Counter(rows) == Counter(others))


@quick
@given(rows_of_text, st.integers(0, 30), st.sampled_from([0, 1 << 22]), st.sampled_from([1, 1 << 21]))
def test_combinations_are_counted_like_by_a_counter(rows, cut, few, pending):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(combinations, "FEW_KEYS", few)
        patch.setattr(combinations, "KEYS_PER_ROW", few)
        patch.setattr(combinations, "PENDING_KEYS", pending)
        file = coded(rows, cut)
        found = number_combinations(file, file.columns)
        pairs = count_pairs(file, found.column, file.columns[1])
    texts = [
        [column.known_texts[code] for code in codes]
        for column, codes in zip(file.columns, found.codes, strict=True)
    ]
    combined = list(zip(*texts, strict=True))
    assert dict(zip(combined, found.counts.tolist(), strict=True)) == Counter(rows)
    assert [combined[number] for number in found.column.all_codes()] == rows
    listed = zip(pairs.group.tolist(), pairs.value.tolist(), pairs.counts.tolist(), strict=True)
    assert {
        (combined[group], file.columns[1].known_texts[value]): count for group, value, count in listed
    } == Counter((row, row[1]) for row in rows)


@pytest.mark.parametrize("number", [0, 1, 5, 60, 2000])
def test_random_orders_are_at_chance_level(number):
    generator = np.random.default_rng(number)
    rows = generator.integers(0, 1 << 63, number).astype(np.uint64)
    for _ in range(20):
        assert not follows_order(sketch(generator.permutation(rows)), sketch(rows))
    file = coded([(str(value % 3), str(value % 40), "x") for value in rows.tolist()])
    assert not any(is_sorted_by(file, column) for column in file.columns)


@pytest.mark.parametrize("order", [1, -1])
def test_the_original_order_and_its_reverse_are_found(order):
    rows = np.random.default_rng(1).integers(0, 1 << 63, 300).astype(np.uint64)
    assert follows_order(sketch(rows[::order]), sketch(rows))
    half = np.concatenate((rows[:150], np.random.default_rng(2).permutation(rows[150:])))
    assert follows_order(sketch(half), sketch(rows))


def test_sorted_and_grouped_columns_are_found():
    values = np.random.default_rng(3).integers(0, 5, 400)
    rows = [
        (str(value), str(number % 7), str(other))
        for number, (value, other) in enumerate(zip(np.sort(values), values, strict=True))
    ]
    first, _, third = (is_sorted_by(coded(rows), column) for column in coded(rows).columns)
    assert first
    assert not third
