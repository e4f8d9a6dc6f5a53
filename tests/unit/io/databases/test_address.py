"""What a text names: a file as ever, or a place that an engine reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from vbas_desktop.io.databases.address import Address, Kind, folder_beside, record_place, server_name
from vbas_desktop.model.errors import InputError


def test_a_file_stays_a_file(tmp_path):
    file = tmp_path / "records[1].csv"
    file.write_text("a\n", encoding="utf-8")
    assert record_place(str(file)) == file
    assert record_place(file) == file


def test_what_is_not_there_is_taken_for_a_file(tmp_path):
    assert record_place(str(tmp_path / "none.csv")) == tmp_path / "none.csv"
    assert record_place("https://example.org/a.csv") == Path("https://example.org/a.csv")


@pytest.mark.parametrize(
    ("text", "kind", "place", "table", "name"),
    [
        ("data/*.parquet", Kind.DUCKDB, "data/*.parquet", "", "*.parquet"),
        ("duckdb:data/records.parquet", Kind.DUCKDB, "data/records.parquet", "", "records.parquet"),
        ("house.duckdb#main.visits", Kind.DUCKDB, "house.duckdb", "main.visits", "main.visits"),
        ("postgresql://ann@db/health#a.b", Kind.POSTGRESQL, "postgresql://ann@db/health", "a.b", "a.b"),
        ("spark-local:/data/visits", Kind.SPARK, "local[*] /data/visits", "", "visits"),
        ("spark://head:7077/data/visits", Kind.SPARK, "spark://head:7077 /data/visits", "", "visits"),
        ("spark://head:7077#lake.visits", Kind.SPARK, "spark://head:7077", "lake.visits", "lake.visits"),
    ],
)
def test_addresses(text, kind, place, table, name):
    found = record_place(text)
    assert found == Address(text, kind, place, table)
    assert isinstance(found, Address)
    assert (str(found), found.name) == (text, name)


def test_a_folder_is_a_dataset(tmp_path):
    found = record_place(tmp_path)
    assert isinstance(found, Address)
    assert (found.kind, found.place) == (Kind.DUCKDB, str(tmp_path))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("duckdb:", "bad-address"),
        ("duckdb:s3://bucket/*.parquet", "not-local"),
        ("postgresql:///db#t", "bad-address"),
        ("postgresql://host#t", "bad-address"),
        ("postgresql://host:x/db#t", "bad-address"),
        ("postgresql://host/db?options=-c%20x#t", "bad-address"),
        ("postgresql://ann:secret@host/db#t", "password-in-address"),
        ("spark://host/data", "bad-address"),
        ("spark://host:7077", "bad-address"),
        ("spark-local:", "bad-address"),
        ("spark-local:/data#t", "bad-address"),
    ],
)
def test_wrong_addresses_are_told(text, code):
    with pytest.raises(InputError) as caught:
        record_place(text)
    assert [finding.code for finding in caught.value.findings] == [code]
    assert "secret" not in str(caught.value)


def test_what_is_kept_beside_records(tmp_path, monkeypatch):
    folder = tmp_path / "visits"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    assert folder_beside(folder / "a.csv") == folder
    assert folder_beside(str(folder)) == folder_beside(f"{folder}/*.parquet") == tmp_path
    assert folder_beside("visits/**/*.csv") == tmp_path
    assert folder_beside(f"{tmp_path}/house.duckdb#main.visits") is None
    (tmp_path / "house.duckdb").write_bytes(b"")
    assert folder_beside(f"{tmp_path}/house.duckdb#main.visits") == tmp_path
    assert folder_beside(f"spark-local:{folder}") == folder_beside(f"spark://head:7077{folder}") == tmp_path


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("postgresql://ann@db.house:5433/health#a.b", "postgresql-db.house-5433-health"),
        ("postgresql://bob@db.house:5433/health#a.c", "postgresql-db.house-5433-health"),
        ("postgresql://ann@db/he%2Falth#a.b", "postgresql-db-he_2Falth"),
        ("spark://head:7077#lake.visits", "spark-head-7077"),
    ],
)
def test_what_is_kept_of_a_server(text, name):
    assert folder_beside(text) is None
    assert server_name(text) == name
