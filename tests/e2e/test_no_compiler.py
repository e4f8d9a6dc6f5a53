"""The main job never waits for a compiler: numba is imported by the searches that need it, and by nothing else."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from vbas_desktop.approaches.registry import list_approaches

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "sample_data"
RECORDS = str(SAMPLE / "records.csv")
REGIONS = str(SAMPLE / "regions.geojson")
DATA = [RECORDS, REGIONS, "--region-column=tract", "--quasi-identifiers=age,sex", "--identifiers=health_number"]
PEOPLE = [str(SAMPLE / "people.csv"), str(SAMPLE / "slots.csv"), "--id-column=id", "--quasi-identifiers=sex,age"]
CRITERIA = ["--sensitive=diagnosis", "--criterion=distinct:2", "--criterion=recursive:3,2", "--criterion=closeness:0.3"]
GROUPS = SAMPLE / "generalise.csv"
OUTLIERS = ["original.csv", "--quasi-identifiers=age,job", "-k10"]
COMPILED = {"adc", "refine-sites", "obstacles", "boundaries", "better"}

WITHOUT_NUMBA = """
import sys

class RefuseCompiler:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numba", "llvmlite"):
            import traceback
            traceback.print_stack()
            print("A compiler is imported.", file=sys.stderr, flush=True)
            # Not an exception, which the program might catch.
            import os
            os._exit(99)

sys.meta_path.insert(0, RefuseCompiler())
from vbas_desktop.{module} import main
sys.exit(main(sys.argv[1:]))
"""


def run_without_numba(folder, *arguments, module="cli.main", **environment):
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_NUMBA.replace("{module}", module), *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=250,
    )


def succeed(folder, *arguments):
    ended = run_without_numba(folder, *arguments)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with what some commands need: a run with its release, and small files."""
    made = tmp_path_factory.mktemp("without")
    (made / "original.csv").write_text(
        "key,age,job\n" + "".join(f"{n},{n % 4},{'ab'[n % 2]}\n" for n in range(39)), encoding="utf-8"
    )
    succeed(made, "run", *DATA, "--out=first")
    succeed(made, "ledger", "record", "first", "--audience=us", "--ledger=ledger.json")
    return made


@pytest.mark.parametrize(
    "choice",
    [
        f"--{component.replace('_', '-')}={name}"
        for component in ("site_number", "site_location", "construction", "refinement")
        for name in list_approaches(component)
        if name not in COMPILED
    ],
)
def test_a_run_with_each_published_approach(folder, choice):
    needed = {
        "--construction=coarsen": ["--coarsen-from=first"],
        "--construction=given": ["--set=given.file=first/release/crosswalk.csv"],
    }.get(choice, [])
    numbered = ["--sites=20"] if choice == "--site-number=fixed" else []
    if not choice.startswith("--site-number"):
        numbered = ["--site-number=fixed", "--sites=20"]
    solutions = json.loads(succeed(folder, "run", *DATA, *numbered, choice, *needed, "--json", "--quiet"))["solutions"]
    measured = set(solutions[0]["measures"])
    # Sensitive values and weights need columns of their own.
    assert {"suppressed_records", "precision_loss", "average_distance", "regions_in_pieces"} <= measured


COMMANDS = {
    "tiers": ["run", *DATA, "--tiers=auto", "--out=tiers"],
    "criteria": ["run", *DATA, *CRITERIA, "--exceed-loss", "--out=criteria"],
    "parquet": ["run", *DATA, "--format=parquet", "--record-key", "--shuffle", "--out=parquet"],
    "generalise": ["run", *DATA, f"--generalise={GROUPS}", "--allow-column=marital_status", "--out=grouped"],
    "search": ["search", *DATA, f"--ladder={GROUPS}"],
    "compare": ["compare", *DATA, "--site-number=maxcombs,entropy", "--site-location=density,random", "--out=compared"],
    "export": ["export", "first", "--solution=1", "--out=exported"],
    "verify": ["verify", "first/release/anonymized.csv", "--region-column=tract", "--quasi-identifiers=age,sex"],
    "ledger check": ["ledger", "check", "first", "--audience=others", "--ledger=ledger.json"],
    "ledger list": ["ledger", "list", "--ledger=ledger.json"],
    "generate": ["generate", "--like=pei", "--records=500", "--regions=20", "--out=generated"],
    "delete outliers": ["outliers", *OUTLIERS, "--handle=delete", "--out=deleted.csv"],
    "merge outliers": ["outliers", *OUTLIERS, "--handle=merge", "--out=merged.csv"],
    "representability": [
        "representability",
        "original.csv",
        "original.csv",
        "--key=key",
        "--quasi-identifiers=age,job",
    ],
    "instant planner": ["appointments", *PEOPLE, "--planner=heuristic"],
    "optimal planner": ["appointments", *PEOPLE, "--planner=optimal", "--time-limit=2"],
    "random planner": ["appointments", *PEOPLE, "--planner=random"],
    "approaches": ["approaches"],
    "policies": ["policies", "list"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command(folder, name):
    succeed(folder, *COMMANDS[name])


def test_the_window_starts_and_does_the_sample_job(folder):
    started = run_without_numba(
        folder, "--demo", "--picture=window.png", module="__main__", QT_QPA_PLATFORM="offscreen"
    )
    assert started.returncode == 0, started.stderr
    assert (folder / "window.png").stat().st_size > 0


@pytest.mark.parametrize("choice", ["--site-location=adc", "--refinement=boundaries"])
def test_what_needs_the_compiler_is_noticed_here(folder, choice):
    ended = run_without_numba(folder, "run", *DATA, choice)
    assert ended.returncode == 99
    assert "A compiler is imported." in ended.stderr
