"""The ledger beside records behind addresses refuses and allows what it does beside the same records in a file."""

from __future__ import annotations

import json
from contextlib import redirect_stdout
from io import StringIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from places import in_folder, in_server
from release_making import write_regions

from vbas_desktop.cli.main import main
from vbas_desktop.io.paths import user_data_folder


def people(number: int, seed: int) -> pa.Table:
    """Records with enough other columns to know a person again by them."""
    draw = np.random.default_rng(seed)
    columns = {
        "name": [f"person-{seed}-{row}" for row in range(number)],
        "age": draw.integers(1, 5, number),
        "sex": np.array(["female", "male"])[draw.integers(0, 2, number)],
        "region": [f"r{place}" for place in draw.integers(0, 16, number)],
        "illness": [f"illness-{each}" for each in draw.integers(0, 8, number)],
        "since": draw.integers(0, 12, number),
    }
    return pa.table(columns)


def run(records, folder, out, *options, quasi="age,sex") -> int:
    chosen = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        quasi,
        "-k",
        "5",
        "--quiet",
        "--no-pdf",
    ]
    allowed = [
        "--allow-column",
        "illness,since,age,sex",
        "--range-reach",
        "0",
        "--site-location",
        "density",
    ]
    files = [str(records), str(folder / "regions.csv")]
    return main(
        ["run", *files, *chosen, "--identifiers", "name", *allowed, "--out", str(folder / out), *options]
    )


def verdict(folder, out, *options) -> dict:
    """What `vbas ledger check` finds; addresses are named again, since those in run.json are not opened unasked."""
    records = json.loads((folder / out / "run.json").read_text(encoding="utf-8"))["options"]["records"]
    options = ("--records", records, *options)
    with redirect_stdout(StringIO()) as said:
        main(["ledger", "check", str(folder / out), "--audience", "Uni", "--quiet", "--json", *options])
    return json.loads(said.getvalue())


def story(folder, put) -> list:
    """What the ledger says of several releases; ``put`` puts a table somewhere and names the place."""
    folder.mkdir()
    write_regions(folder)
    ledger, none = (["--ledger", str(folder / name)] for name in ("ledger.json", "none.json"))
    records, later = put(people(700, 1), "now"), put(later_year(), "later")
    assert run(records, folder, "first", "--sites", "5", *none) == 0
    assert (
        main(["ledger", "record", str(folder / "first"), "--audience", "Uni", "--quiet", *ledger]) == 0
    )
    told: list = [run(records, folder, "second", "--sites", "7", *ledger)]
    assert run(records, folder, "other", "--sites", "5", *none, quasi="age,illness") == 0
    told.append(verdict(folder, "other", *ledger))
    again = ["--construction", "coarsen", "--coarsen-from", str(folder / "first"), "--sites", "5"]
    told.append(run(later, folder, "next", *again, *ledger))
    assert run(later, folder, "year", *again, *none) == 0
    told.append(verdict(folder, "year", *ledger))
    return told


def in_file(table, folder) -> str:
    folder.mkdir()
    pq.write_table(table, folder / "records.parquet")
    return str(folder / "records.parquet")


def later_year() -> pa.Table:
    """A few of the people went, a few others came."""
    return pa.concat_tables([people(700, 1).slice(30), people(20, 2)])


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What is said of the same records in a file."""
    home = tmp_path_factory.mktemp("file") / "home"
    found = story(home, lambda table, name: in_file(table, home / name))
    assert (found[0], found[2]) == (1, 1)
    assert found[1]["compared_with"][0]["people"] > 0
    assert found[3]["compared_with"][0]["text"].startswith("Whoever has release 1")
    return found


def test_the_ledger_says_of_a_folder_what_it_says_of_a_file(tmp_path, expected):
    home = tmp_path / "there"
    assert story(home, lambda table, name: in_folder(table, home / name)) == expected


@pytest.mark.xdist_group("postgresql")
def test_the_ledger_says_of_a_server_what_it_says_of_a_file(server, password, tmp_path, expected):
    home = tmp_path / "there"
    assert story(home, lambda table, name: in_server(table, server, f"led_{name}")) == expected


def test_the_ledger_of_a_folder_is_beside_it_and_is_found_without_being_named(tmp_path, capsys):
    write_regions(tmp_path)
    records = in_folder(people(700, 1), tmp_path / "visits")
    assert run(records, tmp_path, "first", "--sites", "5") == 0
    assert main(["ledger", "record", str(tmp_path / "first"), "--audience", "Uni", "--quiet"]) == 0
    assert (tmp_path / "vbas-ledger.json").exists()
    assert run(f"{records}/*.parquet", tmp_path, "second", "--sites", "7") == 1
    assert "could single out" in capsys.readouterr().err
    assert run(records, tmp_path, "again", "--sites", "5") == 0


@pytest.mark.xdist_group("postgresql")
def test_the_ledger_of_a_server_is_among_the_users_own_files(server, password, tmp_path, capsys):
    write_regions(tmp_path)
    records = in_server(people(700, 1), server, "led_own")
    assert run(records, tmp_path, "first", "--sites", "5") == 0
    assert main(["ledger", "record", str(tmp_path / "first"), "--audience", "Uni", "--quiet"]) == 0
    kept = user_data_folder() / "ledgers" / f"postgresql-127.0.0.1-{server.port}-postgres.json"
    assert kept.stat().st_mode & 0o077 == 0
    assert run(records, tmp_path, "second", "--sites", "7") == 1
    assert "could single out" in capsys.readouterr().err
