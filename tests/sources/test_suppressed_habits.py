"""What suppressed records behind an address hold does not change how the released ones are written."""

from __future__ import annotations

import csv
import random

import pyarrow as pa
import pytest
from making import REGIONS, regions_file
from places import PLACES, in_folder, in_server

from vbas_desktop.cli.main import main

ODD = ["abc", "unknown", "0123456", "é", " ", None, "=1+1", "5/1/2020", "2020-1-5 3:04:09", 'say "x"']
HEADER = ["place", "age", "number", "day", "code", "word"]


def table(odd: bool, seed: int) -> pa.Table:
    """Records of which those of rare ages are suppressed; these are ``odd`` in one of two tables."""
    draw, strange = random.Random(seed), random.Random(seed + 1)
    rows = []
    for number in range(600):
        habits = draw.randrange(2)
        row = [
            "30",
            ("+5", "12")[habits],
            ("2020-1-5", "2020-11-12")[habits],
            ("01234", "98765")[habits],
            "x ",
        ]
        if number % 40 == 0:
            row = [str(100 + number), *((strange.choice(ODD) for _ in range(4)) if odd else row[1:])]
        rows.append([draw.choice(REGIONS), *row])
    return pa.table([pa.array(column, pa.string()) for column in zip(*rows, strict=True)], names=HEADER)


def released(address: str, folder) -> list[tuple[str, ...]]:
    folder.mkdir()
    out = folder / "out"
    assert main(
        [
            "run", address, str(regions_file(folder)), "--region-column", "place", "--quasi-identifiers", "age",
            "-k", "5", "--site-number", "fixed", "--sites", "2", "--range-reach", "0", "--no-pdf", "--quiet",
            "--allow-column", "number,day,code,word", "--out", str(out),
        ]
    ) == 0  # fmt: skip
    with (out / "release" / "anonymized.csv").open(encoding="utf-8", newline="") as file:
        return sorted(map(tuple, csv.reader(file)))


def compare(tmp_path, there) -> None:
    plain, odd = (released(there(table(odd, 1), odd), tmp_path / f"odd-{odd}") for odd in (False, True))
    assert plain == odd
    assert {row[2:] for row in plain if row[1] == "30"} == {
        ("5", "2020-01-05", "01234", "x"),
        ("12", "2020-11-12", "98765", "x"),
    }


@pytest.mark.parametrize("place", PLACES)
def test_of_files_and_tables_of_duckdb(tmp_path, place):
    compare(tmp_path, lambda made, odd: PLACES[place](made, tmp_path / f"records-{odd}"))


@pytest.mark.xdist_group("postgresql")
def test_of_a_server(server, password, tmp_path):
    compare(tmp_path, lambda made, odd: in_server(made, server, f"habits.of_{odd}".lower()))


@pytest.mark.xdist_group("spark")
@pytest.mark.timeout(900)
def test_of_spark(spark, tmp_path):
    compare(tmp_path, lambda made, odd: f"{spark}{in_folder(made, tmp_path / f'records-{odd}')}")
