"""What stays in the house is nobody else's to read, whatever the umask."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from release_making import random_rows, write_records, write_regions

from vbas_desktop.cli.main import main

SAMPLE = Path(__file__).parents[3] / "sample_data"

SCRIPT = """
import os, sys
os.umask(int(sys.argv[1], 8))
import vbas_desktop.io.output as output
seen = []
replace = output.replace_target
def noted(staging, target, before):
    seen.append(oct(staging.stat().st_mode & 0o777))
    return replace(staging, target, before)
output.replace_target = noted
from vbas_desktop.cli.main import main
code = main(sys.argv[2:])
print(code, *seen)
"""


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", ["000", "022"])
def test_a_run_keeps_to_itself_what_stays(tmp_path, umask):
    target = tmp_path / "result"
    files = [str(SAMPLE / "records.csv"), str(SAMPLE / "regions.geojson")]
    columns = [
        "--region-column",
        "tract",
        "--quasi-identifiers",
        "age,sex",
        "--identifiers",
        "health_number",
    ]
    more = ["-k", "5", "--sites", "10", "--range-reach", "0", "--quiet", "--out", str(target)]
    command = [sys.executable, "-c", SCRIPT, umask, "run", *files, *columns, *more]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split()[-2:] == ["0", "0o700"]
    assert mode(target / "run.json") == 0o600
    assert mode(target / "internal") == 0o700
    inside = list((target / "internal").iterdir())
    assert inside
    assert {mode(path) for path in inside} == {0o600}
    usual = 0o777 & ~int(umask, 8)
    assert (mode(target), mode(target / "release")) == (usual, usual)
    assert mode(target / "release" / "anonymized.csv") == usual & 0o666


def test_a_project_and_its_recovery_are_private(tmp_path):
    script = """
import os, sys
os.umask(0)
from pathlib import Path
from vbas_desktop.io.output import write_text
from vbas_desktop.ui.state.choices import Choices
from vbas_desktop.ui.state.project import ProjectState
from vbas_desktop.ui.state.opening import Recovery
from vbas_desktop.model.records import SourceFile
folder = Path(sys.argv[1])
state = ProjectState(SourceFile("a.csv", 1, "0" * 64), SourceFile("b.csv", 1, "0" * 64), Choices())
state.write(folder / "p.vbas")
Recovery(folder / "recovery").write(state)
write_text(folder / "shared.txt", "open to all")
"""
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)
    assert mode(tmp_path / "p.vbas") == 0o600
    assert mode(tmp_path / "recovery") == 0o700
    assert {mode(path) for path in (tmp_path / "recovery").iterdir()} == {0o600}
    assert mode(tmp_path / "shared.txt") == 0o666
    assert sorted(os.listdir(tmp_path)) == ["p.vbas", "recovery", "shared.txt"]


SEARCHED = ("search.csv", "search.json", "search.html")
COMPARED = ("comparison.csv", "summary.html", "summary.txt")


def finding(folder, command, *more):
    """Write the words of a command that tries several releases of a small file."""
    files = [str(write_records(folder, random_rows(300, seed=1))), str(write_regions(folder))]
    chosen = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age,sex",
        "--site-location",
        "density",
        "--quiet",
    ]
    return [command, *files, *chosen, *more, "--out", str(folder / "found")]


@pytest.mark.parametrize(
    ("command", "names"),
    [
        (["search"], SEARCHED),
        (["compare", "-k", "2", "--site-number", "fixed", "--sites", "3"], COMPARED),
    ],
    ids=["search", "compare"],
)
def test_tables_of_a_search_and_of_a_comparison_are_private(tmp_path, command, names):
    words = finding(tmp_path, *command)
    subprocess.run(
        [sys.executable, "-c", SCRIPT, "000", *words], capture_output=True, text=True, check=True
    )
    assert {name: oct(mode(tmp_path / "found" / name)) for name in names} == dict.fromkeys(
        names, "0o600"
    )
    if command == ["search"]:
        nodes = tmp_path / "found.nodes"
        assert mode(nodes) == 0o700
        assert {mode(path) for path in nodes.iterdir()} == {0o600}


def test_nodes_are_not_kept_behind_a_link(tmp_path, capsys):
    target = tmp_path / "of-somebody"
    target.mkdir(0o755)
    (tmp_path / "found.nodes").symlink_to(target)
    assert main(finding(tmp_path, "search")) == 1
    assert "is a link" in capsys.readouterr().err
    assert mode(target) == 0o755
    assert list(target.iterdir()) == []
