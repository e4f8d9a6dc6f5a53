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
DATA = [
    RECORDS,
    REGIONS,
    "--region-column=tract",
    "--quasi-identifiers=age,sex",
    "--identifiers=health_number",
]
PEOPLE = [
    str(SAMPLE / "people.csv"),
    str(SAMPLE / "slots.csv"),
    "--id-column=id",
    "--quasi-identifiers=sex,age",
]
CRITERIA = [
    "--sensitive=diagnosis",
    "--criterion=distinct:2",
    "--criterion=recursive:3,2",
    "--criterion=closeness:0.3",
]
GROUPS = SAMPLE / "generalise.csv"
OUTLIERS = ["original.csv", "--quasi-identifiers=age,job", "-k10"]
COMPILED = {"adc", "refine-sites", "obstacles", "boundaries", "better"}

REFUSE_COMPILER = """
import sys, traceback

class RefuseCompiler:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numba", "llvmlite"):
            traceback.print_stack()
            print("A compiler is imported.", file=sys.stderr, flush=True)
            raise ImportError(name)

sys.meta_path.insert(0, RefuseCompiler())
"""

EVERY_COMMAND = """
import contextlib, io, json
from vbas_desktop.cli.main import main

for line in sys.stdin:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(json.loads(line))
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""

WINDOW = """
from vbas_desktop.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


class WithoutCompiler:
    """A process in which importing a compiler is told and refused; it runs one command after the other."""

    def __init__(self, folder):
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-c", REFUSE_COMPILER + EVERY_COMMAND],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments):
        """Run a command; return its exit code and what it wrote to both outputs."""
        self.process.stdin.write(json.dumps(arguments) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def succeed(self, *arguments):
        """Return the output of a command that neither fails nor looks for a compiler."""
        code, out, err = self.run(*arguments)
        assert "A compiler is imported." not in err, err
        assert code == 0, err
        return out


@pytest.fixture(scope="module")
def vbas(tmp_path_factory):
    """Commands without a compiler, in a folder with what some need: a run with its release, and small files."""
    made = tmp_path_factory.mktemp("without")
    (made / "original.csv").write_text(
        "key,age,job\n" + "".join(f"{n},{n % 4},{'ab'[n % 2]}\n" for n in range(39)), encoding="utf-8"
    )
    commands = WithoutCompiler(made)
    with commands.process:
        commands.succeed("run", *DATA, "--out=first")
        commands.succeed("ledger", "record", "first", "--audience=us", "--ledger=ledger.json")
        yield commands


@pytest.mark.parametrize(
    "choice",
    [
        f"--{component.replace('_', '-')}={name}"
        for component in ("site_number", "site_location", "construction", "refinement")
        for name in list_approaches(component)
        if name not in COMPILED
    ],
)
def test_a_run_with_each_published_approach(vbas, choice):
    needed = {
        "--construction=coarsen": ["--coarsen-from=first"],
        "--construction=given": ["--set=given.file=first/release/crosswalk.csv"],
    }.get(choice, [])
    numbered = ["--sites=20"] if choice == "--site-number=fixed" else []
    if not choice.startswith("--site-number"):
        numbered = ["--site-number=fixed", "--sites=20"]
    solutions = json.loads(vbas.succeed("run", *DATA, *numbered, choice, *needed, "--json", "--quiet"))[
        "solutions"
    ]
    measured = set(solutions[0]["measures"])
    # Sensitive values and weights need columns of their own.
    assert {"suppressed_records", "precision_loss", "average_distance", "regions_in_pieces"} <= measured


COMMANDS = {
    "tiers": ["run", *DATA, "--tiers=auto", "--out=tiers"],
    "criteria": ["run", *DATA, *CRITERIA, "--exceed-loss", "--out=criteria"],
    "parquet": ["run", *DATA, "--format=parquet", "--record-key", "--shuffle", "--out=parquet"],
    "generalise": [
        "run",
        *DATA,
        f"--generalise={GROUPS}",
        "--allow-column=marital_status",
        "--out=grouped",
    ],
    "search": ["search", *DATA, f"--ladder={GROUPS}"],
    "compare": [
        "compare",
        *DATA,
        "--site-number=maxcombs,entropy",
        "--site-location=density,random",
        "--out=compared",
    ],
    "export": ["export", "first", "--solution=1", "--out=exported"],
    "verify": [
        "verify",
        "first/release/anonymized.csv",
        "--region-column=tract",
        "--quasi-identifiers=age,sex",
    ],
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
def test_a_command(vbas, name):
    vbas.succeed(*COMMANDS[name])


def test_the_window_starts_and_does_the_sample_job(tmp_path):
    started = subprocess.run(
        [sys.executable, "-c", REFUSE_COMPILER + WINDOW, "--demo", "--picture=window.png"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert started.returncode == 0, started.stderr
    assert "A compiler is imported." not in started.stderr
    assert (tmp_path / "window.png").stat().st_size > 0


@pytest.mark.parametrize("choice", ["--site-location=adc", "--refinement=boundaries"])
def test_what_needs_the_compiler_is_noticed_here(vbas, choice):
    code, _, err = vbas.run("run", *DATA, choice)
    assert code != 0
    assert "A compiler is imported." in err
