"""What every test gets: settings folders of its own, and a check that it leaves no thread behind."""

from __future__ import annotations

import itertools
import os
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No example fails because the machine is busy.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeatable", settings.get_profile("patient"), derandomize=True)
settings.load_profile("patient")
if os.environ.get("CI"):
    # What lands is judged by the same examples every time; on developers' machines they are new each time.
    settings.load_profile("repeatable")

# Kernels are compiled once, not in every process that a test starts with settings folders of its own.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path.home() / ".cache" / "vbas-desktop" / "kernels"))

SETTINGS_FOLDERS = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")


@pytest.fixture(scope="session")
def homes(tmp_path_factory):
    """A new folder for each test; to ask pytest for it would take longer with every test that was run before."""
    base = tmp_path_factory.mktemp("homes")
    return (base / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def isolated_settings(homes, monkeypatch):
    """Settings, recent files and caches go to a folder of this test, never to the developer's own."""
    folder = next(homes)
    for name in SETTINGS_FOLDERS:
        own = folder / name.lower()
        own.mkdir(parents=True)
        monkeypatch.setenv(name, str(own))
    return folder


@pytest.fixture(autouse=True)
def no_thread_left_behind():
    """A test whose thread outlives it fails: the thread would disturb the tests after it."""
    before = set(threading.enumerate())
    yield
    # Threads that Qt started show up as dummies that never end in Python's books; tests/ui watches QThreads itself.
    started = [
        thread
        for thread in threading.enumerate()
        if thread not in before
        and not isinstance(thread, threading._DummyThread)
        # Compiling goes on after a stop, for the next one who needs it.
        and thread.name != "compiling"
    ]
    for thread in started:
        thread.join(timeout=5)
    alive = [thread.name for thread in started if thread.is_alive()]
    assert not alive, f"threads left alive: {', '.join(alive)}"
