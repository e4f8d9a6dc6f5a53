"""Fuzzed text against Python's csv module: the same fields, the same rows, whatever the dialect and the block size."""

import csv
import gzip
import io
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.io.delimited_text import sniff_delimiter
from vbas_desktop.io.records.file_format import ReadLimits
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.model.findings import InputError
from vbas_desktop.settings.reading import RecordReading

ANY_TEXT = st.lists(
    st.sampled_from(["a", "1", ",", '"', "\n", "\r\n", " ", ";", "é", '""', ',"', '"\n']), max_size=60
)
FIELD = st.text(st.sampled_from('ab1 é"\n.0N'), max_size=12)
LIKE_IT_IS = RecordReading(delimiter=",", category_counts="no")


def loaded(folder, data, block, options=LIKE_IT_IS):
    path = folder / "records.csv"
    path.write_bytes(data)
    return load_records(path, options, limits=ReadLimits(block_bytes=block))


def records_of(table):
    columns = []
    for facts in table.columns:
        values = facts.categories.values
        columns.append([values[code] for code in table.codes(facts.name)])
    return list(zip(*columns, strict=True))


def naive(text):
    """Rows with the lines they begin on, as the csv module sees them; None if a quote is never closed."""
    reader = csv.reader(io.StringIO(text + "\nlast,row\n", newline=""))
    rows, line = [], 1
    for row in reader:
        rows.append((line, row))
        line = reader.line_num + 1
    return [row for row in rows[:-1] if row[1]] if rows[-1][1] == ["last", "row"] else None


@settings(max_examples=300, deadline=None)
@given(pieces=ANY_TEXT, block=st.sampled_from([24, 25, 27, 40, 1 << 16]))
def test_any_text_is_cut_as_the_csv_module_cuts_it(tmp_path_factory, pieces, block):
    text = "x,y\n" + "".join(pieces)
    rows = naive(text)
    folder = tmp_path_factory.mktemp("fuzz")
    expected = None if rows is None else [(line, row) for line, row in rows[1:] if len(row) == 2]
    ragged = None if rows is None else [line for line, row in rows[1:] if len(row) != 2]
    if rows is None or ragged or not expected:
        with pytest.raises(InputError) as caught:
            loaded(folder, text.encode(), block)
        findings = caught.value.findings
        if rows is None:
            assert "open-quote" in [finding.code for finding in findings]
        elif ragged:
            assert [finding.row for finding in findings if finding.code == "ragged-row"][:10] == ragged[
                :10
            ]
        else:
            assert {finding.code for finding in findings} - {"blank-lines"} == {"no-records"}
        return
    table = loaded(folder, text.encode(), block)
    assert records_of(table) == [tuple(row) for _, row in expected]
    assert [table.row_number(i) for i in range(table.rows)] == [line for line, _ in expected]


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(st.tuples(FIELD, FIELD, FIELD), min_size=1, max_size=30),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    line_end=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "latin-1", "utf-16", "cp1252"]),
    compressed=st.booleans(),
    block=st.sampled_from([24, 31, 64, 1 << 16]),
)
def test_every_dialect_is_read_back_as_it_was_written(
    tmp_path_factory, rows, delimiter, quoting, line_end, encoding, compressed, block
):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=line_end)
    writer.writerows([("größe", "b", "c"), *rows])
    data = text.getvalue().encode(encoding)
    options = RecordReading(
        encoding="cp1252" if encoding == "cp1252" else None, category_counts="no", delimiter=delimiter
    )
    folder = tmp_path_factory.mktemp("dialect")
    table = loaded(folder, gzip.compress(data) if compressed else data, block, options)
    assert table.file_format.header == ("größe", "b", "c")
    assert records_of(table) == rows


@settings(max_examples=100, deadline=None)
@given(
    rows=st.lists(st.tuples(FIELD, FIELD, FIELD), min_size=1, max_size=30),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
)
def test_the_delimiter_is_found(rows, delimiter):
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows([("a", "b", "c"), *rows])
    assert sniff_delimiter(text.getvalue().encode(), complete=True) == delimiter


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a;b\n1,5;2\n2,5;3\n", ";"),
        ("a,b,c\n1;2,3,4\n", ","),
        ("a\tb\nx, y\tz\n", "\t"),
        ("a|b|c\n1|2|3\n1|2\n1|2|3\n", "|"),
        ("name\nonly one column\n", ","),
        ("a;b,c\n1;2,3\n", ","),
        ('"a,b";c\n"1,2";3\n', ";"),
        ("", ","),
    ],
)
def test_the_delimiter_that_cuts_evenly_wins(text, delimiter):
    assert sniff_delimiter(text.encode(), complete=True) == delimiter


def test_many_values_of_all_lengths_keep_their_codes_apart(tmp_path):
    generator = random.Random(1)
    values = ["".join(generator.choices("abc01", k=generator.randint(0, 24))) for _ in range(30_000)]
    rows = [(values[generator.randrange(len(values))], str(i % 7)) for i in range(60_000)]
    data = "x,y\n" + "".join(f"{a},{b}\n" for a, b in rows)
    table = loaded(tmp_path, data.encode(), 1 << 14)
    assert records_of(table) == rows


def test_a_long_field_crosses_many_blocks(tmp_path):
    long = "word " * 4000
    table = loaded(tmp_path, f'x,y\n"{long}\n{long}",1\nb,2\n'.encode(), 512)
    assert records_of(table) == [(f"{long}\n{long}", "1"), ("b", "2")]
    assert table.row_number(1) == 4


def test_names_and_first_record_may_hold_single_quotes_and_long_text(tmp_path):
    long = "x" * 200_000
    table = loaded(tmp_path, f'height 5",y\n{long},6"\na,b\n'.encode(), 1 << 16)
    assert table.file_format.header == ('height 5"', "y")
    assert records_of(table) == [(long, '6"'), ("a", "b")]


def test_old_macintosh_line_ends_are_understood(tmp_path):
    table = loaded(tmp_path, b"x,y\ra,b\rc,d\r", 1 << 16)
    assert records_of(table) == [("a", "b"), ("c", "d")]


def test_the_last_line_needs_no_line_end(tmp_path):
    assert records_of(loaded(tmp_path, b"x,y\r\na,b\r\nc,d", 1 << 16)) == [("a", "b"), ("c", "d")]


def test_regular_and_irregular_blocks_mix(tmp_path):
    rows = [(str(i % 5), f"q{i % 3}") for i in range(2000)]
    lines = [f'"{a}",{b}\r\n' if i % 500 == 7 else f"{a},{b}\r\n" for i, (a, b) in enumerate(rows)]
    lines.insert(1000, "\r\n")
    table = loaded(tmp_path, b"x,y\r\n" + "".join(lines).encode(), 1 << 10)
    assert records_of(table) == rows
    assert [table.row_number(i) for i in (0, 999, 1000, 1999)] == [2, 1001, 1003, 2002]
    assert [finding.code for finding in table.findings] == ["blank-lines"]


@pytest.mark.parametrize("block", range(20, 40))
def test_a_block_that_ends_within_a_line_end_makes_no_blank_lines(tmp_path, block):
    table = loaded(tmp_path, b"a,b,cd\r\n1,2,3\r\n4,5,6\r\n", block)
    assert records_of(table) == [("1", "2", "3"), ("4", "5", "6")]
    assert table.findings == ()
    assert [table.row_number(record) for record in range(2)] == [2, 3]


@pytest.mark.parametrize("offset", range(3))
def test_a_block_that_ends_within_a_character_stays_utf_8(tmp_path, offset):
    # Longer than what is read to find the names, so that not all of it is there already.
    text = "x" * offset + "€" * 1_000_000
    table = loaded(tmp_path, f"a,b\n1,2\n{text},1\n".encode(), (1 << 21) + (1 << 17))
    assert table.file_format.encoding == "utf-8"
    assert records_of(table) == [("1", "2"), (text, "1")]


def test_a_block_that_ends_within_a_quoted_line_end_keeps_it(tmp_path):
    text = "x" * ((1 << 21) + (1 << 17)) + "\r\n" + "y" * 1000
    table = loaded(tmp_path, f'a,b\n1,2\n"{text}",1\n'.encode(), 1 + text.index("\n"))
    assert records_of(table) == [("1", "2"), (text, "1")]


def test_blank_lines_in_blocks_before_the_first_quote_are_counted(tmp_path):
    table = loaded(tmp_path, b"a,b\n" + b"1,2\n\n" * 20 + b"1,2\n" * 20 + b'"3\n4",5\n', 32)
    assert table.rows == 41
    assert [finding.message for finding in table.findings] == ["20 blank lines were skipped."]


@pytest.mark.parametrize("delimiter", "0123456789abcdefg")
def test_a_digit_can_be_the_delimiter(tmp_path, delimiter):
    data = f"x{delimiter}y\nr{delimiter}s\n".encode()
    table = loaded(tmp_path, data, 1 << 16, RecordReading(delimiter=delimiter, category_counts="no"))
    assert records_of(table) == [("r", "s")]
