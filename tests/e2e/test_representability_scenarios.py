"""Three ways to hand out the same forty records: quietly, with the vector, and to a researcher's requirement.

The tables are those of tests/data/parv; docs/representability.md tells the same stories.
"""

import json
from pathlib import Path

import jsonschema
import pytest

from vbas_desktop.cli.main import main

DATA = Path(__file__).parents[1] / "data" / "parv"
DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = json.loads((DOCS / "representability.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def compare(tmp_path, capsys):
    """Compares a release with its original and gives back the vector."""
    levels = tmp_path / "levels"
    levels.mkdir()
    sizes = [f"{n};{'1-5' if n <= 5 else '6-10'};1-10;1-20;*" for n in range(1, 11)]
    (levels / "Hh.csv").write_text("\n".join(sizes) + "\n")
    (levels / "Job.csv").write_text(
        "Self;Works;*\nEmployee;Works;*\nHouse;Unemployed;*\nRetired;Unemployed;*\n"
    )

    def run(number, need=None):
        files = [
            str(DATA / "C2.csv"),
            str(DATA / f"C{number}.csv"),
            "--key",
            "Key",
            "-k",
            "3",
            "--json",
            "--quiet",
        ]
        more = [
            "--quasi-identifiers",
            "Hh,Job",
            "--sensitive",
            "Value,Illness",
            "--hierarchies",
            str(levels),
        ]
        if need is not None:
            (tmp_path / "need.json").write_text(json.dumps({"format_version": 1, **need}))
            more += ["--requirement", str(tmp_path / "need.json")]
        assert main(["representability", *files, *more]) == 0
        vector = json.loads(capsys.readouterr().out)
        jsonschema.validate(vector, SCHEMA)
        return vector

    return run


def verdicts(vector):
    return {row["criterion"]: row["verdict"] for row in vector["requirement"]}


def test_one_way_without_the_vector_the_more_precise_generalisation_is_chosen(compare):
    # Both are 3-anonymous and keep all records; the loss is measured for the custodian's choice alone.
    candidates = {number: compare(number) for number in (3, 4)}
    assert all(vector["classes_below_k"]["k_anonymous"] for vector in candidates.values())
    assert all(vector["general"]["sample_size_ratio"] == 1.0 for vector in candidates.values())
    assert max(candidates, key=lambda number: candidates[number]["overall"]["precision"]) == 3
    # Small classes get aggregated values; key and order of the records do not leave.
    assert compare(7)["sensitive_aggregated"] is True


def test_one_way_with_the_vector_every_element_is_told(compare):
    vector = compare(3)
    assert round(vector["overall"]["precision"], 4) == 0.8375
    assert vector["included_quasi_identifiers"] == ["Hh", "Job"]
    assert vector["general"]["approaches"] == {"generalise": 40}
    assert vector["coding"]["Job"]["records_by_level"] == {"level 0": 37, "level 2": 3}
    told = {tuple(row["class"].values()): row for row in vector["sensitive_values"]["Value"]}
    assert (told["1-5", "Self"]["count"], told["1-5", "Self"]["mean"]) == (6, 39.0)
    assert sum(row["records"] for row in vector["per_class"]) == 40


def test_scenario_2_hands_the_whole_vector_on_with_the_file(capsys, tmp_path):
    # RV1 of the source, § 6.3: C7 against the registry's file C1. Its list of excluded columns names the job, which is
    # in the table, instead of the education, which is not.
    words = {
        "Hh": "Number of people in a household; the ends of an interval such as 6-10 belong to it",
        "Job": "Self-employed, housewives, employees and retired people",
    }
    levels = DOCS / "examples" / "household" / "levels"
    options = [
        "--key",
        "Key",
        "--quasi-identifiers",
        "Hh,Job",
        "-k",
        "3",
        "--quiet",
        "--out",
        str(tmp_path / "out"),
    ]
    options += ["--hierarchies", str(levels), "--sensitive", "PSA,Illness,Value"]
    options += ["--reason", "Age=no independent variable", "--aim", "Job=possible confounder"]
    for column, text in words.items():
        options += ["--meaning", f"{column}={text}"]
    assert main(["representability", str(DATA / "C1.csv"), str(DATA / "C7.csv"), *options]) == 0
    capsys.readouterr()
    vector = json.loads((tmp_path / "out" / "representability.json").read_text(encoding="utf-8"))
    jsonschema.validate(vector, SCHEMA)
    assert vector["overall"]["precision"] == 0.8375
    assert list(vector["excluded_attributes"]) == ["Age", "Gender", "Education", "Smoker"]
    details = {row["name"]: row for row in vector["attributes"]}
    assert details["Age"]["reason"] == "no independent variable"
    assert (details["Gender"]["type"], details["Gender"]["range"]) == (
        "binary category",
        {"categories": 2},
    )
    assert details["Job"]["aim"] == "possible confounder"
    assert vector["excluded_classes"] == {"classes": [], "unnamed_records": 0}
    assert {name: facts["description"] for name, facts in vector["coding"].items()} == words
    # Table 6.9, for the classes of fewer than ten records.
    found = {
        tuple(row["class"].values()): (
            row["count"],
            int(100 * row["mean"]) / 100,
            int(100 * row["sd"]) / 100,
        )
        for row in vector["sensitive_values"]["Value"]
        if row["count"] < 10
    }
    assert found == {
        ("1-5", "Retired"): (6, 40.16, 5.67),
        ("1-5", "Self"): (6, 39.0, 3.09),
        ("6-10", "***"): (3, 44.0, 6.55),
    }
    assert vector["weights"] == {
        "quasi_identifiers": {"Hh": 0.5, "Job": 0.5},
        "levels": {},
        "levels_normalised": False,
    }
    assert vector["general"]["approaches"] == {"generalise": 40}
    assert (vector["general"]["k"], vector["general"]["sample_size_ratio"]) == (3, 1.0)
    page = (tmp_path / "out" / "representability.html").read_text(encoding="utf-8")
    for text in (*words.values(), "no independent variable", "40.17", "5.6", "Yes 90.9 %", "0.8375"):
        assert text in page


CASE_1 = {
    "title": "Illness and value, self-employed apart",
    "overall": {"precision": {"min": 0.8}},
    "required_quasi_identifiers": ["Hh", "Job"],
    "required_classes": [{"Job": "Self"}],
    "required_sensitive": ["Illness", "Value"],
}


def test_to_a_requirement_the_coarse_table_is_rejected_and_the_other_one_is_not(compare):
    found = verdicts(compare(4, CASE_1))
    assert {name for name, verdict in found.items() if verdict == "not met"} == {
        "Detail kept",
        "Class Job = Self",
    }
    assert set(verdicts(compare(3, CASE_1)).values()) == {"ok"}


def test_to_a_requirement_aggregated_values_are_rejected_by_whoever_needs_single_ones(compare):
    assert set(verdicts(compare(7, CASE_1)).values()) == {"ok"}
    found = verdicts(compare(7, {**CASE_1, "no_aggregation": True}))
    assert [name for name, verdict in found.items() if verdict == "not met"] == ["Sensitive values"]
    assert set(verdicts(compare(3, {**CASE_1, "no_aggregation": True})).values()) == {"ok"}


def test_the_worked_example_in_the_documentation_has_these_numbers(compare):
    text = (DOCS / "representability.md").read_text(encoding="utf-8")
    for number in (3, 4):
        overall = compare(number)["overall"]
        assert (
            f"{overall['precision']:.4f} | {overall['jaccard']:.4f} | {overall['fowlkes_mallows']:.4f}"
            in text
        )


def test_the_example_in_the_documentation_is_the_same_tables_and_the_same_requirement(compare):
    example = DOCS / "examples" / "household"
    for number in (2, 3, 4, 7):
        assert (example / f"C{number}.csv").read_bytes() == (DATA / f"C{number}.csv").read_bytes()
    assert json.loads((example / "need.json").read_text()) == {"format_version": 1, **CASE_1}
    for name in ("Hh", "Job"):
        assert (example / "levels" / f"{name}.csv").read_text().splitlines()


@pytest.mark.parametrize("number", [2, 5, 6, 7])
def test_every_table_gives_a_vector_as_the_schema_says(compare, number):
    assert compare(number)["format_version"] == 1
