"""Releases of some of the records: what is written, how it is verified, and what the reports say of it."""

import gzip
import re
from collections import Counter
from dataclasses import replace

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from release_making import Case, random_rows, released_rows, without_codes, write_records, write_regions

from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.io.record_filter import filter_records, read_record_filter
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.model.findings import VerificationFailed
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.releases import records
from vbas_desktop.releases.recipient_facts import PercentRange, coarsen_left_out_share
from vbas_desktop.releases.record_writer import RecordWriter
from vbas_desktop.releases.records import find_released_records
from vbas_desktop.settings.reading import RecordReading
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.run import RunSettings

KEEP = "age,sex\n10,f\n20,f\n30,m\n10,m\n"
DROP = "region\nr3\nr7\n"
PLAIN = ReleaseOptions(shuffle=False, pdf=False)


def is_considered(row):
    return (row[1], row[2]) in {("10", "f"), ("20", "f"), ("30", "m"), ("10", "m")} and row[3] not in (
        "r3",
        "r7",
    )


def filtered_case(folder, path):
    (folder / "keep.csv").write_text(KEEP)
    (folder / "drop.csv").write_text(DROP)
    table = load_records(path, RecordReading(category_counts="no"))
    table = filter_records(
        table, read_record_filter(folder / "keep.csv"), read_record_filter(folder / "drop.csv")
    )
    return case_of(folder, table)


def case_of(folder, table):
    regions = load_regions(write_regions(folder))
    problem = build_problem(
        table,
        regions,
        region_column="region",
        quasi_identifiers=("age", "sex"),
        k=5,
        unknown_regions="stop",
    )
    approaches = (
        create_approach("site_number", "fixed", {"sites": 3}),
        create_approach("site_location", "balanced-density"),
    )
    return Case(
        table,
        problem,
        run(
            Request(
                problem,
                *approaches,
                create_approach("construction", "voronoi"),
                settings=RunSettings(range_reach=0),
            )
        ),
    )


def expected_rows(folder, rows):
    """The rows of a release of a file that has the considered records only."""
    there = folder / "alone"
    there.mkdir()
    table = load_records(write_records(there, rows), RecordReading(category_counts="no"))
    case_of(there, table).release(there / "out", PLAIN)
    return released_rows(there / "out")


def test_the_release_is_that_of_a_file_with_the_considered_records_alone(tmp_path):
    rows = random_rows(900)
    case = filtered_case(tmp_path, write_records(tmp_path, rows))
    report = case.release(tmp_path / "out", PLAIN)
    assert released_rows(tmp_path / "out") == expected_rows(
        tmp_path, [row for row in rows if is_considered(row)]
    )
    assert case.problem.records + case.problem.records_left_out == 900
    assert all(check.passed for check in report.checks)


@pytest.mark.parametrize("kind", ["stream", "gzip", "parquet", "csv to parquet", "parquet to csv"])
def test_every_way_of_writing_leaves_the_same_records_out(tmp_path, kind):
    rows = random_rows(900)
    path = write_records(tmp_path, rows)
    if kind == "gzip":
        packed = tmp_path / "records.csv.gz"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        path = packed
    if kind.startswith("parquet"):
        pq.write_table(pa_csv.read_csv(path), tmp_path / "records.parquet")
        path = tmp_path / "records.parquet"
    target = "parquet" if kind in ("parquet", "csv to parquet") else "csv"
    filtered_case(tmp_path, path).release(
        tmp_path / "out", ReleaseOptions(pdf=False, format=target, shuffle_seed="1")
    )
    if target == "parquet":
        table = pq.read_table(tmp_path / "out" / "release" / "anonymized.parquet")
        found = [
            list(table.column_names),
            *([str(value) for value in row.values()] for row in table.to_pylist()),
        ]
    else:
        found = released_rows(tmp_path / "out")
    expected = expected_rows(tmp_path, [row for row in rows if is_considered(row)])
    assert found[0] == expected[0]
    assert Counter(map(tuple, found[1:])) == Counter(map(tuple, expected[1:]))


@pytest.mark.parametrize("shuffle", [True, False])
def test_columns_that_are_read_again_are_those_of_the_filtered_records(tmp_path, shuffle):
    case = filtered_case(tmp_path, write_records(tmp_path, random_rows(900)))
    options = ReleaseOptions(pdf=False, shuffle_seed="ab", shuffle=shuffle)
    case.release(tmp_path / "coded", options)
    replace(case, table=without_codes(case.table, "name", "note")).release(tmp_path / "again", options)
    assert released_rows(tmp_path / "coded") == released_rows(tmp_path / "again")


def test_another_filter_gives_another_order(tmp_path):
    """With the same seed, rows that are in both releases must not stand in the same order."""
    path = write_records(tmp_path, random_rows(900))
    options = ReleaseOptions(pdf=False, shuffle_seed="ab", columns=("name",))
    filtered_case(tmp_path, path).release(tmp_path / "one", options)
    (tmp_path / "more.csv").write_text(DROP + "r8\n")
    table = load_records(path, RecordReading(category_counts="no"))
    table = filter_records(table, None, read_record_filter(tmp_path / "more.csv"))
    case_of(tmp_path, table).release(tmp_path / "other", options)
    one, other = ([row[0] for row in released_rows(tmp_path / name)[1:]] for name in ("one", "other"))
    both = set(one) & set(other)
    assert len(both) > 100
    assert [name for name in one if name in both] != [name for name in other if name in both]


def test_a_release_that_ignores_the_filter_is_not_verified(tmp_path, monkeypatch):
    case = filtered_case(tmp_path, write_records(tmp_path, random_rows(900)))
    everything = load_records(tmp_path / "records.csv", RecordReading(category_counts="no"))
    unfiltered = case_of(tmp_path, everything)
    # The auditor is told of the filter, the writer knows nothing of it.

    def write_everything(records, *more):
        return RecordWriter(find_released_records(records.plan, everything, NO_PROGRESS), *more)

    monkeypatch.setattr(records, "RecordWriter", write_everything)
    with pytest.raises(
        VerificationFailed, match=r"only the stated changes|are the records of the input"
    ):
        Case(case.table, unfiltered.problem, unfiltered.result).release(tmp_path / "out", PLAIN)
    assert not (tmp_path / "out").exists()


def test_a_filter_that_changed_meanwhile_is_not_verified(tmp_path):
    case = filtered_case(tmp_path, write_records(tmp_path, random_rows(900)))
    (tmp_path / "drop.csv").write_text("region\nr3\nr8\n")
    with pytest.raises(VerificationFailed, match="filter of records was changed"):
        case.release(tmp_path / "out", PLAIN)
    assert not (tmp_path / "out").exists()


def test_reports_say_by_which_columns_records_were_chosen(tmp_path):
    case = filtered_case(tmp_path, write_records(tmp_path, random_rows(900)))
    case.release(tmp_path / "out", ReleaseOptions(pdf=False, renames={"age": "years"}))
    pages = {}
    for name in ("release", "internal"):
        page = (tmp_path / "out" / name / "report.html").read_text(encoding="utf-8")
        pages[name] = re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", page))
    left_out = case.problem.records_left_out
    assert (
        "Records chosen by “years”, “sex”, “region”; of the file’s records left out: 20 to 50 %"
        in pages["release"]
    )
    assert f"Records left out by them {left_out:,}" not in pages["release"]
    assert f"Records left out by them {left_out:,}" in pages["internal"]
    assert "4 combinations of “age”, “sex” (keep.csv, SHA-256" in pages["internal"]
    assert "Records in it 900" in pages["internal"]


@pytest.mark.parametrize(
    ("left_out", "expected"),
    [(0, "below 5 %"), (4, "below 5 %"), (5, "below 5 %"), (6, "5 to 10 %"), (100, "50 % or more")],
)
def test_the_share_left_out_has_no_border_below_k(left_out, expected):
    """Of 100 released records, 1 % is reached from 2 on, 2 % from 3 and 5 % from 6: only the last is k or more."""
    assert str(coarsen_left_out_share(left_out, 100, 5)) == expected


def test_borders_of_the_share_stand_k_records_apart():
    """With k = 5 and 200 released records, 2 % is reached from 5 on and 5 % from 11: 1 % from 3 is none."""
    assert coarsen_left_out_share(4, 200, 5) == PercentRange(0, 2)
    assert coarsen_left_out_share(5, 200, 5) == coarsen_left_out_share(10, 200, 5) == PercentRange(2, 5)
    assert coarsen_left_out_share(7, 60, 5) == PercentRange(10, 20)
    assert coarsen_left_out_share(6, 60, 5) == PercentRange(0, 10), "5 % is reached from 4 on"
