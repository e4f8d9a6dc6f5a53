"""Run `vbas outliers` on the worked example, and read what it wrote."""

import csv
import stat
from pathlib import Path

from vbas_desktop.cli.main import main

DATA = Path(__file__).parents[1] / "data" / "parv"


def rows_of(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def handle(tmp_path, how, *more):
    target = tmp_path / f"{how}.csv"
    common = [
        "--quasi-identifiers",
        "Hh,Job",
        "-k",
        "3",
        "--handle",
        how,
        "--out",
        str(target),
        "--replace",
        "--quiet",
    ]
    assert main(["outliers", str(DATA / "C2.csv"), *common, *map(str, more)]) == 0
    return target


def made_up_rows(path, rows):
    """The rows that the file beside it names as made up, and the others."""
    custody = path.with_name(f"{path.stem}.made-up-rows.csv")
    assert stat.S_IMODE(custody.stat().st_mode) == 0o600
    heading, *numbers = custody.read_text().split()
    assert heading == "row"
    named = {int(number) - 2 for number in numbers}
    return [rows[n] for n in sorted(named)], [row for n, row in enumerate(rows) if n not in named]


LEVELS = DATA.parents[2] / "docs" / "examples" / "household" / "levels"


C7 = ("--start-level", "Hh=1", "--hierarchies", LEVELS, "--aggregate", "Value")
