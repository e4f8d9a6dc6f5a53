"""A loaded file is read again in batches of strings."""

import csv
import gzip
import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.io.records.file_format import ReadLimits
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.settings.reading import RecordReading

VALUES = st.text(st.sampled_from('a1é€ ,;"\n\r'), max_size=8)


def rows_of(table, names=None, **options):
    batches = table.read_batches(names or table.file_format.header, NO_PROGRESS, "Reading", **options)
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


def write_csv(path, header, rows, encoding, line_end):
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=line_end, quoting=csv.QUOTE_ALL).writerows([header, *rows])
    path.write_bytes(text.getvalue().encode(encoding))


@settings(max_examples=200, deadline=None)
@given(
    rows=st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=12),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    line_end=st.sampled_from(["\n", "\r\n"]),
    compressed=st.booleans(),
)
def test_every_value_comes_back_in_the_order_of_the_file(
    tmp_path_factory, rows, encoding, line_end, compressed
):
    path = tmp_path_factory.mktemp("records") / "records.csv"
    write_csv(path, ["first", "second", "third"], rows, encoding, line_end)
    if compressed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    table = load_records(path, RecordReading(delimiter=",", category_counts="no"))
    assert rows_of(table) == rows
    assert rows_of(table, ["third", "first"]) == [(third, first) for first, _, third in rows]


def test_latin_1_values_are_decoded(tmp_path):
    path = tmp_path / "records.csv"
    path.write_bytes("name,n\nZoë,1\nAsh,2\nZoë,3\n".encode("latin-1"))
    table = load_records(path)
    assert rows_of(table) == [("Zoë", "1"), ("Ash", "2"), ("Zoë", "3")]


def test_the_category_line_is_no_record(tmp_path):
    path = tmp_path / "records.csv"
    path.write_text("a,b\n2,3\nx,1\ny,2\n")
    table = load_records(path, RecordReading(category_counts="yes"))
    assert rows_of(table) == [("x", "1"), ("y", "2")]


def test_a_parquet_file_gives_texts_or_its_own_types(tmp_path):
    path = tmp_path / "records.parquet"
    pq.write_table(
        pa.table({"n": [1, None, 3], "x": [0.5, 1.0, float("nan")], "t": ["a", None, ""]}), path
    )
    table = load_records(path)
    assert rows_of(table, ["x", "n", "t"]) == [("0.5", "1", "a"), ("1", "", ""), ("", "3", "")]
    (batch,) = table.read_batches(["n", "t"], NO_PROGRESS, "Reading", typed=True)
    assert batch.schema.types == [pa.int64(), pa.string()]
    assert batch.column(0).to_pylist() == [1, None, 3]


@pytest.mark.parametrize("text", ["a,b\n2,y\n1,x\n", "a,b\n1,x\n2,y\n3,z\n", "a,b\n1\n", "a\n1\n"])
def test_a_file_that_changed_is_refused(tmp_path, text):
    path = tmp_path / "records.csv"
    path.write_text("a,b\n1,x\n2,y\n")
    table = load_records(path)
    path.write_text(text)
    with pytest.raises(InputError) as error:
        rows_of(table)
    assert [finding.code for finding in error.value.findings] == ["input-changed"]


def test_a_parquet_file_that_changed_is_refused(tmp_path):
    path = tmp_path / "records.parquet"
    pq.write_table(pa.table({"n": ["1", "2"]}), path)
    table = load_records(path)
    pq.write_table(pa.table({"n": ["2", "1"]}), path)
    with pytest.raises(InputError, match="changed since it was loaded"):
        rows_of(table)
    path.write_bytes(b"PAR1 no more")
    with pytest.raises(InputError, match="changed since it was loaded"):
        rows_of(table)


def test_an_unknown_column_is_refused(tmp_path):
    path = tmp_path / "records.csv"
    path.write_text("a,b\n1,x\n")
    with pytest.raises(InputError, match="no column"):
        rows_of(load_records(path), ["c"])


def test_reading_can_be_stopped_after_a_batch(tmp_path):
    path = tmp_path / "records.csv"
    path.write_text("a,b\n" + "1,x\n" * 1000)
    table = load_records(path, limits=ReadLimits(block_bytes=64))
    batches = table.read_batches(["a"], NO_PROGRESS, "Reading")
    assert next(batches).num_rows
    batches.close()
