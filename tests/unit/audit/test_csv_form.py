"""Every byte of a released CSV file is accounted for."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.audit.coded_file import CsvForm, ReadOptions, read_csv
from vbas_desktop.audit.csv_form import ExpectedForm, find_fault
from vbas_desktop.audit.csv_stream import UnreadableFile
from vbas_desktop.audit.text_hashes import TextHasher


def quoted(value, is_only):
    special = any(mark in value for mark in ',"\r\n') or (is_only and value == "")
    return '"' + value.replace('"', '""') + '"' if special else value


def written(rows, end):
    return "".join(",".join(quoted(value, len(row) == 1) for value in row) + end for row in rows)


def fault(path, rows, form):
    width = len(rows[0])
    file = read_csv(path, CsvForm(width, ",", "utf-8"), ReadOptions(range(width), TextHasher()))
    if file.empty_lines:
        return "empty lines"
    return find_fault(file.stream, file.measured, file.rows + 1, width, form)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("form") / "file.csv"


tables = st.integers(1, 3).flatmap(
    lambda width: st.lists(
        st.lists(st.text('a,"é\r\n ', max_size=4), min_size=width, max_size=width), max_size=8
    )
)


@settings(max_examples=200, deadline=None)
@given(tables, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_a_file_with_the_marks_that_it_needs_has_no_fault(path, rows, end, mark):
    rows = [["name"] * len(rows[0]) if rows else ["name"], *rows]
    path.write_bytes(written(rows, end).encode("utf-8-sig" if mark else "utf-8"))
    assert fault(path, rows, ExpectedForm(mark, end.encode())) == ""
    assert fault(path, rows, ExpectedForm(not mark, end.encode())) != ""
    assert fault(path, rows, ExpectedForm(mark, b"\n" if end == "\r\n" else b"\r\n")) != ""


@settings(max_examples=300, deadline=None)
@given(
    tables,
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([",", '"', "\n", "\r", "\r\n", " ", "\ufeff"]),
    st.data(),
)
def test_no_mark_can_be_put_in_that_leaves_values_and_form_as_they_are(path, rows, end, mark, data):
    rows = [["name"] * len(rows[0]) if rows else ["name"], *rows]
    text = written(rows, end)
    at = data.draw(st.integers(0, len(text)))
    path.write_bytes((text[:at] + mark + text[at:]).encode())
    try:
        width = len(rows[0])
        file = read_csv(path, CsvForm(width, ",", "utf-8"), ReadOptions(range(width), TextHasher()))
    except UnreadableFile:
        return
    texts = [[column.known_texts[code] for code in column.all_codes()] for column in file.columns]
    same = [list(file.names), *map(list, zip(*texts, strict=True))] == rows
    assert not same or fault(path, rows, ExpectedForm(False, end.encode())) != ""


@pytest.mark.parametrize("quoting", [csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
def test_quotes_that_are_not_needed_are_a_fault(path, quoting):
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n", quoting=quoting).writerows([["a", "b"], ["x", "y"]])
    path.write_text(text.getvalue(), newline="")
    assert fault(path, [["a", "b"]], ExpectedForm(False, b"\n")) == "quotes where none are needed"
    assert fault(path, [["a", "b"]], ExpectedForm(False, b"\n", quotes_all=True)) == ""


def test_quotes_that_are_missing_are_a_fault(path):
    path.write_text('"a","b"\n"x",y\n', newline="")
    assert fault(path, [["a", "b"]], ExpectedForm(False, b"\n", quotes_all=True)) == "too few quotes"
