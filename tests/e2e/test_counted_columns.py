"""A release names the columns that k holds for and those that it does not, with the number of unique records."""

import json
import re

import numpy
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from release_making import random_rows, write_records, write_regions

import vbas_desktop as vbas
from vbas_desktop.cli.main import main
from vbas_desktop.releases import column_coverage

HEADER = ["name", "age", "sex", "region", "hobby", "plan"]


def rows_of(records=600, hobbies=40, seed=3):
    generator = numpy.random.default_rng([seed, 1])
    plain = generator.integers([0, 0], [hobbies, 3], (records, 2))
    # The same hobby is written in two ways, which the release makes one.
    return [
        [*row[:4], f"{' ' if number % 7 == 0 else ''}hobby {hobby}", f"plan {plan}"]
        for number, (row, (hobby, plan)) in enumerate(
            zip(random_rows(records, seed), plain.tolist(), strict=True)
        )
    ]


def run(folder, rows, *options):
    files = [str(write_records(folder, rows, HEADER)), str(write_regions(folder))]
    columns = ["--region-column", "region", "--quasi-identifiers", "age,sex", "--identifiers", "name"]
    return main(
        [
            "run",
            *files,
            *columns,
            "--sites",
            "4",
            "--range-reach",
            "0",
            "--no-pdf",
            "--allow-column",
            "hobby,plan,hobby+plan",
            *options,
        ]
    )


def unique_records(folder):
    """Count with pandas what the release itself shows."""
    name = next(path for path in (folder / "release").iterdir() if path.stem == "anonymized")
    if name.suffix == ".parquet":
        table = pandas.read_parquet(name)
    else:
        table = pandas.read_csv(name, dtype=str, keep_default_na=False)
    return int((~table.duplicated(keep=False)).sum()), len(table)


def words(page):
    return " ".join(re.sub(r"<[^>]+>", " ", page.read_text(encoding="utf-8")).split())


@pytest.mark.parametrize("most", [1, 500, 1 << 64])
def test_unique_records_are_those_that_pandas_counts_however_many_rows_are_possible(
    most, tmp_path, monkeypatch
):
    monkeypatch.setattr(column_coverage, "MOST_NUMBERS", most)
    out = tmp_path / "out"
    assert run(tmp_path, rows_of(), "--out", str(out)) == 0
    unique, released = unique_records(out)
    assert 0 < unique < released
    assert json.loads((out / "run.json").read_text())["columns"]["unique_records"] == unique


def test_the_command_and_the_internal_report_name_the_columns_and_the_unique_records(tmp_path, capsys):
    out = tmp_path / "out"
    assert run(tmp_path, rows_of(), "--sensitive", "plan", "--out", str(out)) == 0
    said = capsys.readouterr().err
    unique, released = unique_records(out)
    assert 0 < unique < released
    figure = f"By all released columns together, {unique:,} of {released:,} records"
    counted = "Every combination of “region”, “age” and “sex” is shared by at least 5 records."
    with_these = f"with these, {unique:,} of {released:,} records"
    assert (
        f"{counted} Not protected, released as they are: “hobby” and “plan” (sensitive): {with_these}"
        in said
    )
    assert f"warning: No role was given for “hobby”: released as they are. {figure}" in said
    assert json.loads((out / "run.json").read_text())["columns"] == {
        "counted": ["region", "age", "sex"],
        "not_counted": ["hobby", "plan"],
        "without_role": ["hobby"],
        "unique_records": unique,
        "unique_records_is_minimum": False,
    }
    inside, outside = (words(out / folder / "report.html") for folder in ("internal", "release"))
    for page in (inside, outside):
        assert "Protected: every combination is shared by at least 5 records region, age, sex" in page
        assert "Not protected: released as they are hobby, plan" in page
        assert "very combination of “region”, “age”, “sex” has at least 5 records" in page
    assert figure in inside
    assert "unique" not in outside


def test_nothing_is_unique_if_only_counted_columns_are_released(tmp_path, capsys):
    assert run(tmp_path, rows_of(), "--columns", "region,age,sex", "--out", str(tmp_path / "out")) == 0
    said = capsys.readouterr().err
    assert "Not counted" not in said
    assert "No role" not in said
    document = json.loads((tmp_path / "out" / "run.json").read_text())
    assert document["columns"]["unique_records"] == 0
    assert unique_records(tmp_path / "out")[0] == 0


def test_quiet_hides_the_warning_as_it_does_others(tmp_path, capsys):
    assert (
        run(tmp_path, rows_of(), "--quiet", "--allowed-loss", "90", "--out", str(tmp_path / "out")) == 0
    )
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "options",
    [["--tiers", "auto", "-k", "9"], ["--format", "parquet"], ["--rename", "hobby=fun", "--no-shuffle"]],
)
def test_the_number_is_that_of_the_released_file(tmp_path, options):
    assert run(tmp_path, rows_of(hobbies=9), *options, "--quiet", "--out", str(tmp_path / "out")) == 0
    told = json.loads((tmp_path / "out" / "run.json").read_text())["columns"]["unique_records"]
    assert told == unique_records(tmp_path / "out")[0]


@settings(max_examples=12, deadline=None)
@given(hobbies=st.integers(1, 300), seed=st.integers(0, 2**32 - 1))
def test_the_number_is_that_of_the_released_file_whatever_the_records(tmp_path_factory, hobbies, seed):
    folder = tmp_path_factory.mktemp("case")
    given = ["--quiet", "--out", str(folder / "out")]
    assert run(folder, rows_of(300, hobbies, seed), *given) == 0
    told = json.loads((folder / "out" / "run.json").read_text())["columns"]["unique_records"]
    assert told == unique_records(folder / "out")[0]


def test_values_too_many_to_be_coded_make_the_number_a_minimum(tmp_path):
    # More than 50,000 values, and a different one in every record.
    rows = [[*row[:4], f"hobby {number}", row[5]] for number, row in enumerate(rows_of(51_000))]
    assert run(tmp_path, rows, "--quiet", "--out", str(tmp_path / "out")) == 0
    told = json.loads((tmp_path / "out" / "run.json").read_text())["columns"]
    assert told["unique_records_is_minimum"] is True
    unique, _ = unique_records(tmp_path / "out")
    assert 0.9 * unique < told["unique_records"] <= unique
    inside = words(tmp_path / "out" / "internal" / "report.html")
    assert f"By all released columns together, at least {told['unique_records']:,} of " in inside


def test_python_gives_the_columns_and_the_number_with_the_report(tmp_path):
    frame = pandas.DataFrame(rows_of(), columns=HEADER)
    regions = pandas.DataFrame(
        {"id": [f"r{i}" for i in range(16)], "x": [i % 4 for i in range(16)], "y": [0] * 16}
    )
    data = vbas.read(
        frame, regions, region_column="region", quasi_identifiers="age,sex", identifiers="name"
    )
    report = vbas.release(
        vbas.run(data, k=5, sites=4, range_reach=0),
        tmp_path / "out",
        pdf=False,
        allow_columns="hobby,plan",
    )
    unique, released = unique_records(tmp_path / "out")
    assert (report.columns.counted, report.columns.others) == (
        ("region", "age", "sex"),
        ("hobby", "plan"),
    )
    assert (report.columns.unique, report.columns.records) == (unique, released)
    assert (
        len([text for text in report.findings if "No role was given for “hobby”, “plan”" in text]) == 1
    )
