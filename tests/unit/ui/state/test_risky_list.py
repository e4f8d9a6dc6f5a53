"""The list on the page "Risky combinations": one row per set of columns, sorted and filtered."""

import numpy as np
import pytest

from vbas_desktop.analysis.minimal_uniques.distinct_rows import DistinctRows
from vbas_desktop.analysis.minimal_uniques.recoding_loop import RecodingPlan
from vbas_desktop.analysis.minimal_uniques.search import find_minimal_uniques
from vbas_desktop.ui.state.risky import CombinationListing


@pytest.fixture(scope="module")
def listing():
    rng = np.random.default_rng(5)
    rows = np.stack([np.floor(n * rng.random(300) ** 2).astype(int) for n in (9, 7, 5, 3)], axis=1)
    table = DistinctRows.from_rows(["Zip", "age", "sex", "job of age"], rows.astype(str).tolist())
    return CombinationListing(table, RecodingPlan(4), find_minimal_uniques(table, 4), True)


def test_each_set_of_columns_is_listed_once(listing):
    names = [column_set.names for column_set in listing.column_sets]
    assert len(set(names)) == len(names)
    assert sum(map(len, listing.column_sets)) == len(listing) == listing.search.number > 100


def test_every_word_must_be_in_a_name(listing):
    found = {column_set.names for column_set in listing.column_sets if column_set.has_names("AGE zip")}
    assert found == {
        names
        for names in (column_set.names for column_set in listing.column_sets)
        if "Zip" in names and {"age", "job of age"} & set(names)
    }
    assert found
    assert not any(column_set.has_names("no such column") for column_set in listing.column_sets)


def test_the_combinations_of_a_set_have_different_values_of_as_many_records_as_it_says(listing):
    table = listing.table
    seen = set()
    for column_set in listing.column_sets:
        columns = column_set.combinations.columns
        concerned = np.zeros(table.rows, bool)
        for position in range(len(column_set)):
            combination = column_set[position]
            same = np.ones(table.rows, bool)
            for column, value in zip(columns, combination.values, strict=True):
                same &= np.array(table.values[column])[table.codes[column]] == value
            assert table.weights[same].sum() == combination.records
            concerned |= same
            seen.add((columns, combination.values))
        assert table.weights[concerned].sum() == column_set.combinations.records
    assert len(seen) == len(listing)


def test_occurrences_count_the_combinations_with_a_column(listing):
    expected = dict.fromkeys(listing.table.columns, 0)
    for column_set in listing.column_sets:
        for name in column_set.names:
            expected[name] += len(column_set)
    assert listing.occurrences == expected
