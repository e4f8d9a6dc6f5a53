"""The ledger that a command uses is printed; one that only a run.json names is used after it was named again."""

import json
import shlex

import pytest
from release_making import random_rows, write_records, write_regions

from vbas_desktop.cli.main import main


@pytest.fixture
def run_folder(tmp_path):
    """A run in another folder than its records."""
    house = tmp_path / "house"
    house.mkdir()
    records = write_records(house, random_rows(200, seed=1))
    chosen = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age,sex",
        "--identifiers",
        "name",
        "--quiet",
    ]
    folder = tmp_path / "received" / "result"
    assert main(["run", str(records), str(write_regions(house)), *chosen, "--out", str(folder)]) == 0
    return folder


def point_elsewhere(run_folder, records):
    """Write another path of the records into the run file, as somebody else could."""
    path = run_folder / "run.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["options"]["records"] = str(records)
    path.write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.parametrize("action", ["record", "check"])
def test_a_ledger_that_only_a_run_file_names_must_be_confirmed(tmp_path, run_folder, capsys, action):
    ledger = tmp_path / "house" / "vbas-ledger.json"
    command = ["ledger", action, str(run_folder), "--audience", "Uni"]
    assert main(command) == 1
    message = capsys.readouterr().err
    assert f"The ledger would be {ledger}" in message
    assert f"add --ledger {shlex.quote(str(ledger))};" in message
    assert not ledger.exists()


def test_a_prepared_ledger_gets_no_entry(tmp_path, run_folder, capsys):
    """Whoever prepared it knows its key, and so what is behind the hashes."""
    trap = tmp_path / "trap"
    trap.mkdir()
    prepared = trap / "vbas-ledger.json"
    assert (
        main(
            [
                "ledger",
                "record",
                str(run_folder),
                "--audience",
                "X",
                "--ledger",
                str(prepared),
                "--quiet",
            ]
        )
        == 0
    )
    before = prepared.read_bytes()
    (trap / "records.csv").write_bytes((tmp_path / "house" / "records.csv").read_bytes())
    point_elsewhere(run_folder, trap / "records.csv")
    assert main(["ledger", "record", str(run_folder), "--audience", "Uni"]) == 1
    assert "--ledger" in capsys.readouterr().err
    assert prepared.read_bytes() == before


def test_a_way_through_the_users_own_files_leads_out_of_them(tmp_path, run_folder, capsys, monkeypatch):
    monkeypatch.setattr("vbas_desktop.app.handover.user_data_folder", lambda: tmp_path / "own")
    (tmp_path / "own").mkdir()
    point_elsewhere(run_folder, tmp_path / "own" / ".." / "house" / "records.csv")
    assert main(["ledger", "record", str(run_folder), "--audience", "Uni"]) == 1
    assert "is not used unasked" in capsys.readouterr().err
    assert not (tmp_path / "house" / "vbas-ledger.json").exists()


def test_a_link_beside_the_run_leads_to_no_other_ledger(tmp_path, run_folder, capsys):
    (tmp_path / "received" / "vbas-ledger.json").symlink_to(tmp_path / "house" / "vbas-ledger.json")
    (tmp_path / "received" / "records.csv").write_bytes(
        (tmp_path / "house" / "records.csv").read_bytes()
    )
    point_elsewhere(run_folder, tmp_path / "received" / "records.csv")
    assert main(["ledger", "record", str(run_folder), "--audience", "Uni"]) == 1
    assert "is not used unasked" in capsys.readouterr().err


def test_a_ledger_beside_the_run_is_used_and_printed(tmp_path, run_folder, capsys):
    near = tmp_path / "received"
    (near / "records.csv").write_bytes((tmp_path / "house" / "records.csv").read_bytes())
    point_elsewhere(run_folder, near / "records.csv")
    for action in ("record", "check"):
        capsys.readouterr()
        assert main(["ledger", action, str(run_folder), "--audience", "Uni"]) == 0
        assert f"Ledger: {near / 'vbas-ledger.json'}\n" in capsys.readouterr().err


def test_a_ledger_that_was_named_is_used_and_printed(tmp_path, run_folder, capsys):
    ledger = tmp_path / "house" / "vbas-ledger.json"
    named = ["--audience", "Uni", "--ledger", str(ledger)]
    assert main(["ledger", "record", str(run_folder), *named]) == 0
    assert f"Ledger: {ledger}\n" in capsys.readouterr().err
    records = ["--audience", "Uni", "--records", str(tmp_path / "house" / "records.csv")]
    assert main(["ledger", "check", str(run_folder), *records]) == 0
    assert f"Ledger: {ledger}\n" in capsys.readouterr().err


def test_a_release_tells_which_ledger_it_was_compared_with(tmp_path, run_folder, capsys):
    ledger = tmp_path / "house" / "vbas-ledger.json"
    export = ["export", str(run_folder), "--audience", "Uni", "--out"]
    assert main([*export, str(tmp_path / "first")]) == 0
    assert "The ledger is" not in capsys.readouterr().err
    assert (
        main(
            [
                "ledger",
                "record",
                str(run_folder),
                "--audience",
                "Uni",
                "--ledger",
                str(ledger),
                "--quiet",
            ]
        )
        == 0
    )
    assert main([*export, str(tmp_path / "second")]) == 0
    assert f"hint: The ledger is {ledger}." in capsys.readouterr().err
