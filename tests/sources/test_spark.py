"""Spark with two executors: stops reach it, what is missing is told, and a release is written and verified."""

from __future__ import annotations

import os

import pyarrow as pa
import pytest
from making import regions_file
from places import in_folder
from servers import free_port
from test_datasets import Soon, table

from vbas_desktop.cli.main import main
from vbas_desktop.io.databases.address import parse_address
from vbas_desktop.io.databases.spark_engine import _check_master
from vbas_desktop.io.databases.table import open_database_table
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import NO_PROGRESS, Cancelled
from vbas_desktop.settings.reading import RecordReading

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.timeout(600)]


def test_a_folder_that_is_not_there(spark):
    with pytest.raises(InputError) as caught:
        open_database_table(parse_address(f"{spark}/no/such/folder"), RecordReading())
    assert [finding.code for finding in caught.value.findings] == ["no-such-file"]


def test_a_table_that_is_not_there(spark):
    with pytest.raises(InputError) as caught:
        open_database_table(parse_address(f"{spark}#nowhere.visits"), RecordReading())
    assert [finding.code for finding in caught.value.findings] == ["no-such-table"]


def test_a_master_that_is_not_there(spark):
    for host, code in (
        (f"127.0.0.1:{free_port()}", "no-server"),
        ("no-such-host.invalid:7077", "no-such-host"),
    ):
        with pytest.raises(InputError) as caught:
            _check_master(parse_address(f"spark://{host}/visits"), f"spark://{host}")
        assert [finding.code for finding in caught.value.findings] == [code]


def test_types_columns_and_changes(spark, tmp_path, capfd):
    more = {
        "tags": pa.array([["a"]] * 600),
        "blob": pa.array([b"x"] * 600),
        "map": pa.array([{"a": 1}] * 600),
    }
    made = table()
    for name, column in more.items():
        made = made.append_column(name, column)
    found = open_database_table(
        parse_address(f"{spark}{in_folder(made, tmp_path / 'visits')}"), RecordReading()
    )
    fit = {each.name: each.categorical for each in found.columns}
    assert fit == {
        "place": True,
        "age": True,
        "number": True,
        "tags": False,
        "blob": False,
        "map": False,
    }
    with pytest.raises(InputError, match="There is no column “ages”"):
        found.check_name("ages")
    with pytest.raises(InputError) as caught:
        found.engine.fetch("SELECT ages FROM vbas_records", None, NO_PROGRESS, "")
    assert [finding.code for finding in caught.value.findings] == ["no-such-column"]
    assert "ages" not in capfd.readouterr().err
    os.utime(tmp_path / "visits" / "a.parquet", ns=(1, 1))
    with pytest.raises(InputError, match="The records were changed"), found.engine.snapshot(NO_PROGRESS):
        pass
    (tmp_path / "visits" / "a.parquet").unlink()
    with pytest.raises(InputError, match="The records were changed"):
        found.engine.fetch("SELECT count(c1) AS n FROM vbas_records", None, NO_PROGRESS, "")
    found.close()


def test_a_stop_cancels_the_jobs(spark, tmp_path):
    found = open_database_table(
        parse_address(f"{spark}{in_folder(table(), tmp_path / 'visits')}"),
        RecordReading(),
        columns=("age",),
    )
    long = "SELECT sum(a.id * b.id) AS n FROM range(0, 100000000, 1, 8) a, range(0, 1000000, 1, 8) b"
    with pytest.raises(Cancelled):
        found.engine.fetch(long, None, Soon(), "Waiting")
    assert found.engine.fetch("SELECT 1 AS n", None, NO_PROGRESS, "Asking").column(0)[0].as_py() == 1
    found.close()


def test_a_release_is_written_and_verified(spark, tmp_path):
    address = f"{spark}{in_folder(table(), tmp_path / 'visits')}"
    arguments = [
        "run", address, str(regions_file(tmp_path)), "--region-column", "place", "--quasi-identifiers", "age",
        "-k", "5", "--identifiers", "number", "--site-number", "fixed", "--sites", "2", "--range-reach", "0",
        "--no-pdf",
    ]  # fmt: skip
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    verify = ["verify", str(tmp_path / "out" / "release" / "anonymized.csv"), "--region-column", "place"]
    assert main([*verify, "--quasi-identifiers", "age", "-k", "5"]) == 0
