"""`vbas outliers` on the worked examples: four ways to be rid of small classes, each verified by reading back."""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from vbas_desktop.assessment.representability.outlier_file import average
from vbas_desktop.cli.main import main

DATA = Path(__file__).parents[1] / "data" / "parv"


@pytest.fixture
def levels(tmp_path):
    folder = tmp_path / "levels"
    folder.mkdir()
    sizes = [f"{n};{'1-5' if n <= 5 else '6-10'};1-10;*" for n in range(1, 11)]
    (folder / "Hh.csv").write_text("\n".join(sizes) + "\n")
    (folder / "Job.csv").write_text("Self;Works;*\nEmployee;Works;*\nHouse;Unemployed;*\nRetired;Unemployed;*\n")
    return folder


def rows_of(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def handle(tmp_path, how, *more):
    target = tmp_path / f"{how}.csv"
    common = ["--quasi-identifiers", "Hh,Job", "-k", "3", "--handle", how, "--out", str(target), "--quiet"]
    assert main(["outliers", str(DATA / "C2.csv"), *common, *map(str, more)]) == 0
    return target


def recognised(capsys, released, *more):
    capsys.readouterr()
    common = ["--key", "Key", "--quasi-identifiers", "Hh,Job", "-k", "3", "--json", "--quiet"]
    assert main(["representability", str(DATA / "C2.csv"), str(released), *common, *map(str, more)]) == 0
    return json.loads(capsys.readouterr().out)["general"]["approaches"]


@pytest.mark.parametrize(("how", "records"), [("delete", 35), ("generalise", 40), ("merge", 40), ("fabricate", 47)])
def test_each_way_leaves_no_small_class_and_is_recognised(tmp_path, capsys, levels, how, records):
    released = handle(tmp_path, how, "--hierarchies", levels, "--key", "Key", "--sensitive", "Value")
    rows = rows_of(released)
    assert len(rows) == records
    assert min(Counter((row["Hh"], row["Job"]) for row in rows).values()) >= 3
    assert list(recognised(capsys, released, "--hierarchies", levels)) == [how]


def test_deleting_and_merging_give_the_published_tables(tmp_path):
    for how, number in (("delete", 5), ("merge", 6)):
        found = [(row["Key"], row["Hh"], row["Job"]) for row in rows_of(handle(tmp_path, how))]
        assert sorted(found) == sorted((row["Key"], row["Hh"], row["Job"]) for row in rows_of(DATA / f"C{number}.csv"))


def test_made_up_records_are_flagged_and_average(tmp_path):
    rows = rows_of(handle(tmp_path, "fabricate", "--sensitive", "Value,Illness", "--key", "Key"))
    made_up = [row for row in rows if row["fabricated"] == "1"]
    assert len(made_up) == 7
    assert len({row["Key"] for row in rows}) == 47
    for row in made_up:
        real = [r for r in rows if r["fabricated"] == "0" and (r["Hh"], r["Job"]) == (row["Hh"], row["Job"])]
        assert float(row["Value"]) == pytest.approx(sum(float(r["Value"]) for r in real) / len(real))
        assert row["Illness"] in {r["Illness"] for r in real}
        assert row["PSA"] == ""


def test_made_up_records_may_be_average_in_the_whole_file(tmp_path):
    more = ("--sensitive", "Value,Illness", "--key", "Key", "--average-of", "file")
    rows = rows_of(handle(tmp_path, "fabricate", *more))
    real = [row for row in rows if row["fabricated"] == "0"]
    mean = sum(float(row["Value"]) for row in real) / len(real)
    commonest = Counter(row["Illness"] for row in real).most_common(1)[0][0]
    made_up = [row for row in rows if row["fabricated"] == "1"]
    assert len(made_up) == 7
    assert all(float(row["Value"]) == pytest.approx(mean) and row["Illness"] == commonest for row in made_up)


def test_an_average_is_the_mean_of_numbers_and_else_the_commonest_value():
    assert average(Counter({"1": 3, "5": 1})) == "2"
    assert average(Counter({"yes": 2, "no": 2, "5": 1})) == "no"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--handle", "delete", "--smallest-sample", "36"], "Only 35 records would remain"),
        (["--handle", "merge", "-k", "41"], "only 40 records"),
        (["--handle", "fabricate", "--key", "Nope"], "There is no column “Nope”"),
        (["--level-weights", "Hh=0.5/0.6"], "2 weights for 1 levels"),
        (["--level-weights", "Hh=0.5"], "add up to 0.5"),
        (["--level-weights", "Age=1"], "no weights of a quasi-identifier"),
        (["--hierarchies", str(DATA / "nowhere")], "no hierarchy for any quasi-identifier"),
        (["--distances", str(DATA)], "no table of distances for any quasi-identifier"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(tmp_path, capsys, more, said):
    target = tmp_path / "out.csv"
    common = ["--quasi-identifiers", "Hh,Job", "-k", "3", "--out", str(target), "--quiet"]
    assert main(["outliers", str(DATA / "C2.csv"), *common, *more]) == 1
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_values_that_a_hierarchy_lacks_are_counted_and_said(tmp_path, capsys, levels):
    (levels / "Job.csv").write_text("Self;Works;*\nEmployee;Works;*\nHouse;Unemployed;*\n")
    handle(tmp_path, "generalise", "--hierarchies", levels)
    assert "column “Job”: 1 value is not in the hierarchy" in capsys.readouterr().err


def test_without_a_target_the_outliers_are_counted(capsys):
    assert main(["outliers", str(DATA / "C1.csv"), "--quasi-identifiers", "Hh,Job", "-k", "3", "--quiet"]) == 0
    assert "have fewer than 3" in capsys.readouterr().out


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_parquet_files_are_handled_and_written_in_the_form_that_the_name_says(tmp_path, ending):
    table = arrow_csv.read_csv(DATA / "C2.csv", convert_options=arrow_csv.ConvertOptions(strings_can_be_null=False))
    parquet.write_table(table, tmp_path / "C2.parquet")
    target = tmp_path / f"merged.{ending}"
    common = ["--quasi-identifiers", "Hh,Job", "-k", "3", "--handle", "merge", "--out", str(target), "--quiet"]
    assert main(["outliers", str(tmp_path / "C2.parquet"), *common]) == 0
    rows = parquet.read_table(target).to_pylist() if ending == "parquet" else rows_of(target)
    found = sorted((row["Key"], row["Hh"], row["Job"]) for row in rows)
    assert found == sorted((row["Key"], row["Hh"], row["Job"]) for row in rows_of(DATA / "C6.csv"))


def test_fewer_than_k_records_are_neither_counted_nor_given_away(tmp_path, capsys):
    (tmp_path / "one.csv").write_text("id,q\n" + "".join(f"{n},{'b' if n < 2 else 'a'}\n" for n in range(20)))
    for how in ("delete", "fabricate"):
        common = ["--quasi-identifiers", "q", "-k", "5", "--handle", how, "--quiet"]
        assert main(["outliers", str(tmp_path / "one.csv"), *common, "--out", str(tmp_path / "out.csv")]) == 0
        said = capsys.readouterr().out
        assert "fewer than 5 records are in classes that have fewer than 5" in said
        assert "made up" not in said
        assert "20 records" not in said
    common = ["--quasi-identifiers", "q", "-k", "5", "--handle", "delete", "--smallest-sample", "19", "--quiet"]
    assert main(["outliers", str(tmp_path / "one.csv"), *common, "--out", str(tmp_path / "new.csv")]) == 1
    said = capsys.readouterr().err
    assert "Not enough records would remain, fewer than 19" in said
    assert "18" not in said


def test_given_distances_decide_what_small_classes_are_merged_with(tmp_path):
    jobs = ["Self", "Employee", "House", "Retired"]
    near = {frozenset(("House", "Retired")): "0.1"}
    lines = [f"{a};" + ";".join("0" if a == b else near.get(frozenset((a, b)), "1") for b in jobs) for a in jobs]
    (tmp_path / "near").mkdir()
    (tmp_path / "near" / "Job.csv").write_text("\n".join([";" + ";".join(jobs), *lines]) + "\n")
    plain, given = (handle(tmp_path, "merge", *more) for more in ((), ("--distances", tmp_path / "near")))
    assert plain == given
    retired = Counter((row["Hh"], row["Job"]) for row in rows_of(given))
    # The two retired of four go to the households of four (0.1) rather than to the retired of three (0.2).
    assert ("4", "Retired") not in retired
    assert retired["3", "Retired"] == 4
