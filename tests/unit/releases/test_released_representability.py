"""What a release says of the geography it keeps, and to whom."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from release_making import load, released_rows, small_case, write_records, write_regions

from vbas_desktop.engine.geographic_representability import measure_geographic_representability
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.records import Grouping
from vbas_desktop.releases.plan import build_plan
from vbas_desktop.settings.release import ReleaseOptions

SCHEMA = json.loads(
    (Path(__file__).parents[3] / "docs" / "representability.schema.json").read_text(encoding="utf-8")
)


def vector_of(report):
    vector = json.loads((report.folder / "representability.json").read_text(encoding="utf-8"))
    jsonschema.validate(vector, SCHEMA)
    return vector


def test_the_recipient_gets_the_vector_rounded_and_listed_among_the_checksums(tmp_path):
    case = small_case(tmp_path, records=2000)
    report = case.release(
        tmp_path / "out", ReleaseOptions(identifiers=("name",), renames={"age": "years"}, pdf=False)
    )
    told = vector_of(report)
    exact = measure_geographic_representability(case.problem, case.solution)
    assert told["overall"]["precision"] == float(f"{exact.precision:.2g}")
    assert told["weights"]["quasi_identifiers"] == {"years": 1 / 3, "sex": 1 / 3, "region": 1 / 3}
    assert (
        sum(told["coding"]["region"]["records_by_level"].values()) == told["general"]["released_records"]
    )
    assert told["excluded_attributes"] == {"name": "identifier"}
    assert told["included_quasi_identifiers"] == ["years", "sex", "region"]
    assert told["general"]["released_records"] == len(released_rows(tmp_path / "out")) - 1
    assert [row["records"] for row in told["per_class"]] == sorted_by_code(case)
    assert "  representability.json\n" in (report.folder / "SHA256SUMS").read_text()


def test_columns_are_described_by_their_released_values_and_the_custodians_words(tmp_path):
    case = small_case(tmp_path, records=2000)
    options = ReleaseOptions(
        identifiers=("name",),
        renames={"age": "years"},
        reasons={"name": "names people", "age": "possible confounder"},
        aims={"age": "risk factor"},
        meanings={"age": "Completed years, at the day of the survey"},
        pdf=False,
    )
    report = case.release(tmp_path / "out", options)
    told = vector_of(report)
    rows = {row["name"]: row for row in told["attributes"]}
    assert list(rows) == ["name", "years", "sex", "region"]
    assert rows["name"] == {
        "name": "name",
        "use": "excluded",
        "type": None,
        "range": None,
        "aim": "",
        "reason": "names people",
    }
    ages = [
        int(row[released_rows(tmp_path / "out")[0].index("years")])
        for row in released_rows(tmp_path / "out")[1:]
    ]
    assert (rows["years"]["type"], rows["years"]["range"]) == (
        "discrete number",
        {"from": min(ages), "to": max(ages)},
    )
    assert (rows["years"]["aim"], rows["years"]["reason"]) == ("risk factor", "possible confounder")
    assert rows["sex"]["type"] == "binary category"
    assert rows["region"]["range"] == {"categories": told["general"]["aggregated_regions"]}
    assert told["coding"]["years"]["description"] == "Completed years, at the day of the survey"
    assert told["excluded_attributes"] == {"name": "names people"}
    page = (report.target / "release" / "report.html").read_text(encoding="utf-8")
    for words in (
        "Columns in detail",
        "names people",
        "risk factor",
        "Completed years",
        "Hubert’s statistic",
    ):
        assert words in page


def test_words_on_columns_that_the_file_lacks_are_refused(tmp_path):
    case = small_case(tmp_path)
    for name in ("reasons", "aims", "meanings"):
        with pytest.raises(InputError, match="no such column"):
            case.release(tmp_path / "out", ReleaseOptions(**{name: {"nobody": "x"}}))


def test_hubert_follows_from_the_printed_index_and_entropy_is_not_told(tmp_path):
    rows = [
        ["p", str(number % 40), "fm"[number % 2], f"r{number // 40 % 16}", "n"]
        for number in range(12_000)
    ]
    case = load(write_records(tmp_path, rows), write_regions(tmp_path), k=3, sites=4)
    vector, exact = (
        vector_of(case.release(tmp_path / "out")),
        measure_geographic_representability(case.problem, case.solution),
    )
    assert vector["overall"]["hubert"] == pytest.approx(exact.table.hubert, abs=0.02)
    assert vector["overall"]["entropy_loss"] is None
    assert 0 < exact.table.entropy_loss < 1
    parts = [row["davies_bouldin"] for row in vector["per_class"]]
    assert np.mean(parts) == pytest.approx(vector["overall"]["davies_bouldin"], rel=0.1)


@pytest.mark.parametrize(("groups", "level"), [({"f": "1", "m": "2"}, 0), ({"f": "1", "m": "1"}, 1)])
def test_groups_of_single_values_are_only_other_names(tmp_path, groups, level):
    rows = [["p", "20", "fm"[number % 2], f"r{number % 16}", "n"] for number in range(800)]
    case = load(
        write_records(tmp_path, rows),
        write_regions(tmp_path),
        k=3,
        sites=4,
        groupings=(Grouping("sex", groups),),
    )
    exact = measure_geographic_representability(case.problem, case.solution)
    assert exact.levels["sex"] == {level: 800}
    vector = vector_of(case.release(tmp_path / "out"))
    assert vector["coding"]["sex"]["records_by_level"] == {f"level {level}": 800}
    assert vector["overall"]["precision_by_column"]["sex"] == 1 - level / 2
    words = {0: "other names for the recorded values", 1: "grouped values"}
    assert vector["coding"]["sex"]["meaning"] == words[level]


def sorted_by_code(case):
    plan = build_plan(case.problem, case.solution)
    return [int(plan.released_by_region[n]) for n in np.argsort(plan.codes)]


def test_distances_take_every_initial_region_once_whatever_its_records(tmp_path):
    case = small_case(tmp_path, records=2000)
    vector = vector_of(case.release(tmp_path / "out"))
    plan = build_plan(case.problem, case.solution)
    points, expected = case.problem.regions.points, []
    for number in np.argsort(plan.codes):
        mine = points[plan.membership == number]
        expected.append(float(np.hypot(*(mine - mine.mean(axis=0)).T).mean()))
    assert [row["mean_distance"] for row in vector["per_class"]] == [
        float(f"{value:.2g}") for value in expected
    ]
    weights = [row["records"] for row in vector["per_class"]]
    assert vector["overall"]["mean_distance"] == float(f"{np.average(expected, weights=weights):.2g}")
    assert vector["overall"]["davies_bouldin"] > 0
    assert 0 < vector["overall"]["davies_bouldin_normalised"] < 1


def test_how_released_records_were_spread_over_initial_regions_does_not_show(tmp_path):
    # Of the 200 records of a region one has 3, 30 or 100 in its second initial region.
    made = []
    for few in (3, 30, 100):
        rows = [["p", "20", "f", "r0", "n"]] * (200 - few) + [["p", "20", "f", "r1", "n"]] * few
        rows += [["p", "20", "f", f"r{number}", "n"] for number in (14, 15) for _ in range(100)]
        case = load(write_records(tmp_path, rows), write_regions(tmp_path), k=5, sites=1)
        made.append((case.release(tmp_path / "out").folder / "representability.json").read_bytes())
    assert made[0] == made[1] == made[2]


def test_the_indices_of_many_classes_are_told_to_two_decimals(tmp_path):
    rows = [
        ["p", str(number % 40), "fm"[number % 2], f"r{number % 16}", "n"] for number in range(12_000)
    ]
    case = load(write_records(tmp_path, rows), write_regions(tmp_path), k=3, sites=4)
    overall, exact = (
        vector_of(case.release(tmp_path / "out"))["overall"],
        measure_geographic_representability(case.problem, case.solution),
    )
    assert abs(overall["jaccard"] - exact.table.jaccard) <= 0.015
    assert overall["fowlkes_mallows"] == float(f"{np.sqrt(overall['jaccard']):.2g}")
    assert overall["rand"] == pytest.approx(exact.table.rand, abs=0.01)


def test_the_index_of_one_region_is_told_of_single_initial_regions_only(tmp_path):
    rows = [["p", "20", "f", f"r{number}", "n"] for number in (0, 1, 15) for _ in range(100)]
    case = load(write_records(tmp_path, rows), write_regions(tmp_path), k=5, sites=16)
    vector = vector_of(case.release(tmp_path / "out", ReleaseOptions(pdf=False)))
    for row in vector["per_class"]:
        assert row["jaccard"] == (1.0 if row["original_classes"] == 1 and row["records"] else None)


def test_numbers_of_suppressed_records_are_never_told(tmp_path):
    rows = [["p", "20", "f", "r0", "n"]] * 100 + [["p", "90", "f", "r0", "n"]] * 20
    case = load(write_records(tmp_path, rows), write_regions(tmp_path), k=30, sites=1)
    told = vector_of(case.release(tmp_path / "out"))
    assert told["overall"]["sample_size_ratio"] is None
    assert told["excluded_classes"]["unnamed_records"] is None
    assert told["general"]["approaches"]["delete"] is None


def test_both_reports_say_what_remains_of_the_geography(tmp_path):
    report = small_case(tmp_path).release(tmp_path / "out")
    for folder in ("release", "internal"):
        page = (report.target / folder / "report.html").read_text(encoding="utf-8")
        assert "What remains of the geography" in page
        assert "Davies–Bouldin, normalised" in page
    assert "quartiles of Jaccard" in page
