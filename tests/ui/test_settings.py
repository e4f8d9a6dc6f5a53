"""What the window remembers is written beside its work, and there again next time."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

from PySide6.QtCore import QByteArray

from vbas_desktop.ui.shell import preferences
from vbas_desktop.ui.shell.preferences import Preferences, write_values


def test_values_are_there_at_once_and_in_the_next_session(tmp_path, qapp):
    path = tmp_path / "window.ini"
    settings = Preferences(path)
    settings.put("window/geometry", QByteArray(b"shape"))
    settings.put("hints/off", True)
    settings.remember_data(Path("/a/records.csv"), Path("/a/regions.csv"))
    settings.remember_project(Path("/a/one.vbas"))
    settings.remember_project(Path("/a/two.vbas"))
    settings.sync()
    for each in (settings, Preferences(path)):
        assert bytes(each.get("window/geometry")) == b"shape"
        assert each.flag("hints/off")
        assert each.recent_data == [(Path("/a/records.csv"), Path("/a/regions.csv"))]
        assert each.recent_projects == [Path("/a/two.vbas"), Path("/a/one.vbas")]


def test_forgotten_files_stay_forgotten(tmp_path, qapp):
    path = tmp_path / "window.ini"
    settings = Preferences(path)
    settings.remember_project(Path("/a/one.vbas"))
    settings.forget_recent()
    settings.sync()
    assert settings.recent_projects == Preferences(path).recent_projects == []


def test_a_slow_disk_keeps_nobody_waiting(tmp_path, qapp, monkeypatch):
    settings = Preferences(tmp_path / "window.ini")
    ready = threading.Event()

    def write_slowly(*arguments):
        ready.wait(20)
        return write_values(*arguments)

    monkeypatch.setattr(preferences, "write_values", write_slowly)
    settings.put("theme", "dark")
    settings.put("theme", "light")
    assert settings.get("theme") == "light"
    ready.set()
    settings.sync()
    assert Preferences(tmp_path / "window.ini").get("theme") == "light"


def test_nobody_else_may_read_what_the_window_remembers(tmp_path, qapp):
    path = tmp_path / "made" / "window.ini"
    settings = Preferences(path)
    settings.remember_project(Path("/a/one.vbas"))
    settings.sync()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    settings.remember_project(Path("/a/two.vbas"))
    settings.sync()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Preferences(path).recent_projects == [Path("/a/two.vbas"), Path("/a/one.vbas")]
