"""`vbas compare`, and `--generalise` in it, in `vbas run` and in `vbas export`."""

import csv
import json
import os
from pathlib import Path

import pytest

from vbas_desktop.approaches.registry import list_approaches
from vbas_desktop.cli.main import main
from vbas_desktop.engine.comparison import run as comparison_run
from vbas_desktop.io import hashing
from vbas_desktop.io.documents.result_cache import DiskCache

MEASURES = [name for name, kind in list_approaches("rating").items() if not kind.requires_sensitive]
"""Each of them has a chart in every scenario."""


@pytest.fixture
def files(tmp_path):
    """Nine regions on a grid with records of four ages and two sexes, a few of them rare."""
    regions = tmp_path / "regions.csv"
    regions.write_text(
        "id,x,y\n" + "".join(f"r{i},{i % 3},{i // 3}\n" for i in range(9)), encoding="utf-8"
    )
    rows = [f"r{i % 9},{1 + i % 4},{'fm'[i // 4 % 2]},p{i}" for i in range(300)]
    records = tmp_path / "records.csv"
    records.write_text("region,age,sex,person\n" + "\n".join(rows) + "\n", encoding="utf-8")
    groups = tmp_path / "generalise.csv"
    groups.write_text(
        "column,value,group\nage,1,1-2\nage,2,1-2\nage,3,3-4\nage,4,3-4\n", encoding="utf-8"
    )
    return tmp_path


def vbas(command, files, *more):
    data = [str(files / "records.csv"), str(files / "regions.csv")]
    return main([command, *data, "--region-column", "region", "--quiet", *more])


def table(folder):
    with (folder / "comparison.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


EVERYTHING = (
    "--quasi-identifiers",
    "age",
    "--quasi-identifiers",
    "sex;age,sex",
    "-k",
    "2,5",
    "--site-number",
    "fixed",
    "--sites",
    "3,4",
    "--range-reach",
    "0",
    "--site-location",
    "density,adc",
    "--adc-seeding",
    "all",
)


def test_every_list_is_combined_with_every_other(files):
    out = files / "out"
    generalise = ("--generalise", str(files / "generalise.csv"))
    assert vbas("compare", files, *EVERYTHING, *generalise, "--out", str(out)) == 0
    rows = table(out)
    # Sex has no groups: 5 scenarios for each k; 2 numbers; density and ADC from the seven others.
    assert len(rows) == 5 * 2 * 2 * 8
    assert {(row["quasi_identifiers"], row["generalised"], row["k"]) for row in rows} == {
        (names, generalised, k)
        for names, generalised in (
            ("age", "no"),
            ("age", "yes"),
            ("sex", "no"),
            ("age, sex", "no"),
            ("age, sex", "yes"),
        )
        for k in ("2", "5")
    }
    assert {row["equivalence_classes"] for row in rows if row["quasi_identifiers"] == "age, sex"} == {
        "8",
        "4",
    }
    seedings = {
        "anonymity",
        "density",
        "balanced-density",
        "random",
        "refine-sites",
        "centroidal",
        "density-peaks",
    }
    assert {row["adc_seeding"] for row in rows} == {"", *seedings}
    assert {row["sites"] for row in rows} == {"3", "4"}
    assert {row["pareto"] for row in rows} == {"yes", "no"}
    for row in rows:
        assert int(row["records"]) == int(row["released_records"]) + int(row["suppressed_records"])
    assert sorted(path.name for path in out.iterdir()) == [
        "charts",
        "comparison.csv",
        "summary.html",
        "summary.txt",
    ]
    assert len(list((out / "charts").iterdir())) == 10 * len(MEASURES)
    assert not list(files.glob(".*")), "a finished comparison leaves nothing beside its tables"


def test_after_it_was_stopped_nothing_is_run_again_and_the_bytes_are_the_same(files, monkeypatch):
    out = files / "out"
    with monkeypatch.context() as stopped:
        stopped.setattr(DiskCache, "clear", lambda cache: None)
        assert vbas("compare", files, *EVERYTHING, "--out", str(out)) == 0
    first = {path.relative_to(out): path.read_bytes() for path in out.rglob("*.*")}
    assert len(list((files / ".out.combinations").iterdir())) == 96
    monkeypatch.setattr(comparison_run, "run", None)
    assert vbas("compare", files, *EVERYTHING, "--out", str(out)) == 0
    assert {path.relative_to(out): path.read_bytes() for path in out.rglob("*.*")} == first
    assert not (files / ".out.combinations").exists()


def test_the_page_needs_nothing_from_outside(files):
    out = files / "out"
    assert vbas("compare", files, *EVERYTHING, "--out", str(out)) == 0
    page = (out / "summary.html").read_text(encoding="utf-8")
    assert "Site locations" in page
    assert page.count("<svg") == 6 * len(MEASURES)
    assert "src=" not in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


def test_json_lists_the_solutions(files, capsys):
    assert (
        vbas(
            "compare",
            files,
            "--quasi-identifiers",
            "age",
            "--sites",
            "3",
            "--range-reach",
            "0",
            "--json",
        )
        == 0
    )
    (solution,) = json.loads(capsys.readouterr().out)["solutions"]
    assert (solution["site_number"], solution["site_location"], solution["sites"]) == (
        "fixed",
        "balanced-density",
        3,
    )


def test_a_dry_run_tells_the_work_and_does_none(files, capsys):
    data = [str(files / "records.csv"), str(files / "regions.csv")]
    assert main(["compare", *data, "--region-column", "region", *EVERYTHING, "--dry-run"]) == 0
    assert (
        capsys.readouterr().out
        == "96 combinations in 6 scenarios make 96 aggregations. About a second to go.\n"
    )
    assert not list(files.glob(".*.combinations"))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--quasi-identifiers", "age;;sex"), "a name is missing"),
        (("--quasi-identifiers", "age", "-k", "5,x"), "not a whole number"),
        (("--quasi-identifiers", "age", "--site-location", "nowhere"), "unknown"),
    ],
)
def test_wrong_lists_are_wrong_usage(files, capsys, more, message):
    with pytest.raises(SystemExit) as end:
        vbas("compare", files, *more)
    assert end.value.code == 2
    assert message in capsys.readouterr().err


def test_generalised_without_groups_is_wrong_usage(files, capsys):
    assert vbas("compare", files, "--quasi-identifiers", "age", "--generalised", "yes") == 2
    assert "needs --generalise FILE" in capsys.readouterr().err


def test_a_folder_with_something_else_is_not_overwritten(files, capsys):
    (files / "out").mkdir()
    (files / "out" / "letter.txt").write_text("dear")
    assert vbas("compare", files, "--quasi-identifiers", "age", "--out", str(files / "out")) == 1
    assert (files / "out" / "letter.txt").read_text() == "dear"


def released_ages(folder: Path):
    with (folder / "release" / "anonymized.csv").open(encoding="utf-8", newline="") as stream:
        return {row["age"] for row in csv.DictReader(stream)}


def test_a_release_holds_the_groups_and_can_be_repeated_without_their_file(files):
    groups = files / "generalise.csv"
    more = (
        "--quasi-identifiers",
        "age,sex",
        "-k",
        "3",
        "--sites",
        "3",
        "--range-reach",
        "1",
        "--no-pdf",
        "--identifiers",
        "person",
    )
    assert vbas("run", files, *more, "--generalise", str(groups), "--out", str(files / "out")) == 0
    document = json.loads((files / "out" / "run.json").read_text(encoding="utf-8"))
    assert document["problem"]["category_numbers"] == [2, 2]
    assert document["options"]["groupings"] == {"age": {"1": "1-2", "2": "1-2", "3": "3-4", "4": "3-4"}}
    assert released_ages(files / "out") == {"1-2", "3-4"}
    groups.unlink()
    assert (
        main(["export", str(files / "out"), "--solution", "1", "--out", str(files / "again"), "--quiet"])
        == 0
    )
    assert released_ages(files / "again") == {"1-2", "3-4"}


def test_a_level_of_a_hierarchy_generalises_a_release(files):
    (files / "ages.csv").write_text("1;low;*\n2;low;*\n3;high;*\n4;high;*\n", encoding="utf-8")
    more = (
        "--quasi-identifiers",
        "age,sex",
        "-k",
        "3",
        "--sites",
        "3",
        "--no-pdf",
        "--identifiers",
        "person",
        "--out",
        str(files / "out"),
    )
    assert vbas("run", files, *more, "--generalise", f"age={files / 'ages.csv'}:1") == 0
    assert released_ages(files / "out") == {"low", "high"}


def test_groups_of_a_column_that_is_no_quasi_identifier_are_not_used_and_told(files, capsys):
    data = [str(files / "records.csv"), str(files / "regions.csv")]
    more = ["--quasi-identifiers", "sex", "--sites", "3", "--generalise", str(files / "generalise.csv")]
    assert main(["run", *data, "--region-column", "region", *more]) == 0
    assert "is no quasi-identifier; it stays as it is" in capsys.readouterr().err


COMBINATIONS = (
    "--quasi-identifiers",
    "age",
    "-k",
    "2",
    "--sites",
    "1,3",
    "--range-reach",
    "0",
    "--site-location",
    "density",
)


def test_every_solution_of_a_comparison_has_its_vector(files, capsys):
    out = files / "out"
    assert vbas("compare", files, *COMBINATIONS, "--out", str(out)) == 0
    rows = table(out)
    capsys.readouterr()
    for row in rows:
        sites = ("--sites", row["sites"], "--range-reach", "0", "--site-location", "density")
        assert vbas("run", files, "--quasi-identifiers", "age", "-k", "2", *sites, "--json") == 0
        vector = json.loads(capsys.readouterr().out)["solutions"][0]["representability"]
        for name in (
            "precision",
            "jaccard",
            "fowlkes_mallows",
            "davies_bouldin",
            "mean_distance",
            "sample_size_ratio",
        ):
            assert row[name] == ("" if vector[name] is None else str(vector[name]))
        assert row["distance_unit"] == vector["distance_unit"]


def test_a_comparison_shows_the_solutions_that_meet_a_requirement(files, capsys):
    (files / "need.json").write_text('{"format_version": 1, "overall": {"mean_distance": {"max": 0.7}}}')
    need = ("--requirement", str(files / "need.json"))
    assert vbas("compare", files, *COMBINATIONS, *need, "--json") == 0
    rows = json.loads(capsys.readouterr().out)["solutions"]
    assert {row["sites"]: row["meets_requirement"] for row in rows} == {1: "no", 3: "yes"}
    assert vbas("compare", files, *COMBINATIONS, *need, "--suitable-only", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)["solutions"]
    assert (row["sites"], row["solution"]) == (3, 2)
    assert (
        vbas("compare", files, *COMBINATIONS, *need, "--suitable-only", "--out", str(files / "out")) == 0
    )
    assert [row["sites"] for row in table(files / "out")] == ["3"]
    assert "Solutions that meet the requirement: 2 (of 2)" in capsys.readouterr().out
    (files / "need.json").write_text('{"format_version": 1, "overall": {"mean_distance": {"max": 0}}}')
    assert vbas("compare", files, *COMBINATIONS, *need, "--suitable-only") == 1
    assert "None of the 2 solutions meets the requirement" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["compare", "run"])
def test_records_that_change_while_they_are_read_give_no_result(capsys, files, monkeypatch, command):
    told = hashing.HashingReader.source

    def changed_after(self):
        source = told(self)
        with (files / "records.csv").open("r+b") as file:
            file.seek(40)
            file.write(b"9")
        os.utime(files / "records.csv", ns=(0, source.state[1] + 1))
        return source

    monkeypatch.setattr(hashing.HashingReader, "source", changed_after)
    target = files / "out"
    more = (
        "--quasi-identifiers",
        "age",
        "-k",
        "2",
        "--site-number",
        "fixed",
        "--sites",
        "3",
        "--out",
        str(target),
    )
    assert vbas(command, files, *more) == 1
    assert "changed while it was read" in capsys.readouterr().err
    assert not target.exists()
