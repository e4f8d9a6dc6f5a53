"""Counting coded columns by region and combination, against loops over the records."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.algorithms.contingency import CodedColumn, add_sizes, count_classes
from vbas_desktop.model.progress import NO_PROGRESS, Cancelled

CELLS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5), st.integers(1, 9)), max_size=30)


def listed(counts):
    """Records by region and combination."""
    combination = counts.combinations[counts.table.indices].tolist()
    keys = zip(counts.list_class_regions().tolist(), combination, strict=True)
    return dict(zip(keys, counts.sizes.tolist(), strict=True))


@settings(deadline=None)
@given(cells=CELLS)
def test_parts_of_a_class_are_added_up(cells):
    expected = Counter()
    for region, combination, size in cells:
        expected[region, combination] += size
    region, combination, sizes = (np.array([cell[i] for cell in cells], np.int64) for i in range(3))
    found = add_sizes(region, combination, sizes, 5, (2, 3))
    assert listed(found) == expected
    assert found.combinations.tolist() == sorted({combination for _, combination, _ in cells})
    assert found.table.shape[0] == 5
    assert found.table.has_canonical_format
    assert found.n_categories == (2, 3)


@settings(max_examples=60, deadline=None)
@given(
    n_records=st.integers(0, 200),
    n_regions=st.integers(1, 9),
    numbers=st.sampled_from(
        [(1,), (3,), (4, 5), (2, 3, 2), (2**31, 2**31), (2**21, 2**21, 2**21), (2**40, 3)]
    ),
    seed=st.integers(0, 10**6),
)
def test_coded_records_are_counted_one_by_one(n_records, n_regions, numbers, seed):
    draw = np.random.default_rng(seed)
    region = CodedColumn(
        draw.integers(0, n_regions + 1, n_records), np.append(draw.permutation(n_regions), -1), n_regions
    )
    # Codes may mean any category, also the last of very many.
    columns = [
        CodedColumn(draw.integers(0, 4, n_records).astype(np.uint8), draw.integers(0, number, 4), number)
        for number in numbers
    ]
    expected = Counter()
    unknown = 0
    for record in range(n_records):
        own = int(region.table[region.codes[record]])
        combination = 0
        for column in columns:
            combination = combination * column.number + int(column.table[column.codes[record]])
        if own < 0:
            unknown += 1
        else:
            expected[own, combination] += 1
    counts, found_unknown = count_classes(region, columns, NO_PROGRESS)
    assert listed(counts) == expected
    assert found_unknown == unknown
    assert counts.combinations.tolist() == sorted({combination for _, combination in expected})
    assert counts.n_regions == n_regions
    assert counts.n_categories == numbers
    assert counts.table.has_canonical_format


@pytest.mark.parametrize("number", [2, 2**40])
def test_counting_can_be_stopped(number):
    class Stop:
        def update(self, stage, fraction=None):
            assert stage == "Counting classes"
            raise Cancelled

    column = CodedColumn(np.zeros(5, np.uint8), np.zeros(1, np.int32), number)
    with pytest.raises(Cancelled):
        count_classes(CodedColumn(np.zeros(5, np.uint8), np.zeros(1, np.int32), 1), [column], Stop())
