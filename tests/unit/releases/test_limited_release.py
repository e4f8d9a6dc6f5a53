"""A release under limits: what both reports say of them, and what the verification refuses."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from release_making import Case, write_records

from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.cli.main import main
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.model.findings import VerificationFailed
from vbas_desktop.settings.constraints import RegionConstraints
from vbas_desktop.settings.reading import RecordReading
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.run import RunSettings

COUNTY, PEOPLE = "AABBBBCC", (100, 200, 300, 400, 500, 600, 30, 40)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Eight regions in a row, in three counties; 12 records of each of two ages in every region."""
    lines = [
        f"r{i},{i},{i % 2},{county},{people}"
        for i, (county, people) in enumerate(zip(COUNTY, PEOPLE, strict=True))
    ]
    (tmp_path / "regions.csv").write_text("\n".join(["id,x,y,county,people", *lines]) + "\n")
    write_records(
        tmp_path,
        [[age, f"r{i}"] for i in range(8) for age in "12" for _ in range(12)],
        ["age", "region"],
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


BASE = ["run", "records.csv", "regions.csv", "--region-column", "region", "--quasi-identifiers", "age", "--no-pdf",
        "--range-reach", "0", "--sites", "8", "--quiet", "--out", "out"]  # fmt: skip
WISHES = ["--population-column", "people", "--min-population", "290", "--within", "county"]


def release_of(folder, *words):
    assert main([*BASE, *words]) == 0
    with (folder / "out" / "release" / "crosswalk.csv").open(newline="") as file:
        crosswalk = {row["initial_region"]: row["aggregated_region"] for row in csv.DictReader(file)}
    pages = [(folder / "out" / place / "report.html").read_text() for place in ("release", "internal")]
    (solution,) = json.loads((folder / "out" / "run.json").read_text())["solutions"]
    return crosswalk, *pages, solution


def test_both_reports_say_which_limits_held(folder):
    crosswalk, recipient, internal, solution = release_of(folder, *WISHES, "--alone", "r2")
    merged = {tuple(id for id in crosswalk if crosswalk[id] == code) for code in crosswalk.values()}
    assert merged == {("r0", "r1"), ("r2",), ("r3",), ("r4",), ("r5",), ("r6", "r7")}
    code = crosswalk["r6"]
    assert solution["limits"]["unmet"] == [
        {"region": code, "what": "population", "at_least": 290, "has": 70}
    ]
    for page in (recipient, internal):
        assert "o aggregated region crosses a boundary of “county”" in page
        assert "egions that stay alone are merged with no other" in page
    assert "two values of “county”" in recipient
    assert f"at least 290, but for {code}; regions that stay alone apart" in recipient
    assert "Population of each region" in recipient
    assert "4 of 5 aggregated regions that may be merged" in internal
    assert f"<td>{code}</td>" in internal.split("What is not met")[1].split("</table>")[0]


def test_both_reports_name_plane_coordinates(folder):
    _, recipient, internal, _ = release_of(folder, "--coordinates", "planar")
    for page in (recipient, internal):
        assert "plane coordinates as in the region file" in page


def test_the_recipient_learns_of_a_minimum_of_records_only_what_is_released(folder):
    _, recipient, internal, _ = release_of(folder, "--min-records", "48")
    assert "Records of each region" in recipient
    assert "Records of each region: at least 48" in internal
    # One class is suppressed in each region: nobody may conclude from the minimum that there was one.
    rows = [[age, f"r{i}"] for i in range(8) for age in "12" for _ in range(12 if age == "1" else 2)]
    write_records(folder, rows, ["age", "region"])
    _, recipient, internal, solution = release_of(folder, "--min-records", "28", "-k", "5")
    assert solution["suppressed_percent"] > 0
    assert "Records of each region: at least 28" in internal
    assert "Records of each region" not in recipient
    assert "28" not in recipient.split("What was chosen")[1].split("The map")[0]


def test_a_maximum_of_records_is_never_told(folder):
    _, recipient, internal, _ = release_of(folder, "--max-records", "4321")
    assert "4,321" in internal
    assert "4,321" not in recipient
    assert "4321" not in recipient


def case_of(folder, wanted):
    table = load_records(folder / "records.csv", RecordReading(category_counts="no"))
    regions = load_regions(folder / "regions.csv")
    problem = build_problem(table, regions, region_column="region", quasi_identifiers=("age",), k=5)
    number, location = (
        create_approach("site_number", "fixed", {"sites": 8}),
        create_approach("site_location", "balanced-density"),
    )
    request = Request(
        problem,
        number,
        location,
        create_approach("construction", "voronoi"),
        settings=RunSettings(range_reach=0, **wanted.option_values()),
    )
    return Case(table, problem, run(request))


@pytest.mark.parametrize(
    ("wanted", "together", "noticed"),
    [
        (RegionConstraints(within=("county",)), (1, 2), "crosses a boundary of “county”"),
        (RegionConstraints(alone=("r5",)), (4, 5), "stay alone"),
    ],
)
def test_a_release_that_crosses_a_boundary_is_never_left_behind(folder, wanted, together, noticed):
    case = case_of(folder, wanted)
    case.release(folder / "good", ReleaseOptions(pdf=False))
    owner = np.array(case.solution.owner)
    owner[together[1]] = owner[together[0]]
    broken = replace(case.result, solutions=(replace(case.solution, owner=owner),))
    with pytest.raises(VerificationFailed, match=noticed):
        Case(case.table, case.problem, broken).release(folder / "bad", ReleaseOptions(pdf=False))
    assert not (folder / "bad").exists()


def test_ids_that_stay_alone_can_come_from_a_file(folder, capsys):
    (folder / "prisons.txt").write_text("r3\n\nr4\n", encoding="utf-8")
    assert main([*BASE, "--alone", "@prisons.txt"]) == 0
    options = json.loads((folder / "out" / "run.json").read_text())["options"]
    assert options["alone"] == ["r3", "r4"]
    with pytest.raises(SystemExit):
        main([*BASE, "--alone", "@nowhere.txt"])
    assert "the file “nowhere.txt” cannot be read as text" in capsys.readouterr().err


def test_searches_and_comparisons_keep_to_the_limits_too(folder, capsys):
    words = [
        "records.csv",
        "regions.csv",
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age",
        "--quiet",
        "--json",
    ]
    assert main(["search", *words, "--within", "county", "--min-records", "48"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert next(row["aggregated_regions"] for row in found["nodes"]) == 4
    assert main(["compare", *words, "--within", "county", "--min-records", "48", "--site-number", "fixed", "--sites",
                 "8", "--range-reach", "0", "--construction", "voronoi,growth"]) == 0  # fmt: skip
    rows = json.loads(capsys.readouterr().out)["solutions"]
    assert [row["aggregated_regions"] for row in rows] == [4, 4]
