"""What a release says of the geography it keeps, and to whom."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from release_making import load, released_rows, small_case, write_records, write_regions

from vbas_desktop.engine.place import place_vector
from vbas_desktop.release import ReleaseOptions
from vbas_desktop.release.plan import make_plan
from vbas_desktop.release.representability import tellable_regions

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "representability.schema.json").read_text(encoding="utf-8"))


def vector_of(report):
    vector = json.loads((report.folder / "representability.json").read_text(encoding="utf-8"))
    jsonschema.validate(vector, SCHEMA)
    return vector


def test_the_recipient_gets_the_vector_rounded_and_listed_among_the_checksums(tmp_path):
    case = small_case(tmp_path, records=2000)
    report = case.release(tmp_path / "out", ReleaseOptions(identifiers=("name",), pdf=False))
    exact, told = place_vector(case.problem, case.solution), vector_of(report)
    assert told["overall"]["jaccard"] == round(exact.jaccard, 2)
    assert told["overall"]["mean_distance"] == float(f"{exact.mean_distance:.2g}")
    assert told["overall"]["precision"] == exact.precision
    assert told["overall"]["davies_bouldin"] == round(exact.davies_bouldin.value, 2)
    assert told["overall"]["davies_bouldin_normalised"] == round(exact.davies_bouldin.normalised, 2)
    assert told["weights"]["quasi_identifiers"] == {"age": 1 / 3, "sex": 1 / 3, "region": 1 / 3}
    assert sum(told["coding"]["region"]["records_by_level"].values()) == told["general"]["released_records"]
    assert told["excluded_attributes"] == {"name": "identifier"}
    assert told["included_quasi_identifiers"] == ["age", "sex", "region"]
    assert told["general"]["released_records"] == len(released_rows(tmp_path / "out")) - 1
    assert [row["records"] for row in told["per_class"]] == sorted_by_code(case)
    assert "  representability.json\n" in (report.folder / "SHA256SUMS").read_text()


def sorted_by_code(case):
    plan = make_plan(case.problem, case.solution)
    return [int(plan.released_by_region[n]) for n in np.argsort(plan.codes)]


def test_a_region_with_a_few_records_in_one_place_keeps_its_figures_to_itself(tmp_path):
    # r0 and r1 are merged; three of the 103 released records lived in r1, and no figure may give that away.
    rows = [["p", "20", "f", "r0", "n"]] * 100 + [["p", "20", "f", "r1", "n"]] * 3
    rows += [["p", "20", "f", f"r{number}", "n"] for number in (14, 15) for _ in range(100)]
    case = load(write_records(tmp_path, rows), write_regions(tmp_path), k=5, sites=2)
    plan, place = make_plan(case.problem, case.solution), place_vector(case.problem, case.solution)
    with_few = plan.membership[1]
    assert plan.released_by_region[with_few] >= 103
    assert not tellable_regions(plan, place)[with_few]
    told = {row["class"]["region"]: row for row in vector_of(case.release(tmp_path / "out"))["per_class"]}
    assert told[plan.codes[with_few]]["jaccard"] is None
    assert told[plan.codes[with_few]]["mean_distance"] is None


def test_how_the_classes_of_a_region_were_spread_is_told_of_single_initial_regions_only(tmp_path):
    rows = [["p", "20", "f", f"r{number}", "n"] for number in (0, 1, 15) for _ in range(100)]
    case = load(write_records(tmp_path, rows), write_regions(tmp_path), k=5, sites=16)
    vector = vector_of(case.release(tmp_path / "out", ReleaseOptions(pdf=False)))
    for row in vector["per_class"]:
        assert row["jaccard"] == (1.0 if row["original_classes"] == 1 and row["records"] else None)


def test_figures_over_all_do_not_give_away_those_of_the_only_region_that_is_withheld(tmp_path):
    rows = [["p", "20", "f", "r0", "n"]] * 100 + [["p", "20", "f", "r1", "n"]] * 3
    case = load(write_records(tmp_path, rows), write_regions(tmp_path), k=5, sites=1)
    told = vector_of(case.release(tmp_path / "out", ReleaseOptions(pdf=False)))
    assert told["general"]["aggregated_regions"] == 1
    hidden = ("jaccard", "fowlkes_mallows", "rand", "davies_bouldin", "davies_bouldin_normalised", "mean_distance")
    assert {told["overall"][name] for name in hidden} == {None}


@pytest.mark.parametrize(("records", "stated"), [(49, False), (50, True)])
def test_indices_of_few_records_are_not_stated(tmp_path, records, stated):
    rows = [["p", "20", "f", f"r{number % 2}", "n"] for number in range(records)]
    case = load(write_records(tmp_path, rows), write_regions(tmp_path), k=5, sites=1)
    assert (vector_of(case.release(tmp_path / "out"))["overall"]["jaccard"] is not None) is stated


def test_the_ratio_is_left_out_where_it_would_tell_how_few_were_suppressed(tmp_path):
    rows = [["p", "20", "f", "r0", "n"]] * 100 + [["p", "90", "f", "r0", "n"]] * 2
    case = load(write_records(tmp_path, rows), write_regions(tmp_path), k=5, sites=1)
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
