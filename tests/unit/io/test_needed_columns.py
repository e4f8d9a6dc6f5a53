"""Reading only the columns that are needed: they are what they are when all are read, line 2 included."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.io.records.file_format import USUAL_LIMITS, ReadLimits
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.model.findings import InputError, Severity
from vbas_desktop.settings.reading import RecordReading

NAMES = ("age", "séx", "region", "note")
VALUES = st.sampled_from(["1", "2", "3", "", "a", "ä", "long text of more than thirty-two bytes", "12"])
RECORDS = st.lists(st.tuples(*[VALUES] * len(NAMES)), min_size=1, max_size=40)


def in_short_blocks(beginning, block=64):
    """Line 2 is judged by so many records, and blocks are short."""
    return ReadLimits(beginning_rows=beginning, block_bytes=block)


def findings_or_table(path, options, columns=None, limits=USUAL_LIMITS):
    try:
        return (), load_records(path, options, columns=columns, limits=limits)
    except InputError as refused:
        return refused.findings, None


def write(folder, rows, encoding="utf-8"):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    path = folder / "records.csv"
    path.write_text(text.getvalue(), encoding=encoding, newline="")
    return path


@settings(max_examples=150, deadline=None)
@given(
    records=RECORDS,
    numbers=st.none() | st.tuples(*[st.integers(1, 4)] * len(NAMES)),
    wanted=st.sets(st.sampled_from(NAMES)),
    choice=st.sampled_from(["auto", "yes", "no"]),
    encoding=st.sampled_from(["utf-8", "latin-1"]),
)
def test_needed_columns_are_what_they_are_among_all(
    tmp_path_factory, records, numbers, wanted, choice, encoding
):
    path = write(
        tmp_path_factory.mktemp("needed"), [NAMES, *([numbers] if numbers else []), *records], encoding
    )
    options = RecordReading(category_counts=choice)
    limits = in_short_blocks(4)
    refused, every = findings_or_table(path, options, None, limits)
    also_refused, some = findings_or_table(path, options, wanted, limits)
    assert also_refused == refused
    if every is None:
        return
    assert [facts.name for facts in some.columns] == [name for name in NAMES if name in wanted]
    assert (some.rows, some.file_format, some.source) == (every.rows, every.file_format, every.source)
    assert some.findings == tuple(
        one for one in every.findings if one.column is None or one.column in wanted
    )
    for name in wanted:
        facts, expected = some.facts(name), every.facts(name)
        assert (facts.distinct, facts.missing, facts.categories) == (
            *(expected.distinct, expected.missing, expected.categories),
        )
        assert np.array_equal(facts.frequencies, expected.frequencies)
        assert np.array_equal(some.codes(name), every.codes(name))


def test_a_column_that_was_not_asked_for_is_not_taken_for_unknown(tmp_path):
    table = load_records(write(tmp_path, [NAMES, "1234"]), columns=["age"])
    with pytest.raises(LookupError, match="column 4 was not asked for"):
        table.facts("note")
    table.check_name("note")
    for ask in (table.facts, table.check_name):
        with pytest.raises(InputError, match="no column “rain”"):
            ask("rain")


def test_a_file_of_which_nothing_is_needed_is_still_checked(tmp_path):
    assert load_records(write(tmp_path, [NAMES, "1234", "5678"]), columns=()).rows == 2
    with pytest.raises(InputError, match="The row has 3 fields"):
        load_records(write(tmp_path, [NAMES, "1234", "567"]), columns=())


TEXT = [(f"a{i % 3}", "fm"[i % 2], f"r{i % 4}", "x") for i in range(400)]


def test_a_category_line_that_the_end_of_a_file_exceeds_stays_one_and_that_is_said(tmp_path):
    path = write(tmp_path, [NAMES, (3, 2, 4, 1), *TEXT, ("a9", "f", "r0", "y")])
    whole = load_records(path)
    assert not whole.file_format.category_line
    assert whole.rows == 402
    for columns, exceeded in ((None, ["age", "note"]), (["age", "region"], ["age"]), (["region"], [])):
        table = load_records(path, columns=columns, limits=in_short_blocks(300))
        assert table.file_format.category_line
        assert table.rows == 401
        warnings = [finding for finding in table.findings if finding.severity is Severity.WARNING]
        assert [(finding.code, finding.column) for finding in warnings] == [
            ("category-line-exceeded", name) for name in exceeded
        ]


def test_where_the_beginning_leaves_a_doubt_the_whole_file_decides(tmp_path):
    """In the beginning every value of the codes is frequent; in the whole file a record like line 2 is not."""
    limits = in_short_blocks(50, 1024)
    codes = [(1 + i % 2, 1 + i % 2, 1 + i // 40, 1) for i in range(20_000)]
    path = write(tmp_path, [NAMES, (2, 2, 500, 1), *codes])
    for columns in (None, ["age"]):
        table = load_records(path, columns=columns, limits=limits)
        assert table.rows == 20_001
        assert [finding.severity for finding in table.findings] == [Severity.WARNING]
    spread = [(1 + i * 7 % 90, 1 + i * 3 % 80, 1 + i // 40, 1) for i in range(20_000)]
    path = write(tmp_path, [NAMES, (90, 80, 500, 1), *spread])
    for columns in (None, ["age"]):
        table = load_records(path, columns=columns, limits=limits)
        assert table.file_format.category_line
        assert table.rows == 20_000
        assert table.columns[0].categories.declared == 90


def test_a_file_without_names_does_not_show_its_first_record_whatever_is_needed(tmp_path):
    path = write(tmp_path, [("41", "F", "r1"), ("41", "M", "r2"), ("17", "F", "r1")])
    for columns in ((), ["age", "region"], ["F", "age"], ["r1"]):
        table = load_records(path, RecordReading(category_counts="no"), columns=columns)
        with pytest.raises(InputError) as caught:
            table.check_name("age")
        assert not any(value in str(caught.value).replace(str(path), "") for value in ("41", "F", "r1"))


@pytest.mark.parametrize("block", [24, 30, 37, 64])
@pytest.mark.parametrize("choice", ["auto", "yes"])
def test_a_category_line_that_begins_or_ends_in_a_later_block_is_one(tmp_path, block, choice):
    path = write(tmp_path, [NAMES, (3, 2, 4, 1), *TEXT])
    limits = in_short_blocks(300, block)
    for columns in (None, ["age"]):
        table = load_records(path, RecordReading(category_counts=choice), columns=columns, limits=limits)
        assert table.file_format.category_line
        assert table.rows == 400
        assert table.facts("age").categories.declared == 3
        assert table.row_number(0) == 3
