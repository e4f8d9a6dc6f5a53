"""Qt stays in the window: everything else can be imported where Qt cannot."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

IMPORT_ALL_BUT_THE_WINDOW = """
import importlib, pkgutil, sys

for name in ("PySide6", "shiboken6", "pyqtgraph"):
    sys.modules[name] = None  # makes every import of it fail

import vbas_desktop

def walk(package):
    for info in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        if info.name == "vbas_desktop.ui" or info.name == "vbas_desktop.cli.__main__":
            continue
        module = importlib.import_module(info.name)
        sys.stdout.write(info.name + "\\n")
        if info.ispkg:
            walk(module)

walk(vbas_desktop)
from vbas_desktop.cli.main import COMMANDS, build_parser
for name in COMMANDS:
    build_parser([name])
"""


def test_everything_but_the_window_can_be_imported_without_qt():
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", IMPORT_ALL_BUT_THE_WINDOW],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert ended.returncode == 0, ended.stderr
    imported = set(ended.stdout.split())
    packages = {path.parent.name for path in (ROOT / "vbas_desktop").glob("*/__init__.py")} - {"ui"}
    assert {f"vbas_desktop.{package}" for package in packages} <= imported
    assert "vbas_desktop.__main__" in imported


def test_the_window_is_not_even_looked_at_by_the_command():
    script = (
        "import sys, vbas_desktop.cli.main as m; [m.build_parser([name]) for name in m.COMMANDS]; "
        "sys.exit('vbas_desktop.ui' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, timeout=240).returncode == 0


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], []])
def test_what_computes_nothing_imports_nothing_heavy(arguments):
    script = f"""
import sys, vbas_desktop.cli.main as m
try:
    m.main({arguments!r})
except SystemExit:
    pass
sys.exit(bool({{"numpy", "pandas", "pyarrow", "scipy", "numba", "shapely"}} & set(sys.modules)))
"""
    assert (
        subprocess.run(
            [sys.executable, "-c", script], cwd=ROOT, capture_output=True, timeout=240
        ).returncode
        == 0
    )


@pytest.mark.parametrize("command", ["approaches", "run"])
def test_options_are_known_without_what_computes(command):
    script = f"import sys, vbas_desktop.cli.main as m; m.build_parser([{command!r}]); sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, timeout=240).returncode == 0


def test_a_run_without_a_release_does_not_load_what_writes_one():
    script = """
import sys, vbas_desktop.releases.folder
assert not [name for name in sys.modules if name.startswith(("vbas_desktop.releases.write", "reportlab", "pyarrow"))]
"""
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, timeout=240).returncode == 0


def test_a_run_loads_only_what_it_computes_with():
    script = """
import sys
from vbas_desktop.cli.main import main
data = ["sample_data/records.csv", "sample_data/regions.geojson", "--region-column=tract"]
assert main(["run", *data, "--quasi-identifiers=age,sex", "--quiet"]) == 0
heavy = {"numba", "reportlab", "duckdb", "psycopg", "pyspark", "ortools", "scipy.optimize", "scipy.stats"}
sys.exit(", ".join(sorted(heavy & set(sys.modules))) or None)
"""
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=240
    )
    assert (ended.returncode, ended.stderr) == (0, "")
