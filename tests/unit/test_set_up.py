"""Set-up finds out what the system lacks: root gets it installed, anybody else gets the one line to run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LISTED = [line.split() for line in (ROOT / "packaging" / "debian-packages.txt").read_text().splitlines()]
PACKAGES = [line[0] for line in LISTED if line[0] != "#"]
LIBRARIES = [line[1] for line in LISTED if line[0] != "#"]


class Machine:
    """The set-up script in a folder of its own, among programs that pretend to be another machine's."""

    def __init__(self, folder: Path) -> None:
        self.programs = folder / "bin"
        self.programs.mkdir()
        (folder / "packaging").mkdir()
        for name in ("system-packages", "debian-packages.txt"):
            shutil.copy(ROOT / "packaging" / name, folder / "packaging")
        self.script = folder / "packaging" / "system-packages"
        self.calls = folder / "apt-calls"
        self.has_libraries()
        self.program("apt-get", f'echo "$*" >>"{self.calls}"')
        self.program("id", "echo 1000")

    def program(self, name, line):
        path = self.programs / name
        path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        path.chmod(0o755)

    def has_libraries(self, *names):
        self.program(
            "ldconfig", "\n".join(f'echo "    {name} (libc6,x86-64) => /lib/{name}"' for name in names)
        )

    def set_up(self, python=sys.executable):
        environment = {"PATH": f"{self.programs}:{os.environ['PATH']}", "PYTHON": python}
        return subprocess.run(
            [str(self.script)], env=environment, capture_output=True, text=True, timeout=240
        )

    def apt_calls(self):
        return self.calls.read_text().splitlines() if self.calls.exists() else []


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def missing_here():
    """The font is looked for where it really is, so whether it is missing depends on this machine."""
    return [
        p
        for p, sign in zip(PACKAGES, LIBRARIES, strict=True)
        if not (sign[0] == "/" and Path(sign).exists())
    ]


def test_a_user_gets_one_line_with_everything_that_is_missing_and_set_up_goes_on(machine):
    ended = machine.set_up()
    assert ended.returncode == 0
    line = f"    sudo apt-get install -y --no-install-recommends {' '.join(missing_here())}"
    assert ended.stderr.splitlines()[1] == line
    assert "everything but the window works" in ended.stderr
    assert machine.apt_calls() == []


def test_root_gets_it_installed(machine):
    machine.program("id", "echo 0")
    ended = machine.set_up()
    assert ended.returncode == 0
    wanted = f"install -y --no-install-recommends {' '.join(missing_here())}"
    assert machine.apt_calls() == ["update", wanted]


def test_only_what_is_missing_is_named(machine):
    machine.has_libraries(*(name for name in LIBRARIES if name[0] != "/" and "cursor" not in name))
    missing = [name for name in missing_here() if name in ("libxcb-cursor0", "fonts-dejavu-core")]
    assert machine.set_up().stderr.splitlines()[1].split("recommends ")[1] == " ".join(missing)


def test_a_python_without_venv_stops_with_the_package_that_brings_it(machine):
    machine.program(
        "python-of-debian",
        f'case "$*" in *ensurepip*) exit 1 ;; esac\nexec "{sys.executable}" "$@"',
    )
    ended = machine.set_up(str(machine.programs / "python-of-debian"))
    assert ended.returncode == 1
    package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
    assert f"--no-install-recommends {package} " in ended.stderr


def test_a_python_that_is_too_old_is_refused_with_what_to_do(machine):
    machine.program("old-python", "exit 1")
    ended = machine.set_up(str(machine.programs / "old-python"))
    assert ended.returncode == 1
    assert "Python 3.11 or newer is needed" in ended.stderr
    assert "make PYTHON=" in ended.stderr


def test_an_installation_that_fails_says_why_and_what_to_run(machine):
    machine.program("id", "echo 0")
    machine.program("apt-get", "echo no network >&2; exit 100")
    ended = machine.set_up()
    assert ended.returncode == 0
    assert "no network" in ended.stderr
    assert "Run it yourself: apt-get update && apt-get install" in ended.stderr
