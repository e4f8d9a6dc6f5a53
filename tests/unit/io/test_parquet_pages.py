"""What the headers of pages tell about a Parquet file, and the batches that follow from it."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbas_desktop.io import bounded_parquet
from vbas_desktop.io import input_checks as access
from vbas_desktop.io.bounded_parquet import read_bounded_batches
from vbas_desktop.io.parquet_pages import ColumnChunk, DataPage, read_row_group
from vbas_desktop.model.findings import InputError

PLAIN, CODES, LENGTHS, DIFFERENCES = 0, 8, 6, 7
OFFSET = 8


def write(path, columns, **how):
    fields = [pa.field(name, array.type, nullable=False) for name, array in columns.items()]
    table = pa.Table.from_arrays(list(columns.values()), schema=pa.schema(fields))
    pq.write_table(
        table, path, **{"compression": "zstd", "use_dictionary": False, "store_schema": False, **how}
    )
    return path


def chunks_of(path, names=None, group=0):
    with path.open("rb") as raw:
        return list(read_row_group(raw, pq.read_metadata(path), group, names))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_pages_are_read_with_their_values_and_sizes(tmp_path, version):
    numbers = pa.array(range(5_000), pa.int64())
    texts = pa.array(["abc"] * 5_000)
    columns = {"n": numbers, "t": texts}
    path = write(
        tmp_path / "x.parquet",
        columns,
        data_page_version=version,
        data_page_size=8_192,
        write_batch_size=512,
    )
    first, second = chunks_of(path)
    assert [page.values for page in first.pages] == [1024] * 4 + [904]
    assert [page.unpacked for page in first.pages] == [1024 * 8] * 4 + [904 * 8]
    assert (first.path, first.width, first.dictionary_bytes, first.is_repeated) == ("n", 8, 0, False)
    assert sum(page.values for page in second.pages) == 5_000
    assert sum(page.unpacked for page in second.pages) == 5_000 * (4 + 3)
    assert (second.path, second.width, second.is_codable) == ("t", 0, True)
    assert second.unpacked == 35_000
    assert first.largest_page == 8_192


def test_a_dictionary_counts_by_itself_and_as_the_largest_page(tmp_path):
    texts = pa.array(["a" * 100, "b" * 200, "a" * 100])
    (chunk,) = chunks_of(write(tmp_path / "x.parquet", {"t": texts}, use_dictionary=True))
    assert chunk.dictionary_bytes == 4 + 100 + 4 + 200
    assert [(page.values, page.encoding) for page in chunk.pages] == [(3, CODES)]
    assert chunk.unpacked == 308 + chunk.pages[0].unpacked
    assert chunk.largest_page == 308


@pytest.mark.parametrize(
    ("name", "encoding", "codable"),
    [
        ("PLAIN", PLAIN, True),
        ("DELTA_LENGTH_BYTE_ARRAY", LENGTHS, False),
        ("DELTA_BYTE_ARRAY", DIFFERENCES, False),
    ],
)
def test_encodings_are_those_of_the_pages(tmp_path, name, encoding, codable):
    (chunk,) = chunks_of(
        write(tmp_path / "x.parquet", {"t": pa.array(["a", "b"])}, column_encoding={"t": name})
    )
    assert [page.encoding for page in chunk.pages] == [encoding]
    assert chunk.is_codable is codable


def test_columns_are_chosen_by_their_names_or_by_those_that_they_are_part_of(tmp_path):
    pair = pa.StructArray.from_arrays([pa.array([1]), pa.array(["x"])], ["a", "b"])
    lists = pa.array([[1, 2]], pa.list_(pa.int32()))
    path = write(tmp_path / "x.parquet", {"s": pair, "st": pa.array([1]), "l": lists})
    assert [chunk.path for chunk in chunks_of(path, ["s"])] == ["s.a", "s.b"]
    assert [chunk.path for chunk in chunks_of(path, ["st"])] == ["st"]
    assert [chunk.is_repeated for chunk in chunks_of(path)] == [False, False, False, True]


def test_values_of_a_fixed_length_have_that_width(tmp_path):
    columns = {
        "f": pa.array([b"abc"], pa.binary(3)),
        "b": pa.array([True]),
        "i": pa.array([1], pa.int32()),
        "d": pa.array([1.0], pa.float64()),
    }
    assert [chunk.width for chunk in chunks_of(write(tmp_path / "x.parquet", columns))] == [3, 1, 4, 8]


@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(0, 50)), min_size=1, max_size=6),
    st.integers(1, 12),
)
def test_the_bound_is_that_of_the_worst_place_to_begin(pages, rows):
    chunk = ColumnChunk(
        "t", 0, False, 0, tuple(DataPage(values, PLAIN, unpacked) for values, unpacked in pages)
    )
    page_of_row = [number for number, (values, _) in enumerate(pages) for _ in range(values)]
    worst = 0
    for start in range(len(page_of_row)):
        touched = set(page_of_row[start : start + rows])
        worst = max(
            worst, sum(pages[number][1] + min(pages[number][0], rows) * OFFSET for number in touched)
        )
    assert chunk.bound_bytes(rows, 0) == worst


@pytest.mark.parametrize(
    ("width", "encoding", "bound"),
    [(4, PLAIN, 3 * 4), (0, CODES, 3 * (70 + OFFSET)), (0, 2, 3 * (70 + OFFSET)), (0, DIFFERENCES, 3 * (500 + OFFSET)),
     (0, PLAIN, 500 + 3 * OFFSET), (0, LENGTHS, 500 + 3 * OFFSET)],
)  # fmt: skip
def test_how_much_values_of_a_page_may_take(width, encoding, bound):
    pages = (DataPage(10, encoding, 500),)
    assert ColumnChunk("t", width, False, 0, pages).bound_bytes(3, 70) == bound
    # Which row a value of a list belongs to is not known: all count.
    every = ColumnChunk("t", width, True, 0, pages * 2).bound_bytes(3, 70)
    assert every == ColumnChunk("t", width, False, 0, pages * 2).bound_bytes(20, 70)


def test_a_column_without_pages_takes_nothing():
    assert ColumnChunk("t", 0, False, 0, ()).bound_bytes(3, 70) == 0
    assert ColumnChunk("t", 0, False, 0, ()).largest_page == 0


def test_long_values_make_small_batches_and_short_ones_large_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(bounded_parquet, "_BATCH_BYTES", 64_000)
    texts = pa.array(["x" * 1_000] * 64 + ["y"] * 64)
    path = write(tmp_path / "x.parquet", {"t": texts, "n": pa.array(range(128))}, use_dictionary=["t"])
    # 32 · (1000 + 8) + 32 · 8 fit, 64 do not.
    assert [batch.num_rows for batch in read_bounded_batches(path, 128)] == [32] * 4
    assert [batch.num_rows for batch in read_bounded_batches(path, 100)] == [50, 50, 28]
    assert [batch.num_rows for batch in read_bounded_batches(path, 128, ["n"])] == [128]
    monkeypatch.setattr(bounded_parquet, "_BATCH_BYTES", 32 * 1_016)
    assert [batch.num_rows for batch in read_bounded_batches(path, 128)] == [32] * 4
    monkeypatch.setattr(bounded_parquet, "_BATCH_BYTES", 32 * 1_016 - 1)
    assert [batch.num_rows for batch in read_bounded_batches(path, 128)] == [16] * 8


def test_lists_that_may_be_long_make_smaller_batches(tmp_path, monkeypatch):
    lists = pa.array([[1, 2]] * 5_000, pa.list_(pa.int64()))
    path = write(tmp_path / "x.parquet", {"l": lists})
    monkeypatch.setattr(bounded_parquet, "_BATCH_BYTES", 5_000 * 2 * 8)
    assert [batch.num_rows for batch in read_bounded_batches(path, 8_000)] == [5_000]
    monkeypatch.setattr(bounded_parquet, "_BATCH_BYTES", 5_000 * 2 * 8 - 1)
    assert [batch.num_rows for batch in read_bounded_batches(path, 8_000)] == [2048, 2048, 904]
    assert [batch.num_rows for batch in read_bounded_batches(path, 2_000)] == [2000, 2000, 1000]
    monkeypatch.setattr(access, "EXPANDED_FREELY", 5_000 * 2 * 8 - 1)
    monkeypatch.setattr(access, "LARGEST_EXPANSION", 0)
    with pytest.raises(InputError, match="unpacks to more than"):
        next(read_bounded_batches(path, 8_000))


def test_a_page_may_have_exactly_the_largest_size(tmp_path, monkeypatch):
    path = write(tmp_path / "x.parquet", {"t": pa.array(["x" * 996])})
    monkeypatch.setattr(bounded_parquet, "LARGEST_PAGE_BYTES", 1_000)
    assert [batch.num_rows for batch in read_bounded_batches(path, 10)] == [1]
    monkeypatch.setattr(bounded_parquet, "LARGEST_PAGE_BYTES", 999)
    with pytest.raises(InputError, match="A page of the file unpacks to more than") as caught:
        next(read_bounded_batches(path, 10))
    assert caught.value.findings[0].column == "t"


def test_the_pages_of_all_row_groups_count_before_they_are_decoded(tmp_path, monkeypatch):
    path = write(tmp_path / "x.parquet", {"t": pa.array(["x" * 1_996] * 10)}, row_group_size=1)
    monkeypatch.setattr(access, "LARGEST_EXPANSION", 0)
    monkeypatch.setattr(access, "EXPANDED_FREELY", 10 * 2_008)
    assert sum(batch.num_rows for batch in read_bounded_batches(path, 10)) == 10
    monkeypatch.setattr(access, "EXPANDED_FREELY", 5 * 2_000)
    batches = read_bounded_batches(path, 10)
    # The sixth group would be one too many: it is refused by its headers, though fewer bytes have been decoded.
    monkeypatch.setattr(bounded_parquet, "_measure", lambda *_: 0)
    assert [next(batches).num_rows for _ in range(5)] == [1] * 5
    with pytest.raises(InputError, match="unpacks to more than"):
        next(batches)


@pytest.mark.parametrize("cut", [0, 1, 5, 10])
def test_headers_that_end_too_early_or_are_no_headers_are_refused(tmp_path, cut):
    path = write(tmp_path / "x.parquet", {"t": pa.array(["x" * 100])})
    metadata = pq.read_metadata(path)
    start = metadata.row_group(0).column(0).data_page_offset
    broken = tmp_path / "broken"
    broken.write_bytes(path.read_bytes()[: start + cut])
    with broken.open("rb") as raw, pytest.raises(pa.ArrowInvalid):
        list(read_row_group(raw, metadata, 0, None))


@pytest.mark.parametrize(
    "header",
    [
        b"\x1c" * 9,
        b"\x1b\x00",
        b"\x15" + b"\xff" * 12,
        b"\x15\x00\x15\x01\x15\x02\x00",
        b"\x15\x00\x15\x02\x15\x02\x00",
    ],
    ids=["nested", "map", "long number", "negative size", "no header of data"],
)
def test_headers_that_make_no_sense_are_refused(tmp_path, header):
    path = write(tmp_path / "x.parquet", {"t": pa.array(["x" * 100])})
    metadata = pq.read_metadata(path)
    start = metadata.row_group(0).column(0).data_page_offset
    data = path.read_bytes()
    path.write_bytes(data[:start] + header + data[start + len(header) :])
    with path.open("rb") as raw, pytest.raises(pa.ArrowInvalid):
        list(read_row_group(raw, metadata, 0, None))
