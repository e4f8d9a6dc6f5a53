"""The reader for files with stray returns, whatever the borders of the pieces it reads cut in two."""

import csv
import gzip
import io

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.audit import blocks, readback
from vbas_desktop.audit.blocks import Unreadable
from vbas_desktop.audit.readback import hashes_of, read_csv

STRAY = ["x\ry", "z"]
"""A row with a return that ends no line: the file is then read by the slow reader."""


def values_like(alphabet):
    return st.lists(st.lists(st.text(alphabet, max_size=6), min_size=2, max_size=2), max_size=8)


def hashed(rows):
    return [
        hashes_of(pa.array([value.encode() for value in column], pa.binary())).tolist()
        for column in zip(*rows, strict=True)
    ]


def read_in_pieces(path, size, compressed=False, recode=None):
    """The hashes of each column, read so many bytes at a time and a few rows at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readback, "BLOCK_BYTES", size)
        patch.setattr(blocks, "BLOCK_BYTES", size)
        patch.setattr(readback, "_SLOW_ROWS", 3)
        batches = list(read_csv(path, ",", 2, compressed, recode))
    return [[value for batch in batches for value in batch[column].tolist()] for column in range(2)]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("borders") / "file.csv"


@settings(max_examples=150, deadline=None)
@given(values_like('a",\r\né '), st.sampled_from(["\n", "\r\n"]), st.integers(1, 40), st.booleans(), st.booleans())
def test_quoted_values_are_those_of_python(path, rows, end, size, compressed, open_end):
    rows = [["name", "note"], STRAY, *rows]
    text = io.StringIO()
    # Python's writer quotes a return by itself only where it is part of its line end.
    quoting = csv.QUOTE_MINIMAL if end == "\r\n" else csv.QUOTE_ALL
    csv.writer(text, lineterminator=end, quoting=quoting).writerows(rows)
    written = text.getvalue().removesuffix(end) if open_end else text.getvalue()
    assert list(csv.reader(io.StringIO(written, newline=""))) == rows
    path.write_bytes(gzip.compress(written.encode()) if compressed else written.encode())
    assert read_in_pieces(path, size, compressed) == hashed(rows)


@settings(max_examples=100, deadline=None)
@given(values_like("a\ré "), st.integers(1, 40))
def test_returns_without_quotes_stay_in_their_value(path, rows, size):
    rows = [["name", "note"], STRAY, *([one, f"{other}."] for one, other in rows)]
    path.write_bytes("\n".join(map(",".join, rows)).encode())
    assert read_in_pieces(path, size) == hashed(rows)


@settings(max_examples=100, deadline=None)
@given(
    values_like("a\ré€😀 "),
    st.sampled_from(["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"]),
    st.integers(8, 60),
    st.booleans(),
    st.booleans(),
)
def test_returns_stay_in_their_value_where_characters_take_several_bytes(
    path, rows, encoding, size, compressed, quoted
):
    rows = [["name", "note"], STRAY, *([one, f"{other}."] for one, other in rows)]
    quote = '"' if quoted else ""
    text = "\r\n".join(",".join(f"{quote}{value}{quote}" for value in row) for row in rows)
    data = text.encode(encoding)
    path.write_bytes(gzip.compress(data) if compressed else data)
    recode = None if encoding == "utf-8-sig" else encoding
    assert read_in_pieces(path, size, compressed, recode) == hashed(rows)


@pytest.mark.parametrize("size", range(3, 30))
def test_the_mark_at_the_beginning_is_no_part_of_the_first_name(path, size):
    path.write_bytes(b"\xef\xbb\xbf" + b'name,note\nx\ry,"a\r\nb"\n')
    assert read_in_pieces(path, size) == hashed([["name", "note"], ["x\ry", "a\r\nb"]])


@pytest.mark.parametrize("size", range(1, 20))
@pytest.mark.parametrize(
    ("rest", "said"), [(b'"a""', "a quote is not closed"), (b"a", "number of fields"), (b"a,b,c\n", "number of fields")]
)
def test_what_is_no_table_is_refused_wherever_it_is_cut(path, rest, said, size):
    path.write_bytes(b"x\ry,z\n" + rest)
    with pytest.raises(Unreadable, match=said):
        read_in_pieces(path, size)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
@pytest.mark.parametrize("size", range(200, 232))
def test_line_breaks_in_quotes_survive_the_borders_of_large_pieces(path, monkeypatch, encoding, size):
    rows = [["name", "note"], *([f"n{number}", "éé\r\nééééé\r\nc"] for number in range(60))]
    text = "".join(f'{one},"{other}"\r\n' for one, other in rows)
    path.write_bytes(text.encode(encoding))
    monkeypatch.setattr(readback, "ARROW_BLOCK_BYTES", size)
    assert read_in_pieces(path, 1 << 19, recode=None if encoding == "utf-8" else encoding) == hashed(rows)
