"""Mistakes that were passed over in silence, or told too late, are refused in words before anything is computed."""

import json

import pytest
from release_making import random_rows, write_records, write_regions

from vbas_desktop.cli.main import main


@pytest.fixture
def files(tmp_path):
    return [str(write_records(tmp_path, random_rows(300, seed=2))), str(write_regions(tmp_path))]


def test_a_misspelt_sensitive_column_of_a_comparison_is_refused(files, capsys):
    compared = [
        "representability",
        files[0],
        files[0],
        "--key",
        "name",
        "--quasi-identifiers",
        "age,sex",
    ]
    assert main([*compared, "--sensitive", "notes", "--quiet"]) == 1
    assert "Did you mean “note”?" in capsys.readouterr().err


@pytest.mark.parametrize(
    "checklist",
    [
        {"points": []},
        {"points": [], "choices": [{}], "signed_by": "", "signed_on": ""},
        [],
        {"points": {}},
    ],
)
def test_a_checklist_with_parts_missing_is_refused_before_anything_is_computed(
    files, tmp_path, capsys, checklist
):
    path = tmp_path / "checklist.json"
    path.write_text(json.dumps(checklist), encoding="utf-8")
    chosen = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age,sex",
        "--identifiers",
        "name",
        "--sites",
        "4",
    ]
    assert (
        main(
            ["run", *files, *chosen, "--quiet", "--checklist", str(path), "--out", str(tmp_path / "out")]
        )
        == 1
    )
    assert "not a checklist" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
