"""What a text names: a file as ever, or a place that an engine reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from vbas_desktop.io.databases.address import (
    Address,
    EngineKind,
    containing_folder,
    parse_address,
    server_name,
)
from vbas_desktop.model.findings import InputError


def test_a_file_stays_a_file(tmp_path):
    file = tmp_path / "records[1].csv"
    file.write_text("a\n", encoding="utf-8")
    assert parse_address(str(file)) == file
    assert parse_address(file) == file


def test_what_is_not_there_is_taken_for_a_file(tmp_path):
    assert parse_address(str(tmp_path / "none.csv")) == tmp_path / "none.csv"
    assert parse_address("https://example.org/a.csv") == Path("https://example.org/a.csv")


@pytest.mark.parametrize(
    ("text", "kind", "place", "table", "name"),
    [
        ("data/*.parquet", EngineKind.DUCKDB, "data/*.parquet", "", "*.parquet"),
        (
            "duckdb:data/records.parquet",
            EngineKind.DUCKDB,
            "data/records.parquet",
            "",
            "records.parquet",
        ),
        ("house.duckdb#main.visits", EngineKind.DUCKDB, "house.duckdb", "main.visits", "main.visits"),
        (
            "postgresql://ann@db/health#a.b",
            EngineKind.POSTGRESQL,
            "postgresql://ann@db/health",
            "a.b",
            "a.b",
        ),
        ("spark-local:/data/visits", EngineKind.SPARK, "local[*] /data/visits", "", "visits"),
        (
            "spark://head:7077/data/visits",
            EngineKind.SPARK,
            "spark://head:7077 /data/visits",
            "",
            "visits",
        ),
        (
            "spark://head:7077#lake.visits",
            EngineKind.SPARK,
            "spark://head:7077",
            "lake.visits",
            "lake.visits",
        ),
    ],
)
def test_addresses(text, kind, place, table, name):
    found = parse_address(text)
    assert found == Address(text, kind, place, table)
    assert isinstance(found, Address)
    assert (str(found), found.name) == (text, name)


def test_a_folder_is_a_dataset(tmp_path):
    found = parse_address(tmp_path)
    assert isinstance(found, Address)
    assert (found.kind, found.location) == (EngineKind.DUCKDB, str(tmp_path))


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
        parse_address(text)
    assert [finding.code for finding in caught.value.findings] == [code]
    assert "secret" not in str(caught.value)


def test_what_is_kept_beside_records(tmp_path, monkeypatch):
    folder = tmp_path / "visits"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    assert containing_folder(folder / "a.csv") == folder
    assert containing_folder(str(folder)) == containing_folder(f"{folder}/*.parquet") == tmp_path
    assert containing_folder("visits/**/*.csv") == tmp_path
    assert containing_folder(f"{tmp_path}/house.duckdb#main.visits") is None
    (tmp_path / "house.duckdb").write_bytes(b"")
    assert containing_folder(f"{tmp_path}/house.duckdb#main.visits") == tmp_path
    assert (
        containing_folder(f"spark-local:{folder}")
        == containing_folder(f"spark://head:7077{folder}")
        == tmp_path
    )


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
    assert containing_folder(text) is None
    assert server_name(text) == name
