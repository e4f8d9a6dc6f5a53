"""What the window remembers is written beside its work, and there again next time."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

from PySide6.QtCore import QByteArray

from vbas_desktop.ui.settings import Settings


def test_values_are_there_at_once_and_in_the_next_session(tmp_path, qapp):
    path = tmp_path / "window.ini"
    settings = Settings(path)
    settings.put("window/geometry", QByteArray(b"shape"))
    settings.put("hints/off", True)
    settings.remember_data(Path("/a/records.csv"), Path("/a/regions.csv"))
    settings.remember_project(Path("/a/one.vbas"))
    settings.remember_project(Path("/a/two.vbas"))
    settings.sync()
    for each in (settings, Settings(path)):
        assert bytes(each.get("window/geometry")) == b"shape"
        assert each.flag("hints/off")
        assert each.recent_data == [(Path("/a/records.csv"), Path("/a/regions.csv"))]
        assert each.recent_projects == [Path("/a/two.vbas"), Path("/a/one.vbas")]


def test_forgotten_files_stay_forgotten(tmp_path, qapp):
    path = tmp_path / "window.ini"
    settings = Settings(path)
    settings.remember_project(Path("/a/one.vbas"))
    settings.forget_recent()
    settings.sync()
    assert settings.recent_projects == Settings(path).recent_projects == []


def test_a_slow_disk_keeps_nobody_waiting(tmp_path, qapp, monkeypatch):
    settings, ready = Settings(tmp_path / "window.ini"), threading.Event()
    unhindered = settings._open

    def slow():
        ready.wait(20)
        return unhindered()

    monkeypatch.setattr(settings, "_open", slow)
    settings.put("theme", "dark")
    settings.put("theme", "light")
    assert settings.get("theme") == "light"
    ready.set()
    settings.sync()
    assert Settings(tmp_path / "window.ini").get("theme") == "light"


def test_nobody_else_may_read_what_the_window_remembers(tmp_path, qapp):
    path = tmp_path / "made" / "window.ini"
    settings = Settings(path)
    settings.remember_project(Path("/a/one.vbas"))
    settings.sync()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    settings.remember_project(Path("/a/two.vbas"))
    settings.sync()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Settings(path).recent_projects == [Path("/a/two.vbas"), Path("/a/one.vbas")]
