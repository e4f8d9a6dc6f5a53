"""The auditor reads every value as the text that stands in the file, however the file is written and cut."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.audit import chunk_store, coded_file, csv_stream
from vbas_desktop.audit.coded_file import CsvForm, ReadOptions, read_csv, read_parquet
from vbas_desktop.audit.csv_stream import UnreadableFile
from vbas_desktop.audit.text_hashes import TextHasher

quick = settings(max_examples=150, deadline=None)
words = st.text("a,;\"'\r\n é€0 7", max_size=5)


def texts_of(file):
    """The rows of a file that was read."""
    columns = [np.array(column.known_texts, object)[column.all_codes()] for column in file.columns]
    return [list(row) for row in zip(*columns, strict=True)]


def read(path, width, form=None, **options):
    form = form or CsvForm(width, ",", "utf-8")
    return read_csv(path, form, ReadOptions(range(width), TextHasher(), **options))


def in_quotes(text):
    return '"' + text.replace('"', '""') + '"'


def in_small_pieces(patch, size):
    patch.setattr(csv_stream, "PIECE_BYTES", size)
    patch.setattr(csv_stream, "HEAD_BYTES", size)
    patch.setattr(coded_file, "CHUNK_ROWS", 1 + size % 5)
    patch.setattr(chunk_store, "MEMORY_BYTES", size)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("coded") / "file.csv"


@quick
@given(
    st.lists(st.lists(words, min_size=2, max_size=2), max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    st.integers(7, 60),
    st.booleans(),
    st.booleans(),
)
def test_values_are_those_of_python(path, rows, end, quoting, encoding, size, compressed, open_end):
    rows = [["name", "note"], *rows]
    text = io.StringIO(newline="")
    # Python leaves a return alone where lines end with a line feed.
    quoting = csv.QUOTE_ALL if end == "\n" else quoting
    csv.writer(text, lineterminator=end, quoting=quoting).writerows(rows)
    data = (text.getvalue().removesuffix(end) if open_end else text.getvalue()).encode(encoding)
    path.write_bytes(gzip.compress(data) if compressed else data)
    form = CsvForm(2, ",", "utf-8" if encoding == "utf-8-sig" else encoding, compressed)
    with pytest.MonkeyPatch.context() as patch:
        in_small_pieces(patch, size)
        file = read(path, 2, form)
        assert list(file.names) == rows[0]
        assert texts_of(file) == rows[1:]
        file.store.close()


@quick
@given(
    st.lists(st.sampled_from(["1,2", "", ",", " ,x", '"a\n\nb",c', "  , "]), max_size=12),
    st.integers(7, 60),
)
def test_empty_lines_are_no_rows(path, lines, size):
    path.write_text("\n".join(["a,b", *lines, ""]), newline="")
    expected = [row for row in csv.reader(io.StringIO("\n".join(lines), newline="")) if row]
    with pytest.MonkeyPatch.context() as patch:
        in_small_pieces(patch, size)
        file = read(path, 2)
        assert texts_of(file) == expected
        file.store.close()


@quick
@given(st.lists(st.sampled_from(["1,2", "", ",", "1", "1,2,3", '"x,y"', '"x,y",z', '1,"2']), max_size=8))
def test_rows_of_another_width_and_open_quotes_are_refused(path, lines):
    path.write_text("\n".join(["a,b", *lines, ""]), newline="")
    text = "\n".join([*lines, "", "end"])
    rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    if rows[-1] == ["end"] and all(len(row) == 2 for row in rows[:-1]):
        assert texts_of(read(path, 2)) == rows[:-1]
    else:
        with pytest.raises(UnreadableFile):
            read(path, 2)


def test_numbers_stay_apart_by_their_notation_in_every_block(path, monkeypatch):
    in_small_pieces(monkeypatch, 64)
    # No value after the first block is anything but a number.
    codes = ["007", "7", "7.0", "1e3", "1000"] * 50
    amounts = ["9"] * 100 + ["9", "9.5"] * 75
    rows = [list(row) for row in zip(codes, amounts, strict=True)]
    path.write_text("code,amount\n" + "".join(f"{code},{amount}\n" for code, amount in rows))
    file = read(path, 2)
    assert texts_of(file) == rows
    file.store.close()


alike = st.sampled_from(
    [
        ["007", "7", "7.0", "+7"],
        ["9", "9.0", "9.5"],
        ["1e5", "100000", "inf", "-inf"],
        ["TRUE", "true", "True", "false"],
        ["nan", "NaN", "NA", ""],
        ["", " "],
        ["2020-01-02", "20200102", "2020-1-2"],
    ]
)


@quick
@given(st.lists(st.tuples(alike, alike, st.integers(1, 12)), min_size=1, max_size=4), st.integers(7, 60))
def test_values_of_blocks_that_hold_one_kind_stay_apart(path, parts, size):
    rows = [
        [one[number % len(one)], other[number // 2 % len(other)]]
        for one, other, length in parts
        for number in range(length)
    ]
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([["one", "other"], *rows])
    path.write_text(text.getvalue(), newline="")
    with pytest.MonkeyPatch.context() as patch:
        in_small_pieces(patch, size)
        file = read(path, 2)
        assert texts_of(file) == rows
        file.store.close()


numbers = [
    "007",
    "7",
    "7.0",
    "+7",
    "-0",
    "0",
    "1e5",
    "100000",
    "inf",
    "0x1F",
    "1_000",
    "2020-01-02",
    " 7",
    "7 ",
]
nasty = st.sampled_from(
    [
        *numbers,
        "TRUE",
        "true",
        "True",
        "NaN",
        "nan",
        "NA",
        "NULL",
        "None",
        "",
        " ",
        "\t",
        "\ufeff7",
        "\x1c",
        "\udce9",
        "#",
    ]
)


@quick
@given(
    st.lists(st.tuples(nasty, nasty, words), max_size=30),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.integers(7, 90),
)
def test_every_notation_is_a_value_of_its_own(path, rows, end, size):
    rows = [["name", "code", "note"], *map(list, rows)]
    fields = [[in_quotes(text) if set(text) & set(',"\r\n') else text for text in row] for row in rows]
    data = "".join(",".join(row) + end for row in fields)
    path.write_bytes(data.encode("utf-8", "surrogateescape"))
    with pytest.MonkeyPatch.context() as patch:
        in_small_pieces(patch, size)
        file = read(path, 3)
        assert texts_of(file) == rows[1:]
        file.store.close()


@quick
@given(
    st.lists(
        st.sampled_from(['5" pipe,x', '"a\nb",c', '"a\n""\nb",c', 'x,y"', 'x,"y,\r\n"', "1,2"]),
        max_size=30,
    )
)
def test_quotes_that_are_no_pairs_and_line_ends_in_quotes_mislead_no_block(path, lines):
    text = "\n".join(["a,b", *lines, ""])
    path.write_text(text, newline="")
    expected = list(csv.reader(io.StringIO(text, newline="")))
    for size in (7, 16, 33):
        with pytest.MonkeyPatch.context() as patch:
            in_small_pieces(patch, size)
            file = read(path, 2)
            assert texts_of(file) == expected[1:]
            file.store.close()


def test_truth_values_and_blanks_are_texts_too(path):
    values = ["TRUE", "true", "True", "NA", "nan", "", "None", " "]
    path.write_text("value,other\n" + "".join(f"{value},x\n" for value in values * 3))
    assert [row[0] for row in texts_of(read(path, 2))] == values * 3


@pytest.mark.parametrize("data", [b"a,b\n1,\0\n", b"a,b\n1,2\n\0", b"a,b\n" + b"x" * 3000])
def test_what_is_no_text_in_rows_is_refused(path, monkeypatch, data):
    monkeypatch.setattr(csv_stream, "LONGEST_ROW_BYTES", 1000)
    path.write_bytes(data)
    with pytest.raises(UnreadableFile):
        read(path, 2)


def test_bytes_that_the_encoding_does_not_define_stay_apart(path):
    path.write_bytes(b"a,b\n\x81,x\n\x8d,x\n\\x81,x\n")
    file = read(path, 2, CsvForm(2, ",", "cp1252"))
    assert len(set(file.columns[0].known_texts)) == 3
    hashes = TextHasher().hash(file.columns[0].known_texts)
    assert len(set(hashes.tolist())) == 3


def test_columns_with_too_many_values_are_hashed_and_still_compared(path, monkeypatch):
    monkeypatch.setattr(coded_file, "MOST_VALUES", 3)
    monkeypatch.setattr(csv_stream, "PIECE_BYTES", 10)
    monkeypatch.setattr(csv_stream, "HEAD_BYTES", 10)
    values = [f"v{number % 7}" for number in range(20)]
    path.write_text("a,b\n" + "".join(f"{value},x\n" for value in values))
    hasher = TextHasher()
    column, other = read_csv(path, CsvForm(2, ",", "utf-8"), ReadOptions(range(2), hasher)).columns
    assert column.texts is None
    assert other.texts == ("x",)
    found = np.concatenate([column.get_hashes(number) for number in range(len(column.chunks))])
    assert found.tolist() == hasher.hash(values).tolist()
    unlimited = read(path, 2, unlimited=[0]).columns[0]
    assert set(unlimited.known_texts) == set(values)


def test_typed_values_of_parquet_are_read_as_their_texts(tmp_path):
    table = pa.table(
        {
            "whole": pa.array([7, None, 12]),
            "part": pa.array([1.5, float("nan"), 2.0]),
            "text": pa.array(["007", "", None]).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "file.parquet", row_group_size=2)
    file = read_parquet(tmp_path / "file.parquet", ReadOptions([2, 0, 1], TextHasher()))
    assert file.names == ("whole", "part", "text")
    assert texts_of(file) == [["007", "7", "1.5"], ["", "", ""], ["", "12", "2"]]


def test_what_is_no_parquet_is_refused(tmp_path):
    (tmp_path / "file.parquet").write_bytes(b"a,b\n")
    with pytest.raises(UnreadableFile):
        read_parquet(tmp_path / "file.parquet", ReadOptions([0], TextHasher()))


def test_codes_on_the_disk_have_no_name(path, monkeypatch, tmp_path):
    monkeypatch.setattr(chunk_store, "MEMORY_BYTES", 10)
    path.write_text("a,b\n" + "1,2\n" * 300)
    file = read(path, 2, folder=tmp_path)
    assert list(Path(tmp_path).iterdir()) == []
    assert texts_of(file) == [["1", "2"]] * 300
    file.store.close()
