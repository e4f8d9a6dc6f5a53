"""Names of aggregated regions in the papers of a release: the same everywhere, and read back."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from release_making import load, random_rows, write_records, write_regions

from vbas_desktop.algorithms.region_codes import make_region_names
from vbas_desktop.analysis.representability.hierarchy import read_crosswalk_hierarchy
from vbas_desktop.model.findings import InputError, VerificationFailed
from vbas_desktop.model.text import escape_formula
from vbas_desktop.model.tiers import code_columns
from vbas_desktop.releases import preparation
from vbas_desktop.releases.ledger.entry_builder import ReleasedCrosswalk
from vbas_desktop.settings.release import ReleaseOptions


@pytest.fixture
def case(tmp_path):
    path = write_regions(tmp_path)
    head, *lines = path.read_text().splitlines()
    told = [f"{line},{'=North' if number < 8 else 'South'}" for number, line in enumerate(lines)]
    path.write_text("\n".join([f"{head},county", *told]) + "\n")
    return load(write_records(tmp_path, random_rows(900)), path)


def rows_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_names_stand_in_crosswalk_table_shapes_and_reports(case, tmp_path):
    plain, named = tmp_path / "plain", tmp_path / "named"
    options = ReleaseOptions(pdf=False, shuffle_seed="1")
    case.release(plain, options)
    report = case.release(named, options.replaced(name_column="county"))
    names = make_region_names(case.problem.regions, case.solution.membership, "county")
    walk, before = rows_of(named / "release/crosswalk.csv"), rows_of(plain / "release/crosswalk.csv")
    assert before[0] == ["initial_region", "aggregated_region"]
    assert [row[:2] for row in walk] == before
    assert [row[2] for row in walk[1:]] == [
        names[number] for number in case.solution.membership.tolist()
    ]
    by_code = {row[1]: row[2] for row in walk[1:]}
    for folder in ("release", "internal"):
        table = rows_of(named / folder / "aggregated_regions.csv")
        assert table[0][-1] == "name"
        # Tables that stay in the organisation never hold a formula.
        shown = (
            {code: escape_formula(name) for code, name in by_code.items()}
            if folder == "internal"
            else by_code
        )
        assert {row[0]: row[-1] for row in table[1:]} == shown
        assert [row[:-1] for row in table] == rows_of(plain / folder / "aggregated_regions.csv")
        page = (named / folder / "report.html").read_text(encoding="utf-8")
        assert all(name in page for name in by_code.values())
    shapes = json.loads((named / "release/aggregated_regions.geojson").read_text())
    told = (feature["properties"] for feature in shapes["features"])
    assert {each["aggregated_region"]: each["name"] for each in told} == by_code
    assert any("one name" in check.name and check.passed for check in report.checks)
    for kept in ("anonymized.csv", "representability.json"):
        assert (named / "release" / kept).read_bytes() == (plain / "release" / kept).read_bytes()


def test_whoever_reads_a_crosswalk_takes_no_name_for_a_place(case, tmp_path):
    case.release(tmp_path / "plain")
    case.release(tmp_path / "named", ReleaseOptions(pdf=False, name_column="county"))
    plain, named = (tmp_path / name / "release/crosswalk.csv" for name in ("plain", "named"))
    assert read_crosswalk_hierarchy(named, "region") == read_crosswalk_hierarchy(plain, "region")
    assert ReleasedCrosswalk.read(named).codes == ReleasedCrosswalk.read(plain).codes
    assert code_columns(["initial_region", "aggregated_region", "tier_1", "name"]) == 3


def test_names_like_formulas_are_defused_on_demand(case, tmp_path):
    case.release(tmp_path / "out", ReleaseOptions(pdf=False, name_column="county", escape_formulas=True))
    names = {row[-1].partition(" + ")[0] for row in rows_of(tmp_path / "out/release/crosswalk.csv")[1:]}
    assert names == {"'=North", "South"}


def test_a_wrong_column_is_refused_and_nothing_is_written(case, tmp_path):
    with pytest.raises(InputError, match="no column “town”"):
        case.release(tmp_path / "out", ReleaseOptions(pdf=False, name_column="town"))
    assert not (tmp_path / "out").exists()


def test_a_crosswalk_with_other_names_does_not_pass(case, tmp_path, monkeypatch):
    monkeypatch.setattr(
        preparation,
        "make_region_names",
        lambda *_: ("Elsewhere + 3",) * case.solution.aggregated_regions,
    )
    with pytest.raises(VerificationFailed, match="one name"):
        case.release(tmp_path / "out", ReleaseOptions(pdf=False, name_column="county"))
    assert not (tmp_path / "out").exists()
