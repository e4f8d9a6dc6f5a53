"""`vbas outliers`: what happens before small classes are handled, and where the values of made-up records come from."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from vbas_desktop.analysis.outliers.synthetic_rows import choose_typical_value
from vbas_desktop.cli.main import main

DATA = Path(__file__).parents[1] / "data" / "parv"
LEVELS = Path(__file__).parents[2] / "docs" / "examples" / "household" / "levels"
COMMON = ["--quasi-identifiers", "Hh,Job", "-k", "3", "--quiet"]


def rows_of(path):
    with Path(path).open(newline="") as stream:
        return list(csv.DictReader(stream))


def handled(tmp_path, *more, source=DATA / "C2.csv"):
    target = tmp_path / "out.csv"
    assert (
        main(["outliers", str(source), *COMMON, "--out", str(target), "--replace", *map(str, more)]) == 0
    )
    return rows_of(target)


def classes_of(rows):
    return Counter((row["Hh"], row["Job"]) for row in rows)


def refused(tmp_path, capsys, *more):
    code = main(
        ["outliers", str(DATA / "C2.csv"), *COMMON, "--out", str(tmp_path / "out.csv"), *map(str, more)]
    )
    assert not (tmp_path / "out.csv").exists()
    return code, capsys.readouterr().err


def test_the_closest_class_is_generalised_by_the_command_too(tmp_path, capsys):
    found = classes_of(handled(tmp_path, "--handle", "generalise", "--hierarchies", LEVELS))
    assert found["1-10", "Employee"] == 4
    assert found["1-10", "Unemployed"] == 4
    assert found["2", "Employee"] == 3
    assert ("***", "***") not in found
    said = capsys.readouterr().out
    assert "40 records (8 with other values), smallest class 3" in said


def test_a_start_level_groups_all_classes_first(tmp_path, capsys):
    rows = handled(tmp_path, "--hierarchies", LEVELS, "--start-level", "Hh=1", "--handle", "delete")
    found = classes_of(rows)
    # 6/House and 7/House are one class of two on this level; 4/Retired has those of three to five with it.
    assert found["1-5", "Retired"] == 6
    assert not [label for label in found if label[0] == "6-10"]
    assert len(rows) == 37
    said = capsys.readouterr().out
    assert "2 classes with 3 records have fewer than 3" in said
    assert "37 records (3 left out, 37 with other values), smallest class 6" in said
    again = handled(
        tmp_path,
        "--hierarchies",
        LEVELS,
        "--start-level",
        "Hh=1",
        "--first-step",
        "surjective",
        "--handle",
        "delete",
    )
    assert classes_of(again) == found


def test_generalising_goes_on_from_the_start_level(tmp_path):
    levels = ("--hierarchies", LEVELS, "--start-level", "Hh=2", "--start-level", "Job=1")
    assert classes_of(handled(tmp_path, *levels, "--handle", "generalise")) == {
        ("1-10", "Works"): 18,
        ("1-10", "Unemployed"): 22,
    }
    rows = handled(tmp_path, "--hierarchies", LEVELS, "--start-level", "Hh=1", "--handle", "generalise")
    # Two 6-10/House and one 6-10/Employee have nothing in common above their jobs.
    found = classes_of(rows)
    assert found["6-10", "***"] == 3
    assert {label for label in found if label[0] != "1-5"} == {("6-10", "***")}
    suppressed = handled(tmp_path, "--hierarchies", LEVELS, "--start-level", "Hh=4", "--handle", "merge")
    assert {row["Hh"] for row in suppressed} == {"***"}


def test_normalised_levels_decide_what_is_raised(tmp_path):
    everywhere = ("--hierarchies", LEVELS, "--handle", "generalise", "--everywhere")
    # Suppressing Job costs its whole height; on the common scale from 1 to 3 levels it is level 2, which costs a half.
    plain = handled(tmp_path, *everywhere)
    normalised = handled(tmp_path, *everywhere, "--normalise-levels")
    assert {row["Job"] for row in plain} == {"Self", "Employee", "House", "Retired"}
    assert {row["Hh"] for row in plain} == {"1-10"}
    assert {row["Hh"] for row in normalised} == {"1-5", "6-10"}
    assert {row["Job"] for row in normalised} == {"***"}


def test_a_partial_first_step_leaves_single_records_out(tmp_path, capsys):
    rows = handled(tmp_path, "--first-step", "partial", "--handle", "merge")
    # 6/House, 7/House and 6/Employee are single; the two of 4/Retired are merged.
    assert len(rows) == 37
    assert not {("6", "House"), ("7", "House"), ("6", "Employee"), ("4", "Retired")} & set(
        classes_of(rows)
    )
    assert classes_of(rows)["3", "Retired"] == 6
    # Three may be told, two with other values may not; nor may both be told by their difference.
    said = capsys.readouterr().out
    assert "out.csv: smallest class 3; fewer than 3 records are left out or changed" in said
    more = handled(tmp_path, "--first-step", "partial", "--first-step-size", "3", "--handle", "merge")
    assert len(more) == 35


def test_a_non_surjective_first_step_fills_classes_that_lack_one_record(tmp_path):
    more = ("--key", "Key", "--sensitive", "Value", "--first-step", "non-surjective")
    rows = handled(tmp_path, *more, "--handle", "delete")
    found = classes_of(rows)
    assert found["4", "Retired"] == 3
    assert not {("6", "House"), ("7", "House"), ("6", "Employee")} & set(found)
    assert len(rows) == 38
    assert (tmp_path / "out.made-up-rows.csv").read_text().count("\n") == 2
    # With size 1 every small class is filled: nothing is left to delete.
    assert len(handled(tmp_path, *more, "--first-step-size", "1", "--handle", "delete")) == 47
    # A class that was filled can still be the closest of another one; its made-up record is raised with it.
    rows = handled(tmp_path, *more, "--handle", "generalise", "--with-closest", "--hierarchies", LEVELS)
    assert len(rows) == 41
    assert min(classes_of(rows).values()) >= 3


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (["--first-step", "surjective"], 1, "no column has a start level"),
        (["--first-step", "bijective", "--start-level", "Hh=1"], 1, "the first step is not bijective"),
        (["--first-step-size", "2"], 1, "A size has no effect in this first step"),
        (["--start-level", "Hh=two"], 1, "“Hh=two” gives no start level"),
        (
            ["--start-level", "Hh=5", "--hierarchies", str(LEVELS)],
            1,
            "column “Hh”: The hierarchy of this column has no",
        ),
        (["--start-level", "Hh=-1", "--hierarchies", str(LEVELS)], 1, "Choose 0 to 4"),
        (
            ["--start-level", "Value=1"],
            1,
            "column “Value”: A start level is given for a column that is not a",
        ),
        (["--handle", "generalise", "--everywhere", "--with-closest"], 2, "exclude each other"),
        (["--fill", "median"], 2, "--fill and --fill-value go with --handle fabricate and --sensitive"),
        (
            ["--handle", "fabricate", "--sensitive", "Value", "--fill", "population"],
            2,
            "needs --population FILE",
        ),
        (
            ["--handle", "fabricate", "--sensitive", "Value", "--fill-value", "Value"],
            1,
            "“Value” gives no value",
        ),
        (
            [
                "--handle",
                "fabricate",
                "--sensitive",
                "Value",
                "--key",
                "Key",
                "--fill-value",
                "Illness=Yes",
            ],
            1,
            "column “Illness”: A value is given for a column that is not among the sensitive ones",
        ),
        (
            [
                "--handle",
                "fabricate",
                "--sensitive",
                "Illness",
                "--key",
                "Key",
                "--fill-value",
                "Illness=perhaps",
            ],
            1,
            "column “Illness”: The given value does not occur in the records",
        ),
    ],
)
def test_what_does_not_go_together_is_said_and_nothing_is_written(tmp_path, capsys, more, code, said):
    found, message = refused(tmp_path, capsys, *more)
    assert found == code
    assert said in message
    assert "perhaps" not in message


def test_a_first_step_that_leaves_nothing_is_refused(tmp_path, capsys):
    code, said = refused(
        tmp_path, capsys, "-k", "30", "--first-step", "partial", "--first-step-size", "30"
    )
    assert code == 1
    assert "The first step leaves out every class" in said


def made_up(tmp_path, *more):
    rows = handled(tmp_path, "--handle", "fabricate", "--key", "Key", *more)
    named = [int(number) - 2 for number in (tmp_path / "out.made-up-rows.csv").read_text().split()[1:]]
    assert len(named) == 7
    return [rows[number] for number in named]


@pytest.mark.parametrize("method", ["mean", "median", "mode"])
def test_sensitive_values_are_the_central_ones_of_the_whole_file(tmp_path, method):
    values = sorted(int(row["Value"]) for row in rows_of(DATA / "C2.csv"))
    counts = Counter(values)
    expected = {
        "mean": f"{sum(values) / 40:.0f}",
        "median": f"{(values[19] + values[20]) / 2:.0f}",
        "mode": str(min(counts, key=lambda value: (-counts[value], value))),
    }
    found = made_up(tmp_path, "--sensitive", "Value,Illness", "--fill", method)
    assert {row["Value"] for row in found} == {expected[method]}
    assert {row["Illness"] for row in found} == {"Yes"}


def test_sensitive_values_are_those_of_random_records_of_a_population(tmp_path, capsys):
    people = tmp_path / "people.csv"
    pairs = [("Yes", "41"), ("No", "52.4"), ("Yes", "63"), ("ill", "1"), ("", "2")]
    people.write_text(
        "Illness,Value\n" + "".join(f"{illness},{value}\n" for illness, value in pairs * 20)
    )
    more = (
        "--sensitive",
        "Value,Illness",
        "--fill",
        "population",
        "--population",
        people,
        "--shuffle-seed",
        "s",
    )
    found = made_up(tmp_path, *more)
    drawn = {(row["Illness"], row["Value"]) for row in found}
    # Values go together as they are in the population, written as in the records.
    assert drawn <= {("Yes", "41"), ("No", "52"), ("Yes", "63")}
    assert len(drawn) > 1
    assert made_up(tmp_path, *more) == found
    given = made_up(tmp_path, *more, "--fill-value", "Value=44.7")
    assert {row["Value"] for row in given} == {"45"}
    people.write_text("Illness,Value\nYes,41\nNo,\nYes,43\nill,44\n")
    assert main(["outliers", str(DATA / "C2.csv"), *COMMON, "--handle", "fabricate", "--key", "Key", *map(str, more),
                 "--out", str(tmp_path / "new.csv")]) == 1  # fmt: skip
    assert "Fewer than 3 records have values in all sensitive columns" in capsys.readouterr().err


def test_a_given_value_stands_for_evidence(tmp_path):
    found = made_up(
        tmp_path,
        "--sensitive",
        "Value,Illness",
        "--fill-value",
        "Value=38",
        "--fill-value",
        "Illness=No",
    )
    assert {(row["Value"], row["Illness"]) for row in found} == {("38", "No")}


@pytest.mark.parametrize(
    ("source", "own", "median", "mode"),
    [
        ({"1": 3, "5": 1}, {"7": 1}, "1", "1"),
        ({"1": 2, "5": 2}, {"1.5": 1}, "3.0", "1.0"),
        ({"5": 1, "1.0": 1, "1": 1, "9": 1, "8": 1}, {"2": 1}, "5", "1"),
        ({"yes": 2, "no": 2}, {"yes": 1, "no": 1}, "no", "no"),
    ],
)
def test_medians_and_modes_count_records_and_are_written_as_in_the_file(source, own, median, mode):
    assert choose_typical_value(Counter(source), Counter(own), "median") == median
    assert choose_typical_value(Counter(source), Counter(own), "mode") == mode
