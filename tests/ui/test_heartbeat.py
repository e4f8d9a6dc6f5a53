"""The window never freezes: its event loop beats on while files are loaded, combinations run and maps are drawn."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from made_up_data import write_data
from PySide6.QtCore import QObject, Qt, QTimer, Slot

from vbas_desktop.ui.core.worker import Worker

LONG = 120_000
BEAT_MS = 10
LONGEST_SECONDS = 0.1
ROUNDS = 3
"""Other programs can make a beat late too; what the program itself does wrong, it does in every round."""


@dataclass
class Late:
    """A beat that came too late by the program's own fault: by how much, and what its threads did meanwhile."""

    seconds: float
    own_cpu_seconds: float
    all_cpu_seconds: float
    waited_seconds: float


def waited_for_a_processor() -> dict[str, float]:
    """How long each thread of this program was ready to run but got no processor; empty where nobody keeps account."""
    waited = {}
    for task in Path("/proc/self/task").glob("*/schedstat"):
        with contextlib.suppress(OSError):
            waited[task.parent.name] = int(task.read_text().split()[1]) / 1e9
    return waited


class Heartbeat(QObject):
    """Counts the beats that the event loop missed by the program's own fault.

    While a thread is ready and gets no processor, others are at fault: the longest such wait of any thread (one that
    holds the interpreter keeps the window waiting too) is taken off a gap. What is left was computing, or waiting for
    something that the window must not wait for, such as a lock or a disk.
    """

    def __init__(self) -> None:
        super().__init__()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(BEAT_MS)
        self._timer.timeout.connect(self._on_beat)
        self.begin()

    def begin(self) -> None:
        """Count from now on."""
        self.beats, self.late, self.most_own_cpu = 0, [], 0.0
        self._last, self._waited = self._clocks(), waited_for_a_processor()
        self._timer.start()

    def _clocks(self) -> tuple[float, float, float]:
        return time.monotonic(), time.thread_time(), time.process_time()

    @Slot()
    def _on_beat(self) -> None:
        self.beats += 1
        gap, own, everybody = (
            round(end - start, 3) for start, end in zip(self._last, self._clocks(), strict=True)
        )
        self.most_own_cpu = max(self.most_own_cpu, own)
        waited = waited_for_a_processor()
        longest = max(
            (seconds - self._waited.get(task, 0.0) for task, seconds in waited.items()), default=0.0
        )
        fault = gap - longest if waited else min(gap, everybody)
        if fault > LONGEST_SECONDS:
            self.late.append(Late(gap, own, everybody, round(longest, 3)))
        self._last, self._waited = self._clocks(), waited

    def computed_too_long(self) -> float:
        """The longest computing of the window's own thread between two beats, if that was too long."""
        return self.most_own_cpu if self.most_own_cpu > LONGEST_SECONDS else 0.0

    def stop(self) -> None:
        self._timer.stop()


@pytest.fixture
def heartbeat():
    heartbeat = Heartbeat()
    yield heartbeat
    heartbeat.stop()


@pytest.fixture
def warm_window(window, tmp_path, qtbot):
    """A window in which everything was used once: importing modules is not what is looked at here."""
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        window.data_commands.load(*write_data(tmp_path / "tiny", regions=12, records=200))
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        window.run_commands.run()
    qtbot.waitUntil(lambda: not window.background.busy, timeout=LONG)
    window.state.modified = False
    return window


def load_run_and_draw(window, data, qtbot) -> None:
    with qtbot.waitSignals([window.worker.job_ended, window.input.estimator.estimated], timeout=LONG):
        window.data_commands.load(*data)
    chosen = window.state.choices.with_approach("site_number", "fixed")
    window.state.change(chosen.with_parameter("site_number", "fixed", "sites", 400))
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        window.run_commands.run()
    for entry in window.state.entries:
        window.state.select(entry.number)
        qtbot.waitUntil(lambda: not window.background.busy, timeout=LONG)


def test_no_beat_is_missed_while_loading_running_and_drawing(warm_window, heartbeat, tmp_path, qtbot):
    data = write_data(tmp_path / "large", regions=3000, records=120_000)
    rounds = []
    while len(rounds) < ROUNDS and (not rounds or rounds[-1]):
        heartbeat.begin()
        load_run_and_draw(warm_window, data, qtbot)
        assert heartbeat.beats > 20
        rounds.append(heartbeat.late or heartbeat.computed_too_long())
    assert not rounds[-1], rounds


def test_the_heartbeat_notices_a_window_that_computes(heartbeat, qtbot):
    until = time.thread_time() + 0.15
    while time.thread_time() < until:
        pass
    qtbot.waitUntil(lambda: bool(heartbeat.late))
    assert heartbeat.late[0].own_cpu_seconds >= 0.15
    assert heartbeat.most_own_cpu >= 0.15


@pytest.mark.skipif(
    not waited_for_a_processor(), reason="this system does not tell how long threads wait"
)
def test_the_heartbeat_notices_a_window_that_waits(heartbeat, qtbot):
    threading.Event().wait(0.25)
    qtbot.waitUntil(lambda: bool(heartbeat.late))
    assert heartbeat.late[0].own_cpu_seconds < 0.1


def test_the_heartbeat_notices_a_job_that_does_not_let_go_of_the_interpreter(heartbeat, qapp, qtbot):
    worker = Worker()
    with qtbot.waitSignal(worker.job_ended, timeout=LONG):
        worker.start("Hogging", hog)
    qtbot.waitUntil(lambda: heartbeat.beats > 3)
    assert heartbeat.late
    assert max(late.all_cpu_seconds for late in heartbeat.late) > LONGEST_SECONDS
    worker.shut_down()
    worker.deleteLater()


def hog(progress):
    """One call into C that hands the interpreter over to nobody until it is done: about half a second."""
    return re.match("(x+x+)+y", "x" * 23)
