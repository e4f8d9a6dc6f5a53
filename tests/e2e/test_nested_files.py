"""Documents from elsewhere with a hundred thousand brackets inside each other are refused in words."""

import json

import pytest
from release_making import random_rows, write_records, write_regions

from vbas_desktop.cli.main import main

DEPTH = 100_000
JSON = "[" * DEPTH + "]" * DEPTH
TOML = f"name = {JSON}\n"


@pytest.fixture
def arguments(tmp_path):
    records = write_records(tmp_path, random_rows(200, seed=1))
    chosen = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age,sex",
        "--identifiers",
        "name",
        "--quiet",
    ]
    return ["run", str(records), str(write_regions(tmp_path)), *chosen, "--out", str(tmp_path / "out")]


@pytest.mark.parametrize(
    ("option", "file_name", "text"),
    [
        ("--requirement", "wish.json", JSON),
        ("--checklist", "list.json", JSON),
        ("--policy", "policy.toml", TOML),
    ],
)
def test_a_nested_document_of_a_run_is_refused(arguments, tmp_path, capsys, option, file_name, text):
    path = tmp_path / file_name
    path.write_text(text, encoding="utf-8")
    assert main([*arguments, option, str(path)]) == 1
    message = capsys.readouterr().err
    assert file_name in message
    assert "unforeseen" not in message
    assert not (tmp_path / "out").exists()


def test_a_nested_run_file_is_refused(tmp_path, capsys):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "run.json").write_text(JSON, encoding="utf-8")
    assert main(["export", str(folder), "--out", str(tmp_path / "again"), "--quiet"]) == 1
    assert "unforeseen" not in capsys.readouterr().err


def test_a_nested_spec_is_refused(tmp_path, capsys):
    path = tmp_path / "spec.toml"
    path.write_text(TOML, encoding="utf-8")
    assert main(["generate", "--like", str(path), "--out", str(tmp_path / "made"), "--quiet"]) == 1
    assert "nested too deeply" in capsys.readouterr().err


def test_a_nested_ledger_is_refused(arguments, tmp_path, capsys):
    path = tmp_path / "ledger.json"
    path.write_text(JSON, encoding="utf-8")
    assert main([*arguments, "--ledger", str(path), "--audience", "Uni"]) == 1
    assert "unforeseen" not in capsys.readouterr().err


def test_a_nested_region_file_is_refused(arguments, tmp_path, capsys):
    regions = tmp_path / "regions.geojson"
    regions.write_text(
        json.dumps({"type": "FeatureCollection"})[:-1] + f', "features": {JSON}}}', encoding="utf-8"
    )
    assert main([*arguments[:2], str(regions), *arguments[3:]]) == 1
    assert "unforeseen" not in capsys.readouterr().err
