"""`vbas run --out`, `vbas export` and `vbas verify` hand in hand."""

import json
import shlex
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pandas
import pytest
from pycanon import anonymity
from release_making import random_rows, write_records, write_regions

from vbas_desktop.cli.main import main
from vbas_desktop.model.findings import VerificationFailed
from vbas_desktop.releases import audited_records

SAMPLE = Path(__file__).parents[2] / "sample_data"


@pytest.fixture
def files(tmp_path):
    records = write_records(tmp_path, random_rows(600, seed=4))
    return [str(records), str(write_regions(tmp_path))]


def run(files, out, *options):
    chosen = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age,sex",
        "-k",
        "5",
        "--sites",
        "4",
        "--quiet",
    ]
    return main(["run", *files, *chosen, "--identifiers", "name", "--out", str(out), *options])


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_a_run_writes_a_release_that_others_find_k_anonymous(files, tmp_path, capsys):
    assert run(files, tmp_path / "out", "--json") == 0
    assert json.loads(capsys.readouterr().out) == json.loads((tmp_path / "out" / "run.json").read_text())
    released = tmp_path / "out" / "release" / "anonymized.csv"
    assert (
        main(
            [
                "verify",
                str(released),
                "--quasi-identifiers",
                "age,sex",
                "--region-column",
                "region",
                "--quiet",
            ]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out)["ok"] is True
    table = pandas.read_csv(released, dtype=str)
    assert list(table.columns) == ["age", "sex", "region", "note"]
    assert anonymity.k_anonymity(table, ["age", "sex", "region"]) >= 5


@pytest.mark.parametrize("model", ["eastern", "own"])
def test_the_papers_tell_only_parameters_that_had_an_effect(files, tmp_path, model):
    chosen = ["--region-column", "region", "--quasi-identifiers", "age,sex", "--quiet", "--no-pdf"]
    chosen += ["--identifiers", "name"]
    options = ["--site-number", "maxcombs", "--gaps-model", model, "--set", "maxcombs.factor=100"]
    assert main(["run", *files, *chosen, *options, "--out", str(tmp_path / "out")]) == 0
    inside, outside = (
        unescape((tmp_path / "out" / folder / "report.html").read_text(encoding="utf-8"))
        for folder in ("internal", "release")
    )
    assert f"model = {model}" in inside
    assert ("factor = 100.0" in inside) == (model == "own")
    # With the model and the number of regions one could estimate how many records there were.
    assert "model = " not in outside
    assert "Number of sites" not in outside


def test_the_checksums_are_understood_by_sha256sum(files, tmp_path):
    assert run(files, tmp_path / "out") == 0
    folder = tmp_path / "out" / "release"
    assert (
        subprocess.run(
            ["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=folder, capture_output=True
        ).returncode
        == 0
    )


def test_a_release_is_repeated_from_its_own_run_json_to_the_same_bytes(files, tmp_path):
    assert (
        run(files, tmp_path / "out", "--rename", "sex=gender", "--class-size", "--shuffle-seed", "3")
        == 0
    )
    assert main(["export", str(tmp_path / "out"), "--out", str(tmp_path / "again"), "--quiet"]) == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "again")


def test_another_solution_and_other_choices_can_be_exported(files, tmp_path):
    assert run(files, tmp_path / "out") == 0
    options = [
        "--solution",
        "1",
        "--no-shuffle",
        "--format",
        "parquet",
        "--no-pdf",
        "--geometry",
        "geojson,gpkg",
    ]
    assert (
        main(["export", str(tmp_path / "out"), "--out", str(tmp_path / "other"), *options, "--quiet"])
        == 0
    )
    document = json.loads((tmp_path / "other" / "run.json").read_text())
    assert document["chosen_solution"] == document["release"]["solution"] == 1
    names = {path.name for path in (tmp_path / "other" / "release").iterdir()}
    assert {"anonymized.parquet", "aggregated_regions.gpkg"} <= names
    assert "report.pdf" not in names


def test_export_refuses_files_that_are_not_those_of_the_run(files, tmp_path, capsys):
    assert run(files, tmp_path / "out") == 0
    write_records(tmp_path, random_rows(600, seed=5))
    assert main(["export", str(tmp_path / "out"), "--out", str(tmp_path / "again")]) == 1
    assert "not the file of the run" in capsys.readouterr().err
    assert not (tmp_path / "again").exists()


def test_files_that_were_moved_can_be_named(files, tmp_path):
    assert run(files, tmp_path / "out") == 0
    moved = tmp_path / "elsewhere.csv"
    (tmp_path / "records.csv").rename(moved)
    again = [
        "export",
        str(tmp_path / "out"),
        "--out",
        str(tmp_path / "again"),
        "--records",
        str(moved),
        "--quiet",
    ]
    assert main(again) == 0
    released = "release/anonymized.csv"
    assert (tmp_path / "out" / released).read_bytes() == (tmp_path / "again" / released).read_bytes()


def test_a_failed_verification_ends_with_3_and_leaves_nothing(files, tmp_path, monkeypatch, capsys):
    def failing(*arguments):
        raise VerificationFailed("The written file did not pass its verification.")

    monkeypatch.setattr(audited_records.Verification, "check", failing)
    assert run(files, tmp_path / "out") == 3
    assert "did not pass" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["records.csv", "regions.csv"]


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--columns", "age,shoe"], 1, "no such column"),
        (["--rename", "sex=age"], 1, "same name"),
        (["--release-delimiter", "::"], 1, "one character"),
        (["--geometry", "dwg"], 1, "must be one of geojson, gpkg"),
    ],
)
def test_wrong_choices_are_said_and_nothing_is_written(files, tmp_path, capsys, options, code, said):
    assert run(files, tmp_path / "out", *options) == code
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_new_name_without_the_old_one_is_refused(files, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        run(files, tmp_path / "out", "--rename", "sex")
    assert ended.value.code == 2
    assert "write it as OLD=NEW" in capsys.readouterr().err


def test_the_command_in_the_report_repeats_the_release(files, tmp_path, monkeypatch):
    assert run(files, tmp_path / "out", "--range-reach", "0", "--policy", "class-5") == 0
    page = (tmp_path / "out" / "internal" / "report.html").read_text(encoding="utf-8")
    command = shlex.split(unescape(page.split('<pre tabindex="0">')[1].split("</pre>")[0]))
    assert command[:2] == ["vbas", "run"]
    monkeypatch.chdir(tmp_path)
    shutil.copy(tmp_path / "out" / "internal" / "shuffle-seed.txt", tmp_path)
    assert main([*command[1:], "--quiet"]) == 0
    for part in ("release", "internal"):
        assert contents(tmp_path / "out" / part) == contents(tmp_path / "release-again" / part)


def seed_of(folder):
    return json.loads((folder / "run.json").read_text())["release"]["shuffle_seed"]


def test_a_release_without_a_seed_is_repeated_to_the_same_bytes(files, tmp_path):
    assert run(files, tmp_path / "out") == 0
    assert main(["export", str(tmp_path / "out"), "--out", str(tmp_path / "again"), "--quiet"]) == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "again")
    assert run(files, tmp_path / "anew") == 0
    assert seed_of(tmp_path / "anew") != seed_of(tmp_path / "out")


@pytest.mark.parametrize(
    "change", [["--solution", "1"], ["--class-size"], ["--identifiers", "name,note"]]
)
def test_every_other_release_of_a_run_gets_an_order_of_its_own(files, tmp_path, change):
    assert run(files, tmp_path / "out", "--no-pdf") == 0
    assert (
        main(["export", str(tmp_path / "out"), "--out", str(tmp_path / "other"), "--quiet", *change])
        == 0
    )
    assert seed_of(tmp_path / "out") != seed_of(tmp_path / "other")
    given = [*change, "--shuffle-seed", "abc"]
    assert (
        main(["export", str(tmp_path / "out"), "--out", str(tmp_path / "given"), "--quiet", *given]) == 0
    )
    assert seed_of(tmp_path / "given") == "abc"


def test_papers_of_the_recipient_name_no_seed_and_no_command(files, tmp_path):
    assert run(files, tmp_path / "out", "--shuffle-seed", "facade") == 0
    for path in (tmp_path / "out" / "release").iterdir():
        assert b"facade" not in path.read_bytes()
    page = (tmp_path / "out" / "release" / "report.html").read_text(encoding="utf-8")
    assert "vbas run" not in page
    inside = (tmp_path / "out" / "internal" / "report.html").read_text(encoding="utf-8")
    assert "--shuffle-seed @shuffle-seed.txt" in inside
    assert "facade" not in inside


def test_a_column_that_tells_the_place_is_stopped_with_the_ways_out(files, tmp_path, capsys):
    rows = [[*row[:4], f"clinic of {row[3]}"] for row in random_rows(600, seed=4)]
    write_records(tmp_path, rows, ["name", "age", "sex", "region", "clinic"])
    assert run(files, tmp_path / "out", "--no-pdf") == 1
    said = capsys.readouterr().err
    assert said.count("error:") == 1
    assert "column “clinic”: It reveals the place in more detail" in said
    assert "--allow-column clinic" in said
    assert not (tmp_path / "out").exists()
    assert run(files, tmp_path / "out", "--no-pdf", "--allow-column", "clinic") == 0
    assert main(["export", str(tmp_path / "out"), "--out", str(tmp_path / "again"), "--quiet"]) == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "again")
    assert "--allow-column clinic" in (tmp_path / "out" / "internal" / "report.html").read_text(
        encoding="utf-8"
    )


def test_nothing_is_released_of_nothing(files, tmp_path, capsys):
    assert run(files, tmp_path / "out", "-k", "599") == 1
    assert "Nothing would be released" in capsys.readouterr().err
    assert run(files, tmp_path / "out", "-k", "601") == 1
    assert "k is 601, but there are only 600 records" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_codebook_names_codes_for_the_custodian(tmp_path):
    """Wherever the internal report names a value that the codebook knows, its label stands behind."""
    book = tmp_path / "labels.csv"
    labels = {"Widowed": "spouse died", "Single": "never married"}
    book.write_text(
        "column,value,label\n" + "".join(f"marital_status,{v},{label}\n" for v, label in labels.items())
    )
    out = tmp_path / "out"
    command = [
        "run",
        str(SAMPLE / "records.csv"),
        str(SAMPLE / "regions.geojson"),
        "--region-column",
        "tract",
    ]
    chosen = [
        "--quasi-identifiers",
        "sex,marital_status",
        "--identifiers",
        "health_number",
        "-k",
        "5",
        "--no-pdf",
    ]
    assert main([*command, *chosen, "--codebook", str(book), "--out", str(out), "--quiet"]) == 0
    page = (out / "internal" / "report.html").read_text(encoding="utf-8")
    for value, label in labels.items():
        assert page.count(f"{value} ({label})") == page.count(value) > 0
    assert "Widowed" not in (out / "release" / "report.html").read_text(encoding="utf-8")
    assert "spouse died" not in (out / "release" / "anonymized.csv").read_text(encoding="utf-8")
