"""`vbas generate` from the command line."""

from __future__ import annotations

import csv

import pytest

from vbas_desktop.cli.main import main
from vbas_desktop.io.paths import sample_data_folder

SPEC = sample_data_folder() / "spec.toml"


def run(capsys, *arguments):
    code = main(["generate", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out, err


def test_it_writes_the_files_and_says_so(tmp_path, capsys):
    code, out, err = run(
        capsys, "--like", "pei", "--records", 1000, "--regions", 20, "--out", tmp_path / "pei"
    )
    assert (code, out) == (0, "")
    assert "1,000 records in 20 regions" in err
    assert sorted(file.name for file in (tmp_path / "pei").iterdir()) == [
        "codebook.csv",
        "generalise.csv",
        "generated.json",
        "records.csv",
        "regions.csv",
    ]


def test_quiet_says_nothing(tmp_path, capsys):
    arguments = (
        "--like",
        "pei",
        "--records",
        10,
        "--labels",
        "text",
        "--generalised",
        "--seed",
        3,
        "--quiet",
    )
    assert run(capsys, *arguments, "--out", tmp_path / "pei") == (0, "", "")
    assert "10-14" in (tmp_path / "pei" / "codebook.csv").read_text()


def test_mistakes_end_with_one_message_each(tmp_path, capsys):
    code, _, err = run(capsys, "--like", "nowhere.toml", "--out", tmp_path / "x")
    assert code == 1
    assert (
        err
        == "error: nowhere.toml: There is no such spec. Use eastern, central, western, pei or a TOML file.\n"
    )
    code, _, err = run(capsys, "--like", "pei", "--regions", "nowhere.csv", "--out", tmp_path / "x")
    assert code == 1
    assert err.startswith("error: nowhere.csv: --regions is neither a positive number nor a file.")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("arguments", [("--seed", "-1"), ("--records", "0"), ("--labels", "runes"), ()])
def test_wrong_usage_ends_with_two(tmp_path, capsys, arguments):
    with pytest.raises(SystemExit) as error:
        run(capsys, *arguments, "--out", tmp_path / "x")
    assert error.value.code == 2


def test_attributes_are_drawn_as_asked(tmp_path, capsys):
    sizes = ("--records", 3000, "--regions", 30, "--labels", "text", "--quiet")
    for like in ("central", "pei"):
        for model in ("dependent", "independent"):
            target = tmp_path / f"{like}-{model}"
            assert run(capsys, "--like", like, "--attributes", model, *sizes, "--out", target) == (
                0,
                "",
                "",
            )
            with (target / "records.csv").open(encoding="utf-8") as stream:
                rows = list(csv.DictReader(stream))[1:]
            married_children = sum(row["age"] == "0-4" and row["marital"] == "Married" for row in rows)
            assert (married_children > 0) == (model == "independent")
    target = tmp_path / "usual"
    assert run(capsys, "--like", "pei", *sizes, "--out", target) == (0, "", "")
    assert (target / "records.csv").read_bytes() == (
        tmp_path / "pei-dependent" / "records.csv"
    ).read_bytes()


def test_spec_files_cannot_be_drawn_by_marginals(tmp_path, capsys):
    code, _, err = run(capsys, "--like", SPEC, "--attributes", "independent", "--out", tmp_path / "x")
    assert code == 1
    assert "Leave out --attributes" in err
    assert not (tmp_path / "x").exists()
