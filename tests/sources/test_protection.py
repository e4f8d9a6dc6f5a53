"""Criteria, tiers, limits and refinement do with records behind addresses what they do with a file."""

from __future__ import annotations

import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pyarrow.csv as pa_csv
import pytest
from places import in_folder, in_server
from test_ledger import in_file, people, run
from test_targets import released

from vbas_desktop.cli.main import main

CRITERION = ["--sensitive", "illness", "--criterion", "illness=distinct:5"]
PROTECTIONS = {
    "nothing": [],
    "criterion": CRITERION,
    "tiers": ["--tiers", "county"],
    "limits": ["--within", "county", "--min-records", "80", "--alone", "r3"],
    "refinement": ["--refinement", "boundaries"],
}
PROTECTIONS["all"] = [word for words in PROTECTIONS.values() for word in words]
VERIFIED = [
    *("--region-column", "region", "--quasi-identifiers", "sex,age", "-k", "6", "--quiet"),
    *(
        "--sensitive",
        "illness",
        "--sensitive",
        "since",
        "--benign",
        "illness=illness-0",
        "--criterion",
        "illness=distinct:4",
    ),
    *("--criterion", "illness=share:50", "--criterion", "since=ordered-closeness:0.2"),
]


def outcome(records: str, folder: Path, name: str) -> tuple:
    """What is released, and the measures of it."""
    folder.mkdir(exist_ok=True)
    rows = [f"r{n},{n % 4},{n // 4},{'north' if n < 8 else 'south'}\n" for n in range(16)]
    (folder / "regions.csv").write_text("id,x,y,county\n" + "".join(rows), encoding="utf-8")
    assert run(records, folder, name, "--sites", "12", "--format", "parquet", *PROTECTIONS[name]) == 0
    kept = json.loads((folder / name / "run.json").read_text(encoding="utf-8"))
    solution = next(each for each in kept["solutions"] if each["id"] == kept["chosen_solution"])
    return released(folder, name), {**solution["measures"], "seconds": 0}


@pytest.fixture(scope="module")
def of_a_file(tmp_path_factory):
    """What comes of the same records in a file, found out once."""
    home, known = tmp_path_factory.mktemp("file"), {}
    records = in_file(people(700, 1), home / "records")

    def found(name: str) -> tuple:
        if name not in known:
            known[name] = outcome(records, home / "there", name)
        return known[name]

    return found


def test_each_matters(of_a_file):
    found = [of_a_file(name) for name in PROTECTIONS]
    assert all(rows for rows, _ in found)
    assert all(found.count(each) == 1 for each in found)


@pytest.mark.parametrize("name", PROTECTIONS)
def test_a_folder(name, of_a_file, tmp_path):
    assert outcome(in_folder(people(700, 1), tmp_path / "visits"), tmp_path, name) == of_a_file(name)


@pytest.mark.xdist_group("postgresql")
@pytest.mark.parametrize("name", PROTECTIONS)
def test_a_server(name, server, password, of_a_file, tmp_path):
    assert outcome(in_server(people(700, 1), server, "protected"), tmp_path, name) == of_a_file(name)


@pytest.mark.xdist_group("spark")
@pytest.mark.timeout(600)
def test_spark(spark, of_a_file, tmp_path):
    there = f"{spark}{in_folder(people(700, 1), tmp_path / 'visits')}"
    assert outcome(there, tmp_path, "all") == of_a_file("all")


def verified(place: str, code: int) -> dict:
    """What `vbas verify` says of the sensitive values at a place."""
    with redirect_stdout(StringIO()) as said:
        assert main(["verify", place, *VERIFIED]) == code
    return json.loads(said.getvalue())


def in_text(folder: Path) -> str:
    pa_csv.write_csv(people(700, 1), folder / "people.csv")
    return str(folder / "people.csv")


def same_verdict(place: str, folder: Path) -> None:
    """A place is judged as the same records in a file are, which miss some of what is asked."""
    found, expected = verified(place, 3), verified(in_text(folder), 3)
    assert expected["sensitive"]["illness"]["criteria"]["distinct:4"]["violating_classes"] > 0
    assert 0 < expected["violating_records"] < 700
    for each, told in expected.pop("sensitive").items():
        assert found["sensitive"][each].pop("criteria") == told.pop("criteria")
        assert found["sensitive"].pop(each) == pytest.approx(told)
    assert found.pop("sensitive") == {}
    assert found == expected


def test_a_folder_is_verified(tmp_path):
    same_verdict(in_folder(people(700, 1), tmp_path / "visits"), tmp_path)


@pytest.mark.xdist_group("postgresql")
def test_a_server_is_verified(server, password, tmp_path):
    same_verdict(in_server(people(700, 1), server, "verified"), tmp_path)


@pytest.mark.xdist_group("spark")
@pytest.mark.timeout(600)
def test_spark_is_verified(spark, tmp_path):
    same_verdict(f"{spark}{in_folder(people(700, 1), tmp_path / 'visits')}", tmp_path)


def test_a_column_that_is_not_there_is_told(tmp_path, capsys):
    place = in_folder(people(700, 1), tmp_path / "visits")
    words = ["--region-column", "region", "--quasi-identifiers", "sex", "--criterion", "ills=distinct:2"]
    assert main(["verify", place, *words, "--sensitive", "ills"]) == 1
    assert "There is no column “ills”." in capsys.readouterr().err
    assert (
        main(["verify", place, *words[:-1], "illness=ordered-closeness:0.3", "--sensitive", "illness"])
        == 1
    )
    assert "they have no order" in capsys.readouterr().err
