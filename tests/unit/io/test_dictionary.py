"""The dictionaries of record columns: values that look alike are told apart, and quickly."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.io.records import coding
from vbas_desktop.io.records.bits import CELL
from vbas_desktop.io.records.dictionary import DIRECT, LONGER, code_fields, rehash
from vbas_desktop.io.records.table import load_records

ALIKE = st.text("ab", min_size=0, max_size=80)


@settings(max_examples=60, deadline=None)
@given(values=st.lists(ALIKE, min_size=1, max_size=60))
def test_values_of_every_length_are_told_apart(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("alike") / "records.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("value", "other"), *((value, "x") for value in values)])
    table = load_records(path)
    categories = table.facts("value").categories.values
    assert [categories[code] for code in table.codes("value")] == values


def test_values_around_the_size_of_a_cell_are_told_apart_whatever_came_first(tmp_path):
    longest = "".join(chr(ord("a") + i % 26) for i in range(3 * CELL))
    values = [longest[:size] for size in range(3 * CELL, 0, -1)] + [longest[:size] for size in range(1, 3 * CELL)]
    values += [longest[:size] + "Z" + longest[size + 1 :] for size in range(3 * CELL)]
    path = tmp_path / "records.csv"
    path.write_text("value,other\n" + "".join(f"{value},x\n" for value in values))
    table = load_records(path)
    categories = table.facts("value").categories.values
    assert [categories[code] for code in table.codes("value")] == values


@pytest.mark.parametrize(
    "name", ["{:08d}", "region-{:06d}", "{:06d}-region", "the same long beginning {:06d}", "{:06d} the same long end"]
)
def test_numbered_values_spread_over_the_table(name):
    values = [name.format(number) for number in range(4000)]
    slots, arena, offsets, sizes = _dictionary_of(values)
    larger = np.full(1 << 20, -1, np.int32)
    rehash(arena, offsets, sizes, len(values), LONGER, larger)
    assert np.count_nonzero(slots >= 0) == np.count_nonzero(larger >= 0) == len(values)
    # Runs of neighbours that are all taken are what a search walks along: at a quarter full they are short.
    assert _longest_run(slots) < 60
    assert _longest_run(larger) < 10


def _dictionary_of(values):
    data = ("\n".join(["", *values]) + "\n").encode()
    text = np.zeros(len(data) + 64, np.uint8)
    text[: len(data)] = np.frombuffer(data, np.uint8)
    places = np.flatnonzero(text == 10).astype(np.int32)
    slots = np.full(1 << 14, -1, np.int32)
    sizes, offsets, codes = (np.zeros(len(values), kind) for kind in (np.int64, np.int64, np.uint32))
    cells, arena = np.zeros(CELL * len(values), np.uint8), np.zeros(text.size + 64, np.uint8)
    done = code_fields(
        *(text, places[:-1], places[1:], len(values), 0, 0, 1, False),
        *(np.zeros(DIRECT, np.int32), slots, sizes, offsets, cells, arena, np.zeros(2, np.int64), codes, len(values)),
    )
    assert done == len(values)
    assert codes.tolist() == list(range(len(values)))
    return slots, arena, offsets, sizes


def _longest_run(slots):
    edges = np.flatnonzero(np.diff(np.concatenate(([False], slots >= 0, [False])).astype(int)))
    return int((edges[1::2] - edges[::2]).max())


def test_a_very_wide_file_is_coded_as_a_narrow_one_is(tmp_path, monkeypatch):
    path = tmp_path / "records.csv"
    rows = [("", "1", "22", "long value"), ("7", "", "22", "long"), ("", "1", "", "long value"), ("7", "1", "3", "")]
    path.write_text("\n".join(",".join(row) for row in [("a", "b", "c", "d"), *rows]) + "\n")
    narrow = load_records(path)
    monkeypatch.setattr(coding, "FEW_COLUMNS", 3)
    wide = load_records(path)
    for facts in narrow.columns:
        assert wide.facts(facts.name).categories == facts.categories
        assert wide.facts(facts.name).missing == facts.missing
        assert wide.codes(facts.name).tolist() == narrow.codes(facts.name).tolist()
