"""Filters of records on the command line: figures, refusals, and what the ledger makes of them."""

import json
from collections import Counter

import pytest
from ledger_house import check, rows_of, run

from vbas_desktop.cli.main import main

SAME_REGIONS = ("--construction", "coarsen", "--sites", "5")


def filter_file(folder, text, name="filter.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def release_without(house, out, text, *more):
    unwanted = filter_file(house, text)
    from_first = ("--coarsen-from", str(house / "first"))
    return run(
        house,
        out,
        *SAME_REGIONS,
        *from_first,
        "--drop-records",
        unwanted,
        "--no-global-suppression",
        *more,
    )


def test_the_ledger_refuses_a_release_without_one_person(house, capsys):
    """Whoever has both files sees who is missing in the second."""
    assert release_without(house, "second", "name\nperson-1-5\n") == 1
    assert "1 person who came or went" in capsys.readouterr().err
    assert not (house / "second").exists()


def test_a_whole_class_may_be_left_out_of_a_second_release(house, capsys):
    assert release_without(house, "second", "sex\nmale\n") == 0
    assert {row["sex"] for row in rows_of(house / "second" / "release" / "anonymized.csv")} == {"female"}
    document = json.loads((house / "second" / "run.json").read_text())
    males = sum(row["sex"] == "male" for row in rows_of(house / "records.csv"))
    assert document["problem"]["records_left_out"] == document["selection"]["records_left_out"] == males
    assert check(house, "second") == 0


def test_the_ledger_knows_a_filtered_release_again(house, capsys):
    """A release of the filtered records with other regions is compared as one of the same records."""
    assert release_without(house, "second", "sex\nmale\n") == 0
    assert main(["ledger", "record", str(house / "second"), "--audience", "Other", "--quiet"]) == 0
    capsys.readouterr()
    assert release_without(house, "third", "sex\nmale\n", "--audience", "Other") == 0
    unwanted = filter_file(house, "sex\nmale\n")
    assert run(house, "fourth", "--sites", "9", "--drop-records", unwanted, "--audience", "Other") == 1
    assert "divide the records into smaller groups" in capsys.readouterr().err


def test_an_exported_release_is_filtered_alike(house):
    wanted = filter_file(house, "sex,age\nmale,10-year\nmale,20-year\n")
    ledger = ("--ledger", str(house / "none.json"))
    assert run(house, "second", "--sites", "4", "--keep-records", wanted, *ledger) == 0
    assert (
        main(["export", str(house / "second"), "--out", str(house / "again"), "--quiet", *ledger]) == 0
    )
    files = [(house / name / "release" / "anonymized.csv").read_bytes() for name in ("second", "again")]
    assert files[0] == files[1]
    rows = rows_of(house / "again" / "release" / "anonymized.csv")
    assert {(row["sex"], row["age"]) for row in rows} == {("male", "10-year"), ("male", "20-year")}


def test_a_changed_filter_is_refused_on_export(house, capsys):
    wanted = filter_file(house, "sex\nmale\n")
    ledger = ("--ledger", str(house / "none.json"))
    assert run(house, "second", "--sites", "4", "--keep-records", wanted, *ledger) == 0
    filter_file(house, "sex\nfemale\n")
    assert (
        main(["export", str(house / "second"), "--out", str(house / "again"), "--quiet", *ledger]) == 1
    )
    assert "filters of records are not those of the run" in capsys.readouterr().err
    assert not (house / "again").exists()


def test_a_filter_is_never_replaced_by_the_release(house, capsys):
    wanted = filter_file(house, "sex\nmale\n")
    assert run(house, "second", "--sites", "4", "--keep-records", wanted, "--out", wanted) == 1
    assert (house / "filter.csv").read_text() == "sex\nmale\n"


def test_outliers_are_counted_and_handled_among_the_considered_records(house, capsys):
    words = [
        "outliers",
        str(house / "records.csv"),
        "--quasi-identifiers",
        "age,sex",
        "-k",
        "5",
        "--quiet",
    ]
    wanted = ["--keep-records", filter_file(house, "region\nr3\nr4\n", "keep.csv")]
    unwanted = ["--drop-records", filter_file(house, "sex,age\nmale,10-year\n", "drop.csv")]
    out = ["--identifiers", "name,region", "--out", str(house / "handled.csv")]
    assert main([*words, *wanted, *unwanted, *out]) == 0
    considered = [
        (row["age"], row["sex"])
        for row in rows_of(house / "records.csv")
        if row["region"] in ("r3", "r4") and (row["sex"], row["age"]) != ("male", "10-year")
    ]
    expected = Counter({key: number for key, number in Counter(considered).items() if number >= 5})
    assert Counter((row["age"], row["sex"]) for row in rows_of(house / "handled.csv")) == expected
    assert f"{700 - len(considered)} records left out by filters" in capsys.readouterr().out
    one = filter_file(house, "name\nperson-1-5\n", "one.csv")
    assert main([*words, "--drop-records", one]) == 0
    assert "fewer than 5 records, or none, left out by filters" in capsys.readouterr().out
    assert main([*words, *wanted, "--out", str(house / "keep.csv"), "--replace"]) == 1
    assert (house / "keep.csv").read_text() == "region\nr3\nr4\n"


def test_records_behind_an_address_get_no_keys(house, capsys):
    pytest.importorskip("duckdb")
    words = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age",
        "--identifiers",
        "name",
        "--record-key",
        "key",
    ]
    files = [f"duckdb:{house / 'records.csv'}", str(house / "regions.csv")]
    allowed = [
        "--allow-column",
        "illness,since,sex",
        "--sites",
        "3",
        "--quiet",
        "--out",
        str(house / "second"),
    ]
    assert main(["run", *files, *words, *allowed, "--ledger", str(house / "none.json")]) == 1
    assert "no row numbers to which an index of keys could lead" in capsys.readouterr().err
    assert not (house / "second").exists()


@pytest.mark.parametrize("option", ["--keep-records", "--drop-records"])
def test_records_behind_an_address_are_not_filtered(house, option, capsys):
    words = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age",
        option,
        filter_file(house, "sex\nmale\n"),
    ]
    assert main(["run", f"duckdb:{house / 'records.csv'}", str(house / "regions.csv"), *words]) == 1
    said = capsys.readouterr().err
    assert "Records behind an address cannot be filtered by a table of combinations." in said
    assert "Name a view there that selects the records, or a record file." in said
