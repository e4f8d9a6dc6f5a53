"""A row of category numbers is no record, whatever the format of the file: a release with it passes its own audit."""

import csv
import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vbas_desktop.cli.main import main

HEADER = ["age", "sex", "region", "visits", "note"]
NUMBERS = ["2", "2", "16", "4", "3"]
RECORDS = 800


@pytest.fixture
def regions(tmp_path):
    path = tmp_path / "regions.csv"
    path.write_text(
        "id,x,y\n" + "".join(f"r{number},{number % 4},{number // 4}\n" for number in range(16))
    )
    return path


def records() -> list[list[str]]:
    draw = np.random.default_rng(1)
    return [
        [
            draw.choice(["young", "old"]),
            draw.choice(["f", "m"]),
            f"r{draw.integers(16)}",
            str(draw.integers(4)),
            note,
        ]
        for note in draw.choice(["a", "b", ""], RECORDS)
    ]


def as_csv(path, rows):
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])


def as_compressed_csv(path, rows):
    as_csv(path, rows)
    path.write_bytes(gzip.compress(path.read_bytes()))


def as_parquet(path, rows):
    """Write a column of numbers and one with nulls beside columns of text."""
    columns = list(zip(*rows, strict=True))
    arrays = [pa.array(column, pa.string()) for column in columns[:3]]
    arrays.append(pa.array([int(value) for value in columns[3]], pa.int32()))
    arrays.append(pa.array([value or None for value in columns[4]], pa.string()))
    pq.write_table(pa.table(arrays, names=HEADER), path, row_group_size=300)


FORMATS = {"records.csv": as_csv, "records.csv.gz": as_compressed_csv, "records.parquet": as_parquet}


def release(path, regions, out, *more):
    return main(
        [
            "run", str(path), str(regions), "--region-column", "region", "--quasi-identifiers", "age,sex", "-k", "3",
            "--site-number", "fixed", "--sites", "4", "--range-reach", "0", "--no-pdf", "--quiet", "--out", str(out),
            *more,
        ]
    )  # fmt: skip


def released(out) -> list[dict[str, str]]:
    with (out / "release" / "anonymized.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("choice", ["auto", "yes"])
@pytest.mark.parametrize("more", [[], ["--no-shuffle"], ["--format", "parquet"]])
def test_a_row_of_category_numbers_is_left_out(tmp_path, regions, capsys, name, choice, more):
    FORMATS[name](tmp_path / name, [NUMBERS, *records()])
    assert release(tmp_path / name, regions, tmp_path / "out", "--category-counts", choice, *more) == 0
    told = json.loads((tmp_path / "out" / "run.json").read_text())
    assert told["problem"]["records"] == RECORDS
    if "parquet" not in more:
        assert {row["note"] for row in released(tmp_path / "out")} == {"a", "b", ""}


@pytest.mark.parametrize("name", FORMATS)
def test_a_first_record_of_numbers_is_released_if_the_user_says_so(tmp_path, regions, name):
    rows = [["2", "2", "r1", "4", "3"]] * 5 + records()
    FORMATS[name](tmp_path / name, rows)
    assert release(tmp_path / name, regions, tmp_path / "out", "--category-counts", "no") == 0
    assert sum(row["note"] == "3" for row in released(tmp_path / "out")) == 5


@pytest.mark.parametrize("name", FORMATS)
def test_a_first_row_that_holds_no_numbers_is_refused_if_it_must(tmp_path, regions, capsys, name):
    FORMATS[name](tmp_path / name, records())
    assert release(tmp_path / name, regions, tmp_path / "out", "--category-counts", "yes") == 1
    assert (
        "row 2, column “age”: The number of categories is not a positive integer."
        in capsys.readouterr().err
    )
