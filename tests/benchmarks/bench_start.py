"""Whole commands from the shell, start-up included, against pandas from the shell and against reading alone."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

from bench_loading import REGION, TWO, read_with_pandas
from made_data import ROOT

VBAS = Path(sys.executable).with_name("vbas")
SAMPLE = ROOT / "sample_data"
PANDAS = "import sys, pandas; pandas.read_csv(sys.argv[1], usecols=sys.argv[2].split(','))"


def shell(*command: str) -> int:
    """A command as somebody types it, and how much it printed."""
    return len(subprocess.run(command, check=True, capture_output=True).stdout)


def run_of(records: Path, regions: Path, column: str, names: tuple[str, ...], *more: str) -> partial:
    """`vbas run` on these files."""
    named = (f"--region-column={column}", f"--quasi-identifiers={','.join(names)}")
    return partial(shell, str(VBAS), "run", str(records), str(regions), *named, "--quiet", *more)


def test_small_commands(race):
    """Their processor time is what counts: 0.15 s, and 1.2 s for a run of the sample."""
    race(
        "Start-up: small commands from the shell",
        {
            "vbas --version": partial(shell, str(VBAS), "--version"),
            "vbas --help": partial(shell, str(VBAS), "--help"),
            "vbas run, sample": run_of(
                SAMPLE / "records.csv", SAMPLE / "regions.geojson", "tract", ("age", "sex")
            ),
            "import pandas": partial(shell, sys.executable, "-c", "import pandas"),
        },
        reference="import pandas",
        reach={"vbas --version": "CPU 0.15", "vbas --help": "CPU 0.15", "vbas run, sample": "CPU 1.2"},
    )


def test_a_country_from_the_shell(bench_data, race):
    data = bench_data("western")
    run = partial(run_of, data.records, data.regions, REGION, TWO)
    columns = ",".join((REGION, *TWO))
    race(
        "Start-up: a run of Western-like data from the shell",
        {
            "vbas run, maxcombs": run("--site-number=maxcombs"),
            "vbas run, limit (default)": run(),
            "pandas from the shell": partial(
                shell, sys.executable, "-c", PANDAS, str(data.records), columns
            ),
            "pandas.read_csv alone": partial(read_with_pandas, data.records, TWO),
        },
        reference="pandas from the shell",
        repeats=5,
        reach={"vbas run, maxcombs": "< 1"},
    )
