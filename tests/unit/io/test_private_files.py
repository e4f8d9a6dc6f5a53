"""What stays in the house is nobody else's to read, whatever the umask."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLE = Path(__file__).parents[3] / "sample_data"

SCRIPT = """
import os, sys
os.umask(int(sys.argv[1], 8))
import vbas_desktop.io.output as output
seen = []
put = output._open_up
def noted(partial):
    seen.append(oct(partial.stat().st_mode & 0o777))
    put(partial)
output._open_up = noted
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
    columns = ["--region-column", "tract", "--quasi-identifiers", "age,sex", "--identifiers", "health_number"]
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
from vbas_desktop.session.choices import Choices
from vbas_desktop.session.project import ProjectState
from vbas_desktop.session.opening import Recovery
from vbas_desktop.domain.source import Source
folder = Path(sys.argv[1])
state = ProjectState(Source("a.csv", 1, "0" * 64), Source("b.csv", 1, "0" * 64), Choices())
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
