"""Criteria for sensitive values, tiers and limits do with records behind addresses what they do with a file."""

from __future__ import annotations

import json

import pytest
from places import in_folder, in_server
from test_ledger import in_file, people, run
from test_targets import released

from vbas_desktop.cli.main import main

PROTECTIONS = {
    "criterion": ["--sensitive", "illness", "--criterion", "illness=distinct:6"],
    "tiers": ["--tiers", "county"],
    "limits": ["--within", "county"],
}


def outcome(records: str, folder, name: str) -> tuple:
    """What is released, and how much is not."""
    rows = [f"r{n},{n % 4},{n // 4},{'north' if n < 8 else 'south'}\n" for n in range(16)]
    (folder / "regions.csv").write_text("id,x,y,county\n" + "".join(rows), encoding="utf-8")
    assert run(records, folder, name, "--sites", "10", "--format", "parquet", *PROTECTIONS[name]) == 0
    kept = json.loads((folder / name / "run.json").read_text(encoding="utf-8"))
    solution = next(each for each in kept["solutions"] if each["id"] == kept["chosen_solution"])
    return released(folder, name), solution["measures"]["suppressed_records"]


@pytest.mark.parametrize("name", PROTECTIONS)
def test_a_folder(name, tmp_path):
    expected = outcome(in_file(people(700, 1), tmp_path / "file"), tmp_path, name)
    (tmp_path / "there").mkdir()
    assert outcome(in_folder(people(700, 1), tmp_path / "visits"), tmp_path / "there", name) == expected
    assert 0 < len(expected[0]) <= 700
    if name == "criterion":
        assert expected[1] > 0


@pytest.mark.xdist_group("postgresql")
@pytest.mark.parametrize("name", PROTECTIONS)
def test_a_server(name, server, password, tmp_path):
    expected = outcome(in_file(people(700, 1), tmp_path / "file"), tmp_path, name)
    (tmp_path / "there").mkdir()
    assert outcome(in_server(people(700, 1), server, "protected"), tmp_path / "there", name) == expected


def test_verifying_criteria_at_an_address_is_told_to_need_a_file(tmp_path, capsys):
    words = ["--region-column", "region", "--quasi-identifiers", "sex", "-k", "2", "--sensitive", "illness"]
    where = in_folder(people(700, 1), tmp_path / "visits")
    assert main(["verify", where, *words, "--criterion", "illness=distinct:2"]) == 1
    assert "Sensitive values behind an address are not verified." in capsys.readouterr().err
