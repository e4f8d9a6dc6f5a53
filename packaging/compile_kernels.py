"""Does small jobs and all rehearsals once, so that the loops that are compiled on first use are ready before anybody
waits for them.

The compiled code lies in `__pycache__` beside the sources, with the byte code of every module that both programs
import. Whatever goes wrong here only means that the first use takes longer: set-up goes on.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import tempfile
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout, suppress
from multiprocessing import get_context
from pathlib import Path

from vbas_desktop.cli.main import main
from vbas_desktop.cli.terminal import say

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "sample_data"
DATA = [str(SAMPLE / "records.csv"), str(SAMPLE / "regions.geojson"), "--region-column=tract"]
PEOPLE = [str(SAMPLE / "people.csv"), str(SAMPLE / "slots.csv"), "--quasi-identifiers=sex,age"]

# Two chains of jobs at a time, since compiling occupies one core. ADC takes about as long as all the others.
CHAINS: tuple[tuple[list[str], ...], ...] = (
    (["run", *DATA, "--quasi-identifiers=age,sex", "--site-location=adc", "--tiers=auto"],),
    (
        ["generate", "--like=pei", "--records=2000", "--regions=20", "--out=generated"],
        ["run", *DATA, "--quasi-identifiers=age,sex", "--identifiers=health_number", "--no-pdf", "--out=result"],
        ["verify", "result/release/anonymized.csv", "--region-column=tract", "--quasi-identifiers=age,sex"],
        ["risky", "generated/records.csv", "--apply", "--out=coarsened"],
        ["appointments", *PEOPLE, "--id-column=id", "--planner=better", "--time-limit=5", "--out=plan"],
    ),
)


def compile_all() -> None:
    """Do all jobs in a temporary folder; say what fails."""
    say("Compiling the program's inner loops, once (up to a minute; the first runs are quick then)")
    with tempfile.TemporaryDirectory() as folder:
        pool = ProcessPoolExecutor(len(CHAINS), get_context("spawn"), os.chdir, (folder,))
        with pool:
            pool.submit(import_window)
            jobs = [pool.submit(failing, chain) for chain in CHAINS]
            # Backwards: ADC, whose loops are compiled meanwhile, comes last.
            rehearsed = {module: pool.submit(rehearse, module) for module in reversed(rehearsals())}
            failed = [f"vbas {name}" for job in jobs for name in job.result()]
            failed += [module for module, job in rehearsed.items() if job.exception() is not None]
    for name in failed:
        say(f"  “{name}” failed here; its first use will show why.")


def failing(chain: tuple[list[str], ...]) -> list[str]:
    """Do the jobs one after the other; the names of those that did not end well."""
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        return [job[0] for job in chain if main([*job, "--quiet"]) != 0]


def rehearsals() -> list[str]:
    """The modules that have a rehearsal of compiled loops."""
    sources = sorted((ROOT / "vbas_desktop").rglob("*.py"))
    found = (
        each for each in sources if re.search(r"^def rehearse\(\)", each.read_text(encoding="utf-8"), re.MULTILINE)
    )
    return [".".join(each.relative_to(ROOT).with_suffix("").parts) for each in found]


def rehearse(module: str) -> None:
    """Run the rehearsal of a module."""
    importlib.import_module(module).rehearse()


def import_window() -> None:
    """Import what the window imports; where Qt's system libraries are missing there is nothing to import."""
    with suppress(ImportError):
        for module in pkgutil.walk_packages(importlib.import_module("vbas_desktop.ui").__path__, "vbas_desktop.ui."):
            importlib.import_module(module.name)


if __name__ == "__main__":
    compile_all()
