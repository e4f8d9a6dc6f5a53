"""`vbas outliers` on the worked examples: four ways to be rid of small classes, each verified by reading back."""

import json
import random
from collections import Counter

import pytest
from outliers_command import DATA, handle, rows_of
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from vbas_desktop.analysis.outliers.treatments import DeleteOutliers, GeneraliseOutliers, MergeOutliers
from vbas_desktop.analysis.representability.report import RepresentabilityOptions
from vbas_desktop.app.outliers import OutlierRequest, treat_outliers
from vbas_desktop.cli.main import main
from vbas_desktop.io import random_order as shuffling
from vbas_desktop.model.progress import Cancelled


@pytest.fixture
def levels(tmp_path):
    folder = tmp_path / "levels"
    folder.mkdir()
    sizes = [f"{n};{'1-5' if n <= 5 else '6-10'};1-10;*" for n in range(1, 11)]
    (folder / "Hh.csv").write_text("\n".join(sizes) + "\n")
    (folder / "Job.csv").write_text(
        "Self;Works;*\nEmployee;Works;*\nHouse;Unemployed;*\nRetired;Unemployed;*\n"
    )
    return folder


def recognised(capsys, released, *more):
    capsys.readouterr()
    common = ["--key", "Key", "--quasi-identifiers", "Hh,Job", "-k", "3", "--json", "--quiet"]
    assert main(["representability", str(DATA / "C2.csv"), str(released), *common, *map(str, more)]) == 0
    return json.loads(capsys.readouterr().out)["general"]["approaches"]


@pytest.mark.parametrize(
    ("how", "records"), [("delete", 35), ("generalise", 40), ("merge", 40), ("fabricate", 47)]
)
def test_each_way_leaves_no_small_class_and_is_recognised(tmp_path, capsys, levels, how, records):
    released = handle(tmp_path, how, "--hierarchies", levels, "--key", "Key", "--sensitive", "Value")
    rows = rows_of(released)
    assert len(rows) == records
    assert min(Counter((row["Hh"], row["Job"]) for row in rows).values()) >= 3
    assert list(recognised(capsys, released, "--hierarchies", levels)) == [how]


def test_deleting_and_merging_give_the_published_tables(tmp_path):
    for how, number in (("delete", 5), ("merge", 6)):
        found = [(row["Key"], row["Hh"], row["Job"]) for row in rows_of(handle(tmp_path, how))]
        assert sorted(found) == sorted(
            (row["Key"], row["Hh"], row["Job"]) for row in rows_of(DATA / f"C{number}.csv")
        )


def test_many_rows_are_shuffled_through_files(tmp_path, monkeypatch):
    monkeypatch.setattr(shuffling, "HELD_ROWS", 50)
    rows = [([str(n)], n % 7 == 0) for n in range(1000)]
    found = list(shuffling.shuffle_rows(iter(rows), tmp_path, random.Random(3)))
    assert found != rows
    assert sorted(found) == sorted(rows)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--handle", "delete", "--smallest-sample", "36"], "Only 35 records would remain"),
        (["--handle", "merge", "-k", "41"], "only 40 records"),
        (["--handle", "fabricate", "--key", "Nope"], "There is no column “Nope”"),
        (["--level-weights", "Hh=0.5/0.6"], "2 weights for 1 levels"),
        (["--level-weights", "Hh=0.5"], "add up to 0.5"),
        (["--level-weights", "Age=1"], "does not give weights for a quasi-identifier"),
        (["--hierarchies", str(DATA / "nowhere")], "no hierarchy for any quasi-identifier"),
        (["--distances", str(DATA)], "no table of distances for any quasi-identifier"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(tmp_path, capsys, more, said):
    target = tmp_path / "out.csv"
    common = ["--quasi-identifiers", "Hh,Job", "-k", "3", "--out", str(target), "--replace", "--quiet"]
    assert main(["outliers", str(DATA / "C2.csv"), *common, *more]) == 1
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_hierarchy_without_a_row_for_some_value_is_refused(tmp_path, capsys, levels):
    (levels / "Job.csv").write_text("Self;Works;*\nEmployee;Works;*\nHouse;Unemployed;*\n")
    common = ["--quasi-identifiers", "Hh,Job", "-k", "3", "--hierarchies", str(levels)]
    target = tmp_path / "out.csv"
    assert (
        main(["outliers", str(DATA / "C1.csv"), *common, "--handle", "generalise", "--out", str(target)])
        == 1
    )
    said = capsys.readouterr().err
    assert "column “Job”: The hierarchy has no row for 1 value of the records (first in row" in said
    assert "Add a row value;level1;level2 for each of them." in said
    assert not target.exists()


def test_without_a_target_the_outliers_are_counted(capsys):
    assert (
        main(["outliers", str(DATA / "C1.csv"), "--quasi-identifiers", "Hh,Job", "-k", "3", "--quiet"])
        == 0
    )
    assert "have fewer than 3" in capsys.readouterr().out


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_parquet_files_are_handled_and_written_in_the_form_that_the_name_says(tmp_path, ending):
    table = arrow_csv.read_csv(
        DATA / "C2.csv", convert_options=arrow_csv.ConvertOptions(strings_can_be_null=False)
    )
    parquet.write_table(table, tmp_path / "C2.parquet")
    target = tmp_path / f"merged.{ending}"
    common = [
        "--quasi-identifiers",
        "Hh,Job",
        "-k",
        "3",
        "--handle",
        "merge",
        "--out",
        str(target),
        "--quiet",
    ]
    assert main(["outliers", str(tmp_path / "C2.parquet"), *common]) == 0
    rows = parquet.read_table(target).to_pylist() if ending == "parquet" else rows_of(target)
    found = sorted((row["Key"], row["Hh"], row["Job"]) for row in rows)
    assert found == sorted((row["Key"], row["Hh"], row["Job"]) for row in rows_of(DATA / "C6.csv"))


def test_fewer_than_k_records_are_neither_counted_nor_given_away(tmp_path, capsys):
    (tmp_path / "one.csv").write_text(
        "id,q\n" + "".join(f"{n},{'b' if n < 2 else 'a'}\n" for n in range(20))
    )
    for how in ("delete", "fabricate"):
        common = ["--quasi-identifiers", "q", "-k", "5", "--handle", how, "--key", "id", "--quiet"]
        assert (
            main(
                [
                    "outliers",
                    str(tmp_path / "one.csv"),
                    *common,
                    "--out",
                    str(tmp_path / "out.csv"),
                    "--replace",
                ]
            )
            == 0
        )
        said = capsys.readouterr().out
        assert "fewer than 5 records are in classes that have fewer than 5" in said
        assert "made up" not in said
        assert "20 records" not in said
    common = [
        "--quasi-identifiers",
        "q",
        "-k",
        "5",
        "--handle",
        "delete",
        "--smallest-sample",
        "19",
        "--quiet",
    ]
    assert (
        main(["outliers", str(tmp_path / "one.csv"), *common, "--out", str(tmp_path / "new.csv")]) == 1
    )
    said = capsys.readouterr().err
    assert "Not enough records would remain, fewer than 19" in said
    assert "18" not in said


def test_given_distances_decide_what_small_classes_are_merged_with(tmp_path):
    jobs = ["Self", "Employee", "House", "Retired"]
    near = {frozenset(("House", "Retired")): "0.1"}
    lines = [
        f"{a};" + ";".join("0" if a == b else near.get(frozenset((a, b)), "1") for b in jobs)
        for a in jobs
    ]
    (tmp_path / "near").mkdir()
    (tmp_path / "near" / "Job.csv").write_text("\n".join([";" + ";".join(jobs), *lines]) + "\n")
    plain, given = (
        handle(tmp_path, "merge", *more) for more in ((), ("--distances", tmp_path / "near"))
    )
    assert plain == given
    retired = Counter((row["Hh"], row["Job"]) for row in rows_of(given))
    # The two retired of four go to the households of four (0.1) rather than to the retired of three (0.2).
    assert ("4", "Retired") not in retired
    assert retired["3", "Retired"] == 4


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_formulas_are_escaped_in_names_and_values(tmp_path, ending):
    records = tmp_path / "records.csv"
    records.write_text("=cell,@sex\n" + "=1+1,M\n-2.5,M\n+x,M\n" * 6)
    command = [
        "outliers",
        str(records),
        "--quasi-identifiers",
        "=cell,@sex",
        "-k",
        "3",
        "--quiet",
        "--out",
    ]
    written = {}
    for escape in ([], ["--escape-formulas"]):
        target = tmp_path / f"out{len(escape)}.{ending}"
        assert main([*command, str(target), *escape]) == 0
        table = arrow_csv.read_csv(target) if ending == "csv" else parquet.read_table(target)
        written[len(escape)] = (table.column_names, set(table.column(0).cast("string").to_pylist()))
    assert written[0] == (["=cell", "@sex"], {"=1+1", "-2.5", "+x"})
    assert written[1] == (["'=cell", "'@sex"], {"'=1+1", "-2.5", "'+x"})


class StopAt:
    """Progress that wants to stop at a stage."""

    def __init__(self, stage):
        self._stage = stage

    def update(self, stage, fraction=None):
        if stage == self._stage:
            raise Cancelled


@pytest.mark.parametrize(
    ("handling", "stage"),
    [
        (MergeOutliers(), "Merging small classes"),
        (GeneraliseOutliers(), "Generalising small classes"),
        (GeneraliseOutliers(everywhere=True), "Generalising small classes"),
        (GeneraliseOutliers(with_closest=True), "Looking for the nearest classes"),
        (DeleteOutliers(), "Making the rows"),
        (DeleteOutliers(), "Writing the records"),
        (DeleteOutliers(), "Verifying the written file"),
    ],
)
def test_handling_can_be_stopped_midway_and_leaves_nothing(tmp_path, handling, stage):
    target = tmp_path / "out" / "handled.csv"
    target.parent.mkdir()
    request = OutlierRequest(
        DATA / "C2.csv", RepresentabilityOptions(3, "", ("Hh", "Job")), handling, target
    )
    with pytest.raises(Cancelled):
        treat_outliers(request, StopAt(stage))
    assert list(target.parent.iterdir()) == []
    assert treat_outliers(request).report.smallest_class >= 3
