"""What every test of the window gets: a screen that needs no screen, small data, and a check that nothing leaks."""

from __future__ import annotations

import gc
import os
from functools import partialmethod
from pathlib import Path

if os.environ.get("QT_QPA_PLATFORM", "offscreen") == "offscreen":
    # The usual screen of this platform is too small for a window at 1440 × 900.
    os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={Path(__file__).with_name('screen.json')}"

import pytest
import shiboken6
from made_up_data import write_data
from PySide6.QtCore import QCoreApplication, QEvent, QThread, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

MINUTE = 60_000


class PatientQtBot(QtBot):
    """Waits a minute where its base waits five seconds: a busy machine decides no test."""

    waitUntil = partialmethod(QtBot.waitUntil, timeout=MINUTE)
    waitSignal = partialmethod(QtBot.waitSignal, timeout=MINUTE)
    waitSignals = partialmethod(QtBot.waitSignals, timeout=MINUTE)
    waitExposed = partialmethod(QtBot.waitExposed, timeout=MINUTE)


@pytest.fixture
def qtbot(qapp, request):
    """The hands of a test, with more patience than usual."""
    return PatientQtBot(request)


@pytest.fixture(scope="session", autouse=True)
def small_heap(qapp):
    """Modules stay: nobody looks through them after each test for what it left behind."""
    import vbas_desktop.ui.shell.main_window  # noqa: F401

    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def alive(*kinds: type) -> list:
    """All Qt objects of some kinds that still exist."""
    return [item for item in gc.get_objects() if isinstance(item, kinds) and shiboken6.isValid(item)]


def delete_later_now() -> None:
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    QCoreApplication.processEvents()


@pytest.fixture(autouse=True)
def nothing_leaks(qapp):
    """A test that leaves a worker thread, a running timer or a window behind fails."""
    windows_before = set(QApplication.topLevelWidgets())
    yield
    delete_later_now()
    gc.collect()
    delete_later_now()
    left = alive(QThread, QTimer)
    assert not [item.objectName() for item in left if isinstance(item, QThread) and item.isRunning()]
    assert not [item for item in left if isinstance(item, QTimer) and item.isActive()]
    left = [w for w in QApplication.topLevelWidgets() if w not in windows_before and w.isVisible()]
    assert not left, f"windows left open: {left}"


def end(window) -> None:
    """Close a window without questions and let it go."""
    window.worker.shut_down()
    window.state.modified = False
    window.close()
    window.deleteLater()
    delete_later_now()


@pytest.fixture
def data(tmp_path) -> tuple[Path, Path]:
    """A record file of 3,000 records and a region file of 60 regions."""
    return write_data(tmp_path / "data")


@pytest.fixture(scope="session")
def solved(tmp_path_factory):
    """The small data with the solutions of two combinations; each test makes a state of its own of it."""
    from solved import Solved

    return Solved(tmp_path_factory.mktemp("solved"))


@pytest.fixture
def make_window(qtbot):
    """Makes real windows, shown, closed again after the test."""
    from vbas_desktop.ui.shell.main_window import MainWindow

    made = []

    def make() -> MainWindow:
        window = MainWindow()
        window.show()
        qtbot.waitExposed(window)
        made.append(window)
        return window

    yield make
    for window in made:
        end(window)


@pytest.fixture
def window(make_window):
    """The real window."""
    return make_window()


@pytest.fixture
def loaded_window(window, data, qtbot):
    """The window with the small data loaded."""
    with qtbot.waitSignal(window.worker.job_ended):
        window.data_commands.load(*data)
    return window


@pytest.fixture
def aggregated_window(loaded_window, qtbot):
    """The window with the small data, run with ten to fourteen sites and so high a k that records are lost."""
    state = loaded_window.state
    choices = state.choices.with_approach("site_number", "fixed").with_parameter(
        "site_number", "fixed", "sites", 12
    )
    state.change(choices.replaced(k=14))
    with qtbot.waitSignal(loaded_window.worker.job_ended):
        loaded_window.run_commands.run()
    return loaded_window


@pytest.fixture
def run_window(loaded_window, qtbot):
    """The window with the small data loaded and one combination run."""
    with qtbot.waitSignal(loaded_window.worker.job_ended):
        loaded_window.run_commands.run()
    return loaded_window
