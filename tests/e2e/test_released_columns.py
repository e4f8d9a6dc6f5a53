"""Plain columns that would undo a release stop `vbas run`, whatever form they take."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from release_making import write_records, write_regions

from vbas_desktop.cli.main import main

HEADER = ["age", "sex", "region"]
CHOSEN = [
    "--region-column",
    "region",
    "--quasi-identifiers",
    "age,sex",
    "-k",
    "5",
    "--quiet",
    "--no-pdf",
]


def people(records=4000, regions=16, seed=1):
    """Rows of age, sex and region; a few ages are so rare that in tiers they are released under a larger area."""
    generator = np.random.default_rng(seed)
    ages = generator.choice(
        [str(age) for age in range(10, 90, 10)], records, p=[0.3, 0.3, 0.3, *[0.02] * 5]
    )
    sexes = generator.choice(["f", "m"], records)
    places = generator.integers(0, regions, records)
    return [
        [age, sex, f"r{place}"]
        for age, sex, place in zip(ages.tolist(), sexes.tolist(), places, strict=True)
    ]


class House:
    """A folder with records and regions, in which releases are made."""

    def __init__(self, folder, capsys):
        self.folder, self._capsys = folder, capsys
        self.regions = write_regions(folder)
        self._made = 0

    def release(self, rows, columns, *options):
        """Run with these columns added; the exit code, what was said and the folder of the release."""
        header = [*HEADER, *columns]
        values = zip(*columns.values(), strict=True) if columns else ([] for _ in rows)
        records = write_records(
            self.folder, [[*row, *more] for row, more in zip(rows, values, strict=True)], header
        )
        self._made += 1
        out = self.folder / f"out {self._made}"
        code = main(["run", str(records), str(self.regions), *CHOSEN, "--out", str(out), *options])
        return code, self._capsys.readouterr().err, out

    def refused(self, rows, columns, *options):
        """The columns and pairs that stop the release."""
        code, said, out = self.release(rows, columns, *options)
        assert code == (1 if said else 0), said
        assert out.exists() == (not said)
        return [
            line.partition("column “")[2].partition("”")[0]
            for line in said.splitlines()
            if "column “" in line
        ]


@pytest.fixture
def house(tmp_path, capsys):
    return House(tmp_path, capsys)


TIERS = ["--tiers", "auto", "--range-reach", "0"]


def aggregated(out):
    with (out / "release" / "crosswalk.csv").open(encoding="utf-8", newline="") as file:
        return {row["initial_region"]: row["aggregated_region"] for row in csv.DictReader(file)}


@pytest.mark.parametrize("sites", ["16", "8"])
def test_in_tiers_a_copy_of_the_region_or_of_the_aggregated_region_is_refused(house, sites):
    rows = people()
    options = [*TIERS, "--sites", sites]
    code, _, out = house.release(rows, {}, *options)
    assert code == 0
    codes = aggregated(out)
    with (out / "release" / "anonymized.csv").open(encoding="utf-8", newline="") as file:
        released = [row["region"] for row in csv.DictReader(file)]
    # Otherwise nothing would have to be hidden by tiers.
    assert sum(not code.startswith("A") for code in released) > 50
    copies = {
        "postcode": [f"P{row[2]}" for row in rows],
        "district": [f"D{codes[row[2]]}" for row in rows],
        "colour": np.random.default_rng(2).choice(["red", "blue"], len(rows)).tolist(),
    }
    assert house.refused(rows, copies, *options) == ["postcode", "district"]
    assert house.refused(rows, copies, *options, "--allow-column", "postcode,district") == []


def test_in_tiers_a_column_that_names_the_region_of_rare_people_only_is_refused(house):
    rows = people(5000, seed=5)
    only_rare = ["" if row[0] in ("10", "20", "30") else f"P{row[2]}" for row in rows]
    assert house.refused(rows, {"note": only_rare}, *TIERS, "--sites", "16") == ["note"]


def test_in_tiers_two_columns_that_name_the_region_together_are_refused(house):
    rows = people(8000)
    blind = np.random.default_rng(3).integers(0, 16, len(rows))
    place = np.array([int(row[2][1:]) for row in rows])
    shares = {"one": blind.astype(str).tolist(), "two": ((blind + place) % 16).astype(str).tolist()}
    assert house.refused(rows, shares, *TIERS, "--sites", "16") == ["one+two"]


def test_in_tiers_columns_of_chance_and_copies_of_quasi_identifiers_are_released(house):
    rows = people()
    generator = np.random.default_rng(4)
    harmless = {
        f"random {number}": generator.integers(0, number, len(rows)).astype(str)
        for number in (2, 10, 60)
    }
    harmless |= {"gaps": np.where(generator.random(len(rows)) < 0.3, "", harmless["random 10"])}
    harmless |= {
        "class": [row[0] + row[1] for row in rows],
        "sex in words": [row[1] * 3 for row in rows],
    }
    allowed = [
        "--allow-column",
        "random 60+random 10,random 60+gaps,random 60+class,random 60,class,gaps,random 10",
    ]
    assert house.refused(rows, harmless, *TIERS, "--sites", "16", *allowed) == []
    del harmless["random 60"]
    assert house.refused(rows, harmless, *TIERS, "--sites", "16") == []


def first_regions(codes):
    """One initial region of each aggregated region."""
    return {min(region for region in codes if codes[region] == code) for code in set(codes.values())}


MERGED = ["--sites", "4", "--range-reach", "0"]


@pytest.mark.parametrize("nothing", ["", "none"])
def test_a_column_that_is_blank_in_one_initial_region_of_each_aggregated_region_is_refused(
    house, nothing
):
    rows = people(3000)
    code, _, out = house.release(rows, {}, *MERGED)
    assert code == 0
    hidden = first_regions(aggregated(out))
    generator = np.random.default_rng(6)
    values = [nothing if row[2] in hidden else str(generator.integers(0, 4)) for row in rows]
    assert house.refused(rows, {"remark": values}, *MERGED) == ["remark"]


def test_columns_that_are_blank_by_exact_age_within_its_group_are_refused(house, tmp_path):
    rows = people(3000)
    groups = tmp_path / "groups.csv"
    listed = (f"age,{age},{'young' if age < 50 else 'old'}\n" for age in range(10, 90, 10))
    groups.write_text("column,value,group\n" + "".join(listed))
    values = np.random.default_rng(7).integers(0, 4, len(rows)).astype(str)
    blank = [("" if row[0] in ("20", "60") else value) for row, value in zip(rows, values, strict=True)]
    grouped = [*MERGED, "--generalise", str(groups)]
    assert house.refused(rows, {"remark": blank}, *grouped) == ["remark"]
    assert house.refused(rows, {"remark": values.tolist()}, *grouped) == []


def test_two_columns_whose_blanks_together_tell_the_place_are_refused(house):
    rows = people(8000)
    code, _, out = house.release(rows, {}, *MERGED)
    assert code == 0
    hidden = first_regions(aggregated(out))
    blind = np.random.default_rng(8).random(len(rows)) < 0.5
    here = np.array([row[2] in hidden for row in rows])
    shares = {"one": np.where(blind, "", "x"), "two": np.where(blind ^ here, "", "x")}
    assert house.refused(rows, shares, *MERGED) == ["one+two"]


def test_blanks_at_random_pass_and_a_sparse_column_of_unique_values_does_not(house):
    rows = people(3000)
    generator = np.random.default_rng(9)
    sparse = generator.random(len(rows)) < 0.04
    columns = {
        "half": np.where(
            generator.random(len(rows)) < 0.5, "", generator.integers(0, 6, len(rows)).astype(str)
        ),
        "few": np.where(generator.random(len(rows)) < 0.9, "", "x"),
        "nearly none": np.where(generator.random(len(rows)) < 0.001, "", "x"),
        "telephone": np.where(sparse, np.arange(len(rows)).astype(str), ""),
    }
    assert house.refused(rows, columns, *MERGED) == ["telephone"]


def alike_people(records):
    """Rows of people who are alike and live in one region: only the columns that are added tell them apart."""
    return [["10", "f", "r0"]] * records


@pytest.mark.parametrize(
    ("frequencies", "refused"),
    [([1, 4, 95], True), ([4, 96], False), ([1, 2, 2, 96], False), ([5, 95], False)],
    ids=[
        "5 rare records of 100",
        "4 rare records of 100",
        "5 rare records of 101",
        "a value that 5 have",
    ],
)
def test_rare_values_count_from_k_records_and_five_percent_on(house, frequencies, refused):
    values = np.repeat([f"v{number}" for number in range(len(frequencies))], frequencies)
    found = house.refused(alike_people(len(values)), {"note": values}, *MERGED)
    assert found == (["note"] if refused else [])


@pytest.mark.parametrize(
    ("frequencies", "refused"),
    [([10, 10, 4, 1], True), ([6, 5, 2, 2], False), ([11, 10, 3, 2], False), ([10, 10, 5, 0], False)],
    ids=["5 rare records of 25", "4 rare records of 15", "5 rare records of 26", "a pair that 5 have"],
)
def test_rare_pairs_count_from_k_records_and_a_fifth_on(house, frequencies, refused):
    pairs = np.repeat([["a", "a"], ["b", "b"], ["a", "b"], ["b", "a"]], frequencies, axis=0)
    found = house.refused(alike_people(len(pairs)), {"one": pairs[:, 0], "two": pairs[:, 1]}, *MERGED)
    assert found == (["one+two"] if refused else [])


def test_rare_pairs_with_a_column_that_is_mostly_empty_are_refused(house):
    # 60 of 4,000 records have a value in the first column. Five have each of its values, but none with the same second.
    first, second = np.full(4000, "", object), np.array([f"t{number % 5}" for number in range(4000)])
    first[:60] = [f"v{number // 5}" for number in range(60)]
    assert house.refused(alike_people(4000), {"one": first, "two": second}, *MERGED) == ["one+two"]


def test_rare_pairs_of_two_columns_that_few_records_have_both_are_refused(house):
    # Half of the records have one value, half the other; 36 have both, no two of them the same pair.
    first, second = (
        np.array([f"{name}{number % 6}" for number in range(4000)], object) for name in "ab"
    )
    first[2000:] = ""
    second[:1964] = ""
    second[1964:2000] = [f"b{number // 6 % 6}" for number in range(36)]
    assert house.refused(alike_people(4000), {"one": first, "two": second}, *MERGED) == ["one+two"]
