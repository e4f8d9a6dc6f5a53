"""What a search found is kept small and says the same as plain lists would."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.analysis.minimal_uniques.distinct_rows import DistinctRows
from vbas_desktop.analysis.minimal_uniques.recoding_loop import build_exemption
from vbas_desktop.analysis.minimal_uniques.results import UniqueCombinations
from vbas_desktop.analysis.minimal_uniques.rules import DomainRule
from vbas_desktop.analysis.minimal_uniques.search import find_minimal_uniques


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(1, 5))))
def test_rows_come_back_with_their_counts_the_rarest_first(pairs):
    rows, counts = (
        (np.array(column, np.int32) for column in zip(*pairs, strict=True))
        if pairs
        else [np.zeros(0, int)] * 2
    )
    found = UniqueCombinations.from_counts((0, 2), rows, counts)
    assert list(zip(found.rows.tolist(), found.counts.tolist(), strict=True)) == sorted(
        pairs, key=lambda pair: pair[1]
    )
    assert (found.size, found.number, found.records) == (2, len(pairs), sum(n for _, n in pairs))
    assert found.counts.itemsize == 1


@pytest.mark.parametrize("columns", [6, 8])
def test_all_combinations_need_less_than_three_times_the_table_as_64_bit_numbers(columns):
    rng = np.random.default_rng(3)
    numbers = (60, 2, 30, 12, 8, 5, 3, 20)[:columns]
    rows = np.stack([np.floor(number * rng.random(8000) ** 2).astype(int) for number in numbers], axis=1)
    names = [f"c{place}" for place in range(columns)]
    table = DistinctRows.from_rows(names, rows.astype(str).tolist())
    find_minimal_uniques(DistinctRows.from_rows(names, rows[:50].astype(str).tolist()), 3)  # compiles
    tracemalloc.start()
    search = find_minimal_uniques(table, 3)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert search.number > rows.size / 3
    assert peak < 3 * 8 * rows.size


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from("xyz"), min_size=3, max_size=3), min_size=2, max_size=20),
    st.integers(1, 2),
)
def test_what_rules_let_pass_does_not_count_for_a_row(rows, size):
    table = DistinctRows.from_rows(["a", "b", "c"], rows)
    search = find_minimal_uniques(
        table, 3, exempt=build_exemption(table.columns, [DomainRule("ALL", "candidate", size)])
    )
    scores = np.zeros(table.rows, int)
    for level in search.levels:
        for found in level.combinations:
            shown = table.codes[list(found.columns)]
            for row in found.rows:
                scores += (shown == shown[:, [row]]).all(axis=0)
    assert search.scores.tolist() == scores.tolist()
    assert all(level.size != size for level in search.levels if level.number)
