"""An organisation with records, regions, a first release that was handed over, and the commands it uses."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from release_making import write_regions

from vbas_desktop.cli.main import main

HEADER = ["name", "age", "sex", "region", "illness", "since"]


def people(number: int, seed: int) -> list[list[str]]:
    """Records with enough other columns to know a person again by them."""
    draw = np.random.default_rng(seed)
    return [
        [
            f"person-{seed}-{row}",
            f"{10 * draw.integers(1, 5)}-year",
            ("female", "male")[draw.integers(2)],
            f"r{draw.integers(16)}",
            f"illness-{draw.integers(8)}",
            f"since-{draw.integers(12)}",
        ]
        for row in range(number)
    ]


def write(path, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([HEADER, *rows])
    return path


@pytest.fixture
def house(tmp_path):
    """A record file, a region file and a first release that was handed over."""
    write(tmp_path / "records.csv", people(700, 1))
    write_regions(tmp_path)
    assert run(tmp_path, "first", "--sites", "5") == 0
    assert main(["ledger", "record", str(tmp_path / "first"), "--audience", "Uni", "--quiet"]) == 0
    return tmp_path


def run(folder, out, *options, records="records.csv", quasi="age,sex", quiet=True):
    chosen = ["--region-column", "region", "--quasi-identifiers", quasi, "-k", "5", "--no-pdf"]
    files = [str(folder / records), str(folder / "regions.csv")]
    allowed = [
        "--allow-column",
        "illness,since,age,sex",
        "--range-reach",
        "0",
        "--site-location",
        "density",
    ]
    out = ["--out", str(folder / out), *(["--quiet"] if quiet else [])]
    return main(["run", *files, *chosen, "--identifiers", "name", *allowed, *out, *options])


def check(folder, out, *options):
    return main(
        ["ledger", "check", str(folder / out), "--audience", "Uni", "--quiet", "--json", *options]
    )


def rows_of(path):
    with path.open() as file:
        return list(csv.DictReader(file))
