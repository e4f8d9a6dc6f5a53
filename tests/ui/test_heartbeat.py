"""The window never freezes: its event loop beats on while files are loaded, combinations run and maps are drawn."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pytest
from made_up_data import write_data
from PySide6.QtCore import QObject, Qt, QTimer, Slot

LONG = 120_000
BEAT_MS = 10
LONGEST_SECONDS = 0.1
ROUNDS = 3
"""Other programs can make a beat late too; what the program itself does wrong, it does in every round."""


@dataclass
class Late:
    """A beat that came too late: how late, and how much the window's thread and all threads computed meanwhile."""

    seconds: float
    own_cpu_seconds: float
    all_cpu_seconds: float


class Heartbeat(QObject):
    """Counts the beats that the event loop missed by the program's own fault.

    While the program gets no processor, its clock of processor time stands still: that is the fault of others.
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
        self._last = self._clocks()
        self._timer.start()

    def _clocks(self) -> tuple[float, float, float]:
        return time.monotonic(), time.thread_time(), time.process_time()

    @Slot()
    def _on_beat(self) -> None:
        self.beats += 1
        now = self._clocks()
        gap, own, everybody = (round(end - start, 3) for start, end in zip(self._last, now, strict=True))
        self.most_own_cpu = max(self.most_own_cpu, own)
        if min(gap, everybody) > LONGEST_SECONDS:
            self.late.append(Late(gap, own, everybody))
        self._last = now

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
    with qtbot.waitSignal(window.runner.job_ended, timeout=LONG):
        window.controller.load(*write_data(tmp_path / "tiny", regions=12, records=200))
    with qtbot.waitSignal(window.runner.job_ended, timeout=LONG):
        window.controller.run()
    qtbot.waitUntil(lambda: not window.quiet_runner.busy, timeout=LONG)
    window.session.modified = False
    return window


def load_run_and_draw(window, data, qtbot) -> None:
    with qtbot.waitSignals([window.runner.job_ended, window.input.estimator.estimated], timeout=LONG):
        window.controller.load(*data)
    chosen = window.session.choices.with_approach("site_number", "fixed")
    window.session.change(chosen.with_parameter("site_number", "fixed", "sites", 400))
    with qtbot.waitSignal(window.runner.job_ended, timeout=LONG):
        window.controller.run()
    for entry in window.session.entries:
        window.session.select(entry.number)
        qtbot.waitUntil(lambda: not window.quiet_runner.busy, timeout=LONG)


def test_no_beat_is_missed_while_loading_running_and_drawing(warm_window, heartbeat, tmp_path, qtbot):
    data = write_data(tmp_path / "large", regions=3000, records=120_000)
    rounds = []
    while len(rounds) < ROUNDS and (not rounds or rounds[-1]):
        heartbeat.begin()
        load_run_and_draw(warm_window, data, qtbot)
        assert heartbeat.beats > 20
        assert heartbeat.most_own_cpu < LONGEST_SECONDS
        rounds.append(heartbeat.late)
    assert rounds[-1] == [], rounds


def test_the_heartbeat_notices_a_blocked_loop(heartbeat, qtbot):
    until = time.thread_time() + 0.15
    while time.thread_time() < until:
        pass
    qtbot.waitUntil(lambda: bool(heartbeat.late))
    assert heartbeat.late[0].own_cpu_seconds >= 0.15
    assert heartbeat.most_own_cpu >= 0.15
