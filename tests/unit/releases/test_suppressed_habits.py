"""What suppressed records hold changes nothing in a release: files that differ in them alone give the same files.

`VBAS_PAIRS` sets the number of random pairs of files.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from release_making import GRID, load, write_regions

from vbas_desktop.cli.main import main
from vbas_desktop.model.findings import InputError
from vbas_desktop.settings.reading import RecordReading
from vbas_desktop.settings.release import ReleaseOptions

PAIRS = int(os.environ.get("VBAS_PAIRS", "20"))
HEADER = ["age", "sex", "region", "number", "code", "day", "moment", "word"]
RELEASED = {
    "number": ["5", "+5", "12", "1.50", "1.5", "-3", ".5", "", "7"],
    "code": ["01234", "98765", "00042", "1234", "007", "7", "07"],
    "day": ["2020-1-5", "2020-01-06", "2020/1/7", "5/1/2020", "31.12.2019", ""],
    "moment": ["2020-1-5 3:04", "2020-01-05T13:04", "2020-01-05 03:04:00", "2020-1-6"],
    "word": ["yes", "no", "yes ", " no", 'say "so"', "a,b", "=1+1", "one\ntwo", ""],
}
"""Of these, released records of a pair have a few."""
ODD = [
    "abc", "unknown", "0123456789", "é", "1/2/2020", "2020-13-45", "2020-1-5 3:04:09", " ", "", "=1+1", "@x", 'say "x"',
    "a,b", "line\nbreak", "+7", "07", "7", "1e5", "1,5", "-0", "5.", "\t5", "01234 ", "x;y|z", "ß",
]  # fmt: skip


def pair_of_files(draw: random.Random) -> tuple[list[list[str]], list[list[str]]]:
    """Rows that differ in the records of rare ages alone, which are suppressed."""
    pools = {name: draw.sample(values, draw.randint(1, 4)) for name, values in RELEASED.items()}
    # Some columns have nothing odd in one of the files, and much in the other.
    odd = [[draw.choice([pool, draw.sample(ODD, 2), ODD]) for pool in pools.values()] for _ in range(2)]
    one, other = [], []
    for number in range(240):
        region = f"r{draw.randrange(GRID * GRID)}"
        if draw.random() < 0.06:
            # An age of its own: no class with it reaches k.
            start = [str(90 + number), draw.choice("fm"), region]
            one.append([*start, *map(draw.choice, odd[0])])
            other.append([*start, *map(draw.choice, odd[1])])
        else:
            row = ["30", draw.choice("fm"), region, *(draw.choice(pool) for pool in pools.values())]
            one.append(row)
            other.append(row)
    return one, other


def write_text(path: Path, rows: list[list[str]], delimiter: str, encoding: str) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows([HEADER, *rows])
    # Only the bytes of records that hold it differ.
    data = text.getvalue().encode(encoding)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def write_parquet(path: Path, rows: list[list[str]]) -> None:
    columns = [
        pa.array([value or None for value in column], pa.string()) for column in zip(*rows, strict=True)
    ]
    pq.write_table(pa.table(columns, names=HEADER), path, row_group_size=100)


def written(folder: Path, rows: list[list[str]], form: str, delimiter: str, encoding: str) -> Path:
    folder.mkdir()
    path = folder / f"records.{form}"
    if form == "parquet":
        write_parquet(path, rows)
    else:
        write_text(path, rows, delimiter, encoding)
    write_regions(folder)
    return path


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def outcome(
    path: Path, k: int, delimiter: str, options: ReleaseOptions, tested: bool
) -> dict[str, bytes] | list[str]:
    """The files that the recipient gets, or why nothing is released."""
    case = load(
        path,
        path.parent / "regions.csv",
        k=k,
        sites=4,
        options=RecordReading(delimiter=delimiter, category_counts="no"),
    )
    assert case.problem.records - case.solution.measures["suppressed_records"] > 100
    try:
        return files_of(
            case.release(path.parent / f"out-{tested}-{options.shuffle}", options, tested).folder
        )
    except InputError as error:
        return [str(finding) for finding in error.findings]


def rows_of(files: dict[str, bytes]) -> list:
    """The released rows in no order."""
    if "anonymized.parquet" in files:
        table = pq.read_table(io.BytesIO(files["anonymized.parquet"]))
        return sorted(map(repr, table.to_pylist()))
    text = files["anonymized.csv"].decode("latin-1")
    return sorted(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("seed", range(PAIRS))
def test_files_that_differ_in_suppressed_records_give_the_same_release(tmp_path, seed):
    draw = random.Random(seed)
    form = draw.choice(["csv", "csv.gz", "parquet"])
    delimiter = "," if form == "parquet" else draw.choice(",;\t")
    encoding = draw.choice(["utf-8", "utf-8-sig", "latin-1"])
    k = draw.randint(2, 4)
    options = ReleaseOptions(
        pdf=False,
        shuffle=False,
        format=draw.choice(["csv", "csv", "parquet"]),
        escape_formulas=draw.random() < 0.5,
        class_size=draw.choice([None, "size"]),
        geometry=("geojson",),
    )
    shuffled = ReleaseOptions(pdf=False, format=options.format, shuffle_seed="7")
    releases = []
    for name, rows in zip(("one", "other"), pair_of_files(draw), strict=True):
        path = written(tmp_path / name, rows, form, delimiter, encoding)
        plain = outcome(path, k, delimiter, options, tested=False)
        mixed = outcome(path, k, delimiter, shuffled, tested=False)
        releases.append((plain, rows_of(mixed), outcome(path, k, delimiter, options, tested=True)))
    one, other = releases
    assert one[0] == other[0]
    assert one[1] == other[1]
    assert one[2] == other[2]


@pytest.mark.parametrize("odd", ["abc", "unknown", "0123456", "é"])
def test_one_suppressed_record_does_not_change_how_others_are_written(tmp_path, odd):
    """Numbers, dates and codes are written as if the record were not there."""
    values = [("+5", "2020-1-5", "01234"), ("12", "2020-11-12", "98765")]
    rows = [
        ["30", "fm"[number % 2], f"r{number % 16}", *values[number % 3 % 2]] for number in range(320)
    ]
    rows[17] = ["99", "f", "r1", odd, odd, odd]
    path = tmp_path / "records.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["age", "sex", "region", "number", "day", "code"], *rows])
    out = tmp_path / "out"
    roles = ["--region-column", "region", "--quasi-identifiers", "age,sex", "-k", "5", "--quiet"]
    sites = [
        "--site-number",
        "fixed",
        "--sites",
        "4",
        "--range-reach",
        "0",
        "--no-pdf",
        "--out",
        str(out),
    ]
    assert main(["run", str(path), str(write_regions(tmp_path)), *roles, *sites]) == 0
    with (out / "release" / "anonymized.csv").open(encoding="utf-8", newline="") as file:
        found = {(row["number"], row["day"], row["code"]) for row in csv.DictReader(file)}
    assert found == {("5", "2020-01-05", "01234"), ("12", "2020-11-12", "98765")}


def test_a_column_is_judged_by_the_values_that_are_written(tmp_path):
    """Habits that are written away tell nothing: a column is not refused for them."""
    draw = random.Random(1)
    rows = []
    for number in range(1600):
        region = number % 16
        value = draw.choice("1234")
        rows.append(
            ["30", "fm"[draw.randrange(2)], f"r{region}", value + ".0" * (region % 2), "", "", "", ""]
        )
    path = written(tmp_path / "in", rows, "csv", ",", "utf-8")
    case = load(path, path.parent / "regions.csv", sites=2)
    assert isinstance(
        case.release(tmp_path / "out", ReleaseOptions(pdf=False), tested=True).folder, Path
    )
    # With an odd word among the released records the habits stay, and tell the region.
    rows[0][3] = "x"
    path = written(tmp_path / "again", rows, "csv", ",", "utf-8")
    case = load(path, path.parent / "regions.csv", sites=2)
    with pytest.raises(InputError, match="reveals the place"):
        case.release(tmp_path / "refused", ReleaseOptions(pdf=False), tested=True)
