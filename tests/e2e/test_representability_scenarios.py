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
    (levels / "Job.csv").write_text("Self;Works;*\nEmployee;Works;*\nHouse;Unemployed;*\nRetired;Unemployed;*\n")

    def run(number, need=None):
        files = [str(DATA / "C2.csv"), str(DATA / f"C{number}.csv"), "--key", "Key", "-k", "3", "--json", "--quiet"]
        more = ["--quasi-identifiers", "Hh,Job", "--sensitive", "Value,Illness", "--hierarchies", str(levels)]
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


CASE_1 = {
    "title": "Illness and value, self-employed apart",
    "overall": {"precision": {"min": 0.8}},
    "required_quasi_identifiers": ["Hh", "Job"],
    "required_classes": [{"Job": "Self"}],
    "required_sensitive": ["Illness", "Value"],
}


def test_to_a_requirement_the_coarse_table_is_rejected_and_the_other_one_is_not(compare):
    found = verdicts(compare(4, CASE_1))
    assert {name for name, verdict in found.items() if verdict == "not met"} == {"Detail kept", "Class Job = Self"}
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
        assert f"{overall['precision']:.4f} | {overall['jaccard']:.4f} | {overall['fowlkes_mallows']:.4f}" in text


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
