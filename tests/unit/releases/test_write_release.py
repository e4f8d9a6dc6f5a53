import csv
import hashlib
import json
from collections import Counter
from dataclasses import replace

import pytest
from release_making import random_rows, released_rows, small_case, without_codes

from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import Cancelled
from vbas_desktop.settings.release import ReleaseOptions


def table_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_folder_holds_what_was_promised(tmp_path):
    case = small_case(tmp_path)
    report = case.release(tmp_path / "out", ReleaseOptions(geometry=("geojson", "gpkg")))
    assert [file.path for file in report.files] == [
        "internal/aggregated_regions.csv",
        "internal/report.html",
        "internal/report.pdf",
        "release/SHA256SUMS",
        "release/aggregated_regions.csv",
        "release/aggregated_regions.geojson",
        "release/aggregated_regions.gpkg",
        "release/anonymized.csv",
        "release/crosswalk.csv",
        "release/report.html",
        "release/report.pdf",
        "release/representability.json",
        "run.json",
    ]
    assert all(check.passed for check in report.checks)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "records.csv", "regions.csv"]


def test_every_released_row_is_an_input_row_with_the_region_replaced(tmp_path):
    case = small_case(tmp_path)
    report = case.release(tmp_path / "out")
    names, *rows = released_rows(tmp_path / "out")
    assert names == ["name", "age", "sex", "region", "note"]
    crosswalk = {
        row["initial_region"]: row["aggregated_region"]
        for row in table_of(report.folder / "crosswalk.csv")
    }
    before = [[*row[:3], crosswalk[row[3]], row[4]] for row in random_rows(400)]
    classes = Counter((row[1], row[2], row[3]) for row in before)
    assert sorted(rows) == sorted(row for row in before if classes[row[1], row[2], row[3]] >= 5)
    assert report.records_released == len(rows)
    assert report.records_suppressed == 400 - len(rows) > 0


def test_rows_are_shuffled_by_default_and_keep_their_order_on_request(tmp_path):
    case = small_case(tmp_path)
    case.release(tmp_path / "a")
    case.release(tmp_path / "b", ReleaseOptions(shuffle=False, pdf=False))
    shuffled, plain = (released_rows(tmp_path / name)[1:] for name in "ab")
    assert shuffled != plain
    assert sorted(shuffled) == sorted(plain)
    assert [int(row[0].split()[1]) for row in plain] == sorted(int(row[0].split()[1]) for row in plain)


def test_the_same_release_twice_has_the_same_bytes_and_another_seed_another_order(tmp_path):
    case = small_case(tmp_path)
    both = ReleaseOptions(geometry=("geojson", "gpkg"), shuffle_seed="0")
    first = case.release(tmp_path / "a", both)
    second = case.release(tmp_path / "b", both)
    other = case.release(tmp_path / "c", ReleaseOptions(shuffle_seed="1", pdf=False))
    hashes = [{file.path: file.sha256 for file in report.files} for report in (first, second, other)]
    assert hashes[0] == hashes[1]
    assert hashes[0]["release/anonymized.csv"] != hashes[2]["release/anonymized.csv"]


def test_a_release_of_many_regions_draws_them_after_the_audit_and_has_the_same_bytes(
    tmp_path, monkeypatch
):
    case = small_case(tmp_path)
    beside = case.release(tmp_path / "a", ReleaseOptions(shuffle_seed="0"))
    monkeypatch.setattr("vbas_desktop.releases.write.MAX_REGIONS_DRAWN_MEANWHILE", 0)
    after = case.release(tmp_path / "b", ReleaseOptions(shuffle_seed="0"))
    hashes = [
        {file.path: file.sha256 for file in report.files if file.path != "run.json"}
        for report in (beside, after)
    ]
    assert hashes[0] == hashes[1]
    assert [check.name for check in after.checks] == [check.name for check in beside.checks]


def test_columns_are_dropped_renamed_and_added(tmp_path):
    case = small_case(tmp_path)
    options = ReleaseOptions(
        identifiers=("name",),
        renames={"region": "area", "sex": "gender, told"},
        class_size="class_size",
        release_delimiter=";",
    )
    case.release(tmp_path / "out", options)
    names, *rows = released_rows(tmp_path / "out", delimiter=";")
    assert names == ["age", "gender, told", "area", "note", "class_size"]
    classes = Counter((row[0], row[1], row[2]) for row in rows)
    assert all(int(row[4]) == classes[row[0], row[1], row[2]] for row in rows)
    assert {row[3] for row in rows} == {"x,y"}


def test_chosen_columns_come_in_the_chosen_order_and_may_leave_a_quasi_identifier_out(tmp_path):
    case = small_case(tmp_path)
    case.release(tmp_path / "out", ReleaseOptions(columns=("region", "age"), pdf=False))
    assert released_rows(tmp_path / "out")[0] == ["region", "age"]


def test_the_checksums_are_those_of_the_files(tmp_path):
    report = small_case(tmp_path).release(tmp_path / "out")
    lines = (report.folder / "SHA256SUMS").read_text().splitlines()
    assert len(lines) == len(list(report.folder.iterdir())) - 1
    for line in lines:
        digest, name = line.split("  ")
        assert hashlib.sha256((report.folder / name).read_bytes()).hexdigest() == digest


def test_counts_of_the_aggregated_regions_are_those_of_the_files(tmp_path):
    report = small_case(tmp_path).release(tmp_path / "out")
    rows = Counter(row[3] for row in released_rows(report.target)[1:])
    outside = table_of(report.folder / "aggregated_regions.csv")
    inside = table_of(report.target / "internal" / "aggregated_regions.csv")
    assert {row["aggregated_region"]: int(row["records"]) for row in outside} == dict(rows)
    assert sum(int(row["suppressed_records"]) for row in inside) == report.records_suppressed
    assert sum(int(row["initial_regions"]) for row in inside) == 16
    assert [row["aggregated_region"] for row in outside] == ["A001", "A002", "A003"]


def test_regions_without_a_released_record_are_not_counted_among_those_with_records(tmp_path):
    report = small_case(tmp_path).release(tmp_path / "out")
    rows = Counter(row[3] for row in released_rows(report.target)[1:])
    assert report.regions_with_records == len(rows) == 3
    assert report.regions_in_words == "3 aggregated regions"
    assert replace(report, regions_with_records=2).regions_in_words == "2 of 3 aggregated regions"
    in_tiers = replace(report, regions_with_records=2, in_tiers=True)
    assert in_tiers.regions_in_words == "2 of 3 aggregated regions and in larger areas"


def test_run_json_tells_the_choices_of_the_release(tmp_path):
    report = small_case(tmp_path).release(
        tmp_path / "out", ReleaseOptions(identifiers=("name",)), tested=True
    )
    kept = json.loads((report.target / "run.json").read_text())["release"]
    assert kept["identifiers"] == ["name"]
    assert ReleaseOptions.from_dict(kept) == ReleaseOptions(
        identifiers=("name",), shuffle_seed=kept["shuffle_seed"]
    )


def test_a_changed_record_file_is_refused_whether_its_size_changed_or_not(tmp_path):
    case = small_case(tmp_path)
    records = tmp_path / "records.csv"
    data = records.read_bytes()
    for changed in (data + b"p,10,f,r1,x\n", data.replace(b"person 1,", b"person 2,", 1)):
        records.write_bytes(changed)
        with pytest.raises(InputError, match="changed since it was loaded"):
            case.release(tmp_path / "out")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["records.csv", "regions.csv"]


def test_stopping_leaves_the_old_release_as_it_was(tmp_path):
    case = small_case(tmp_path)
    before = case.release(tmp_path / "out").files

    class Stopping:
        def __init__(self, after):
            self.left = after
            self.looks = Counter()

        def update(self, stage, fraction=None):
            self.looks[stage] += 1
            # Shuffling asks for each of its 257 buckets, which are all alike.
            self.left -= self.looks[stage] <= 20
            if self.left < 0:
                raise Cancelled

    calls = 0
    while True:
        try:
            report = case.release(
                tmp_path / "out", ReleaseOptions(shuffle_seed="3", pdf=False), progress=Stopping(calls)
            )
            break
        except Cancelled:
            assert hashlib.sha256(
                (tmp_path / "out/release/anonymized.csv").read_bytes()
            ).hexdigest() in {file.sha256 for file in before}
            assert sorted(path.name for path in tmp_path.iterdir()) == [
                "out",
                "records.csv",
                "regions.csv",
            ]
        calls += 1
    assert calls > 20
    assert report.files != before


def test_a_target_with_other_things_in_it_is_left_alone(tmp_path):
    case = small_case(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="not an earlier result"):
        case.release(tmp_path / "out")
    assert (tmp_path / "out" / "thesis.tex").read_text() == "years of work"


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_release_with_everything_in_it_is_known_as_one_and_replaced(tmp_path, format):
    case = small_case(tmp_path)
    everything = ReleaseOptions(format=format, geometry=("geojson", "gpkg"), pdf=True)
    first, second = (case.release(tmp_path / "out", everything).files for _ in range(2))
    assert [file.path for file in first] == [file.path for file in second]
    (tmp_path / "out" / "internal" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="not an earlier result"):
        case.release(tmp_path / "out", everything)
    assert (tmp_path / "out" / "internal" / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    "columns", [("name", "sex", "region", "note"), ("name", "age", "region"), ("age", "note")]
)
@pytest.mark.parametrize("coded", [True, False], ids=["from codes", "from the file"])
def test_columns_that_are_left_out_between_others_are_not_released(tmp_path, columns, coded):
    case = small_case(tmp_path)
    if not coded:
        case = replace(case, table=without_codes(case.table, "name", "note"))
    case.release(tmp_path / "out", ReleaseOptions(columns=columns, pdf=False, shuffle=False))
    header, *rows = released_rows(tmp_path / "out")
    assert tuple(header) == columns
    before = {
        row[0]: dict(zip(case.table.file_format.header, row, strict=True)) for row in random_rows(400)
    }
    assert {len(row) for row in rows} == {len(columns)}
    for row in rows:
        found = dict(zip(columns, row, strict=True))
        if "name" in columns:
            mine = before[found["name"]]
            assert {name: found[name] for name in columns if name != "region"} == {
                name: mine[name] for name in columns if name != "region"
            }
