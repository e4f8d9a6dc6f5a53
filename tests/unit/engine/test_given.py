"""The construction “Given”: the regions of a crosswalk, whatever the number of sites, in every command."""

from __future__ import annotations

import json

import numpy as np
import pytest

from vbas_desktop.cli.main import main
from vbas_desktop.io.regions.crosswalk import load_given_partition, write_partition
from vbas_desktop.model.findings import InputError

HEAD = "initial_region,aggregated_region\n"
COLUMNS = ["--region-column", "region", "--quasi-identifiers", "colour", "-k", "2"]
GIVEN = ["--construction", "given", "--set", "given.file=given.csv"]
MERGED = {"r0": "west", "r1": "east", "r2": "west", "r3": "east"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Four regions in a row, of which the crosswalk merges the first and the third, the second and the fourth."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "regions.csv").write_text(
        "id,x,y,half\n" + "".join(f"r{i},{i},0,{'west' if i < 2 else 'east'}\n" for i in range(4))
    )
    people = [("r0", "red", 3), ("r1", "red", 1), ("r1", "blue", 4), ("r2", "blue", 1), ("r3", "red", 2)]
    rows = [f"{region},{colour}" for region, colour, number in people for _ in range(number)]
    (tmp_path / "records.csv").write_text("region,colour\n" + "\n".join(rows) + "\n")
    (tmp_path / "given.csv").write_text(HEAD + "".join(f"{id},{code}\n" for id, code in MERGED.items()))
    return tmp_path


def run_document(capsys, *options):
    assert (
        main(["run", "records.csv", "regions.csv", *COLUMNS, *GIVEN, *options, "--json", "--quiet"]) == 0
    )
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "options", [[], ["--sites", "3"], ["--site-number", "maxcombs", "--range-reach", "5"]]
)
def test_there_is_one_solution_with_the_regions_of_the_crosswalk(folder, capsys, options):
    (solution,) = run_document(capsys, *options)["solutions"]
    assert (solution["sites"], solution["aggregated_regions"]) == (2, 2)
    # The single blue record of r2 is alone in “west”; the red one of r1 is with those of r3.
    assert solution["measures"]["suppressed_records"] == 1
    assert solution["given"]["aggregated_regions"] == 2


def test_a_release_has_the_regions_of_the_crosswalk_and_is_verified(folder, capsys):
    run = [
        "run",
        "records.csv",
        "regions.csv",
        *COLUMNS,
        *GIVEN,
        "--exceed-loss",
        "--out",
        "out",
        "--quiet",
    ]
    assert main(run) == 0
    _, *rows = (folder / "out/release/crosswalk.csv").read_text().splitlines()
    codes = dict(row.split(",")[:2] for row in rows)
    assert codes["r0"] == codes["r2"] != codes["r1"] == codes["r3"]
    capsys.readouterr()
    assert main(["verify", "out/release/anonymized.csv", *COLUMNS, "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["records"] == 10


def test_a_loss_of_given_regions_is_not_answered_with_fewer_sites(folder, capsys):
    run = [
        "run",
        "records.csv",
        "regions.csv",
        *COLUMNS,
        *GIVEN,
        "--allowed-loss",
        "1",
        "--out",
        "out",
        "--quiet",
    ]
    assert main(run) == 1
    said = capsys.readouterr().err
    assert (
        "1 too rare in their region. Give a crosswalk of larger regions, or take categories together."
        in said
    )
    assert "fewer sites" not in said


def test_the_crosswalk_of_a_release_gives_the_same_release(folder, capsys):
    options = ["--exceed-loss", "--shuffle-seed", "abc123", "--quiet"]
    first = ["run", "records.csv", "regions.csv", *COLUMNS, *GIVEN, *options, "--out", "first"]
    again = ["--construction", "given", "--set", "given.file=first/release/crosswalk.csv"]
    assert main(first) == 0
    assert (
        main(["run", "records.csv", "regions.csv", *COLUMNS, *again, *options, "--out", "second"]) == 0
    )
    for name in ("anonymized.csv", "crosswalk.csv", "aggregated_regions.csv"):
        assert (folder / "second/release" / name).read_bytes() == (
            folder / "first/release" / name
        ).read_bytes()


def test_an_export_repeats_the_run_and_refuses_another_crosswalk(folder, capsys):
    run = [
        "run",
        "records.csv",
        "regions.csv",
        *COLUMNS,
        *GIVEN,
        "--exceed-loss",
        "--out",
        "out",
        "--quiet",
    ]
    assert main(run) == 0
    export = ["export", "out", "--exceed-loss", "--quiet", "--out"]
    assert main([*export, "again"]) == 0
    name = "release/anonymized.csv"
    assert (folder / "again" / name).read_bytes() == (folder / "out" / name).read_bytes()
    # As many regions and suppressed records as before, but other regions.
    (folder / "given.csv").write_text(HEAD + "r0,a\nr1,b\nr2,a\nr3,b\n\n")
    assert main([*export, "other"]) == 1
    assert "gave another solution" in capsys.readouterr().err
    assert not (folder / "other").exists()


def test_compare_and_search_use_the_crosswalk(folder, capsys):
    constructions = ["--construction", "given,voronoi", "--set", "given.file=given.csv"]
    sites = ["--site-number", "fixed", "--sites", "4", "--range-reach", "0"]
    compare = [
        "compare",
        "records.csv",
        "regions.csv",
        *COLUMNS,
        *sites,
        *constructions,
        "--json",
        "--quiet",
    ]
    assert main(compare) == 0
    rows = json.loads(capsys.readouterr().out)["solutions"]
    assert {row["construction"]: row["aggregated_regions"] for row in rows} == {"given": 2, "voronoi": 4}
    assert main(["search", "records.csv", "regions.csv", *COLUMNS, *GIVEN, "--json", "--quiet"]) == 0
    nodes = json.loads(capsys.readouterr().out)["nodes"]
    assert {node["sites"] for node in nodes} == {2}


@pytest.mark.parametrize(
    "more",
    [["--within", "half"], ["--min-records", "7"], ["--alone", "r0"]],
)
def test_limits_that_would_change_the_regions_are_refused(folder, capsys, more):
    assert main(["run", "records.csv", "regions.csv", *COLUMNS, *GIVEN, *more, "--quiet"]) == 1
    assert "“Given” merges regions as the crosswalk says" in capsys.readouterr().err


def test_limits_that_the_regions_keep_are_allowed(folder, capsys):
    (folder / "given.csv").write_text(HEAD + "r0,b\nr1,b\nr2,a\nr3,a\n")
    (solution,) = run_document(capsys, "--within", "half")["solutions"]
    assert solution["aggregated_regions"] == 2


def test_the_crosswalk_must_be_named(folder, capsys):
    assert main(["run", "records.csv", "regions.csv", *COLUMNS, "--construction", "given"]) == 2
    assert "“given” needs --set given.file" in capsys.readouterr().err


def test_the_crosswalk_is_never_replaced_by_the_release(folder, capsys):
    (folder / "out").mkdir()
    (folder / "given.csv").rename(folder / "out" / "run.json")
    named = ["--construction", "given", "--set", "given.file=out/run.json"]
    assert main(["run", "records.csv", "regions.csv", *COLUMNS, *named, "--out", "out"]) == 1
    assert (folder / "out" / "run.json").read_text().startswith(HEAD)


def test_everything_that_is_wrong_with_a_crosswalk_is_told_with_its_row(tmp_path):
    path = tmp_path / "crosswalk.csv"
    path.write_text(HEAD + "r0,a\nr9,a\n\nr0,b\nr1,\nr2,a\n")
    with pytest.raises(InputError) as error:
        load_given_partition(str(path), ["r0", "r1", "r2", "r3"])
    assert [(finding.row, finding.message) for finding in error.value.findings] == [
        (3, "“r9” is not in the region file."),
        (5, "“r0” is listed twice: also in row 2."),
        (6, "The row does not name an initial region and its aggregated region."),
    ]
    assert {finding.file for finding in error.value.findings} == {str(path)}
    assert all(finding.remedy for finding in error.value.findings)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "r1,a\n", "3 initial regions of the region file are missing, the first is “r0”."),
        (
            HEAD + "r0,a\nr1,a\nr3,a\n",
            "1 initial region of the region file is missing, the first is “r2”.",
        ),
        ("id,x,y\nr0,1,2\n", "This is not a crosswalk: its columns are others."),
        ("initial_region;aggregated_region\nr0;a\n", "This is not a crosswalk: its columns are others."),
        ("", "This is not a crosswalk: its columns are others."),
    ],
)
def test_incomplete_files_and_other_files_are_refused(tmp_path, text, message):
    path = tmp_path / "crosswalk.csv"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        load_given_partition(str(path), ["r0", "r1", "r2", "r3"])
    assert [finding.message for finding in error.value.findings] == [message]


def test_regions_are_numbered_in_the_order_of_the_region_file(tmp_path):
    path = tmp_path / "crosswalk.csv"
    path.write_text(HEAD + "r3,10\nr2,2\nr1,10\nr0,9\n")
    assert load_given_partition(str(path), ["r0", "r1", "r2", "r3"]).region.tolist() == [0, 1, 2, 1]


def test_a_written_partition_is_read_back(tmp_path):
    path = tmp_path / "crosswalk.csv"
    ids = ['with "quotes", and comma', "=1+1", "plain"]
    write_partition(path, ids, np.array([7, 2, 7], np.int32))
    assert path.read_bytes().splitlines()[1:] == [
        b'"with ""quotes"", and comma",1',
        b"=1+1,2",
        b"plain,1",
    ]
    assert load_given_partition(str(path), ids).region.tolist() == [0, 1, 0]
