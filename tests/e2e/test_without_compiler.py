"""Commands that need no compiled loops work in a process where the compiler cannot be imported."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SAMPLE = ["sample_data/records.csv", "sample_data/regions.geojson", "--region-column", "tract"]
RUN = ["run", *SAMPLE, "--quasi-identifiers", "age,sex", "--identifiers", "health_number", "-k", "5", "--quiet"]
OUTLIERS = ["outliers", "tests/data/parv/C2.csv", "--quasi-identifiers", "Hh,Job", "-k", "3", "--quiet"]
PEOPLE = ["sample_data/people.csv", "sample_data/slots.csv", "--quasi-identifiers", "sex,age", "--quiet"]

SCRIPT = """
import json, sys

class NoCompiler:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numba", "llvmlite"):
            raise ImportError(f"{name} must not be imported")

sys.meta_path.insert(0, NoCompiler())
from vbas_desktop.cli.main import main

for command in json.loads(sys.argv[1]):
    if main(command) not in (0, 3):  # 3: the ledger advises against a release
        sys.exit(f"failed: {command}")
"""


def run_all(*commands):
    """Run commands one after the other in one process without the compiler."""
    given = json.dumps([list(map(str, command)) for command in commands])
    done = subprocess.run([sys.executable, "-c", SCRIPT, given], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("component", ["site-number", "site-location"])
def test_runs_without_searches_need_no_compiler(component):
    names = {
        "site-number": ("limit", "maxcombs", "entropy", "anonymity"),
        "site-location": ("random", "density", "balanced-density", "anonymity", "density-peaks", "centroidal"),
    }[component]
    run_all(*([*RUN, f"--{component}", name] for name in names))


def test_a_run_its_release_and_the_ledger_need_no_compiler(tmp_path):
    first, second, ledger = tmp_path / "first", tmp_path / "second", tmp_path / "ledger.json"
    handed = ["--audience", "A", "--ledger", ledger, "--quiet"]
    run_all(
        [*RUN, "--tiers", "auto", "--out", first],
        ["ledger", "record", first, *handed],
        [*RUN, "--construction", "growth", "--sites", "20", "--out", second],
        ["ledger", "check", second, *handed],
    )


def test_comparing_searching_and_generating_need_no_compiler(tmp_path):
    found, compared = tmp_path / "found", tmp_path / "compared"
    ladder = ["--quasi-identifiers", "age,sex", "--ladder", "sample_data/generalise.csv", "--pin", "sex"]
    approaches = ["--site-number", "maxcombs", "--site-location", "density,balanced-density"]
    run_all(
        ["generate", "--like", "pei", "--records", "2000", "--regions", "20", "--out", tmp_path / "made", "--quiet"],
        ["search", *SAMPLE, *ladder, "--out", found, "--quiet"],
        ["compare", *SAMPLE, "--quasi-identifiers", "age,sex", "-k", "5", *approaches, "--out", compared, "--quiet"],
    )


def test_outliers_representability_and_appointments_need_no_compiler(tmp_path):
    handled = {how: tmp_path / f"{how}.csv" for how in ("delete", "merge", "generalise", "fabricate")}
    ways = [[*OUTLIERS, "--handle", how, "--out", path] for how, path in handled.items()]
    ways[-1] += ["--key", "Key", "--sensitive", "Illness,Value"]
    columns = ["--key", "Key", "--quasi-identifiers", "Hh,Job", "-k", "3", "--quiet"]
    planners = [["appointments", *PEOPLE, "--planner", name] for name in ("heuristic", "random")]
    run_all(*ways, ["representability", "tests/data/parv/C2.csv", handled["merge"], *columns], *planners)
