"""Policies: files that are read with every problem told, and releases judged criterion by criterion."""

from __future__ import annotations

import csv
import json
import re

import pytest
from release_making import write_regions

from vbas_desktop.analysis.policy_evaluation import (
    NO_LEDGER,
    NO_POPULATION,
    CriterionStatus,
    ReleaseFigures,
    collect_ledger_figures,
    collect_population_figures,
    collect_record_figures,
    collect_sensitive_figures,
    evaluate_policy,
    merge_figures,
)
from vbas_desktop.cli.main import main
from vbas_desktop.io.documents.policies import (
    find_policy,
    load_bundled_policies,
    load_policy_text,
    read_policy,
)
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.policies import (
    COMPARISONS,
    MEASURES,
    POPULATION,
    RECORDS,
    Policy,
    PolicyCriterion,
)

GOOD = """format = 1
id = "ours"
name = "Ours"
authority = "The board"
citation = "Minutes"
date = "2024-05-31"
source = "Agreed."

[[criteria]]
measure = "smallest_class"
comparison = "at least"
threshold = 7

[[criteria]]
question = "Agreed?"
"""


def policy(*criteria: PolicyCriterion) -> Policy:
    return Policy("p", "P", "a", "c", "2024", "s", criteria)


def test_every_shipped_policy_has_a_source_a_date_and_criteria_and_can_be_copied(tmp_path):
    areas = {f"area-{number}" for number in (5000, 20000, 70000, 100000, 120000, 250000)}
    assert {"class-5", "class-11", "class-20", *areas} <= set(load_bundled_policies())
    for name, each in load_bundled_policies().items():
        assert each.id == name
        assert each.authority
        assert each.citation
        assert re.fullmatch(r"\d{4}(-\d\d){0,2}|undated", each.date)
        assert each.criteria
        assert len(each.check.split()) > 9, "says what to look up before relying on it"
        copy = tmp_path / "copy.toml"
        copy.write_text(load_policy_text(name), encoding="utf-8")
        again = read_policy(copy)
        assert (again.criteria, again.origin, again.check) == (each.criteria, each.origin, each.check)
        assert again.path == str(copy)


def test_the_example_to_fill_in_is_a_policy_and_names_all_measures(tmp_path):
    text = load_policy_text("")
    assert all(name in text for name in (*MEASURES, *COMPARISONS))
    (tmp_path / "p.toml").write_text(text, encoding="utf-8")
    assert len(read_policy(tmp_path / "p.toml").criteria) == 2


@pytest.mark.parametrize(
    ("before", "after", "line", "said"),
    [
        ("format = 1", "format = 2", 1, "no format that is known"),
        ('id = "ours"', "id = 3", 2, "“id” is missing or is no text"),
        ('authority = "The board"\n', "", None, "“authority” is missing"),
        ('name = "Ours"\n', "", None, "“name” is missing"),
        ('date = "2024-05-31"', 'date = "31.5.2024"', 6, "no date"),
        ('source = "Agreed."', 'source = "Agreed."\nsauce = "x"', 8, "Nothing is known of “sauce”"),
        ('source = "Agreed."', 'source = "Agreed."\ncheck = 3', 8, "“check” is no text"),
        (
            'measure = "smallest_class"',
            'measure = "smallest"',
            10,
            "Criterion 1: there is no measure “smallest”",
        ),
        ('measure = "smallest_class"', 'measure = ["x"]', 10, "Criterion 1: there is no measure"),
        ('comparison = "at least"', 'comparison = ">="', 11, "Criterion 1: how the figure is compared"),
        ("threshold = 7", 'threshold = "7"', 12, "Criterion 1: the threshold"),
        ("threshold = 7", "threshold = -1", 12, "Criterion 1: the threshold"),
        ("threshold = 7", "threshold = nan", 12, "Criterion 1: the threshold"),
        ("threshold = 7", "threshold = true", 12, "Criterion 1: the threshold"),
        (
            "threshold = 7",
            'threshold = 7\nof = "cells"',
            13,
            "Criterion 1: smallest_class is not computed of “cells”",
        ),
        ("threshold = 7", 'threshold = 7\nanswer = "x"', 13, "Criterion 1: a figure has no answer"),
        ('question = "Agreed?"', 'question = " "', 15, "Criterion 2: the question is empty"),
        (
            'question = "Agreed?"',
            'question = "Agreed?"\nthreshold = 3',
            16,
            "Criterion 2: a question has no",
        ),
        ('question = "Agreed?"', 'note = "x"', 14, "Criterion 2: it needs a measure or a question"),
        (
            'question = "Agreed?"',
            'question = "Agreed?"\nwho = "x"',
            16,
            "Criterion 2: nothing is known of “who”",
        ),
        ('name = "Ours"', "name = Ours", 3, "cannot be read"),
        ("[[criteria]]", "[[others]]", None, "There is no criterion"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_line(tmp_path, before, after, line, said):
    path = tmp_path / "p.toml"
    text = GOOD.replace(before, after)
    assert text != GOOD
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_policy(path)
    found = [each for each in error.value.findings if said in each.message]
    assert [(each.row, each.file) for each in found] == [(line, str(path))]
    assert all(each.remedy for each in error.value.findings)
    assert all(
        "Known: format, id" in each.remedy for each in found if said.startswith("Nothing is known")
    )


def test_all_problems_are_told_at_once_and_files_that_are_none_are_refused(tmp_path, capsys):
    path = tmp_path / "p.toml"
    path.write_text(
        GOOD.replace("threshold = 7", "threshold = -1").replace('name = "Ours"', ""), encoding="utf-8"
    )
    assert main(["policies", "check", str(path)]) == 1
    assert len(capsys.readouterr().err.strip().splitlines()) == 2
    for content in (b"\xff\xfe\x00", b"x" * (1 << 20) + b"y"):
        path.write_bytes(content)
        assert main(["policies", "check", str(path)]) == 1
    assert main(["policies", "check", str(tmp_path / "none.toml")]) == 1
    assert main(["policies", "check", str(tmp_path)]) == 1
    assert main(["policies", "show", "class-12"]) == 1
    assert "Known: area-5000" in capsys.readouterr().err
    with pytest.raises(InputError, match="address"):
        find_policy("https://example.org/p.toml")


def test_policies_are_listed_shown_and_copied(tmp_path, capsys):
    assert main(["policies", "list"]) == 0
    assert "class-11" in capsys.readouterr().out
    assert main(["policies", "list", "--json"]) == 0
    assert [each["id"] for each in json.loads(capsys.readouterr().out)] == list(load_bundled_policies())
    assert main(["policies", "template", "area-20000"]) == 0
    printed = capsys.readouterr().out
    assert main(["policies", "template", "area-20000", "--out", str(tmp_path / "copy.toml")]) == 0
    assert (tmp_path / "copy.toml").read_text(encoding="utf-8") == printed
    assert main(["policies", "check", str(tmp_path / "copy.toml")]) == 0
    assert main(["policies", "show", str(tmp_path / "copy.toml")]) == 0
    said = capsys.readouterr().out
    assert "45 CFR 164.514(b)(2)" in said
    assert "more than 20,000" in said
    assert main(["policies", "show", "class-5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["criteria"][0]["threshold"] == 5


@pytest.mark.parametrize(
    ("comparison", "held"),
    [("at least", [False, True, True]), ("more than", [False, False, True]),
     ("at most", [True, True, False]), ("less than", [True, False, False])],
)  # fmt: skip
def test_figures_are_compared_exactly(comparison, held):
    demand = PolicyCriterion("smallest_class", RECORDS, comparison, 5)
    for value, expected in zip((4, 5, 6), held, strict=True):
        (found,) = evaluate_policy(
            policy(demand), ReleaseFigures({("smallest_class", RECORDS): value})
        ).criteria
        assert (found.verdict is CriterionStatus.HELD) is expected
        assert found.actual == str(value)


def test_what_nobody_computed_is_never_taken_for_held():
    demands = (
        PolicyCriterion("smallest_class", POPULATION, "at least", 5),
        PolicyCriterion(question="Agreed?"),
    )
    figures = ReleaseFigures(
        {("smallest_class", RECORDS): 50}, {("smallest_class", POPULATION): "no table"}
    )
    found = evaluate_policy(policy(*demands), figures)
    assert [each.verdict for each in found.criteria] == [CriterionStatus.UNKNOWN, CriterionStatus.ASKED]
    assert found.criteria[0].reason == "no table"
    assert found.met is None
    assert found.in_words.endswith(
        "of 2 criteria, none is held, 1 was not computed, 1 waits for a person to answer."
    )
    answered = evaluate_policy(policy(*demands), figures, {"p/2": " no "})
    assert (answered.criteria[1].verdict, answered.criteria[1].actual) == (
        CriterionStatus.ANSWERED,
        "no",
    )
    # What somebody answers is not for the program to take for yes.
    only = evaluate_policy(policy(demands[1]), figures, {"p/1": "no"})
    assert only.met is None
    assert "1 was answered by a person" in only.in_words
    assert (
        evaluate_policy(policy(PolicyCriterion("smallest_class", RECORDS, "at least", 50)), figures).met
        is True
    )
    assert (
        evaluate_policy(
            policy(PolicyCriterion("smallest_class", RECORDS, "at least", 51), *demands), figures
        ).met
        is False
    )


def test_figures_of_records_sensitive_values_ledger_and_inhabitants():
    found = collect_record_figures({5: 2, 10: 1}, 12)
    assert found.values == {
        ("smallest_class", RECORDS): 5,
        ("highest_risk", RECORDS): 0.2,
        ("average_risk", RECORDS): 3 / 20,
        ("smallest_region", RECORDS): 12,
    }
    assert collect_record_figures({}, None).reasons["smallest_class", RECORDS] == "nothing is released"
    columns = {
        "a": {"largest_share_percent": 40.0, "least_distinct": 3},
        "b": {"largest_share_percent": 60.0, "least_distinct": 4},
        "c": {"largest_share_percent": None, "least_distinct": None},
    }
    assert collect_sensitive_figures(columns).values == {
        ("commonest_harmful_percent", RECORDS): 60.0,
        ("distinct_values", RECORDS): 3,
    }
    assert not collect_sensitive_figures({"c": columns["c"]}).values
    assert collect_ledger_figures(None).reasons == {("singled_out", RECORDS): NO_LEDGER}
    one = {"people": 3, "safe": False, "text": "t"}
    assert collect_ledger_figures({"safe": False, "compared_with": [one], "together": ""}).values == {
        ("singled_out", RECORDS): 3
    }
    lost = {"people": 0, "safe": False, "text": "cannot be compared"}
    assert collect_ledger_figures({"safe": False, "compared_with": [lost], "together": ""}).reasons == {
        ("singled_out", RECORDS): "cannot be compared"
    }
    assert collect_ledger_figures({"safe": True, "compared_with": [], "together": ""}).values == {
        ("singled_out", RECORDS): 0
    }
    assert collect_population_figures(None).reasons["sampling_percent", POPULATION] == NO_POPULATION
    assert merge_figures(found, ReleaseFigures({}, {("highest_risk", RECORDS): "x"})).reasons == {}


def test_an_estimate_holds_no_policy():
    found = collect_population_figures(
        {
            "sampling_fraction": 0.25, "smallest_region": 100.0, "k_map": None, "journalist_maximum": None,
            "journalist_average": None, "journalist_maximum_estimated": 0.01, "journalist_average_estimated": 0.005,
            "not_exact_because": "known by region only",
        }
    )  # fmt: skip
    assert set(found.values) == {("smallest_region", POPULATION), ("sampling_percent", POPULATION)}
    assert found.reasons["highest_risk", POPULATION] == "known by region only; an estimate is 0.01"
    assert found.reasons["smallest_class", POPULATION] == "known by region only"


@pytest.fixture
def case(tmp_path):
    """Sixteen regions with 100 inhabitants each and 400 records of two ages, all of them in classes of 50."""
    rows = [[f"{10 * (n // 16 % 2)}-year", f"r{n % 16}", f"ill-{n % 3}"] for n in range(400)]
    with (tmp_path / "records.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["age", "region", "illness"], *rows])
    lines = write_regions(tmp_path).read_text().splitlines()
    text = "\n".join([f"{lines[0]},people", *(f"{line},100" for line in lines[1:])]) + "\n"
    (tmp_path / "regions.csv").write_text(text)
    (tmp_path / "ours.toml").write_text(GOOD, encoding="utf-8")
    return tmp_path


def run(folder, out, *options):
    files = [str(folder / "records.csv"), str(folder / "regions.csv")]
    chosen = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age",
        "--sites",
        "4",
        "--range-reach",
        "0",
    ]
    return main(["run", *files, *chosen, "--no-pdf", "--out", str(folder / out), *options])


def test_a_release_is_judged_in_run_json_both_reports_and_on_the_terminal(case, capsys):
    path = case / "strict.toml"
    path.write_text(
        GOOD.replace("threshold = 7", "threshold = 1000")
        + '\n[[criteria]]\nmeasure = "smallest_region"\nof = "population"\ncomparison = "at least"\nthreshold = 100\n'
        + '\n[[criteria]]\nmeasure = "suppressed_percent"\ncomparison = "at most"\nthreshold = 3\n',
        encoding="utf-8",
    )
    assert run(case, "out", "--policy", str(path), "--population-column", "people") == 0
    said = capsys.readouterr().err
    judged = json.loads((case / "out" / "run.json").read_text())["policy"]
    verdicts = [each["verdict"] for each in judged["criteria"]]
    assert verdicts == ["not held", "for a person to answer", "held", "held"]
    assert judged["met"] is False
    assert "warning: The release does not meet the policy “Ours”: 1 criterion is not held." in said
    internal = (case / "out" / "internal" / "report.html").read_text()
    assert "The board" in internal
    assert "suppressed" in internal
    outside = (case / "out" / "release" / "report.html").read_text()
    # How many are suppressed does not follow from what the recipient has.
    row = re.search(r"Suppressed records: at most 3 %.*?</tr>", outside, re.DOTALL)[0]
    assert "judged by the custodian" in row
    assert "held" not in row
    assert "not held" in outside
    # The table and the question answered through the checklist.
    checklist = {
        "choices": [], "points": [], "signed_by": "A. Custodian", "signed_on": "2024-05-31",
        "answers": {"ours/2": "yes, on Monday"},
    }  # fmt: skip
    (case / "filled.json").write_text(json.dumps(checklist))
    assert (
        run(
            case, "signed", "--policy", str(case / "ours.toml"), "--checklist", str(case / "filled.json")
        )
        == 0
    )
    report = (case / "signed" / "internal" / "report.html").read_text()
    assert "yes, on Monday" in report
    assert "Computed and answered by nobody" in report
    assert "Signed by A. Custodian" in report


def test_the_sign_off_lists_what_nobody_computed(case):
    checklist = {"choices": [], "points": [], "signed_by": "A. C.", "signed_on": "2024-05-31"}
    (case / "filled.json").write_text(json.dumps(checklist))
    assert (
        run(case, "out", "--policy", "area-20000", "--checklist", str(case / "filled.json"), "--quiet")
        == 0
    )
    report = (case / "out" / "internal" / "report.html").read_text()
    nobody = report[report.index("Computed and answered by nobody") :]
    assert "more than 20,000 (not computed)" in nobody[:2000]
    assert "(for a person to answer)" in nobody[:2000]


def test_a_policy_that_is_wrong_stops_before_anything_is_read(case, capsys):
    (case / "records.csv").unlink()
    for name, said in (
        ("class-12", "There is no policy “class-12”"),
        (str(case / "no.toml"), "no such file"),
    ):
        assert run(case, "out", "--policy", name) == 1
        assert said in capsys.readouterr().err


def test_verify_judges_what_a_file_tells(case, capsys):
    assert run(case, "out", "--quiet") == 0
    file = str(case / "out" / "release" / "anonymized.csv")
    asked = [
        "verify",
        file,
        "--quasi-identifiers",
        "age",
        "--region-column",
        "region",
        "--sensitive",
        "illness",
    ]
    capsys.readouterr()
    assert main([*asked, "--policy", "class-5", "--quiet"]) == 0
    found = json.loads(capsys.readouterr().out)["policy"]
    assert [each["verdict"] for each in found["criteria"]] == ["held", "for a person to answer"]
    text = GOOD + "".join(
        f'\n[[criteria]]\nmeasure = "{name}"\ncomparison = "at least"\nthreshold = 0\n'
        for name in (
            "smallest_region",
            "commonest_harmful_percent",
            "distinct_values",
            "sampling_percent",
        )
    )
    (case / "all.toml").write_text(text, encoding="utf-8")
    assert main([*asked, "--policy", str(case / "all.toml"), "--quiet"]) == 0
    found = json.loads(capsys.readouterr().out)["policy"]["criteria"]
    with (case / "out" / "release" / "anonymized.csv").open() as lines:
        regions = [row["region"] for row in csv.DictReader(lines)]
    assert found[2]["actual"] == str(min(regions.count(each) for each in set(regions)))
    assert [each["verdict"] for each in found[3:]] == ["held", "held", "not computed"]
    assert main([*asked, "--policy", "area-5000", "--quiet"]) == 3


def test_an_exported_release_is_judged_by_the_policy_of_the_run(case):
    assert run(case, "out", "--policy", str(case / "ours.toml"), "--quiet") == 0
    assert main(["export", str(case / "out"), "--out", str(case / "again"), "--quiet"]) == 0
    first, again = (
        json.loads((case / name / "run.json").read_text())["policy"] for name in ("out", "again")
    )
    assert first == again
    assert (
        main(
            ["export", str(case / "out"), "--out", str(case / "more"), "--quiet", "--policy", "class-20"]
        )
        == 0
    )
    assert json.loads((case / "more" / "run.json").read_text())["policy"]["id"] == "class-20"
