"""The same records give the same partition, measures, suppressed cells and released rows, wherever they are."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from making import Chosen, choices, outcome, same, tables
from places import PLACES, in_folder, in_server, in_text_files

EXAMPLES = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))


def in_file(table: pa.Table, folder: Path) -> str:
    pq.write_table(table, folder / "records.parquet")
    return str(folder / "records.parquet")


def compare(data, there) -> None:
    """Draw a table and what is asked of it; the place where ``there`` puts it must give what a file gives."""
    table = data.draw(tables())
    chosen = data.draw(choices(table))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        expected = outcome(in_file(table, home), home / "one", chosen)
        found = outcome(there(table, home / "there"), home / "two", chosen)
    same(expected, found)


@pytest.mark.parametrize("place", PLACES)
@EXAMPLES
@given(data=st.data())
def test_every_place_gives_what_a_file_gives(place, data):
    compare(data, PLACES[place])


@pytest.mark.xdist_group("postgresql")
@EXAMPLES
@given(data=st.data())
def test_a_server_gives_what_a_file_gives(server, password, data):
    compare(data, lambda table, folder: in_server(table, server, "t.x"))


@pytest.mark.xdist_group("spark")
@pytest.mark.timeout(900)
@settings(EXAMPLES, max_examples=3)
@given(data=st.data())
def test_spark_gives_what_a_file_gives(spark, data):
    compare(data, lambda table, folder: f"{spark}{in_folder(table, folder)}")


@EXAMPLES
@given(table=tables(), k=st.sampled_from([1, 2]))
def test_text_files_give_what_one_of_them_gives(table, k):
    text = pa.table([column.cast(pa.string()) for column in table.columns], names=table.column_names)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        expected = outcome(in_file(text, home), home / "one", Chosen(k), form="csv")
        found = outcome(in_text_files(text, home / "there"), home / "two", Chosen(k), form="csv")
    same(expected, found)


def test_folders_named_by_values_are_columns(tmp_path):
    rows = [
        ("r1", 1, "f", 0.5, "2020", "x y"),
        ("r1", 1, "f", 0.5, "2020", "x y"),
        ("r 2", 2, "m", 1.5, "2021", None),
    ]
    table = pa.table(
        [list(column) for column in zip(*rows, strict=True)],
        names=["region", "a", "b", "c", "year", "who"],
    )

    parts = ds.partitioning(pa.schema([("year", pa.string()), ("who", pa.string())]), flavor="hive")
    ds.write_dataset(table, tmp_path / "parts", format="parquet", partitioning=parts)
    expected = outcome(in_file(table, tmp_path), tmp_path / "one", Chosen())
    same(expected, outcome(str(tmp_path / "parts"), tmp_path / "two", Chosen()))
