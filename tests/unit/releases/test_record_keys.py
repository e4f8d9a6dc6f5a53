"""Pseudonymous keys of released records: form, uniqueness, independence of the order, and the index that leads back."""

import csv
import os
import re
import stat

import numpy as np
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from release_making import load, random_rows, released_rows, small_case, write_records, write_regions
from test_filtered_release import filtered_case

from vbas_desktop.io.records.row_order import PIECE_ROWS, RecordKeys, RowKeys
from vbas_desktop.model.findings import InputError, VerificationFailed
from vbas_desktop.releases import record_writer
from vbas_desktop.releases.database_records import check_database_options
from vbas_desktop.settings.release import ReleaseOptions

KEYED = ReleaseOptions(record_key="pseudonym", pdf=False, shuffle_seed="12")


def index_of(target):
    with (target / "internal" / "record_index.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def assert_leads_back(target, rows, before=2):
    """Every key leads to the row of the file that has the values of the released row."""
    names, *released = released_rows(target)
    listed = {entry["record_key"]: entry for entry in index_of(target)}
    assert names[-1] == "pseudonym"
    assert len(released) == len(listed)
    for row in released:
        entry = listed[row[-1]]
        original = rows[int(entry["record"]) - 1]
        assert row[0] == original[0], "the name is unique"
        assert int(entry["row"]) == int(entry["record"]) + before - 1
    return released


def test_keys_lead_back_to_the_rows_of_the_file(tmp_path):
    rows = random_rows(900)
    case = load(write_records(tmp_path, rows), write_regions(tmp_path))
    report = case.release(tmp_path / "out", KEYED)
    released = assert_leads_back(tmp_path / "out", rows)
    assert all(re.fullmatch("[A-Z2-7]{16}", row[-1]) for row in released)
    assert len({row[-1] for row in released}) == len(released)
    names = [check.name for check in report.checks]
    assert "every key leads to the input row that its row was made of" in names
    assert all(check.passed for check in report.checks)


@pytest.mark.parametrize(
    "options", [{"shuffle": False}, {"class_size": "n"}, {"escape_formulas": True}], ids=str
)
def test_keys_go_with_other_choices(tmp_path, options):
    rows = random_rows(400)
    case = load(write_records(tmp_path, rows), write_regions(tmp_path))
    case.release(tmp_path / "out", ReleaseOptions(record_key="pseudonym", pdf=False, **options))
    assert_leads_back(tmp_path / "out", rows)


def test_keys_of_filtered_records_lead_to_the_rows_of_the_whole_file(tmp_path):
    rows = random_rows(900)
    filtered_case(tmp_path, write_records(tmp_path, rows)).release(tmp_path / "out", KEYED)
    assert_leads_back(tmp_path / "out", rows)


def test_rows_are_lines_where_records_have_several(tmp_path):
    """A record with a line break in quotes takes two lines; the index names the first of them."""
    rows = [
        [*row[:4], "two\nlines" if number % 3 == 0 else "one"]
        for number, row in enumerate(random_rows(300))
    ]
    case = load(write_records(tmp_path, rows), write_regions(tmp_path))
    case.release(tmp_path / "out", KEYED)
    lines = (tmp_path / "records.csv").read_text(encoding="utf-8").split("\n")
    for entry in index_of(tmp_path / "out"):
        assert lines[int(entry["row"]) - 1].startswith(rows[int(entry["record"]) - 1][0] + ",")


def test_keys_stand_behind_rows_of_any_length_and_encoding(tmp_path):
    """A row of three million bytes, quotes, line breaks, and letters that are not UTF-8."""
    notes = ["é" * 3_000_000, 'a "b"\r\nc', "", "ü,ü", "x"]
    rows = [
        [*row[:4], notes[min(number, 4) if number < 4 else number % 4 + 1]]
        for number, row in enumerate(random_rows(300))
    ]
    path = tmp_path / "records.csv"
    with path.open("w", encoding="latin-1", newline="") as file:
        csv.writer(file, delimiter=";").writerows([["näme", "age", "sex", "region", "note"], *rows])
    case = load(path, write_regions(tmp_path))
    case.release(tmp_path / "out", KEYED)
    written = (tmp_path / "out" / "release" / "anonymized.csv").read_text(encoding="latin-1")
    listed = {entry["record_key"]: int(entry["record"]) for entry in index_of(tmp_path / "out")}
    released = list(csv.reader(written.splitlines(keepends=True), delimiter=";"))[1:]
    assert len(released) == len(listed) > 200
    assert all(rows[listed[row[-1]] - 1][0] == row[0] for row in released)


@pytest.mark.parametrize("source", ["csv", "parquet", "parquet in row groups"])
def test_parquet_has_keys_too(tmp_path, source):
    rows = random_rows(400)
    path = write_records(tmp_path, rows)
    if source != "csv":
        size = 150 if "groups" in source else None
        pq.write_table(pa_csv.read_csv(path), tmp_path / "records.parquet", row_group_size=size)
        path = tmp_path / "records.parquet"
    case = load(path, write_regions(tmp_path))
    case.release(tmp_path / "out", ReleaseOptions(record_key="key", pdf=False, format="parquet"))
    listed = {entry["record_key"]: int(entry["record"]) for entry in index_of(tmp_path / "out")}
    found = pq.read_table(tmp_path / "out" / "release" / "anonymized.parquet").to_pylist()
    assert len(found) == len(listed) > 300
    assert all(rows[listed[row["key"]] - 1][0] == row["name"] for row in found)


def test_the_same_seed_gives_the_same_keys_and_another_one_other_keys(tmp_path):
    case = small_case(tmp_path)
    files = []
    for name, seed in (("one", "12"), ("again", "12"), ("other", "13")):
        case.release(tmp_path / name, ReleaseOptions(record_key="key", pdf=False, shuffle_seed=seed))
        files.append((tmp_path / name / "internal" / "record_index.csv").read_bytes())
    assert files[0] == files[1]
    keys = [{entry["record_key"] for entry in index_of(tmp_path / name)} for name in ("one", "other")]
    assert not keys[0] & keys[1]


def test_the_same_seed_gives_other_keys_to_another_release_of_the_records(tmp_path):
    """What is released is part of the secret: the same person cannot be followed from release to release."""
    case = small_case(tmp_path)
    for name, columns in (
        ("one", ("age", "sex", "region")),
        ("other", ("age", "sex", "region", "note")),
    ):
        case.release(
            tmp_path / name,
            ReleaseOptions(record_key="key", pdf=False, shuffle_seed="12", columns=columns),
        )
    keys = [{entry["record_key"] for entry in index_of(tmp_path / name)} for name in ("one", "other")]
    assert not keys[0] & keys[1]


def test_neither_keys_nor_index_tell_the_order(tmp_path):
    """Ranks of keys are unrelated to the order of the file and to that of the release."""
    rows = np.arange(20_000)
    keys = RecordKeys(b"x" * 64).compute(rows).view("S16").ravel()
    order = RowKeys(b"x" * 64).compute(rows)
    ranks = np.argsort(np.argsort(keys))
    assert abs(np.corrcoef(ranks, rows)[0, 1]) < 0.03
    assert abs(np.corrcoef(ranks, np.argsort(np.argsort(order)))[0, 1]) < 0.03
    small_case(tmp_path).release(tmp_path / "out", KEYED)
    listed = [entry["record_key"] for entry in index_of(tmp_path / "out")]
    assert listed == sorted(listed)


def test_keys_do_not_depend_on_how_many_are_drawn_at_a_time():
    keys = RecordKeys(b"k" * 64)
    rows = np.arange(PIECE_ROWS - 5, PIECE_ROWS + 5)
    together = keys.compute(rows)
    assert [bytes(key) for key in together] == [
        bytes(keys.compute(rows[at : at + 1])[0]) for at in range(10)
    ]
    assert keys.compute(rows[:0]).shape == (0, 16)


@pytest.mark.skipif(os.name == "nt", reason="permissions")
def test_nobody_but_the_owner_reads_the_index(tmp_path):
    small_case(tmp_path).release(tmp_path / "out", KEYED)
    mode = (tmp_path / "out" / "internal" / "record_index.csv").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600
    assert not list((tmp_path / "out" / "release").glob("*index*"))


@pytest.mark.parametrize("name", ["age", "name", "years", " "])
def test_a_name_that_another_column_has_is_refused(tmp_path, name):
    case = small_case(tmp_path)
    chosen = {"identifiers": ("name",), "renames": {"sex": "years"}, "pdf": False}
    with pytest.raises(InputError, match=r"same name|has this name|no name"):
        case.release(tmp_path / "out", ReleaseOptions(record_key=name, **chosen))


def test_the_column_of_keys_is_not_tested_although_every_value_is_unique(tmp_path):
    case = small_case(tmp_path)
    options = ReleaseOptions(record_key="key", pdf=False, columns=("age", "sex", "region"))
    report = case.release(tmp_path / "out", options, tested=True)
    assert report.records_released > 300


def test_the_ledger_does_not_take_the_key_for_a_column(tmp_path):
    from vbas_desktop.cli.main import main

    small_case(tmp_path)
    words = ["--region-column", "region", "--quasi-identifiers", "age,sex", "--identifiers", "name,note"]
    files = [str(tmp_path / "records.csv"), str(tmp_path / "regions.csv")]
    out = ["--no-pdf", "--quiet", "--record-key", "key", "--sites", "3"]
    assert main(["run", *files, *words, *out, "--out", str(tmp_path / "one")]) == 0
    assert main(["ledger", "record", str(tmp_path / "one"), "--audience", "Uni", "--quiet"]) == 0
    assert main(["run", *files, *words, *out, "--out", str(tmp_path / "two"), "--audience", "Uni"]) == 0


def test_records_behind_an_address_have_no_index():
    check_database_options(ReleaseOptions(), "duckdb:records.csv")
    with pytest.raises(InputError, match="no row numbers to which an index of keys could lead"):
        check_database_options(KEYED, "duckdb:records.csv")


@pytest.mark.parametrize("damage", ["swapped", "short", "doubled", "elsewhere"])
def test_an_index_that_leads_to_other_rows_is_not_verified(tmp_path, monkeypatch, damage):
    written = record_writer.write_key_index

    def damaged(path, *more):
        written(path, *more)
        head, one, two, *rest = path.read_text().splitlines()
        if damage == "swapped":
            one, two = (f"{a.split(',')[0]},{b.split(',', 1)[1]}" for a, b in ((one, two), (two, one)))
        elif damage == "doubled":
            two = f"{one.split(',')[0]},{two.split(',', 1)[1]}"
        elif damage == "elsewhere":
            one = f"{one.split(',')[0]},100000,100001"
        path.write_text("\n".join([head, one, *([] if damage == "short" else [two]), *rest]) + "\n")

    monkeypatch.setattr("vbas_desktop.releases.record_writer.write_key_index", damaged)
    with pytest.raises(VerificationFailed, match="key"):
        small_case(tmp_path).release(tmp_path / "out", KEYED)
    assert not (tmp_path / "out").exists()


def test_keys_of_another_form_or_twice_are_not_verified(tmp_path, monkeypatch):
    """A key that two records share, or that is shorter, must not leave the house."""
    compute = RecordKeys.compute

    def equal(self, rows):
        keys = compute(self, rows)
        return np.where(rows[:, np.newaxis] % 50 == 0, np.uint8(ord("A")), keys)

    monkeypatch.setattr(RecordKeys, "compute", equal)
    with pytest.raises(VerificationFailed, match="no other row has"):
        small_case(tmp_path).release(tmp_path / "out", KEYED)
    monkeypatch.setattr(RecordKeys, "compute", lambda self, rows: compute(self, rows)[:, :12].copy())
    with pytest.raises(VerificationFailed, match="16 characters"):
        small_case(tmp_path).release(tmp_path / "out", KEYED)
