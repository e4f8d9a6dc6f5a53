"""`vbas representability` on the worked examples."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from vbas_desktop.cli.main import main

DATA = Path(__file__).parents[1] / "data" / "parv"


@pytest.fixture
def hierarchies(tmp_path):
    folder = tmp_path / "levels"
    folder.mkdir()
    sizes = [f"{n};{'1-5' if n <= 5 else '6-10'};1-10;1-20;*" for n in range(1, 11)]
    (folder / "Hh.csv").write_text("\n".join(sizes) + "\n")
    (folder / "Job.csv").write_text(
        "Self;Works;*\nEmployee;Works;*\nHouse;Unemployed;*\nRetired;Unemployed;*\n"
    )
    return folder


def vector(capsys, number, *options, k=3):
    files = [str(DATA / "C2.csv"), str(DATA / f"C{number}.csv")]
    common = ["--key", "Key", "--quasi-identifiers", "Hh,Job", "-k", str(k), "--json", "--quiet"]
    assert main(["representability", *files, *common, *map(str, options)]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("number", "precision", "rand", "jaccard", "fowlkes_mallows"),
    [(3, 0.8375, 0.8423, 0.3128, 0.5593), (4, 0.7219, 0.9692, 0.7000, 0.8367)],
)
def test_the_printed_numbers(capsys, hierarchies, number, precision, rand, jaccard, fowlkes_mallows):
    overall = vector(capsys, number, "--hierarchies", hierarchies)["overall"]
    assert round(overall["precision"], 4) == precision
    assert round(overall["rand"], 4) == rand
    assert round(overall["jaccard"], 4) == jaccard
    assert round(overall["fowlkes_mallows"], 4) == fowlkes_mallows


@pytest.mark.parametrize(
    ("number", "done"), [(3, "generalise"), (4, "generalise"), (5, "delete"), (6, "merge")]
)
def test_what_was_done_is_recognised(capsys, hierarchies, number, done):
    assert done in vector(capsys, number, "--hierarchies", hierarchies)["general"]["approaches"]


def test_the_identity_release_loses_nothing(capsys, hierarchies):
    overall = vector(capsys, 2, "--hierarchies", hierarchies)["overall"]
    assert (overall["precision"], overall["rand"], overall["jaccard"]) == (1.0, 1.0, 1.0)


def test_the_normalised_index_orders_the_releases_of_a_file_as_the_index_does(capsys, hierarchies):
    found = {n: vector(capsys, n, "--hierarchies", hierarchies)["overall"] for n in (2, 3, 4, 5, 6, 7)}
    assert len({overall["davies_bouldin_worst"] for overall in found.values()}) == 1
    index = {n: overall["davies_bouldin"] for n, overall in found.items()}
    normalised = {n: overall["davies_bouldin_normalised"] for n, overall in found.items()}
    assert normalised == {
        n: pytest.approx(value / found[2]["davies_bouldin_worst"]) for n, value in index.items()
    }
    assert normalised[2] == 0 < normalised[3] < normalised[4] < 1


def test_a_worst_file_replaces_the_worst_case(capsys, hierarchies):
    worst = ["--hierarchies", hierarchies, "--worst", DATA / "C4.csv"]
    index = {
        n: vector(capsys, n, "--hierarchies", hierarchies)["overall"]["davies_bouldin"] for n in (3, 4)
    }
    found = vector(capsys, 3, *worst)["overall"]
    assert found["davies_bouldin_worst"] == index[4]
    assert found["davies_bouldin_normalised"] == pytest.approx(index[3] / index[4])
    assert vector(capsys, 4, *worst)["overall"]["davies_bouldin_normalised"] == 1.0


def test_deleted_records_count_as_suppressed_and_as_a_class_of_their_own(capsys, hierarchies):
    # C5 lacks five records: one class of two and three of one. The nine classes that are left hold 55 pairs.
    overall = vector(capsys, 5, "--hierarchies", hierarchies)["overall"]
    assert (overall["deleted_records"], overall["fabricated_records"]) == (5, 0)
    assert overall["sample_size_ratio"] == overall["precision"] == 35 / 40
    together, apart_before = 55 + 1, 10 - 1
    assert overall["jaccard"] == pytest.approx(together / (together + apart_before))
    assert overall["rand"] == pytest.approx(1 - apart_before / 780)
    assert overall["fowlkes_mallows"] == pytest.approx((together / (together + apart_before)) ** 0.5)
    assert overall["davies_bouldin"] > 0


def test_fewer_than_k_deleted_records_are_in_no_figure(capsys, hierarchies):
    overall = vector(capsys, 5, "--hierarchies", hierarchies, k=6)["overall"]
    assert (overall["precision"], overall["jaccard"], overall["davies_bouldin"]) == (1.0, 1.0, 0.0)
    assert (overall["deleted_records"], overall["sample_size_ratio"]) == (None, None)
    assert overall["sample_size_ratio_at_least"] == 0.85


def test_made_up_records_are_a_class_of_their_own_in_the_original(capsys, hierarchies, tmp_path):
    filled = tmp_path / "filled.csv"
    usual = ["--quasi-identifiers", "Hh,Job", "-k", "3", "--quiet"]
    options = ["--handle", "fabricate", "--key", "Key", "--out", str(filled)]
    assert main(["outliers", str(DATA / "C2.csv"), *usual, *options]) == 0
    capsys.readouterr()
    compared = [str(DATA / "C2.csv"), str(filled), "--key", "Key", "--json"]
    assert main(["representability", *compared, *usual, "--hierarchies", str(hierarchies)]) == 0
    overall = json.loads(capsys.readouterr().out)["overall"]
    assert (overall["deleted_records"], overall["fabricated_records"]) == (0, 7)
    assert overall["sample_size_ratio"] == 47 / 40
    assert overall["precision"] == 1.0
    # Seven made-up records go to classes of one (two each) and of two (one): 55 + 1 pairs stay, 3 are made-up ones.
    together = 55 + 1 + 3
    only_original, only_released = 21 - 3, 4 * 3 - 1 - 3
    assert overall["jaccard"] == pytest.approx(together / (together + only_original + only_released))
    assert overall["rand"] == pytest.approx(1 - (only_original + only_released) / (47 * 46 / 2))


@pytest.mark.parametrize("number", [3, 7])
def test_sensitive_numbers_are_described_by_their_original_values(capsys, number):
    # Table 6.9, cut to two decimals; C7 holds the mean of these classes in place of each value.
    found = vector(capsys, number, "--sensitive", "Value")
    facts = {tuple(row["class"].values()): row for row in found["sensitive_values"]["Value"]}
    printed = {
        ("1-5", "Retired"): (6, 40.16, 5.67, 41.0, None),
        ("1-5", "Self"): (6, 39.0, 3.09, 39.5, 42.0),
        ("6-10", "***"): (3, 44.0, 6.55, 43.0, None),
    }
    for label, (size, mean, sd, median, mode) in printed.items():
        row = facts[label]
        assert (row["count"], row["median"], row["mode"]) == (size, median, mode)
        assert (int(row["mean"] * 100) / 100, int(row["sd"] * 100) / 100) == (mean, sd)
    assert found["sensitive_aggregated"] is (number == 7)


@pytest.mark.parametrize("number", [3, 7])
def test_the_table_of_all_sensitive_values(capsys, number):
    # Table 6.10. It prints PSA = Yes for all retired, but record 103 is retired and has No.
    found = vector(capsys, number, "--sensitive", "PSA,Illness,Value")["sensitive_values"]
    columns = [found["PSA"], found["Illness"], found["Value"]]
    table = {
        tuple(psa["class"].values()): (
            psa["count"],
            psa["shares"],
            illness["shares"],
            int(100 * value["mean"]) / 100,
        )
        for psa, illness, value in zip(*columns, strict=True)
    }
    everybody = {"Yes": 1.0}
    assert table == {
        ("1-5", "Employee"): (
            11,
            everybody,
            {"Yes": pytest.approx(10 / 11), "No": pytest.approx(1 / 11)},
            40.18,
        ),
        ("1-5", "House"): (14, everybody, everybody, 38.78),
        ("1-5", "Retired"): (
            6,
            {"Yes": pytest.approx(5 / 6), "No": pytest.approx(1 / 6)},
            everybody,
            40.16,
        ),
        ("1-5", "Self"): (6, everybody, everybody, 39.0),
        ("6-10", "***"): (3, {"Yes": pytest.approx(2 / 3), "No": pytest.approx(1 / 3)}, everybody, 44.0),
    }
    assert {row["mode"] for row in found["Illness"]} == {"Yes"}


def test_a_warning_says_that_figures_of_few_records_may_give_values_away(capsys):
    found = {n: vector(capsys, n, "--sensitive", "Value")["warnings"] for n in (3, 7)}
    told = {
        n: [row["message"] for row in rows if row["code"] == "few-values"] for n, rows in found.items()
    }
    assert not told[3]
    assert told[7] == [
        "The figures of 3 classes of few records may give the original values away, which are not released there."
    ]


def test_a_requirement_rejects_what_is_not_precise_enough(capsys, hierarchies, tmp_path):
    (tmp_path / "need.json").write_text(
        json.dumps({"format_version": 1, "overall": {"precision": {"min": 0.8}}})
    )
    need = ["--requirement", tmp_path / "need.json", "--hierarchies", hierarchies]
    assert vector(capsys, 3, *need)["requirement"][0]["verdict"] == "ok"
    assert vector(capsys, 4, *need)["requirement"][0]["verdict"] == "not met"


def test_required_sensitive_columns_need_not_be_named_again(capsys, tmp_path):
    (tmp_path / "need.json").write_text(
        json.dumps({"format_version": 1, "required_sensitive": ["Illness", "Age"]})
    )
    found = vector(capsys, 4, "--requirement", tmp_path / "need.json")
    assert [row["verdict"] for row in found["requirement"]] == ["ok", "not met"]
    assert list(found["sensitive_values"]) == ["Illness"]


def test_small_numbers_are_never_printed(capsys, hierarchies):
    found = vector(capsys, 5, "--hierarchies", hierarchies, k=6)
    assert found["general"]["approaches"] == {"delete": None}  # five records
    assert all(row["records"] >= 6 for row in found["per_class"])
    assert found["excluded_classes"]["unnamed_records"] is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--key", "Job"], "keys occur more than once"),
        (["--key", "Nope"], "There is no column “Nope”"),
        (["--weights", "Hh=0.5,Job=0.6"], "add up to 1.1"),
        (["--weights", "Hh=much"], "is not a weight"),
        (["--quasi-identifiers", "Hh,Joob"], "There is no column “Joob”"),
    ],
)
def test_bad_requests_are_explained(capsys, options, said):
    files = [str(DATA / "C2.csv"), str(DATA / "C4.csv")]
    quasi = [] if "--quasi-identifiers" in options else ["--quasi-identifiers", "Hh,Job"]
    assert main(["representability", *files, "--key", "Key", *quasi, "--quiet", *options]) == 1
    assert said in capsys.readouterr().err


def test_files_without_a_common_key_are_refused(capsys, tmp_path):
    (tmp_path / "other.csv").write_text("Key,Hh,Job\n1,5,Self\n2,4,Self\n")
    options = ["--key", "Key", "--quasi-identifiers", "Hh,Job", "--quiet"]
    assert main(["representability", str(DATA / "C2.csv"), str(tmp_path / "other.csv"), *options]) == 1
    assert "No key is in both files" in capsys.readouterr().err


def test_the_page_tells_every_element_and_what_is_not_met(capsys, hierarchies, tmp_path):
    (tmp_path / "need.json").write_text(
        json.dumps({"format_version": 1, "overall": {"precision": {"min": 0.8}}})
    )
    more = [
        "--hierarchies",
        hierarchies,
        "--sensitive",
        "Value",
        "--requirement",
        tmp_path / "need.json",
    ]
    files = [
        str(DATA / "C2.csv"),
        str(DATA / "C4.csv"),
        "--key",
        "Key",
        "--quasi-identifiers",
        "Hh,Job",
        "-k",
        "3",
    ]
    assert (
        main(["representability", *files, *map(str, more), "--out", str(tmp_path / "out"), "--quiet"])
        == 0
    )
    page = (tmp_path / "out" / "representability.html").read_text(encoding="utf-8")
    for title in (
        "In short",
        "The requirement",
        "Class by class",
        "Columns left out",
        "Classes left out",
        "Weights",
    ):
        assert f">{title}</h2>" in page
    assert "0.7219" in page
    assert "1 of 1 are not met." in page
    assert "http" not in page
    assert json.loads((tmp_path / "out" / "representability.json").read_text())["format_version"] == 1


def test_columns_that_differ_though_nobody_named_them_are_remarked(capsys, tmp_path):
    text = (DATA / "C2.csv").read_text().replace(",Yes,Yes,", ",No,Yes,")
    (tmp_path / "other.csv").write_text(text)
    options = ["--key", "Key", "--quasi-identifiers", "Hh,Job", "-k", "3", "--quiet"]
    assert main(["representability", str(DATA / "C2.csv"), str(tmp_path / "other.csv"), *options]) == 0
    said = capsys.readouterr().err
    assert "column “PSA”: The column differs in" in said
    assert "check that the key names the same record" in said


def test_a_key_with_more_values_than_are_coded_still_joins(capsys, tmp_path):
    rows = [f"{number:06d},{number % 7}" for number in range(60_000)]
    (tmp_path / "one.csv").write_text("id,age\n" + "\n".join(rows) + "\n")
    (tmp_path / "two.csv").write_text("id,age\n" + "\n".join(reversed(rows[:50_000])) + "\n")
    files = [str(tmp_path / "one.csv"), str(tmp_path / "two.csv")]
    assert (
        main(
            [
                "representability",
                *files,
                "--key",
                "id",
                "--quasi-identifiers",
                "age",
                "--json",
                "--quiet",
            ]
        )
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert found["general"]["approaches"] == {"delete": 10_000}
    # All common records are as they were; deleted ones count 0.
    assert found["overall"]["precision"] == pytest.approx(5 / 6)


def as_parquet(path, folder):
    target = folder / f"{path.stem}.parquet"
    table = csv.read_csv(path, convert_options=csv.ConvertOptions(strings_can_be_null=False))
    parquet.write_table(table, target)
    return target


def test_parquet_files_give_the_same_vector_as_text(capsys, hierarchies, tmp_path):
    common = [
        "--key",
        "Key",
        "--quasi-identifiers",
        "Hh,Job",
        "-k",
        "3",
        "--json",
        "--quiet",
        "--sensitive",
        "Value",
    ]
    files = [str(as_parquet(DATA / f"C{number}.csv", tmp_path)) for number in (2, 4)]
    assert main(["representability", *files, *common, "--hierarchies", str(hierarchies)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == vector(capsys, 4, "--hierarchies", hierarchies, "--sensitive", "Value")


def test_a_key_of_a_parquet_file_may_have_more_values_than_are_coded(capsys, tmp_path):
    ids = [f"{number:06d}" for number in range(60_000)]
    for name, chosen in (("one", ids), ("two", ids[:50_000][::-1])):
        ages = [int(each) % 7 for each in chosen]
        parquet.write_table(pa.table({"id": chosen, "age": ages}), tmp_path / f"{name}.parquet")
    files = [str(tmp_path / "one.parquet"), str(tmp_path / "two.parquet")]
    assert (
        main(
            [
                "representability",
                *files,
                "--key",
                "id",
                "--quasi-identifiers",
                "age",
                "--json",
                "--quiet",
            ]
        )
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert found["general"]["approaches"] == {"delete": 10_000}
    assert found["overall"]["precision"] == pytest.approx(5 / 6)


def test_given_distances_and_a_given_worst_case_are_used_and_told(capsys, hierarchies, tmp_path):
    (tmp_path / "near").mkdir()
    jobs = ["Self", "Employee", "House", "Retired", "***"]
    lines = [f"{one};" + ";".join("0" if one == other else "1" for other in jobs) for one in jobs]
    (tmp_path / "near" / "Job.csv").write_text("\n".join([";" + ";".join(jobs), *lines]) + "\n")
    plain = vector(capsys, 3, "--hierarchies", hierarchies)
    given = vector(
        capsys,
        3,
        "--hierarchies",
        hierarchies,
        "--distances",
        tmp_path / "near",
        "--worst",
        DATA / "C4.csv",
    )
    assert [found["coding"]["Job"]["distance"] for found in (plain, given)] == [
        "matching",
        "given table",
    ]
    assert plain["coding"]["Hh"]["distance"] == "by range"
    assert 0 < plain["overall"]["davies_bouldin_normalised"] < 1
    worst = vector(capsys, 4, "--hierarchies", hierarchies, "--distances", tmp_path / "near")["overall"]
    assert given["overall"]["davies_bouldin_worst"] == worst["davies_bouldin"]


def test_a_table_of_distances_that_lacks_values_is_refused_without_naming_them(capsys, tmp_path):
    (tmp_path / "Job.csv").write_text(";Self;House\nSelf;0;1\nHouse;1;0\n")
    files = [str(DATA / "C2.csv"), str(DATA / "C4.csv")]
    options = ["--key", "Key", "--quasi-identifiers", "Hh,Job", "--distances", str(tmp_path), "--quiet"]
    assert main(["representability", *files, *options]) == 1
    said = capsys.readouterr().err
    assert "2 values of the records are not in the table of distances" in said
    assert "Retired" not in said


def test_the_reason_why_a_column_is_left_out_is_told(capsys, tmp_path):
    rows = [line.rsplit(",", 1)[0] for line in (DATA / "C4.csv").read_text().splitlines()]
    (tmp_path / "short.csv").write_text("\n".join(rows) + "\n")
    files = [
        str(DATA / "C2.csv"),
        str(tmp_path / "short.csv"),
        "--key",
        "Key",
        "--quasi-identifiers",
        "Hh,Job",
    ]
    assert main(["representability", *files, "--reason", "Value=confidential", "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["excluded_attributes"] == {"Value": "confidential"}
    assert main(["representability", *files, "--reason", "Value", "--quiet"]) == 1
    assert "“Value” gives no reason" in capsys.readouterr().err
