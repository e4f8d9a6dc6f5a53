"""The list on the page "Risky combinations": sorted and filtered by runs, as if each combination were a line."""

import numpy as np
import pytest

from vbas_desktop.assessment.risky.loop import Plan
from vbas_desktop.assessment.risky.mining import mine
from vbas_desktop.assessment.risky.table import Table
from vbas_desktop.session.risky import Listing


@pytest.fixture(scope="module")
def listing():
    rng = np.random.default_rng(5)
    rows = np.stack([np.floor(n * rng.random(300) ** 2).astype(int) for n in (9, 7, 5, 3)], axis=1)
    table = Table.of_rows(["Zip", "age", "sex", "job of age"], rows.astype(str).tolist())
    return Listing(table, Plan(4), mine(table, 4), True)


def lines(arrangement):
    return [
        (len(one.columns), one.count, [name.casefold() for name in one.names])
        for one in (arrangement[place] for place in range(len(arrangement)))
    ]


KEYS = {
    "size": lambda line: (line[0], line[1]),
    "count": lambda line: (line[1], line[0]),
    "columns": lambda line: (line[2], line[1]),
}


@pytest.mark.parametrize("by", KEYS)
@pytest.mark.parametrize("descending", [False, True])
def test_lines_are_sorted(listing, by, descending):
    shown = lines(listing.arranged("", by, descending))
    assert len(shown) == len(listing) == listing.search.number > 100
    keys = [KEYS[by](line) for line in shown]
    assert keys == sorted(keys, reverse=descending)


def test_every_word_must_be_in_a_name(listing):
    everything = lines(listing.arranged("", "size", False))
    shown = lines(listing.arranged("AGE zip", "size", False))
    assert shown == [line for line in everything if "zip" in line[2] and any("age" in name for name in line[2])]
    with_sex = {name for line in everything if "sex" in line[2] for name in line[2]}
    assert {name.casefold() for name in listing.arranged("sex", "size", False).columns} == with_sex
    nothing = listing.arranged("no such column", "count", True)
    assert (len(nothing), nothing.columns) == (0, ())


def test_the_values_of_a_line_are_shared_by_as_many_records_as_it_says(listing):
    arranged, table = listing.arranged("", "count", True), listing.table
    seen = set()
    for place in range(len(arranged)):
        one = arranged[place]
        same = np.ones(table.rows, bool)
        for column, value in zip(one.columns, one.values, strict=True):
            same &= np.array(table.values[column])[table.codes[column]] == value
        assert table.weights[same].sum() == one.count
        seen.add((one.columns, one.values))
    assert len(seen) == len(listing)


def test_occurrences_count_the_lines_with_a_column(listing):
    shown = [listing.arranged("", "size", False)[place].columns for place in range(len(listing))]
    assert listing.occurrences.tolist() == [sum(column in columns for columns in shown) for column in range(4)]
