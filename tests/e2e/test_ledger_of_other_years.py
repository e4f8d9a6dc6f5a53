"""Releases of different years: those who came, left or stayed must be many, and differ, enough."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict

import numpy as np
import pytest
from ledger_house import rows_of
from release_making import write_regions

from vbas_desktop.cli.main import main

HEADER = ["name", "age", "sex", "region", "illness", "since"]
ILLNESSES = ("flu", "asthma", "eczema", "gout", "HIV")
HALF = ("--sensitive", "illness", "--criterion", "illness=share:50")


class House:
    """An organisation that releases a file every year, in the same four regions."""

    def __init__(self, folder):
        self.folder = folder
        write_regions(folder)
        lines = [f"r{n},A{n // 4}\n" for n in range(16)]
        (folder / "parts.csv").write_text("".join(["initial_region,aggregated_region\n", *lines]))

    def write(self, name, people):
        with (self.folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([HEADER, *people])

    def run(self, name, people, *options, k=5):
        self.write(name, people)
        coarse = [
            "--construction",
            "coarsen",
            "--coarsen-from",
            str(self.folder / "parts.csv"),
            "--sites",
            "4",
        ]
        chosen = [
            "--region-column",
            "region",
            "--quasi-identifiers",
            "age,sex",
            "-k",
            str(k),
            "--identifiers",
            "name",
        ]
        more = ["--allow-column", "illness,since,age,sex", "--range-reach", "0", "--no-pdf", "--quiet"]
        files = [str(self.folder / f"{name}.csv"), str(self.folder / "regions.csv")]
        return main(
            ["run", *files, *chosen, *coarse, *more, "--out", str(self.folder / f"{name}-out"), *options]
        )

    def hand_over(self, name, people, *options, k=5):
        assert self.run(name, people, *options, k=k) == 0
        assert (
            main(["ledger", "record", str(self.folder / f"{name}-out"), "--audience", "Uni", "--quiet"])
            == 0
        )


@pytest.fixture
def yearly(tmp_path):
    return House(tmp_path)


def person(number, illness, region="r0", age="old", since="2020"):
    return [f"p{number}", age, "f", region, illness, since]


def everybody():
    """Twenty people of all illnesses in every part, so that each class meets the criteria."""
    return [
        person(100 * part + n, ILLNESSES[n % 5], f"r{4 * part + n % 4}", since=str(2000 + n % 7))
        for part in range(4)
        for n in range(20)
    ]


def group(illnesses, since="2021"):
    """Some more people in the first part."""
    return [person(f"x{n}-{since}", illness, since=since) for n, illness in enumerate(illnesses)]


ALIKE, MIXED = group(["HIV"] * 5), group(ILLNESSES)
TOLD = "would learn “illness” of 5 people who came or went since then"


@pytest.mark.parametrize(
    "criteria", [(HALF, HALF), (HALF, ()), ((), HALF)], ids=["both", "first only", "second only"]
)
def test_newcomers_who_all_have_one_illness_are_refused(yearly, capsys, criteria):
    yearly.hand_over("first", everybody(), *criteria[0])
    assert yearly.run("second", everybody() + ALIKE, *criteria[1]) == 1
    said = capsys.readouterr().err
    assert TOLD in said
    assert "miss share:50" in said
    assert "HIV" not in said
    assert yearly.run("second", everybody() + MIXED, *criteria[1]) == 0


@pytest.mark.parametrize(
    "criteria", [(HALF, HALF), (HALF, ()), ((), HALF)], ids=["both", "first only", "second only"]
)
def test_leavers_who_all_have_one_illness_are_refused(yearly, capsys, criteria):
    yearly.hand_over("first", everybody() + ALIKE + MIXED, *criteria[0])
    assert yearly.run("second", everybody() + MIXED, *criteria[1]) == 1
    assert TOLD in capsys.readouterr().err
    assert yearly.run("second", everybody() + ALIKE, *criteria[1]) == 0


def test_those_who_stay_while_others_go_are_judged_as_well(yearly, capsys):
    rest = [row for row in everybody() if row[3] not in ("r0", "r1", "r2", "r3")]
    others = ["flu", "asthma", "eczema", "gout", "flu"]
    yearly.hand_over("first", rest + ALIKE + group(others), *HALF)
    assert yearly.run("second", rest + ALIKE + group(others, "2022"), *HALF) == 1
    assert TOLD in capsys.readouterr().err
    # Three people who stay are too few, whatever they have.
    assert yearly.run("third", rest + ALIKE[:3] + group(others, "2022"), *HALF) == 1
    assert "could tell" in capsys.readouterr().err


def test_without_criteria_one_illness_is_no_reason_to_refuse(yearly):
    yearly.hand_over("first", everybody())
    assert yearly.run("second", everybody() + ALIKE) == 0


def test_a_class_of_newcomers_alone_is_judged_by_the_criteria_of_the_first_release(yearly, capsys):
    yearly.hand_over("first", everybody(), *HALF)
    young = [person(n, "HIV", age="young") for n in range(5)]
    assert yearly.run("second", everybody() + young) == 1
    assert TOLD in capsys.readouterr().err
    # With the criteria themselves, the class is left out.
    assert yearly.run("second", everybody() + young, *HALF) == 0


def test_newcomers_are_found_by_the_columns_that_both_releases_have(yearly, capsys):
    """The sensitive column is in the second release only; people are known again by another one."""
    yearly.hand_over("first", everybody(), "--columns", "age,sex,region,since")
    assert yearly.run("second", everybody() + ALIKE, *HALF) == 1
    assert TOLD in capsys.readouterr().err
    exchanged = [*everybody()[1:], person("new", "flu", since="2030")]
    assert yearly.run("second", exchanged, *HALF) == 1
    assert "could tell 2 people who came or went" in capsys.readouterr().err
    assert yearly.run("second", everybody() + MIXED, *HALF) == 0


def test_leavers_of_whom_no_release_shows_the_illness_are_not_judged_by_it(yearly):
    without = ("--columns", "age,sex,region,since")
    yearly.hand_over("first", everybody() + ALIKE, *HALF, *without)
    assert yearly.run("second", everybody(), *HALF, *without) == 0


def test_a_release_that_lacks_a_quasi_identifier_is_not_compared_by_criteria(yearly, capsys):
    less = ("--columns", "age,region,illness,since")
    yearly.hand_over("first", everybody(), *HALF, *less)
    assert yearly.run("second", everybody() + ALIKE, *HALF, *less) == 1
    assert "have to be compared row by row, because of its criteria" in capsys.readouterr().err


def test_newcomers_in_tiers_are_judged(yearly, capsys):
    tiers = ("--tiers", "auto", "--tier-factor", "4")
    yearly.hand_over("first", everybody(), *HALF, *tiers)
    assert yearly.run("second", everybody() + ALIKE, *HALF, *tiers) == 1
    assert TOLD in capsys.readouterr().err
    assert yearly.run("second", everybody() + MIXED, *HALF, *tiers) == 0


def test_those_who_left_and_came_back_are_found_by_three_releases(yearly, capsys):
    """Eight left, eight came, three of whom had been there before: no two releases tell them, all three do."""
    stable = everybody()
    gone = [person(f"a{n}", ILLNESSES[n % 5], since=str(1980 + n)) for n in range(8)]
    came = [person(f"b{n}", ILLNESSES[n % 5], since=str(1990 + n)) for n in range(5)]
    yearly.hand_over("first", stable + gone)
    yearly.hand_over("second", stable)
    assert yearly.run("third", stable + gone[:3] + came) == 1
    said = capsys.readouterr().err
    assert "Whoever has releases 1, 2 as well, all of them, could tell 3 people" in said
    assert yearly.run("third", stable + came) == 0


@pytest.mark.parametrize("criterion", ["distinct:3", "entropy:2.5", "recursive:2,2", "closeness:0.4"])
def test_every_kind_of_criterion_judges_newcomers(yearly, criterion):
    criteria = ("--sensitive", "illness", "--criterion", f"illness={criterion}")
    yearly.hand_over("first", everybody(), *criteria)
    assert yearly.run("second", everybody() + ALIKE, *criteria) == 1
    assert yearly.run("second", everybody() + MIXED, *criteria) == 0


def test_ordered_values_are_judged_though_the_ledger_has_only_hashes(yearly, capsys):
    """The illness is a number; one of those that left does not occur any more, so that its order is not known."""
    criteria = ("--sensitive", "illness", "--criterion", "illness=ordered-closeness:0.3")
    number = {each: str(place) for place, each in enumerate(ILLNESSES)}
    first = [[*row[:4], number[row[4]], row[5]] for row in everybody()]
    yearly.hand_over("first", first, *criteria)
    high = [[*row[:4], "4", row[5]] for row in ALIKE]
    mixed = [[*row[:4], number[row[4]], row[5]] for row in MIXED]
    assert yearly.run("second", first + high, *criteria) == 1
    assert TOLD in capsys.readouterr().err
    yearly.hand_over("second", first + mixed, *criteria)
    assert yearly.run("third", [row for row in first if row[4] != "4"], *criteria) == 1


def test_benign_values_of_newcomers_do_no_harm(yearly):
    benign = (*HALF, "--benign", "illness=flu")
    yearly.hand_over("first", everybody(), *benign)
    assert yearly.run("second", everybody() + group(["flu"] * 5), *benign) == 0
    assert yearly.run("second", everybody() + ALIKE, *benign) == 1


def test_people_are_known_again_though_a_release_writes_their_values_otherwise(yearly, capsys):
    """In the second year years are padded with zeros, as codes are, and the illness has another notation."""
    number = {each: str(place + 1) for place, each in enumerate(ILLNESSES)}
    first = [[*row[:4], number[row[4]], row[5]] for row in everybody()]
    second = [[*row[:4], f"0{row[4]}", f"0{row[5]}"] for row in first]
    yearly.hand_over("first", first, *HALF, "--benign", "illness=1")
    new = person("new", "03", since="02021")
    assert yearly.run("second", [*second, new], *HALF, "--benign", "illness=01") == 1
    assert "could tell 1 person who came or went" in capsys.readouterr().err
    benign = [person(f"new{n}", "01", since="02021") for n in range(5)]
    assert yearly.run("second", second + benign, *HALF, "--benign", "illness=01") == 0


def expected(folder, first, second, k, share):
    """Whether the written files tell of too few people, or too alike ones, that they came, left or stayed."""
    kept = []
    for name in (first, second):
        cells = defaultdict(Counter)
        for row in rows_of(folder / f"{name}-out" / "release" / "anonymized.csv"):
            cells[row["region"], row["age"], row["sex"]][row["illness"], row["since"]] += 1
        kept.append(cells)
    for cell in {*kept[0], *kept[1]}:
        was, now = (cells.get(cell, Counter()) for cells in kept)
        groups = {"came": now - was, "left": was - now, "stayed": was & now}
        # What the first release shows by itself is known already.
        known = [] if not was else [name for name in ("left", "stayed") if groups[name] == was]
        for name, rows in groups.items():
            total = rows.total()
            ill = Counter()
            for (illness, _), number in rows.items():
                ill[illness] += number
            if total and name not in known and (total < k or max(ill.values()) > share / 100 * total):
                return True
    return False


def changed_year(draw):
    """Two years of people: in some classes of region and age a few left, in some a few came with few illnesses."""
    before, after = [], []
    for part, age in ((part, age) for part in range(4) for age in ("old", "young")):
        here = [
            person(
                f"{part}{age}{n}",
                ILLNESSES[draw.integers(5)],
                f"r{4 * part + draw.integers(4)}",
                age,
                f"{n}",
            )
            for n in range(15)
        ]
        left = int(draw.choice([0, 4, 6], p=[0.9, 0.02, 0.08]))
        few = draw.choice(ILLNESSES, 3, replace=False)
        came = [
            person(f"{part}{age}new{n}", few[draw.integers(3)], f"r{4 * part}", age, f"new{n}")
            for n in range(int(draw.choice([0, 4, 6, 7], p=[0.8, 0.02, 0.09, 0.09])))
        ]
        before += here
        after += here[left:] + came
    return before, after


def test_random_years_are_refused_just_if_the_written_files_tell_too_much(yearly):
    criteria = ("--sensitive", "illness", "--criterion", "illness=share:60")
    codes = []
    for seed in range(8):
        first, second = (f"first-{seed}", f"second-{seed}")
        before, after = changed_year(np.random.default_rng(seed))
        ledger = ("--ledger", str(yearly.folder / f"{seed}.json"))
        assert yearly.run(first, before, *criteria) == 0
        assert (
            main(
                [
                    "ledger",
                    "record",
                    str(yearly.folder / f"{first}-out"),
                    "--audience",
                    "Uni",
                    "--quiet",
                    *ledger,
                ]
            )
            == 0
        )
        codes.append(yearly.run(second, after, *criteria, *ledger))
        assert yearly.run(second, after, *criteria) == 0
        assert codes[-1] == expected(yearly.folder, first, second, 5, 60), seed
    assert 2 <= sum(codes) <= 6, "some are refused, and some are not"


def test_the_largest_k_of_the_releases_counts_for_newcomers(yearly, capsys):
    yearly.hand_over("first", everybody(), k=10)
    assert yearly.run("second", everybody() + MIXED) == 1
    said = capsys.readouterr().err
    assert "could tell 5 people" in said
    assert "fewer than 10 did" in said
    lower = ("--ledger-k", "5", "--ledger-reason", "the first one was never used")
    assert yearly.run("second", everybody() + MIXED, *lower) == 0
    found = json.loads((yearly.folder / "second-out" / "run.json").read_text())["ledger_check"]
    assert (found["safe"], found["k"], found["k_reason"]) == (True, 5, "the first one was never used")
