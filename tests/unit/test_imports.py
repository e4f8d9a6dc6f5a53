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
from vbas_desktop.cli.main import COMMANDS, _parser
for name in COMMANDS:
    _parser([name])
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
    rooms = {path.parent.name for path in (ROOT / "vbas_desktop").glob("*/__init__.py")} - {"ui"}
    assert {f"vbas_desktop.{room}" for room in rooms} <= imported
    assert "vbas_desktop.__main__" in imported


def test_the_window_is_not_even_looked_at_by_the_command():
    script = (
        "import sys, vbas_desktop.cli.main as m; [m._parser([name]) for name in m.COMMANDS]; "
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
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, timeout=240).returncode == 0


@pytest.mark.parametrize("command", ["approaches", "run"])
def test_options_are_known_without_what_computes(command):
    script = f"import sys, vbas_desktop.cli.main as m; m._parser([{command!r}]); sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, timeout=240).returncode == 0


def test_reading_geometry_does_not_load_pandas_and_pyarrow_which_can_still_be_had():
    script = """
import sys
from vbas_desktop.cli.loading import import_geometry_alone
import_geometry_alone()
import pyogrio.raw
assert not {"pandas", "pyarrow"} & set(sys.modules)
import pandas, pyarrow
assert pyarrow.array([1, 2]).to_pylist() == [1, 2]
assert pandas.DataFrame({"a": [1]}).a.sum() == 1
"""
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, timeout=240).returncode == 0


def test_what_is_imported_later_is_whole_when_it_is_used():
    script = """
import sys
from vbas_desktop.cli.loading import import_later
import_later()
import scipy
assert "unittest" not in sys.modules and "numpy.f2py.f2py2e" not in sys.modules
tree = scipy.spatial.cKDTree([[0, 0], [3, 4]])
assert tree.query([3, 3])[1] == 1 and scipy.spatial.Delaunay([[0, 0], [0, 1], [1, 0]]).nsimplex == 1
# Parts of packages are there without them,
assert not {"scipy.spatial.distance", "scipy.sparse._csr", "scipy.linalg._basic"} & set(sys.modules)
# and the packages when they or others of their parts are asked for.
from scipy.spatial.distance import cdist
assert cdist([[0, 0]], [[3, 4]]) == 5 and scipy.spatial.distance.cdist is cdist
assert scipy.spatial.distance.__spec__.origin.endswith("distance.py") and scipy.spatial.cKDTree is type(tree)
assert tree.sparse_distance_matrix(tree, 9).nnz == 4 and scipy.sparse.eye_array(3).nnz == 3
assert scipy.linalg.det([[2, 0], [0, 2]]) == 4
assert not hasattr(scipy.linalg, "no_such_name")
import numpy.testing
numpy.testing.assert_array_equal([1], [1])
assert callable(numpy.f2py.run_main)
"""
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, timeout=240).returncode == 0


def test_a_run_without_a_release_does_not_load_what_writes_one():
    script = """
import sys, vbas_desktop.release as release
assert not [name for name in sys.modules if name.startswith(("vbas_desktop.release.write", "reportlab", "pyarrow"))]
assert release.write_release.__module__ == "vbas_desktop.release.write" and release.TELLTALE
assert not hasattr(release, "no_such_name")
"""
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, timeout=240).returncode == 0


def test_a_run_loads_only_what_it_computes_with():
    script = """
import sys
from vbas_desktop.cli.loading import load_little
from vbas_desktop.cli.main import main
load_little()
data = ["sample_data/records.csv", "sample_data/regions.geojson", "--region-column=tract"]
assert main(["run", *data, "--quasi-identifiers=age,sex", "--quiet"]) == 0
heavy = {"pandas", "reportlab", "duckdb", "yaml.loader", "numpy.f2py.f2py2e", "scipy.optimize",
         "scipy.stats", "scipy.special", "scipy.sparse.linalg", "scipy.linalg._basic", "scipy.spatial.distance",
         "numba.np.linalg"}
sys.exit(", ".join(sorted(heavy & set(sys.modules))) or None)
"""
    ended = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert (ended.returncode, ended.stderr) == (0, "")
