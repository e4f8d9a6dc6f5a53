"""The example of docs/plug-ins.md, installed and run."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder that the documented package is installed in, built from nothing but the documented text."""
    page = (ROOT / "docs" / "plug-ins.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (declaration,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    project = tomllib.loads(declaration)["project"]
    target = tmp_path_factory.mktemp("installed")
    (target / "vbas_diagonal.py").write_text(code, encoding="utf-8")
    # What an installer leaves behind: metadata, and the entry points in a file of their own.
    metadata = target / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    metadata.mkdir()
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (metadata / "METADATA").write_text(head, encoding="utf-8")
    lines = [
        f"[{group}]\n" + "\n".join(f"{name} = {place}" for name, place in points.items())
        for group, points in project["entry-points"].items()
    ]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return target


def vbas(installed, *arguments):
    environment = {**os.environ, "PYTHONPATH": f"{installed}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "vbas_desktop.cli", *arguments]
    return subprocess.run(
        command, env=environment, cwd=installed, capture_output=True, text=True, check=False
    )


def test_the_example_is_listed_and_runs(installed, tmp_path):
    listed = json.loads(vbas(installed, "approaches", "--json").stdout)
    assert "diagonal" in [each["name"] for each in listed["site_location"]]

    (tmp_path / "regions.csv").write_text("id,x,y\na,0,0\nb,4,0\nc,0,2\nd,4,2\n", encoding="utf-8")
    rows = "\n".join(f"{region},red" for region in "aabbccdd")
    (tmp_path / "records.csv").write_text(f"region,colour\n{rows}\n", encoding="utf-8")
    files = [str(tmp_path / "records.csv"), str(tmp_path / "regions.csv")]
    columns = ["--region-column", "region", "--quasi-identifiers", "colour", "-k", "2"]
    chosen = [
        "--site-location",
        "diagonal",
        "--set",
        "diagonal.start=0.5",
        "--sites",
        "2",
        "--range-reach",
        "0",
    ]
    done = vbas(installed, "run", *files, *columns, *chosen, "--json", "--quiet")
    assert done.stderr == ""
    (solution,) = json.loads(done.stdout)["solutions"]
    assert solution["site_location"] == "diagonal"
    assert solution["parameters"]["site_location"] == {"start": 0.5}
    # Sites at (2, 1), the middle, and (4, 2): a and c go to the middle (√5), b (2) and d (0) to the corner.
    assert solution["aggregated_regions"] == 2
    assert solution["measures"]["average_distance"] == pytest.approx((2 * 5**0.5 + 2) / 4)


def test_its_parameters_are_checked_like_any_other(installed, tmp_path):
    refused = vbas(
        installed, "run", "r", "g", "--region-column", "a", "--quasi-identifiers", "b",
        "--site-location", "diagonal", "--set", "diagonal.start=7",
    )  # fmt: skip
    assert refused.returncode == 2
    assert "“Start” must be a number at least 0 and at most 1" in refused.stderr


def test_a_broken_plug_in_is_told_of_and_nothing_else_suffers(tmp_path):
    metadata = tmp_path / "broken-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: broken\nVersion: 1\n", encoding="utf-8"
    )
    (metadata / "entry_points.txt").write_text(
        "[vbas_desktop.approaches]\nbroken = no_such_module:Nothing\nodd = json:dumps\n",
        encoding="utf-8",
    )
    done = vbas(tmp_path, "approaches")
    assert done.returncode == 0
    assert "balanced-density" in done.stdout
    assert (
        "warning: The plug-in “broken” (no_such_module:Nothing) cannot be loaded (ModuleNotFoundError)."
        in done.stderr
    )
    assert "warning: The plug-in “odd” (json:dumps) is not an approach." in done.stderr
