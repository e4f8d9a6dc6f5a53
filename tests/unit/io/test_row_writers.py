"""Rows written from codes or from Arrow values are those that a plain loop with Python's csv module writes."""

import csv
import hashlib
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.io.hashing import HashingWriter
from vbas_desktop.io.records import csv_writer, row_chunks
from vbas_desktop.io.records.csv_writer import CsvFormat, write_csv
from vbas_desktop.io.records.parquet_writer import write_parquet
from vbas_desktop.io.records.row_chunks import (
    ReleasedColumn,
    RowChunk,
    chunk_texts,
    divide_rows,
    measure_values,
)
from vbas_desktop.model.findings import InputError

NASTY = st.text(st.sampled_from('ab"",;|\n\r\t =+-@0.5éß\'\u2028漢🙂'), max_size=8)
NARROW = st.text(st.sampled_from('ab",;|\n\r\t =0éß'), max_size=8)
SETTINGS = settings(max_examples=150, deadline=None)


def write_naively(names, rows, file_format):
    """The same file by Python's csv module, which puts a lone empty field into quotes too."""
    text = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if file_format.quotes_all else csv.QUOTE_MINIMAL
    # The module quotes whatever its line end contains: given both, it quotes every line break.
    writer = csv.writer(text, delimiter=file_format.delimiter, lineterminator="\r\n", quoting=quoting)
    lines = []
    for row in (names, *rows):
        text.seek(0)
        text.truncate()
        writer.writerow(row)
        lines.append(text.getvalue().removesuffix("\r\n") + file_format.line_end)
    mark = "\ufeff" if file_format.has_mark else ""
    return (mark + "".join(lines)).encode(file_format.encoding)


def written(columns, chunks, file_format):
    out = io.BytesIO()
    writer = HashingWriter(out)
    chunks = list(chunks)
    assert write_csv(writer, columns, iter(chunks), file_format) == sum(map(len, chunks))
    assert writer.sha256 == hashlib.sha256(out.getvalue()).hexdigest()
    assert writer.is_ascii == out.getvalue().isascii()
    return out.getvalue()


def coded(name, values, codes):
    array = pa.array(values, pa.string())
    return ReleasedColumn(name, array.type, array, np.asarray(codes, np.uint16).__getitem__)


@st.composite
def tables(draw, texts=NASTY):
    """Some columns by codes, others by their values, and the order in which the rows are written."""
    width = draw(st.integers(1, 4))
    values = [draw(st.lists(texts, min_size=1, max_size=4)) for _ in range(width)]
    height = draw(st.integers(0, 12))
    codes = [
        draw(st.lists(st.integers(0, len(one) - 1), min_size=height, max_size=height)) for one in values
    ]
    order = draw(st.permutations(range(height)))
    is_coded = draw(st.lists(st.booleans(), min_size=width, max_size=width))
    names = draw(st.lists(texts.filter(bool), min_size=width, max_size=width))
    return names, values, codes, is_coded, np.array(order, np.int64)


def columns_and_chunks(drawn, cuts=1):
    names, values, codes, is_coded, order = drawn
    columns, arrays = [], []
    for name, texts, numbers, by_codes in zip(names, values, codes, is_coded, strict=True):
        if by_codes:
            columns.append(coded(name, texts, numbers))
        else:
            columns.append(ReleasedColumn(name, pa.string()))
            arrays.append(pa.array([texts[numbers[row]] for row in order], pa.string()))
    parts = np.array_split(np.arange(order.size), cuts)
    chunks = [
        RowChunk(order[part], tuple(array.take(pa.array(part, pa.int64())) for array in arrays))
        for part in parts
    ]
    rows = [[texts[numbers[row]] for texts, numbers in zip(values, codes, strict=True)] for row in order]
    return columns, chunks, names, rows


@SETTINGS
@given(
    tables(),
    st.sampled_from(",;|\t"),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
    st.booleans(),
)
def test_csv_is_what_a_plain_loop_writes(drawn, delimiter, line_end, has_mark, quotes_all):
    file_format = CsvFormat(delimiter, "utf-8", line_end, has_mark, quotes_all)
    columns, chunks, names, rows = columns_and_chunks(drawn, cuts=2)
    assert written(columns, chunks, file_format) == write_naively(names, rows, file_format)


@SETTINGS
@given(tables(NARROW), st.sampled_from(["latin-1", "cp1252", "iso8859-15"]))
def test_csv_in_other_encodings_is_what_a_plain_loop_writes(drawn, encoding):
    file_format = CsvFormat(encoding=encoding)
    columns, chunks, names, rows = columns_and_chunks(drawn)
    assert written(columns, chunks, file_format) == write_naively(names, rows, file_format)


@settings(SETTINGS, max_examples=60)
@given(tables(), st.integers(0, 20))
def test_how_many_columns_are_joined_at_once_leaves_no_trace(drawn, most_combinations):
    columns, chunks, names, rows = columns_and_chunks(drawn)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_writer, "MOST_COMBINATIONS", most_combinations)
        assert written(columns, chunks, CsvFormat()) == write_naively(names, rows, CsvFormat())


@settings(SETTINGS, max_examples=60)
@given(tables(), st.integers(1, 30))
def test_how_rows_are_divided_leaves_no_trace_in_csv(drawn, most_bytes):
    columns, chunks, names, rows = columns_and_chunks(drawn, cuts=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_writer, "BYTES_PER_CHUNK", most_bytes)
        patch.setattr(row_chunks, "ROWS_PER_CHUNK", 3)
        assert written(columns, chunks, CsvFormat()) == write_naively(names, rows, CsvFormat())


@settings(SETTINGS, max_examples=60)
@given(
    st.integers(1, 3).flatmap(
        lambda width: st.lists(st.lists(NASTY, min_size=width, max_size=width), min_size=1)
    )
)
def test_rows_of_texts_are_what_any_reader_reads(rows):
    names = ["name"] * len(rows[0])
    columns, chunks = chunk_texts(names, rows)
    text = io.StringIO(written(columns, chunks, CsvFormat(";")).decode(), newline="")
    assert list(csv.reader(text, delimiter=";")) == [names, *rows]


def test_a_text_that_the_encoding_lacks_is_refused_with_its_column_and_without_the_text():
    column = coded("place", ["Łódź"], [0])
    with pytest.raises(InputError, match="cannot be written in latin-1") as refused:
        written([column], [RowChunk(np.array([0]))], CsvFormat(encoding="latin-1"))
    assert refused.value.findings[0].column == "place"
    assert "Ł" not in str(refused.value)


@pytest.mark.parametrize(
    ("array", "kind"), [(pa.array([[1, 2]]), "structured"), (pa.array([b"\xff\xfe"]), "binary")]
)
def test_values_that_are_no_text_cannot_become_csv(array, kind):
    column = ReleasedColumn("more", array.type)
    with pytest.raises(InputError, match=f"{kind} values, which CSV cannot hold"):
        written([column], [RowChunk(np.array([0]), (array,))], CsvFormat())


def test_missing_values_and_nan_are_empty_in_csv():
    array = pa.array([1.5, float("nan"), None])
    column = ReleasedColumn("weight", array.type)
    assert written([column, column], [RowChunk(np.arange(3), (array, array))], CsvFormat()) == (
        b"weight,weight\n1.5,1.5\n,\n,\n"
    )


@settings(SETTINGS, max_examples=60)
@given(tables())
def test_parquet_holds_the_same_rows(drawn):
    columns, chunks, _, rows = columns_and_chunks(drawn, cuts=2)
    out = io.BytesIO()
    writer = HashingWriter(out)
    write_parquet(writer, columns, iter(chunks))
    table = pq.ParquetFile(pa.BufferReader(out.getvalue())).read()
    assert writer.sha256 == hashlib.sha256(out.getvalue()).hexdigest()
    found = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    assert found == [tuple(row) for row in rows]


def test_parquet_holds_no_value_of_a_record_that_is_not_written():
    values = ["plain", "zzz-suppressed-zzz", "aaa-suppressed-aaa"]
    column = coded("more", values, [0, 1, 0, 2])
    out = io.BytesIO()
    write_parquet(HashingWriter(out), [column], iter([RowChunk(np.array([2, 0]))]))
    assert b"plain" in out.getvalue()
    assert b"suppressed" not in out.getvalue()


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (["", "é", None, "abc"], pa.string(), [0, 2, 0, 3]),
        ([b"", b"1234"], pa.large_binary(), [0, 4]),
        ([1, None], pa.int64(), [8, 8]),
        ([None, None], pa.null(), [0, 0]),
        ([["ab", "c"], [], None, ["d"]], pa.list_(pa.string()), [3, 0, 0, 1]),
        ([[1, 2], [3, 4]], pa.list_(pa.int16(), 2), [4, 4]),
        (
            [{"a": "xy", "b": 1}, {"a": "", "b": 2}],
            pa.struct({"a": pa.string(), "b": pa.int32()}),
            [6, 4],
        ),
        ([[("k", 1), ("key", 2)], []], pa.map_(pa.string(), pa.int64()), [20, 0]),
    ],
)
def test_bytes_of_values_are_counted_without_what_arrow_adds(values, kind, expected):
    array = pa.array(values, kind)
    assert measure_values(array).tolist() == expected
    assert measure_values(array.slice(1)).tolist() == expected[1:]


@settings(SETTINGS, max_examples=100)
@given(
    st.lists(st.lists(st.integers(0, 9), max_size=6), max_size=6), st.integers(1, 20), st.integers(1, 7)
)
def test_chunks_end_with_the_row_that_makes_them_large_enough(lengths, most_bytes, most_rows):
    column = ReleasedColumn("a", pa.string())
    chunks = [
        RowChunk(np.arange(len(part)), (pa.array(["x" * n for n in part], pa.string()),))
        for part in lengths
    ]
    expected, current = [], []
    for length in (n for part in lengths for n in part):
        current.append(length)
        if len(current) == most_rows or sum(current) >= most_bytes:
            expected.append(current)
            current = []
    found = [
        [len(text) for text in chunk.arrays[0].to_pylist()]
        for chunk in divide_rows([column], chunks, most_bytes, most_rows)
    ]
    assert found == expected + [current] * bool(current)


def test_a_coded_value_of_many_bytes_does_not_become_a_chunk_beyond_memory():
    column = coded("text", ["x" * 1_000_000, "y"], [0, 1, 0, 1, 0])
    chunks = list(divide_rows([column], [RowChunk(np.arange(5))], 1_500_000))
    assert [chunk.rows.tolist() for chunk in chunks] == [[0, 1, 2], [3, 4]]


def test_a_long_value_that_no_row_has_does_not_change_the_chunks():
    """Values of suppressed records are among the coded ones; where chunks end must not tell of them."""
    texts = ["a" * 300] * 5 + ["b" * 90] * 10
    given = [
        RowChunk(np.arange(5), (pa.array(texts[:5]),)),
        RowChunk(np.arange(5, 15), (pa.array(texts[5:]),)),
    ]
    found = []
    for values in (["x"], ["x", "y" * 1_000]):
        columns = [coded("short", values, [0] * 15), ReleasedColumn("long", pa.string())]
        found.append([len(chunk) for chunk in divide_rows(columns, given, 1_000, 10)])
    assert found == [[4, 9, 2]] * 2
