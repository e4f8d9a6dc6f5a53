"""Compile the kernels of ADC, annealing, obstacles, minimal uniques and exchanges, by small jobs that use them.

Their machine code goes to the user's cache folder, so that nobody waits for the compiler later. The byte code of the
modules that both programs import is written on the way. Whatever goes wrong here only means that the first use takes
longer: set-up goes on.
"""

from __future__ import annotations

import csv
import importlib
import json
import os
import pkgutil
import tempfile
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout, suppress
from multiprocessing import get_context
from pathlib import Path

from vbas_desktop.cli.main import main
from vbas_desktop.cli.terminal import say

SAMPLE = Path(__file__).resolve().parents[1] / "sample_data"
RECORDS = str(SAMPLE / "records.csv")
RUN = [
    "run",
    RECORDS,
    str(SAMPLE / "regions.geojson"),
    "--region-column=tract",
    "--quasi-identifiers=age,sex",
]
RUN += ["--site-number=fixed", "--sites=10"]
PEOPLE = [
    str(SAMPLE / "people.csv"),
    str(SAMPLE / "slots.csv"),
    "--id-column=id",
    "--quasi-identifiers=sex,age",
]
LAKE = {
    "type": "Polygon",
    "coordinates": [[[-76.2, 42.0], [-75.6, 42.5], [-75.5, 42.5], [-76.1, 42.0], [-76.2, 42.0]]],
}

# Two chains of jobs at a time, since compiling occupies one core; both take about as long.
CHAINS: tuple[tuple[list[str], ...], ...] = (
    (
        [*RUN, "--site-location=refine-sites"],
        [*RUN, "--refinement=boundaries"],
        [*RUN, "--identifiers=health_number", "--out=release"],
    ),
    (
        [*RUN, "--site-location=adc"],
        [*RUN, "--construction=obstacles", "--obstacles=lake.geojson"],
        # Kernels differ by the width of the codes: columns with up to 255 values, and with more.
        ["risky", RECORDS, "--columns=age,sex,marital_status,housing,plan,diagnosis", "-k10"],
        ["risky", "many_values.csv"],
        ["appointments", *PEOPLE, "--planner=better", "--time-limit=5"],
    ),
)


def compile_kernels() -> None:
    """Do all jobs in a temporary folder, and name those that fail."""
    say("Compiling the kernels of the searches, once (about half a minute)")
    with tempfile.TemporaryDirectory() as folder:
        write_inputs(Path(folder))
        with ProcessPoolExecutor(len(CHAINS), get_context("spawn"), os.chdir, (folder,)) as pool:
            pool.submit(import_window)
            for failed in pool.map(run_jobs, CHAINS):
                for command in failed:
                    say(f"  “vbas {command}” failed here; its first use will show why.")


def write_inputs(folder: Path) -> None:
    """Write the files that some of the jobs read."""
    (folder / "lake.geojson").write_text(json.dumps(LAKE), encoding="utf-8")
    with open(folder / "many_values.csv", "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(("many", "few"))
        rows.writerows((number % 300, number % 2) for number in range(600))


def import_window() -> None:
    """Import what the window imports; where Qt's system libraries are missing there is nothing to import."""
    with suppress(ImportError):
        for module in pkgutil.walk_packages(
            importlib.import_module("vbas_desktop.ui").__path__, "vbas_desktop.ui."
        ):
            importlib.import_module(module.name)


def run_jobs(chain: tuple[list[str], ...]) -> list[str]:
    """Do the jobs one after the other; return those that did not end well."""
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        return [" ".join(job) for job in chain if main([*job, "--quiet"]) != 0]


if __name__ == "__main__":
    compile_kernels()
