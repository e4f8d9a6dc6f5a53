"""`vbas-desktop` says in words why there is no window, instead of letting Qt end the process."""

import os
import subprocess
import sys
from pathlib import Path

from vbas_desktop.__main__ import LIBRARIES, SCREEN_LIBRARIES, why_no_window

ROOT = Path(__file__).resolve().parents[2]


def everything(_):
    return True


def nothing(_):
    return False


def test_without_a_screen_it_ends_with_1_and_names_the_command_that_works():
    environment = {
        name: value for name, value in os.environ.items() if "DISPLAY" not in name and name[:3] != "QT_"
    }
    start = [sys.executable, "-m", "vbas_desktop"]
    ended = subprocess.run(start, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240)
    assert ended.returncode == 1
    assert "there is no screen here" in ended.stderr
    assert "`vbas`" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_picture_replaces_a_file_only_when_asked_for_and_never_the_project(tmp_path):
    project, picture = tmp_path / "p.vbas", tmp_path / "p.png"
    for path in (project, picture):
        path.write_text("mine")

    def refused(*words):
        start = [sys.executable, "-m", "vbas_desktop", *map(str, words)]
        environment = {
            name: value
            for name, value in os.environ.items()
            if "DISPLAY" not in name and name[:3] != "QT_"
        }
        return subprocess.run(
            start, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240
        ).stderr

    assert "There is a file with this name already" in refused(project, "--picture", picture)
    assert "is an input" in refused(project, "--picture", project, "--replace")
    assert "there is no screen here" in refused(project, "--picture", picture, "--replace")
    assert (project.read_text(), picture.read_text()) == ("mine", "mine")


def test_a_missing_library_is_named_by_the_package_that_brings_it():
    reason = why_no_window({"DISPLAY": ":0"}, "linux", loads=lambda name: name != "libxcb-cursor.so.0")
    assert (
        reason == "system libraries are missing. On Debian or Ubuntu run: apt-get install libxcb-cursor0"
    )


def test_a_screen_that_does_not_answer_is_named():
    reason = why_no_window({"DISPLAY": ":77"}, "linux", loads=everything, answers=nothing)
    assert reason == "the screen :77 does not answer. Is it the right one, and allowed?"


def test_a_screen_nobody_serves_does_not_answer():
    assert "does not answer" in (why_no_window({"DISPLAY": ":7654"}, "linux", loads=everything) or "")


def test_nothing_speaks_against_a_screen_that_answers():
    assert why_no_window({"DISPLAY": ":0"}, "linux", loads=everything, answers=everything) is None


def test_wayland_and_offscreen_need_no_x11_libraries():
    def all_but_x11(name):
        return name not in SCREEN_LIBRARIES

    for environment in ({"WAYLAND_DISPLAY": "wayland-0"}, {"QT_QPA_PLATFORM": "offscreen"}):
        assert why_no_window(environment, "linux", loads=all_but_x11, answers=nothing) is None


def test_other_systems_always_have_a_screen():
    assert why_no_window({}, "darwin", loads=nothing, answers=nothing) is None
    assert why_no_window({}, "win32", loads=nothing, answers=nothing) is None


def test_set_up_installs_every_library_that_the_start_checks():
    lines = (ROOT / "packaging" / "debian-packages.txt").read_text(encoding="utf-8").splitlines()
    listed = dict(reversed(line.split()) for line in lines if not line.startswith("#"))
    assert {
        library: listed.get(library) for library in LIBRARIES | SCREEN_LIBRARIES
    } == LIBRARIES | SCREEN_LIBRARIES
