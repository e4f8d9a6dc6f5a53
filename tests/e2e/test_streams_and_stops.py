"""`vbas` in a shell: outputs that nobody reads, and stops before it has really begun."""

import subprocess
import sys
from pathlib import Path

import pytest

from vbas_desktop.cli.main import main

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="shells of Unix")

VBAS = f"{sys.executable} -m vbas_desktop.cli"
STOPPED = "Stopped. Nothing half-written was left behind.\n"


@pytest.fixture
def house(tmp_path):
    rows = "".join(f"{number % 3},r{number % 4}\n" for number in range(400))
    (tmp_path / "records.csv").write_text(f"age,region\n{rows}")
    (tmp_path / "regions.csv").write_text("id,x,y\nr0,0,0\nr1,1,0\nr2,0,1\nr3,1,1\n")
    return tmp_path


def in_shell(house, command):
    """Exit code of the first command of a pipe, and what is told on the error output."""
    ended = subprocess.run(
        ["bash", "-c", f"{command}; exit ${{PIPESTATUS[0]}}"],
        cwd=house, env={"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return ended.returncode, ended.stderr


RUN = f"{VBAS} run records.csv regions.csv --region-column region --quasi-identifiers age -k 3 --no-pdf --out out"


@pytest.mark.parametrize(
    "streams",
    ["| head -0", ">&-", "--json | head -0", "2>&1 | head -0", "2>&-", "<&- >&- 2>&-", "--quiet >&-"],
)
def test_a_release_is_made_whether_anybody_reads_the_output_or_not(house, streams):
    code, told = in_shell(house, f"{RUN} {streams}")
    assert (code, "Traceback" in told, "Exception" in told) == (0, False, False)
    released = house / "out" / "release" / "anonymized.csv"
    arguments = ["--quasi-identifiers", "age", "--region-column", "region", "-k", "3", "--quiet"]
    assert main(["verify", str(released), *arguments]) == 0
    assert sorted(path.name for path in house.iterdir()) == ["out", "records.csv", "regions.csv"]


def test_a_verdict_stays_what_it_is_if_nobody_reads_it(house):
    command = f"{VBAS} verify records.csv --quasi-identifiers age --region-column region -k 1000"
    assert in_shell(house, command)[0] == 3
    code, told = in_shell(house, f"{command} | head -0")
    assert code == 3
    assert "not 1000-anonymous" in told


@pytest.mark.parametrize("streams", ["| head -0", ">&-"])
def test_help_that_nobody_reads_ends_well(house, streams):
    assert in_shell(house, f"{VBAS} run --help {streams}") == (0, "")


@pytest.mark.parametrize(
    "module",
    ["vbas_desktop.cli.main", "argparse", "vbas_desktop.cli.run", "numpy", "vbas_desktop.app.run"],
)
def test_a_stop_while_modules_are_imported_is_told_in_one_line(house, module):
    script = f"""
import os, signal, sys
from vbas_desktop.cli.__main__ import main

class Stop:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.modules.pop({module!r}, None)
sys.meta_path.insert(0, Stop())
sys.argv = {["vbas", *RUN.split()[3:]]!r}
sys.exit(main())
"""
    ended = subprocess.run(
        [sys.executable, "-c", script],
        cwd=house, env={"PYTHONPATH": str(Path(__file__).parents[2])}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (130, STOPPED)
    assert sorted(path.name for path in house.iterdir()) == ["records.csv", "regions.csv"]
