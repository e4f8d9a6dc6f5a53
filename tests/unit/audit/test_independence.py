"""What reads a release back shares no code with what loaded the records or wrote them."""

import subprocess
import sys
from functools import cache

LOOK = """
import importlib, pkgutil, sys
import vbas_desktop.{room} as room
for module in pkgutil.walk_packages(room.__path__, room.__name__ + "."):
    importlib.import_module(module.name)
print("\\n".join(sys.modules))
"""


@cache
def imported_by(room):
    """All modules of the program that are there once every module of a room was imported."""
    found = subprocess.run(
        [sys.executable, "-c", LOOK.format(room=room)], capture_output=True, text=True, check=True
    ).stdout.split()
    assert len([name for name in found if name.startswith(f"vbas_desktop.{room}.")]) > 5
    return found


def below(names, *rooms):
    return [
        name for name in names if any(f"{name}.".startswith(f"vbas_desktop.{room}.") for room in rooms)
    ]


def test_the_auditor_is_whole_without_loader_and_writer():
    assert not below(imported_by("audit"), "io.records", "releases")


def test_the_loader_does_without_the_auditor():
    assert not below(imported_by("io.records"), "audit")


def test_a_room_that_uses_another_is_seen():
    assert below(imported_by("releases"), "audit")


def test_the_auditor_needs_no_code_that_is_compiled_or_computes_releases():
    found = imported_by("audit")
    assert not below(found, "algorithms", "approaches", "engine", "settings")
    assert "numba" not in found
