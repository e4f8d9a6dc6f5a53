"""Work off the window's thread: one job at a time per worker, with progress, stop, items on the way and failures.

The thread gets frozen data and hands frozen data back. Every callback is called in the window's thread.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import shiboken6
from PySide6.QtCore import QObject, QThread, Signal, Slot

from vbas_desktop.model.progress import Cancelled

from ..presentation.messages import TaskFailure, describe_failure

UPDATE_SECONDS = 0.05
"""Progress reaches the window at most this often; more would only keep its event loop busy."""

T = TypeVar("T")


class JobProgress:
    """Progress that a job reports to. A `Progress` that also streams finished items to the window."""

    def __init__(self, thread: _JobThread) -> None:
        self._thread = thread
        self._lock = threading.Lock()
        self._stage = ""
        self._updated_at = 0.0
        self._items: list[object] = []
        self.cancelled = threading.Event()

    def update(self, stage: str, fraction: float | None = None) -> None:
        """Pass progress on, throttled; raise `Cancelled` if the job was stopped."""
        if self.cancelled.is_set():
            raise Cancelled
        with self._lock:
            now = time.monotonic()
            is_new_stage = stage != self._stage and fraction is None
            if now - self._updated_at < UPDATE_SECONDS and not is_new_stage:
                return
            self._stage = stage
            self._updated_at = now
        self._thread.progressed.emit(stage, fraction)

    def emit_item(self, item: object) -> None:
        """Hand over something that is finished while the job goes on."""
        with self._lock:
            self._items.append(item)
            is_first = len(self._items) == 1
        if is_first:
            self._thread.items_ready.emit()

    def take_items(self) -> list[object]:
        """Return the items that were emitted since the last call: while the window is busy, several come at once."""
        with self._lock:
            items = self._items
            self._items = []
        return items


def _ignore(*_: Any) -> None:
    """Do nothing, as the callback of those who need none."""


@dataclass(frozen=True, eq=False)
class Job:
    """What a worker executes, and who is told about it.

    ``owner`` is set for jobs of which only the latest counts: nobody is told once it is replaced or its owner is gone.
    """

    title: str
    work: Callable[[JobProgress], Any]
    on_result: Callable[[Any], None] = _ignore
    on_items: Callable[[list[Any]], None] = _ignore
    on_abort: Callable[[], None] = _ignore
    on_failure: Callable[[TaskFailure], None] = _ignore
    owner: QObject | None = None


@dataclass(frozen=True)
class _Result:
    """Result of a finished job."""

    value: Any


class _JobThread(QThread):
    """Execute one job. The object lives in the window's thread, so its signals arrive there one after the other."""

    progressed = Signal(str, object)
    items_ready = Signal()
    ended = Signal(object)
    """With a `_Result`, a `TaskFailure`, or `Cancelled` if it was stopped."""

    def __init__(self, job: Job, parent: QObject) -> None:
        super().__init__(parent)
        self.setObjectName("vbas-job")
        self.job = job
        self.progress = JobProgress(self)

    def run(self) -> None:
        """Execute the job and report how it ended."""
        outcome: _Result | TaskFailure | Cancelled
        try:
            outcome = _Result(self.job.work(self.progress))
        except Cancelled as cancelled:
            outcome = cancelled
        except BaseException as error:  # noqa: BLE001 (a thread that dies silently leaves the window waiting)
            outcome = describe_failure(self.job.title, error)
        self.ended.emit(outcome)


class Worker(QObject):
    """Executes one job at a time in a thread.

    Signals: `job_started(title)`, `progressed(stage, fraction or None)`; then `job_failed(TaskFailure)` or
    `job_stopped(title)` unless there is a result; at last always `job_ended(title)`. `job_refused(title of the running
    job)` if `start` is called meanwhile.
    """

    job_started = Signal(str)
    progressed = Signal(str, object)
    job_failed = Signal(object)
    job_stopped = Signal(str)
    job_ended = Signal(str)
    job_refused = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread: _JobThread | None = None
        self._latest: dict[tuple[QObject, str], Job] = {}
        """The jobs of which only the latest counts, running or waiting, by owner and title."""

    @property
    def busy(self) -> bool:
        """Say if a job is running."""
        return self._thread is not None

    @property
    def title(self) -> str:
        """Return the title of the running job, or an empty text."""
        return "" if self._thread is None else self._thread.job.title

    def start(
        self,
        title: str,
        work: Callable[[JobProgress], T],
        on_result: Callable[[T], None] = _ignore,
        on_items: Callable[[list[Any]], None] = _ignore,
        on_abort: Callable[[], None] = _ignore,
        on_failure: Callable[[TaskFailure], None] = _ignore,
    ) -> bool:
        """Start a job; return False if another one is running.

        ``on_items`` gets what the work emitted since it was last called, ``on_result`` what it returns, ``on_abort`` is
        called if it was stopped or failed, ``on_failure`` if it failed.
        """
        if self._thread is not None:
            self.job_refused.emit(self._thread.job.title)
            return False
        self._execute(Job(title, work, on_result, on_items, on_abort, on_failure))
        return True

    def start_latest(
        self,
        owner: QObject,
        title: str,
        work: Callable[[JobProgress], T],
        on_result: Callable[[T], None],
        on_abort: Callable[[], None] = _ignore,
        on_failure: Callable[[TaskFailure], None] = _ignore,
    ) -> None:
        """Start a job as soon as the worker is free, in place of an earlier one of this owner and title.

        The earlier one is stopped and its callbacks are not called.
        """
        self._stop_job(self._latest.pop((owner, title), None))
        self._latest[owner, title] = Job(title, work, on_result, _ignore, on_abort, on_failure, owner)
        self._start_waiting()

    def is_awaited_by(self, owner: QObject) -> bool:
        """Say if a result of `start_latest` for this owner is still to come."""
        return any(key[0] is owner for key in self._latest)

    def forget(self, owner: QObject) -> None:
        """Stop and drop all that `start_latest` was asked for by this owner."""
        for key in [key for key in self._latest if key[0] is owner]:
            self._stop_job(self._latest.pop(key))

    def stop(self) -> None:
        """Ask the running job to stop; it ends at its next progress update."""
        if self._thread is not None:
            self._thread.progress.cancelled.set()

    def shut_down(self) -> None:
        """Stop the running job, wait for its thread, and drop what it was about to report and what waits."""
        self._latest.clear()
        thread = self._thread
        if thread is not None:
            thread.progress.cancelled.set()
            self._release_thread(thread)
            thread.job.on_abort()

    def _execute(self, job: Job) -> None:
        thread = _JobThread(job, self)
        self._thread = thread
        thread.progressed.connect(self._on_progressed)
        thread.items_ready.connect(self._on_items_ready)
        thread.ended.connect(self._on_ended)
        self.job_started.emit(job.title)
        thread.start()

    def _start_waiting(self) -> None:
        """Start the job that has waited longest."""
        if self._thread is not None:
            return
        for key, job in list(self._latest.items()):
            if shiboken6.isValid(key[0]):
                self._execute(job)
                return
            del self._latest[key]

    def _stop_job(self, job: Job | None) -> None:
        if job is not None and self._thread is not None and self._thread.job is job:
            self.stop()

    def _is_awaited(self, job: Job) -> bool:
        """Say if somebody waits for the result of the job: it is the latest of its owner, who is still there."""
        if job.owner is None:
            return True
        return self._latest.get((job.owner, job.title)) is job and shiboken6.isValid(job.owner)

    def _sending_thread(self) -> _JobThread | None:
        """Return the running thread, or None if the slot was called by an earlier one."""
        return self._thread if self.sender() is self._thread else None

    @Slot(str, object)
    def _on_progressed(self, stage: str, fraction: float | None) -> None:
        if self._sending_thread() is not None:
            self.progressed.emit(stage, fraction)

    @Slot()
    def _on_items_ready(self) -> None:
        thread = self._sending_thread()
        if thread is not None:
            _deliver_items(thread)

    @Slot(object)
    def _on_ended(self, outcome: _Result | TaskFailure | Cancelled) -> None:
        thread = self._sending_thread()
        if thread is None:
            return
        job = thread.job
        _deliver_items(thread)
        self._release_thread(thread)
        is_awaited = self._is_awaited(job)
        if is_awaited and job.owner is not None:
            del self._latest[job.owner, job.title]
        try:
            self._report(job, outcome, is_awaited)
        finally:
            self.job_ended.emit(job.title)
            self._start_waiting()

    def _report(self, job: Job, outcome: _Result | TaskFailure | Cancelled, is_awaited: bool) -> None:
        if isinstance(outcome, _Result):
            if is_awaited:
                job.on_result(outcome.value)
            return
        if is_awaited:
            job.on_abort()
        if not isinstance(outcome, TaskFailure):
            self.job_stopped.emit(job.title)
        else:
            if is_awaited:
                job.on_failure(outcome)
            self.job_failed.emit(outcome)

    def _release_thread(self, thread: _JobThread) -> None:
        """Forget a thread whose job is over; waiting takes no longer than its last few instructions."""
        for signal in (thread.progressed, thread.items_ready, thread.ended):
            signal.disconnect()
        thread.wait()
        thread.deleteLater()
        self._thread = None


def _deliver_items(thread: _JobThread) -> None:
    items = thread.progress.take_items()
    if items:
        thread.job.on_items(items)


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """Keeps the last few values; the one that has not been asked for longest goes first."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._values: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        """Look up a value, which counts as the newest then."""
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key]

    def put(self, key: K, value: V) -> None:
        """Store a value; drop the oldest beyond the capacity."""
        self._values[key] = value
        self._values.move_to_end(key)
        while len(self._values) > self._capacity:
            self._values.popitem(last=False)
