"""What every test of the window gets: a screen that needs no screen, small data, and a check that nothing leaks."""

from __future__ import annotations

import gc
import os
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from PySide6.QtWidgets import QApplication


def running_jobs() -> int:
    """How many of the program's worker threads the operating system knows."""
    tasks = Path("/proc/self/task")
    names = [(task / "comm").read_text().strip() for task in tasks.iterdir()] if tasks.is_dir() else []
    return names.count("vbas-job")


def active_timers() -> list[QTimer]:
    return [
        item for item in gc.get_objects() if isinstance(item, QTimer) and shiboken6.isValid(item) and item.isActive()
    ]


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
    assert running_jobs() == 0
    assert not active_timers()
    left = [w for w in QApplication.topLevelWidgets() if w not in windows_before and w.isVisible()]
    assert not left, f"windows left open: {left}"


def write_data(folder: Path, regions: int = 60, records: int = 3000, seed: int = 0) -> tuple[Path, Path]:
    """Small made-up data: a column each of every role."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    places = rng.random((regions, 2)).round(4) * 1000
    region_lines = [f"R{i:04d},{x:.1f},{y:.1f}" for i, (x, y) in enumerate(places)]
    region_file = folder / "regions.csv"
    region_file.write_text("id,x,y\n" + "\n".join(region_lines) + "\n")
    age, sex = rng.integers(1, 8, records), rng.integers(1, 3, records)
    illness, where = rng.integers(1, 40, records), rng.integers(0, regions, records)
    rows = [
        f"P{i:06d},{a},{s},{d},R{w:04d}" for i, (a, s, d, w) in enumerate(zip(age, sex, illness, where, strict=True))
    ]
    record_file = folder / "records.csv"
    record_file.write_text("person,age,sex,illness,tract\n" + "\n".join(rows) + "\n")
    return record_file, region_file


@pytest.fixture
def data(tmp_path) -> tuple[Path, Path]:
    """A record file of 3,000 records and a region file of 60 regions."""
    return write_data(tmp_path / "data")


@pytest.fixture
def window(qtbot):
    """The real window, shown, closed again after the test."""
    from vbas_desktop.ui.main_window import MainWindow

    window = MainWindow()
    window.resize(1440, 900)
    window.show()
    qtbot.waitExposed(window)
    yield window
    window.runner.shut_down()
    window.quiet_runner.shut_down()
    window.session.modified = False
    window.close()
    window.deleteLater()
    delete_later_now()


@pytest.fixture
def loaded_window(window, data, qtbot):
    """The window with the small data loaded."""
    with qtbot.waitSignal(window.runner.job_ended, timeout=20_000):
        window.controller.load(*data)
    return window


@pytest.fixture
def run_window(loaded_window, qtbot):
    """The window with the small data loaded and one combination run."""
    with qtbot.waitSignal(loaded_window.runner.job_ended, timeout=20_000):
        loaded_window.controller.run()
    return loaded_window
