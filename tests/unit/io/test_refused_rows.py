"""Texts that are refused, by what is wrong with them, and the rows that are named."""

import gzip

import pytest

from vbas_desktop.io.records.file_format import ReadLimits
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.model.findings import InputError, Severity
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.settings.reading import RecordReading

STRAY = (
    "The row has a carriage return outside quotes, but lines end with line feeds.",
    "Save the file with ordinary line ends (LF or CRLF), or put quotes around text that contains line breaks.",
)
OPEN = (
    "A quoted field that begins in this row is never closed.",
    "Close the quote, or double quotes that belong to the text.",
)
ZERO = ("The file is not text: it contains zero bytes.", "Export the records as CSV (UTF-8) or Parquet.")
LONG = ("The row is longer than 1 MB.", "Does every record have a line of its own?")
RAGGED = "Look for a missing or extra delimiter, or put quotes around text that contains one."
SMALL = ReadLimits(block_bytes=1 << 19, longest_row=1 << 20)


def refusals(path, options=None, limits=SMALL):
    with pytest.raises(InputError) as caught:
        load_records(path, options or RecordReading(delimiter=",", category_counts="no"), limits=limits)
    return [
        (f.code, f.message, f.remedy, f.row)
        for f in caught.value.findings
        if f.severity is Severity.ERROR
    ]


@pytest.mark.parametrize(
    ("text", "code", "words", "row"),
    [
        (b"a,b\n1,2\n3,x\ry\n", "line-ends", STRAY, 3),
        (b"a,b\n1,2\r\r\n3,4\n", "line-ends", STRAY, 2),
        (b'a,b\n1,"q\n"\n3\r,4\n', "line-ends", STRAY, 4),
        (b"a\rb,c\n1,2\n", "line-ends", STRAY, 1),
        (b'a,b\n"x\ry",2\n3,x\ry\n', "line-ends", STRAY, 3),
        (b'a,b\n1,2\n3,"4\n5,6\n', "open-quote", OPEN, 3),
        (b'a,b\n1,2\n"3,4', "open-quote", OPEN, 3),
        (b'a,b\n1,2\n3,"4""\n5,6\n', "open-quote", OPEN, 3),
        (b"a,b\n1,2\n3,\0\n", "not-text", ZERO, 3),
        (b"a,b\n1," + b"x" * (2 << 20) + b"\n", "long-row", LONG, 2),
        (b'a,b\n1,"' + b"x\n" * (1 << 20) + b'"\n', "open-quote", OPEN, 2),
    ],
)
@pytest.mark.parametrize("compressed", [False, True])
def test_the_row_is_named_with_its_line_and_a_remedy(tmp_path, text, code, words, row, compressed):
    path = tmp_path / "records.csv"
    path.write_bytes(gzip.compress(text) if compressed else text)
    assert refusals(path) == [(code, *words, row)]


def test_the_first_ten_ragged_rows_are_named_and_the_others_counted(tmp_path):
    path = tmp_path / "records.csv"
    path.write_text('a,b\n"1\n1",2\n\n' + "1\n" * 13 + "1,2,3\n")
    found = refusals(path)
    assert found[:10] == [
        ("ragged-row", "The row has 1 field, the names line has 2.", RAGGED, row) for row in range(5, 15)
    ]
    assert found[10:] == [("ragged-row", "4 more rows have the wrong number of fields.", "", None)]


def test_the_first_ten_stray_returns_are_named_and_the_others_counted(tmp_path):
    path = tmp_path / "records.csv"
    path.write_bytes(b"a,b\n" + b"1\r1,2\n" * 12)
    found = refusals(path)
    assert found[:10] == [("line-ends", *STRAY, row) for row in range(2, 12)]
    assert found[10:] == [("line-ends", "2 more rows have a carriage return outside quotes.", "", None)]


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_bytes_against_the_stated_encoding_are_found_in_columns_that_are_not_read(tmp_path, encoding):
    path = tmp_path / "records.csv"
    path.write_bytes(b"a,b\n1,2\n\n3,\xe9\n")
    options = RecordReading(delimiter=",", encoding=encoding, category_counts="no")
    with pytest.raises(InputError) as caught:
        load_records(path, options, columns=["a"])
    assert [(f.code, f.row) for f in caught.value.findings if f.severity is Severity.ERROR] == [
        ("bad-encoding", 4)
    ]
    table = load_records(path, RecordReading(delimiter=",", category_counts="no"), columns=["a"])
    assert [(f.code, f.row) for f in table.findings] == [("read-as-latin-1", 4), ("blank-lines", None)]
    assert table.file_format.encoding == "latin-1"


def test_no_message_quotes_a_record(tmp_path):
    path = tmp_path / "records.csv"
    path.write_text("a,b\nsecret,2,3\n")
    with pytest.raises(InputError) as caught:
        load_records(path)
    assert "secret" not in str(caught.value)


def test_a_row_that_fills_several_blocks_is_read(tmp_path):
    path = tmp_path / "records.csv"
    long = "x" * 900_000
    path.write_text(f"a,b\n1,{long}\n2,y\n")
    table = load_records(path, limits=ReadLimits(block_bytes=1 << 16, longest_row=1 << 20))
    assert set(table.facts("b").categories.values) == {long, "y"}
    assert [len(batch) for batch in table.read_batches(["a"], NO_PROGRESS, "Reading")] == [2]


def test_a_mark_at_the_start_of_a_value_belongs_to_it(tmp_path):
    path = tmp_path / "records.csv"
    path.write_text("a,b\n\ufeff1,2\n", encoding="utf-8")
    table = load_records(path, RecordReading(delimiter=",", category_counts="no"))
    assert table.facts("a").categories.values == ("\ufeff1",)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-8-sig", "latin-1"])
def test_returns_alone_may_end_all_lines(tmp_path, encoding):
    path = tmp_path / "records.csv"
    path.write_bytes("a,b\rx,é\ry,z\r".encode(encoding))
    table = load_records(path)
    assert [facts.categories.values for facts in table.columns] == [("x", "y"), ("z", "é")]


@pytest.mark.parametrize("text", ['a,b\n"open,1\n', 'a,b\n1,2\n"\n'])
def test_a_value_that_looks_like_an_end_does_not_hide_an_open_quote(tmp_path, text):
    path = tmp_path / "records.csv"
    path.write_text(text)
    assert [(code, row) for code, _, _, row in refusals(path)] == [("open-quote", text.count("\n"))]
