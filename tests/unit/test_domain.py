"""The words of the program: orders, counts, findings."""

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.findings import Finding, InputError, Severity, stop_on_errors
from vbas_desktop.model.progress import RepeatingProgress
from vbas_desktop.model.records import Categories, category_order
from vbas_desktop.model.text import escape_controls, escape_lines


def test_numbers_are_ordered_as_numbers_and_text_by_code_point_with_missing_first():
    assert category_order(["10", "9", "", "1.5"]) == ["", "1.5", "9", "10"]
    assert category_order(["b", "10", "B", "", "é"]) == ["", "10", "B", "b", "é"]
    assert category_order(["nan", "1", "inf"]) == ["1", "inf", "nan"]


def test_a_declared_category_number_counts_even_if_fewer_are_present():
    assert Categories("age", ("1", "2"), declared=22).number == 22
    assert Categories("age", ("1", "2", "3"), declared=2).number == 3


@given(
    hnp.arrays(
        np.int64,
        st.tuples(st.integers(1, 7), st.integers(1, 9)),
        elements=st.sampled_from([0, 0, 0, 1, 5]),
    )
)
def test_counts_are_those_of_the_matrix(matrix):
    combinations = np.arange(matrix.shape[1], dtype=np.int64)
    counts = ClassCounts.from_matrix((matrix.shape[1],), combinations, matrix)
    assert counts.n_regions == matrix.shape[0]
    assert counts.records == matrix.sum()
    assert counts.region_totals.tolist() == matrix.sum(axis=1).tolist()
    assert counts.combination_totals.tolist() == matrix.sum(axis=0).tolist()
    assert counts.table.toarray().tolist() == matrix.tolist()
    assert counts.sizes.tolist() == [size for row in matrix.tolist() for size in row if size]
    assert counts.list_class_regions().tolist() == np.nonzero(matrix)[0].tolist()
    some = np.flatnonzero(matrix.sum(axis=1))[::-1]
    assert counts.select_regions(some).table.toarray().tolist() == matrix[some].tolist()
    kept = matrix.sum(axis=0) > 1
    assert counts.select_combinations(kept).combinations.tolist() == np.flatnonzero(kept).tolist()
    assert counts.select_combinations(kept).table.toarray().tolist() == matrix[:, kept].tolist()
    large = counts.select_classes(counts.sizes > 1)
    assert large.table.toarray().tolist() == np.where(matrix > 1, matrix, 0).tolist()
    assert large.equals(counts.drop_below(2))
    assert large.equals(counts) == (not (matrix == 1).any())


def test_the_arrays_of_counts_cannot_be_changed():
    counts = ClassCounts.from_matrix((2,), np.arange(2), np.array([[1, 2]]))
    for array in (counts.table.data, counts.table.indices, counts.table.indptr, counts.combinations):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5


def test_class_numbers_are_row_major_in_the_order_of_the_quasi_identifiers():
    counts = ClassCounts.from_matrix((3, 4), np.array([7], np.int64), np.array([[2]], np.int64))
    assert counts.decode_combination(0) == (1, 3)
    assert [counts.decode_column(position).tolist() for position in (0, 1)] == [[1], [3]]
    assert counts.max_combinations == 12


def test_errors_stop_and_warnings_pass():
    warning = Finding("empty-region", "has no records.", severity=Severity.WARNING)
    assert stop_on_errors([warning]) == (warning,)
    error = Finding(
        "ragged", "has 3 fields instead of 4.", "Add the missing field.", file="a.csv", row=1234
    )
    with pytest.raises(
        InputError, match=r"a\.csv, row 1,234: has 3 fields instead of 4\. Add the missing field\."
    ):
        stop_on_errors([warning, error])


def test_work_between_two_steps_can_be_told_without_moving_the_bar():
    class Kept:
        def __init__(self):
            self.told = []

        def update(self, stage, fraction=None):
            self.told.append((stage, fraction))

    kept = Kept()
    steady = RepeatingProgress(kept)
    steady.update("Placing", 0.25)
    steady.aside().update("Rating", 0.9)
    steady.update("Merging")
    assert kept.told == [("Placing", 0.25), ("Rating", 0.25), ("Merging", 0.25)]


@given(st.text())
def test_escaped_names_show_every_character_and_json_reads_them_back(name):
    shown = escape_controls(name)
    assert not re.search(
        "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", shown
    )
    assert json.loads(escape_lines(json.dumps(name, ensure_ascii=False))) == name
    assert escape_controls(shown) == shown


def test_names_of_all_scripts_stay_as_they_are():
    for name in ("Straße", "Łódź", "می‌خواهم", "क्‍ष", "東京", "👩‍👧", "a\u00a0b"):
        assert escape_controls(name) == name
    assert escape_lines("one\n\ttwo\x1b[2J\u202e") == "one\n\ttwo\\u001b[2J\\u202e"
