"""Values are written in one way: who entered them, and with which program, does not show in the release."""

import csv
import random

import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from release_making import load, random_rows, released_rows, write_records, write_regions

from vbas_desktop.audit.expected_values import alone, expected_forms, expected_values
from vbas_desktop.model.findings import VerificationFailed
from vbas_desktop.model.value_notation import canonical_values, plain_value, possible_values
from vbas_desktop.releases import preparation, records
from vbas_desktop.releases.records import ReleasedRecords
from vbas_desktop.settings.release import ReleaseOptions

HEADER = ["name", "age", "sex", "region", "more"]


@pytest.mark.parametrize(
    ("values", "written"),
    [
        (["7", "07", "12"], ["7", "7", "12"]),
        (["7", "012", "1234"], None),
        (["01234", "1234567"], None),
        (["07", "+7", "012"], ["7", "7", "12"]),
        (["007", "07"], None),
        (["0", "00", "5"], ["0", "0", "5"]),
        (["+5", "12", "0123"], ["5", "12", "0123"]),
        (["041.10", "41.1", "5.0"], ["41.1", "41.1", "5"]),
        (["1.50", "1.5", "+5", "-0", ".5", "3.", ""], ["1.5", "1.5", "5", "0", "0.5", "3", ""]),
        (["99999999999999999999999.10", "1"], ["99999999999999999999999.1", "1"]),
        (["07", "12"], None),
        (["01234", "98765", ""], None),
        (["041.1", "250.00", "250.0"], None),
        (["1", "2.5", "-3"], None),
        (["1,50", "2"], None),
        (["1e5", "07", "7"], None),
        (["2020-1-5", "2020/01/06", "2020.1.7"], ["2020-01-05", "2020-01-06", "2020-01-07"]),
        (["2020-1-5 3:04", "2020-01-05T13:04:09"], ["2020-01-05 03:04:00", "2020-01-05 13:04:09"]),
        (["5/1/2020", "12/31/2020"], ["05/01/2020", "12/31/2020"]),
        (["5/1/2020", "5.1.2020"], None),
        (["2020-02-30", "2020-2-3"], None),
        (["2020-1-5", "unknown"], None),
        ([" a", "a ", "a", "b c"], ["a", "a", "a", "b c"]),
        (["a", "b", ""], None),
    ],
)
def test_what_is_written(values, written):
    found = canonical_values(values)
    assert (None if found is None else list(found)) == written
    assert expected_values(values) == (written or values)


@pytest.mark.parametrize(
    ("year", "lengths"),
    [
        (year, (31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31))
        for year, february in ((2019, 28), (2020, 29), (1900, 28), (2000, 29))
    ],
)
def test_every_day_of_a_calendar_is_a_date_and_no_other(year, lengths):
    for month, length in enumerate(lengths, 1):
        dates = [f"{year}/{month}/{day}" for day in (1, length)]
        written = [f"{year}-{month:02}-{day:02}" for day in (1, length)]
        assert list(canonical_values(dates)) == expected_values(dates) == written
        for day in (0, length + 1):
            other = [f"{year}/{month}/{day}", dates[0]]
            assert canonical_values(other) is None
            assert expected_values(other) == other
    for wrong in (f"{year}/0/1", f"{year}/13/1", "0000/1/1"):
        assert canonical_values([wrong, f"{year}/1/1"]) is None
        assert expected_values([wrong, f"{year}/1/1"]) == [wrong, f"{year}/1/1"]


PIECES = st.sampled_from(
    ["7", "07", "+5", "-0", "1.50", ".5", "5.", "00", "", " 3", "3 ", "2020-1-5", "2020-01-05", "2020/1/5",
     "2020-1-5 3:04", "2020-1-5T03:04:09", "5.1.2020", "05/01/2020", "1-2-2020", "abc", "099", "1e5", "1,5", "+",
     ".", "2020-02-30", "1.2.3", "12:30", "2020-1", "٣", "99999999999999999999999999999999.10"]
)  # fmt: skip


@given(st.lists(st.one_of(PIECES, st.text("0123456789+-./: T", max_size=11)), unique=True, max_size=5))
def test_writer_and_verification_mean_the_same(values):
    expected = expected_values(values)
    assert list(canonical_values(values) or values) == expected
    assert expected_values(expected) == expected
    for value, written in zip(values, expected, strict=True):
        assert written in possible_values(value)
        assert alone(written) == alone(value) == plain_value(value)
        assert expected_forms(value) == set(possible_values(value))


def habits(folder, clean, dirty, quoted=False):
    """Records of 16 regions; those of region r3 are entered with habits of their own."""
    rows = [
        [*row[:4], (dirty if row[3] == "r3" else clean)[number % 2]]
        for number, row in enumerate(random_rows(800))
    ]
    path = write_records(folder, rows, HEADER)
    if quoted:
        lines = path.read_text().splitlines()
        lines = [
            ",".join(f'"{cell}"' for cell in line.split(",")) if ",r3," in line else line
            for line in lines
        ]
        path.write_text("\n".join(lines) + "\n")
    return load(path, write_regions(folder))


HABITS = [
    (("7", "12.5"), ("07", "12.50")),
    (("2020-01-05", "2020-11-12"), ("2020-1-5", "2020/11/12")),
    (("yes", "no"), ("yes ", " no")),
    (("5", "-6"), ("+5", "-6.0")),
]


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize(("clean", "dirty"), HABITS)
def test_a_source_is_not_told_by_its_habits(tmp_path, clean, dirty, form):
    case = habits(tmp_path, clean, dirty)
    report = case.release(tmp_path / "out", ReleaseOptions(pdf=False, format=form))
    if form == "csv":
        names, *rows = released_rows(tmp_path / "out")
        found = {row[names.index("more")] for row in rows}
    else:
        found = set(pa_parquet.read_table(report.folder / "anonymized.parquet")["more"].to_pylist())
    assert found == set(clean)
    assert [finding.column for finding in report.findings if finding.code == "uniform-notation"] == [
        "more"
    ]


def test_quotes_of_a_source_do_not_survive(tmp_path):
    case = habits(tmp_path, ("a", "b"), ("a", "b"), quoted=True)
    assert '"' in (tmp_path / "records.csv").read_text()
    report = case.release(tmp_path / "out")
    assert b'"' not in (report.folder / "anonymized.csv").read_bytes()


def test_a_parquet_column_of_numbers_stays_as_it_is_and_one_of_texts_does_not(tmp_path):
    rows = random_rows(400)
    columns = {name: [row[place] for row in rows] for place, name in enumerate(HEADER[:4])}
    columns["more"] = [
        None if number % 7 == 0 else ("07" if number % 2 else "7") for number in range(400)
    ]
    table = pa.table({**columns, "number": pa.array([number % 3 / 2 for number in range(400)])})
    pa_parquet.write_table(table, tmp_path / "records.parquet")
    case = load(tmp_path / "records.parquet", write_regions(tmp_path))
    for form in ("parquet", "csv"):
        report = case.release(tmp_path / form, ReleaseOptions(pdf=False, format=form))
        if form == "parquet":
            read = pa_parquet.read_table(report.folder / "anonymized.parquet")
            assert set(read["more"].to_pylist()) == {None, "7"}
            assert read["number"].type == pa.float64()


def test_the_verification_notices_habits_that_survived(tmp_path, monkeypatch):
    case = habits(tmp_path, *HABITS[0])
    monkeypatch.setattr(preparation, "released_notation", lambda *arguments: {})
    with pytest.raises(VerificationFailed, match="only the stated changes"):
        case.release(tmp_path / "out")


@pytest.mark.parametrize("odd", ["abc", "7"])
def test_the_verification_notices_a_notation_that_a_suppressed_record_decided(
    tmp_path, monkeypatch, odd
):
    """With “abc” in a suppressed record numbers would stay as they are, with “7” the zeros of 07 would go."""
    values = ("07", "+5") if odd == "7" else ("7", "+5")
    rows = [
        [*row[:4], values[number % 2]] for number, row in enumerate(random_rows(800)) if row[1] != "99"
    ]
    rows.append(["somebody", "99", "f", "r3", odd])
    case = load(write_records(tmp_path, rows, HEADER), write_regions(tmp_path))
    assert case.release(tmp_path / "out").records_suppressed >= 1
    names, *released = released_rows(tmp_path / "out")
    assert {row[names.index("more")] for row in released} == {values[0], "5"}

    everybody = ReleasedRecords.count_values
    monkeypatch.setattr(ReleasedRecords, "count_values", lambda self, name: everybody(self, name) + 1)
    with pytest.raises(VerificationFailed, match="only the stated changes"):
        case.release(tmp_path / "again")


def test_the_verification_notices_needless_quotes(tmp_path, monkeypatch):
    case = habits(tmp_path, ("a", "b"), ("a", "b"))
    put = records.RecordWriter.write

    def quoting(self, out, scratch, progress):
        written = put(self, out, scratch, progress)
        out.flush()
        path = scratch / "release" / "anonymized.csv"
        path.write_bytes(path.read_bytes().replace(b",f,", b',"f",', 1))
        return written

    monkeypatch.setattr(records.RecordWriter, "write", quoting)
    with pytest.raises(VerificationFailed, match="quotes where none are needed"):
        case.release(tmp_path / "out")


def test_a_release_of_one_column_keeps_its_empty_rows(tmp_path):
    random.seed(1)
    rows = [[*row[:4], random.choice(["", "x"])] for row in random_rows(300)]
    case = load(write_records(tmp_path, rows, HEADER), write_regions(tmp_path))
    report = case.release(tmp_path / "out", ReleaseOptions(pdf=False, columns=("more",)))
    with (report.folder / "anonymized.csv").open(newline="") as file:
        assert len(list(csv.reader(file))) == report.records_released + 1


@pytest.mark.parametrize(
    "values",
    [("1.0", "1.00", "2.0", "2.00"), ("1", "2"), ("01.5", "1.50"), ("2020-1-2", "2020-01-02")],
    ids=["all otherwise", "as they are", "one number", "dates"],
)
def test_a_column_is_verified_however_its_values_are_written(tmp_path, values):
    rows = [
        [*row[:4], values[number % len(values)]] for number, row in enumerate(random_rows(400, seed=2))
    ]
    case = load(write_records(tmp_path, rows), write_regions(tmp_path))
    report = case.release(tmp_path / "out")
    assert all(check.passed for check in report.checks)
    written = {row[-1] for row in released_rows(tmp_path / "out")[1:]}
    assert len(written) == (2 if values[0] in ("1.0", "1") else 1)
