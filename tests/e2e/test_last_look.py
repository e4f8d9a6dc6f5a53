"""The look at the written file: what it counts, what it refuses, and that it looks at the file."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from release_making import write_regions

from vbas_desktop.audit import column_tests
from vbas_desktop.cli.main import main
from vbas_desktop.releases import preparation

CHOSEN = [
    "--region-column",
    "region",
    "--quasi-identifiers",
    "age,sex",
    "--quiet",
    "--no-pdf",
    "--range-reach",
    "0",
]
USED = ["region", "age", "sex"]


def people(records, seed, columns):
    """A table of people with plain columns of so many values, some of them blank."""
    generator = np.random.default_rng(seed)
    ages = [str(age) for age in range(10, 90, 10)]
    table = {
        "age": generator.choice(ages, records, p=[0.3, 0.3, 0.3, *[0.02] * 5]),
        "sex": generator.choice(["f", "m"], records),
        "region": [f"r{place}" for place in generator.integers(0, 16, records)],
    }
    for number, values in enumerate(columns):
        codes = generator.integers(0, values, records).astype(str)
        table[f"plain {number}"] = np.where(generator.random(records) < 0.2, "", codes)
    return pd.DataFrame(table, dtype=str)


def release(folder, table, *options, name="out"):
    """Write the release of a table with `vbas run`; its folder."""
    records = folder / "records.csv"
    table.to_csv(records, index=False)
    out = folder / name
    assert (
        main(["run", str(records), str(write_regions(folder)), *CHOSEN, "--out", str(out), *options])
        == 0
    )
    return out


def look_of(out):
    return json.loads((out / "run.json").read_text(encoding="utf-8"))["last_look"]


def naive_look(out, plain, k):
    """The same figures by pandas' groupby."""
    file = out / "release" / "anonymized.csv"
    released = (
        pd.read_csv(file, dtype=str, na_filter=False)
        if file.exists()
        else pd.read_parquet(file.with_suffix(".parquet"))
    )
    released = released.fillna("")

    def sizes(columns):
        return released.groupby([*USED, *columns]).size()

    singles = {name: sizes([name]) for name in plain}
    chosen = [*combinations(plain, 2), *combinations(plain, 3)]
    together = {names: sizes(list(names)) for names in chosen}
    return (
        {
            name: (int(found[found < k].sum()), int((found == 1).sum()), int(found.min()))
            for name, found in singles.items()
        },
        {names: int(found[found < k].sum()) for names, found in together.items()},
        len(released),
    )


def allowing(plain):
    return ["--allow-column", ",".join(plain)]


@given(
    st.integers(0, 1000),
    st.lists(st.integers(2, 12), min_size=1, max_size=4),
    st.sampled_from(
        [(), ("--tiers", "auto"), ("--format", "parquet"), ("--class-size", "--escape-formulas")]
    ),
    st.sampled_from([3, 8]),
)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_groups_are_counted_as_pandas_counts_them(tmp_path_factory, seed, columns, options, k):
    folder = tmp_path_factory.mktemp("look")
    table = people(700, seed, columns)
    plain = list(table.columns[3:])
    out = release(folder, table, "-k", str(k), "--sites", "6", *options, *allowing(plain))
    found = look_of(out)
    singles, together, records = naive_look(out, plain, k)
    assert found["records"] == records
    assert {
        each["column"]: (each["records_below_k"], each["unique_records"], each["smallest_group"])
        for each in found["columns"]
    } == singles
    tried = {tuple(sorted(each["columns"])): each["records_below_k"] for each in found["combinations"]}
    disclosing = {name for name in found["disclosing"] if "+" not in name}
    assert tried == {names: number for names, number in together.items() if not disclosing & set(names)}
    assert found["combinations_not_tried"] == 0


@pytest.fixture
def telling():
    """Columns of which some tell the place, the age or the person, alone or two or three together."""
    table = people(6000, 3, [5, 9])
    generator = np.random.default_rng(4)
    place = table["region"].str[1:].astype(int).to_numpy()
    one, two, three = generator.integers(0, 16, (3, len(table)))
    table["postcode"] = "P" + table["region"]
    table["one"] = one.astype(str)
    table["two"] = ((one + place) % 16).astype(str)
    table["half"] = (two % 4).astype(str)
    table["third"] = (three % 4).astype(str)
    table["rest"] = ((two + three + place) % 4).astype(str)
    table["age in years"] = [
        str(int(age) + year) for age, year in zip(table["age"], three % 10, strict=True)
    ]
    table["serial"] = np.arange(len(table)).astype(str)
    return table


FOUND = {"postcode", "age in years", "serial", "one+two", "half+third+rest"}


@pytest.mark.parametrize(
    "options", [(), ("--tiers", "auto"), ("--format", "parquet"), ("--escape-formulas",)]
)
def test_the_written_file_is_judged_as_the_columns_were_before_writing(
    tmp_path, telling, capsys, options
):
    chosen = ["-k", "5", "--sites", "4", *options]
    records = tmp_path / "records.csv"
    telling.to_csv(records, index=False)
    command = [
        "run",
        str(records),
        str(write_regions(tmp_path)),
        *CHOSEN,
        *chosen,
        "--out",
        str(tmp_path / "no"),
    ]
    assert main(command) == 1
    said = capsys.readouterr().err
    refused = {
        line.partition("column “")[2].partition("”")[0]
        for line in said.splitlines()
        if "column “" in line
    }
    assert refused == FOUND
    allowed = ["--allow-column", "postcode,age in years,serial,two+one,third+rest+half"]
    assert set(look_of(release(tmp_path, telling, *chosen, *allowed))["disclosing"]) == FOUND


def test_a_file_that_is_not_what_was_tested_before_is_refused(tmp_path, telling, capsys, monkeypatch):
    """The look does not rely on the tests before writing: without them it refuses the same columns."""
    monkeypatch.setattr(preparation, "check_disclosure", lambda *_: ())
    records = tmp_path / "records.csv"
    telling.to_csv(records, index=False)
    command = ["run", str(records), str(write_regions(tmp_path)), *CHOSEN, "-k", "5", "--sites", "4"]
    assert main([*command, "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    refused = {
        line.partition("column “")[2].partition("”")[0]
        for line in said.splitlines()
        if "column “" in line
    }
    assert refused == FOUND
    assert sorted(path.name for path in tmp_path.iterdir()) == ["records.csv", "regions.csv"]


def test_without_pair_tests_the_look_is_at_single_columns_and_the_report_says_so(tmp_path):
    table = people(2000, 5, [4, 4, 4])
    out = release(tmp_path, table, "-k", "5", "--sites", "4", "--no-pair-tests")
    found = look_of(out)
    assert found["pair_tests"] is False
    assert [each["column"] for each in found["columns"]] == ["plain 0", "plain 1", "plain 2"]
    assert found["combinations"] == []
    assert found["combinations_not_tried"] == 4
    inside, outside = (
        (out / folder / "report.html").read_text(encoding="utf-8") for folder in ("internal", "release")
    )
    assert "Pairs and triples of columns were not tested" in inside
    assert "triples" not in outside
    again = release(tmp_path, table, "-k", "5", "--sites", "4", name="again")
    assert (
        "4 combinations of two or three of these columns were tested"
        in (again / "internal" / "report.html").read_text()
    )


def test_the_number_of_combinations_is_bounded_and_those_left_out_are_stated(tmp_path, monkeypatch):
    monkeypatch.setattr(column_tests, "MOST_GROUPINGS", 4)
    out = release(tmp_path, people(2000, 6, [2, 3, 4, 2]), "-k", "5", "--sites", "4")
    found = look_of(out)
    assert [each["columns"] for each in found["combinations"]] == [
        ["plain 1", "plain 2"],
        ["plain 0", "plain 2"],
        ["plain 2", "plain 3"],
        ["plain 0", "plain 1"],
    ]
    assert found["combinations_not_tried"] == 6 + 4 - 4


def test_nothing_of_the_look_is_in_the_release(tmp_path):
    out = release(tmp_path, people(2000, 7, [4, 4]), "-k", "5", "--sites", "4")
    figures = [f"{each['records_below_k']:,} (" for each in look_of(out)["columns"]]
    inside = (out / "internal" / "report.html").read_text(encoding="utf-8")
    assert all(figure in inside for figure in figures)
    for path in (out / "release").iterdir():
        assert b"last_look" not in path.read_bytes()
    assert not any(
        figure in (out / "release" / "report.html").read_text(encoding="utf-8") for figure in figures
    )


def test_the_look_copes_with_what_record_files_look_like(tmp_path):
    """Quotes, line breaks in fields, a return in quotes, another delimiter and encoding, numbers in many notations."""
    generator = np.random.default_rng(8)
    rows = ['age;sex;region;plain;"more, or less"']
    for number in range(1500):
        plain = ["07", "7", "+3", "é", '"two\nlines"', '"a ""quote"""', '"a\rb"', " x "][
            generator.integers(8)
        ]
        more = ["7", "07", "1.50", ""][generator.integers(4)]
        rows.append(
            f"{10 * generator.integers(1, 4)};{'fm'[generator.integers(2)]};r{number % 16};{plain};{more}"
        )
    records = tmp_path / "records.csv"
    records.write_bytes("\r\n".join(rows).encode("cp1252"))
    out = tmp_path / "out"
    command = [
        "run",
        str(records),
        str(write_regions(tmp_path)),
        *CHOSEN,
        "-k",
        "5",
        "--sites",
        "4",
        "--out",
        str(out),
    ]
    assert main([*command, "--delimiter", ";", "--encoding", "cp1252"]) == 0
    found = look_of(out)
    assert found["compared_with_original"] is True
    assert found["disclosing"] == []
    released = pd.read_csv(
        out / "release" / "anonymized.csv",
        sep=";",
        dtype=str,
        na_filter=False,
        encoding="cp1252",
        lineterminator="\n",
    )
    assert found["records"] == len(released)


def test_a_release_without_its_region_is_counted_but_not_compared(tmp_path):
    out = release(
        tmp_path, people(2000, 9, [4]), "-k", "5", "--sites", "4", "--columns", "age,sex,plain 0"
    )
    found = look_of(out)
    assert found["compared_with_original"] is False
    released = pd.read_csv(out / "release" / "anonymized.csv", dtype=str, na_filter=False)
    sizes = released.groupby(["age", "sex", "plain 0"]).size()
    assert found["columns"][0]["records_below_k"] == int(sizes[sizes < 5].sum())
    assert "was not compared with the original" in (out / "internal" / "report.html").read_text(
        encoding="utf-8"
    )


def test_without_other_columns_there_is_nothing_to_look_at(tmp_path):
    out = release(tmp_path, people(400, 1, []), "-k", "5", "--sites", "2")
    assert look_of(out) == {
        "records": 0,
        "compared_with_original": True,
        "pair_tests": True,
        "columns": [],
        "combinations": [],
        "combinations_not_tried": 0,
        "disclosing": [],
    }


def test_the_internal_report_gives_shares_of_the_released_records(tmp_path):
    out = release(tmp_path, people(2000, 7, [4, 4]), "-k", "5", "--sites", "4")
    found = look_of(out)
    inside = (out / "internal" / "report.html").read_text(encoding="utf-8")
    below = [each["records_below_k"] for each in (*found["columns"], *found["combinations"])]
    assert min(below) > 0
    for number in below:
        assert f"{number:,} ({100 * number / found['records']:.3g} %)" in inside


def test_a_column_that_tells_the_first_quasi_identifier_more_finely_is_said_to_tell_that(
    tmp_path, capsys
):
    table = people(2000, 9, [])
    table["age"] = [str(20 + number % 4) for number in range(2000)]
    table["born"] = ["even" if number % 2 == 0 else "odd" for number in range(2000)]
    records = tmp_path / "records.csv"
    table.to_csv(records, index=False)
    groups = tmp_path / "groups.csv"
    lines = [f"age,{age},{'20-21' if age < 22 else '22-23'}" for age in range(20, 24)]
    groups.write_text("column,value,group\n" + "\n".join(lines) + "\n")
    command = ["run", str(records), str(write_regions(tmp_path)), *CHOSEN, "-k", "5", "--sites", "2"]
    assert main([*command, "--generalise", str(groups), "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "“age” in more detail than the released groups" in said
    assert "two records of a group with the same value have the same “age” in 100" in said


@pytest.mark.parametrize("blanks", [0.0, 0.5], ids=["everywhere", "where it is filled in"])
def test_a_column_that_tells_a_category_and_divides_it_is_refused(tmp_path, capsys, blanks):
    generator = np.random.default_rng(11)
    table = people(2000, 11, [])
    finer = [
        f"{age}-{part}" for age, part in zip(table["age"], generator.integers(0, 3, 2000), strict=True)
    ]
    table["code"] = np.where(generator.random(2000) < blanks, "", finer)
    table.to_csv(tmp_path / "records.csv", index=False)
    files = [str(tmp_path / "records.csv"), str(write_regions(tmp_path))]
    assert main(["run", *files, *CHOSEN, "-k", "5", "--sites", "2", "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "column “code”: It reveals “age” in more detail than the released categories" in said
    assert (
        "100 % of the cases" in said.replace("\u202f", " ").replace("\u00a0", " ")
        or "100% of the cases" in said
    )
    # A column of the same values by chance is not.
    table["code"] = generator.permutation(table["code"].to_numpy())
    table.to_csv(tmp_path / "records.csv", index=False)
    assert main(["run", *files, *CHOSEN, "-k", "5", "--sites", "2", "--out", str(tmp_path / "out")]) == 0
