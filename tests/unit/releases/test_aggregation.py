"""Sensitive values that are released as one value per class."""

import csv
import json
import re
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from release_making import Case, load, released_rows, write_regions

from vbas_desktop.algorithms.value_groups import find_most_frequent, format_mean
from vbas_desktop.cli.main import main
from vbas_desktop.model.findings import InputError, VerificationFailed
from vbas_desktop.releases import aggregation
from vbas_desktop.releases.database_records import check_database_options
from vbas_desktop.settings.release import ReleaseOptions

PARV = Path(__file__).parents[2] / "data" / "parv"
HEADER = ["name", "age", "sex", "region", "value", "illness"]


def write(folder, rows, header=HEADER):
    path = folder / "records.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    return path


def patients(number, seed=0):
    draw = np.random.default_rng(seed)
    return [
        [
            f"person {row}",
            str(draw.choice(["10", "20", "30"], p=[0.7, 0.25, 0.05])),
            "fm"[draw.integers(2)],
            f"r{draw.integers(16)}",
            draw.choice(["", "1.5", "-20", "3", "7.25", "11"]),
            draw.choice(["flu", "cold", "", "none"]),
        ]
        for row in range(number)
    ]


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def naive(released, originals, below):
    """What must be in the columns, worked out from the original rows of each released class."""
    classes = defaultdict(list)
    for row in released:
        classes[row["region"], row["age"], row["sex"]].append(row)
    for members in classes.values():
        values = [originals[row["name"]] for row in members]
        for row, original in zip(members, values, strict=True):
            expected = original[4], original[5]
            if below is None or len(members) < below:
                numbers = [Fraction(value[4]) for value in values if value[4]]
                mean = sum(numbers) / len(numbers) if numbers else None
                cut = "" if mean is None else f"{int(mean * 10**4) / 10**4:.4f}".rstrip("0").rstrip(".")
                illnesses = Counter(value[5] for value in values if value[5])
                most = max(illnesses.values(), default=0)
                expected = cut, min((text for text, n in illnesses.items() if n == most), default="")
            assert (row["value"], row["illness"]) == expected
    return classes


@pytest.mark.parametrize("below", [None, 10, 25])
def test_every_class_has_the_mean_and_the_most_frequent_category(tmp_path, below):
    # Every class of more than a few records has a value with two decimals, so that means have four.
    rows = [[*row[:4], row[4] or "", row[5]] for row in patients(900)]
    rows = [[*row[:4], "7.25" if number % 3 == 0 else row[4], row[5]] for number, row in enumerate(rows)]
    case = load(write(tmp_path, rows), write_regions(tmp_path), sites=4)
    classes = "all" if below is None else f"below:{below}"
    options = ReleaseOptions(pdf=False, aggregate=("value", "illness"), aggregate_classes=classes)
    report = case.release(tmp_path / "out", options)
    released = rows_of(tmp_path / "out" / "release" / "anonymized.csv")
    found = naive(released, {row[0]: row for row in rows}, below)
    assert len(released) > 800
    assert below is None or {len(members) < below for members in found.values()} == {True, False}
    counts = rows_of(tmp_path / "out" / "release" / "class_counts.csv")
    assert {(row["region"], row["age"], row["sex"]): int(row["records"]) for row in counts} == {
        key: len(members) for key, members in found.items()
    }
    assert "the number of records of each class is that of the released file" in [
        c.name for c in report.checks
    ]


def test_c7_comes_out_of_its_classes(tmp_path):
    """Table C.7 of the PARV thesis: classes of fewer than ten records have the mean of their test results."""
    originals = {row["Key"]: row for row in rows_of(PARV / "C1.csv")}
    published = rows_of(PARV / "C7.csv")
    rows = [
        [row["Key"], row["Hh"], row["Job"], originals[row["Key"]]["Value"], "r0"] for row in published
    ]
    case = load(
        write(tmp_path, rows, ["Key", "Hh", "Job", "Value", "region"]),
        write_regions(tmp_path),
        quasi_identifiers=("Hh", "Job"),
        k=3,
        sites=1,
    )
    case.release(tmp_path / "out", ReleaseOptions(pdf=False, aggregate=("Value",)))
    released = {
        row["Key"]: row["Value"] for row in rows_of(tmp_path / "out" / "release" / "anonymized.csv")
    }
    assert released == {row["Key"]: row["Value"] for row in published}
    counts = rows_of(tmp_path / "out" / "release" / "class_counts.csv")
    sizes = {(row["Hh"], row["Job"]): int(row["records"]) for row in counts}
    assert sizes == {
        ("1-5", "Employee"): 11,
        ("1-5", "House"): 14,
        ("1-5", "Retired"): 6,
        ("1-5", "Self"): 6,
        ("6-10", "***"): 3,
    }
    means = {(row["Hh"], row["Job"]): released[row["Key"]] for row in published}
    small = [means[key] for key in (("1-5", "Retired"), ("1-5", "Self"), ("6-10", "***"))]
    assert small == ["40.16", "39", "44"]


def test_table_6_10_comes_out_of_all_classes(tmp_path):
    """Means of all five classes as printed: 40.18, 38.78, 40.16, 39 and 44; the illness is Yes in each."""
    originals = {row["Key"]: row for row in rows_of(PARV / "C1.csv")}
    published = rows_of(PARV / "C7.csv")
    rows = [
        [row["Hh"], row["Job"], originals[row["Key"]]["Value"], originals[row["Key"]]["Illness"], "r0"]
        for row in published
    ]
    header = ["Hh", "Job", "Value", "Illness", "region"]
    case = load(
        write(tmp_path, rows, header),
        write_regions(tmp_path),
        quasi_identifiers=("Hh", "Job"),
        k=3,
        sites=1,
    )
    options = ReleaseOptions(pdf=False, aggregate=("Value", "Illness"), aggregate_classes="all")
    case.release(tmp_path / "out", options)
    released = rows_of(tmp_path / "out" / "release" / "anonymized.csv")
    assert {(row["Hh"], row["Job"]): (row["Value"], row["Illness"]) for row in released} == {
        ("1-5", "Employee"): ("40.18", "Yes"),
        ("1-5", "House"): ("38.78", "Yes"),
        ("1-5", "Retired"): ("40.16", "Yes"),
        ("1-5", "Self"): ("39", "Yes"),
        ("6-10", "***"): ("44", "Yes"),
    }


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([("44", 1), ("38", 1), ("46", 1), ("45", 1), ("36", 1), ("32", 1)], "40.16"),
        ([("39", 3)], "39"),
        ([("1", 1), ("2", 2)], "1.66"),
        ([("-1", 1), ("-2", 2)], "-1.66"),
        ([("-0.001", 1), ("0", 1000)], "0"),
        ([("1.25", 1), ("1", 1)], "1.125"),
        ([("", 5), ("7", 1)], "7"),
        ([("", 5)], ""),
        ([("1e3", 1), ("0", 1)], "500"),
        ([("1e-300", 1)], "0"),
        ([("100", 1), ("200", 1)], "150"),
    ],
)
def test_means_are_cut_after_two_decimals_more_than_the_numbers_have(values, expected):
    from vbas_desktop.audit.aggregates import expected_aggregates

    assert format_mean(values) == expected
    by_auditor = expected_aggregates({0: Counter(dict(values))}, np.array([5]), None)
    assert by_auditor == {0: expected}


def test_of_equally_frequent_categories_the_first_in_order_counts():
    assert find_most_frequent([("b", 2), ("a", 2), ("", 9), ("c", 1)]) == "a"
    assert find_most_frequent([("", 3)]) == ""


def test_numbers_beside_texts_are_categories(tmp_path):
    rows = [
        [*row[:4], "unknown" if number == 7 else "5", row[5]] for number, row in enumerate(patients(400))
    ]
    case = load(write(tmp_path, rows), write_regions(tmp_path), sites=2)
    case.release(
        tmp_path / "out", ReleaseOptions(pdf=False, aggregate=("value",), aggregate_classes="all")
    )
    assert {row["value"] for row in rows_of(tmp_path / "out" / "release" / "anonymized.csv")} == {"5"}


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_parquet_is_aggregated_alike(tmp_path, format):
    rows = [row for row in patients(500) if row[4]]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(HEADER)}
    columns["value"] = [round(float(text) * 4) for text in columns["value"]]
    pq.write_table(pa.table(columns), tmp_path / "records.parquet")
    case = load(tmp_path / "records.parquet", write_regions(tmp_path), sites=3)
    options = ReleaseOptions(pdf=False, aggregate=("value",), aggregate_classes="all", format=format)
    case.release(tmp_path / "out", options)
    if format == "csv":
        released = rows_of(tmp_path / "out" / "release" / "anonymized.csv")
    else:
        released = pq.read_table(tmp_path / "out" / "release" / "anonymized.parquet").to_pylist()
    numbers = dict(zip(columns["name"], columns["value"], strict=True))
    classes = defaultdict(list)
    for row in released:
        classes[row["region"], row["age"], row["sex"]].append(row)
    for members in classes.values():
        mean = Fraction(sum(numbers[row["name"]] for row in members), len(members))
        expected = f"{int(mean * 100) / 100:.2f}".rstrip("0").rstrip(".")
        assert {row["value"] for row in members} == {expected}


def test_filters_keys_and_aggregated_values_go_together(tmp_path):
    rows = patients(900)
    write(tmp_path, rows)
    write_regions(tmp_path)
    (tmp_path / "drop.csv").write_text("sex,age\nf,10\n")
    words = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age,sex",
        "--sites",
        "3",
        "--no-pdf",
        "--quiet",
    ]
    more = [
        "--drop-records",
        str(tmp_path / "drop.csv"),
        "--record-key",
        "key",
        "--aggregate",
        "illness",
    ]
    files = [str(tmp_path / "records.csv"), str(tmp_path / "regions.csv")]
    allowed = ["--allow-column", "name,value,illness", "--aggregate-classes", "all"]
    assert main(["run", *files, *words, *more, *allowed, "--out", str(tmp_path / "out")]) == 0
    index = {
        row["record_key"]: rows[int(row["record"]) - 1]
        for row in rows_of(tmp_path / "out/internal/record_index.csv")
    }
    released = rows_of(tmp_path / "out" / "release" / "anonymized.csv")
    classes = defaultdict(list)
    for row in released:
        assert index[row["key"]][0] == row["name"]
        classes[row["region"], row["age"], row["sex"]].append(row)
    assert not any(key[1:] == ("10", "f") for key in classes)
    for members in classes.values():
        illnesses = Counter(index[row["key"]][5] for row in members if index[row["key"]][5])
        most = max(illnesses.values())
        assert {row["illness"] for row in members} == {
            min(text for text, n in illnesses.items() if n == most)
        }


def test_values_in_tiers_are_those_of_the_place_that_a_record_carries(tmp_path):
    rows = patients(700, seed=3)
    write(tmp_path, rows)
    write_regions(tmp_path)
    words = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age,sex",
        "--sites",
        "9",
        "--no-pdf",
        "--quiet",
    ]
    more = [
        "--tiers",
        "auto",
        "--tier-factor",
        "3",
        "--aggregate",
        "illness",
        "--aggregate-classes",
        "all",
    ]
    files = [str(tmp_path / "records.csv"), str(tmp_path / "regions.csv")]
    allowed = ["--allow-column", "name,value,illness", "--range-reach", "0"]
    assert main(["run", *files, *words, *more, *allowed, "--out", str(tmp_path / "out")]) == 0
    released = rows_of(tmp_path / "out" / "release" / "anonymized.csv")
    assert len({row["region"][0] for row in released}) > 1, "some are in a larger area"
    originals = {row[0]: row[5] for row in rows}
    classes = defaultdict(list)
    for row in released:
        classes[row["region"], row["age"], row["sex"]].append(row)
    for members in classes.values():
        illnesses = Counter(originals[row["name"]] for row in members if originals[row["name"]])
        most = max(illnesses.values())
        assert {row["illness"] for row in members} == {
            min(text for text, n in illnesses.items() if n == most)
        }


CHANGED_COUNTS = {
    "class": (rb",f,", b",m,"),
    "name": (rb"records", b"people"),
    "number": (rb"\d+\n", b"many\n"),
}


@pytest.mark.parametrize("what", ["value", *CHANGED_COUNTS])
def test_another_value_or_number_is_not_verified(tmp_path, monkeypatch, what):
    if what == "value":
        monkeypatch.setattr(aggregation, "find_most_frequent", lambda values: max(values)[0])
    else:
        counts = aggregation.class_counts
        before, after = CHANGED_COUNTS[what]
        monkeypatch.setattr(
            "vbas_desktop.releases.audited_records.class_counts",
            lambda *more: re.sub(before, after, counts(*more), count=1),
        )
    case = load(write(tmp_path, patients(400)), write_regions(tmp_path), sites=2)
    with pytest.raises(VerificationFailed, match=r"stated changes|records of each class"):
        case.release(tmp_path / "out", ReleaseOptions(pdf=False, aggregate=("illness",)))
    assert not (tmp_path / "out").exists()


def test_a_value_of_every_class_tells_nothing_more_unless_a_quasi_identifier_is_left_out(tmp_path):
    """Each class has a mean of its own, by which a quasi-identifier that is not released would be known."""
    draw = np.random.default_rng(1)
    rows = [[*row[:4], str(draw.integers(1, 10_000)), row[5]] for row in patients(900)]
    case = load(write(tmp_path, rows), write_regions(tmp_path), sites=2)
    chosen = {"pdf": False, "aggregate": ("value",), "aggregate_classes": "all", "pair_tests": False}
    report = case.release(
        tmp_path / "out", ReleaseOptions(columns=("age", "sex", "region", "value"), **chosen), True
    )
    assert report.records_released > 800
    with pytest.raises(InputError, match="reveals"):
        case.release(
            tmp_path / "less", ReleaseOptions(columns=("age", "region", "value"), **chosen), True
        )


def released_with(tmp_path, **options) -> Case:
    case = load(write(tmp_path, patients(300)), write_regions(tmp_path), sites=2)
    case.release(tmp_path / "out", ReleaseOptions(pdf=False, **options))
    return case


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"aggregate": ("age",)}, "cannot be aggregated"),
        ({"aggregate": ("region",)}, "cannot be aggregated"),
        ({"aggregate": ("ilness",)}, "has to be released"),
        ({"aggregate": ("illness",), "identifiers": ("illness",)}, "has to be released"),
    ],
)
def test_columns_that_cannot_be_aggregated_are_refused(tmp_path, options, words):
    with pytest.raises(InputError, match=words):
        released_with(tmp_path, **options)


@pytest.mark.parametrize("text", ["", "below", "below:1", "below:x", "some", "below:-3"])
def test_classes_to_aggregate_are_all_or_below_a_number(text):
    with pytest.raises(InputError, match=r"all, or below:N"):
        ReleaseOptions(aggregate_classes=text)


def test_records_behind_an_address_are_not_aggregated():
    check_database_options(ReleaseOptions(), "duckdb:records.csv")
    with pytest.raises(InputError, match="behind an address cannot be aggregated"):
        check_database_options(ReleaseOptions(aggregate=("illness",)), "duckdb:records.csv")


def test_criteria_are_judged_on_the_values_before(tmp_path):
    """An aggregated class has one value; whether it may be released was decided by the values that its records have."""
    write(tmp_path, patients(900))
    write_regions(tmp_path)
    words = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age,sex",
        "--sites",
        "3",
        "--no-pdf",
        "--quiet",
    ]
    files = [str(tmp_path / "records.csv"), str(tmp_path / "regions.csv")]
    more = ["--sensitive", "illness", "--criterion", "distinct:3", "--identifiers", "name,value"]
    for name, options in (
        ("plain", []),
        ("one", ["--aggregate", "illness", "--aggregate-classes", "all"]),
    ):
        assert main(["run", *files, *words, *more, *options, "--out", str(tmp_path / name)]) == 0
    plain, one = (released_rows(tmp_path / name) for name in ("plain", "one"))
    assert Counter(tuple(row[:3]) for row in plain) == Counter(tuple(row[:3]) for row in one)
    reports = [(tmp_path / name / "release" / "report.html").read_text() for name in ("plain", "one")]
    figures = [page.count("what it says") for page in reports]
    assert figures[0] == figures[1] + 1, "figures of values that the file does not show are not told"


def test_a_requirement_that_forbids_aggregation_is_not_met(tmp_path):
    write(tmp_path, patients(400))
    write_regions(tmp_path)
    (tmp_path / "need.json").write_text('{"format_version": 1, "title": "C", "no_aggregation": true}')
    words = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age,sex",
        "--sites",
        "2",
        "--no-pdf",
        "--quiet",
    ]
    files = [str(tmp_path / "records.csv"), str(tmp_path / "regions.csv")]
    more = ["--requirement", str(tmp_path / "need.json"), "--identifiers", "name,value"]
    met = []
    for name, options in (("plain", []), ("one", ["--aggregate", "illness"])):
        assert main(["run", *files, *words, *more, *options, "--out", str(tmp_path / name)]) == 0
        document = json.loads((tmp_path / name / "run.json").read_text())
        met.append(document["requirement_check"])
        vector = json.loads((tmp_path / name / "release" / "representability.json").read_text())
        assert vector["sensitive_aggregated"] is bool(options)
    assert [row["actual"] for row in met[0]] == ["as recorded"]
    assert [row["actual"] for row in met[1]] == ["aggregated"]


def test_the_ledger_compares_no_aggregated_values_of_two_record_files(tmp_path, capsys):
    """Two means and two numbers of records give the value of somebody who left."""
    rows = patients(600)
    write(tmp_path, rows)
    write_regions(tmp_path)
    words = ["--region-column", "region", "--quasi-identifiers", "age,sex", "--no-pdf", "--quiet"]
    more = ["--aggregate", "illness", "--identifiers", "name,value", "--range-reach", "0"]
    files = [str(tmp_path / "records.csv"), str(tmp_path / "regions.csv")]
    assert main(["run", *files, *words, *more, "--sites", "2", "--out", str(tmp_path / "one")]) == 0
    assert main(["ledger", "record", str(tmp_path / "one"), "--audience", "Uni", "--quiet"]) == 0
    (tmp_path / "drop.csv").write_text("sex\nf\n")
    again = ["--construction", "coarsen", "--coarsen-from", str(tmp_path / "one"), "--sites", "2"]
    out = ["--drop-records", str(tmp_path / "drop.csv"), "--out", str(tmp_path / "two")]
    capsys.readouterr()
    assert main(["run", *files, *words, *more, *again, *out]) == 1
    assert "sensitive values are aggregated in one of them" in capsys.readouterr().err


@pytest.mark.parametrize("release_format", ["csv", "parquet"])
def test_an_aggregated_column_can_be_all_that_is_released(tmp_path, release_format):
    """Nothing of a class is shown, so its list has one line: all records."""
    case = load(write(tmp_path, patients(300)), write_regions(tmp_path))
    options = ReleaseOptions(
        columns=("illness",), aggregate=("illness",), pdf=False, format=release_format
    )
    report = case.release(tmp_path / "out", options)
    assert rows_of(tmp_path / "out" / "release" / "class_counts.csv") == [
        {"records": str(report.records_released)}
    ]
