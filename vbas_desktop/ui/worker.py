"""Long work off the window's thread: one job at a time, with progress, stop, streamed items and readable failures.

The thread gets frozen data and hands frozen data back. Every callback given to `JobRunner.start` is called in the
window's thread. `Latest` runs short jobs of which only the newest counts; `Recent` keeps the last few results.
"""

from __future__ import annotations

import re
import sys
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QObject, QThread, Signal, Slot

from vbas_desktop.model.errors import Finding, InputError, VerificationFailed
from vbas_desktop.model.names import shorten
from vbas_desktop.model.os_errors import explain_os_error
from vbas_desktop.model.progress import Cancelled, Progress
from vbas_desktop.settings.declaration import setting_of, settings_of
from vbas_desktop.settings.reading import Reading
from vbas_desktop.settings.run import Protection

_TOLD_OTHERWISE = ("codebook", "obstacles", "coarsen_from", "region_map", "keep_records", "drop_records")
"""Messages about these files say themselves where the window asks for them."""

_READING = {each.option: each.label for each in settings_of(Reading) if each.name not in _TOLD_OTHERWISE}
_FIELDS = _READING | {"--unknown-regions": setting_of(Protection, "unknown_regions").label.replace("&", "")}
_OPTION = re.compile(r"(--[a-z][a-z-]*)(?: (yes|no|suppress|planar|geographic|degrees|comma|point)\b)?")

_ASIDE = re.compile(r" \(--[^)]*\)")
"""An option in brackets: a hint for users of the command."""


def is_about_reading(finding: Finding) -> bool:
    """Whether a field of the reading options may help."""
    return any(option in _READING for option, _ in _OPTION.findall(finding.remedy))


def in_window_words(finding: Finding) -> str:
    """The finding in one paragraph; the file by its name, since its folder is known here, but all of an address."""
    place = finding.file or ""
    if "://" not in place:
        place = place.replace("\\", "/").rpartition("/")[2]
    head = [place] if place else []
    if finding.row is not None:
        head.append(f"row {finding.row:,}")
    if finding.column is not None:
        head.append(f"column “{shorten(finding.column)}”")
    text = _ASIDE.sub("", f"{finding.message} {finding.remedy}".strip())
    named = _OPTION.sub(_as_field, text)
    where = " It is in Reading options." if is_about_reading(finding) else ""
    return f"{', '.join(head)}: {named}{where}" if head else named + where


def _as_field(option: re.Match[str]) -> str:
    field, value = _FIELDS.get(option[1]), option[2]
    if field is None:
        return option[0]
    return f"“{field}: {value}”" if value else f"“{field}”"


T = TypeVar("T")

UPDATE_SECONDS = 0.05
"""Progress reaches the window at most this often; more would only keep its event loop busy."""

_TOLD = 12
"""How many problems a message lists; a file can have one in every column."""

_SWITCH_SECONDS = 0.0005
"""How soon a computing thread hands the interpreter over. The window needs it dozens of times to draw itself once; with
Python's usual 5 ms it would wait that long each time."""


@dataclass(frozen=True)
class Failure:
    """Why a job ended without a result. ``details`` is for whoever mends the program; it holds no data."""

    title: str
    message: str
    findings: tuple[Finding, ...] = ()
    details: str = ""


def failure_of(title: str, error: BaseException) -> Failure:
    """The failure in words. The text of unforeseen errors is left out of the details: it may quote a record."""
    if isinstance(error, InputError):
        told = [in_window_words(finding) for finding in error.findings[:_TOLD]]
        if len(error.findings) > _TOLD:
            told.append(f"… and {len(error.findings) - _TOLD:,} more of this kind.")
        return Failure(title, "\n".join(told), error.findings)
    if isinstance(error, VerificationFailed):
        return Failure(title, str(error))
    details = "".join(traceback.format_tb(error.__traceback__)) + type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        finding = explain_os_error(error)
        return Failure(title, in_window_words(finding), (finding,), details)
    if isinstance(error, MemoryError):
        return Failure(title, "There is not enough memory for this. Close other programs and try again.")
    said = f"Something unforeseen happened ({type(error).__name__}). Your data and the results so far are still here."
    return Failure(title, said, details=details)


class Reporter:
    """The progress that a job talks to. `hand_out` streams an item to the window."""

    def __init__(self, thread: _JobThread) -> None:
        self._thread = thread
        self._lock = threading.Lock()
        self._stage, self._told = "", 0.0
        self.stopping = threading.Event()

    def update(self, stage: str, fraction: float | None = None) -> None:
        """Pass progress on, throttled; raise `Cancelled` if the user stopped the job."""
        if self.stopping.is_set():
            raise Cancelled
        with self._lock:
            now = time.monotonic()
            if now - self._told < UPDATE_SECONDS and not (stage != self._stage and fraction is None):
                return
            self._stage, self._told = stage, now
        self._thread.progressed.emit(stage, fraction)

    def hand_out(self, item: object) -> None:
        """Give the window something that is finished while the job goes on."""
        self._thread.handed_out.emit(item)


@dataclass(frozen=True)
class _Result:
    """What a job returned."""

    value: Any


class _JobThread(QThread):
    """Runs one job. The object lives in the window's thread, so its signals arrive there one after the other."""

    progressed = Signal(str, object)
    handed_out = Signal(object)
    ended = Signal(object)
    """With a `_Result`, a `Failure`, or `Cancelled` if the user stopped it."""

    def __init__(self, title: str, job: Callable[[Reporter], Any], parent: QObject) -> None:
        super().__init__(parent)
        self.setObjectName("vbas-job")
        self.title = title
        self._job = job
        self.reporter = Reporter(self)

    def run(self) -> None:
        """Do the job and say how it ended."""
        outcome: _Result | Failure | Cancelled
        try:
            outcome = _Result(self._job(self.reporter))
        except Cancelled as stopped:
            outcome = stopped
        except BaseException as error:  # noqa: BLE001 (a thread that dies silently leaves the window waiting)
            outcome = failure_of(self.title, error)
        self.ended.emit(outcome)


def _ignore(*_: Any) -> None:
    """Callback of those who need none."""


class JobRunner(QObject):
    """Runs one job at a time. A second one is refused until the first has ended or was stopped.

    Signals: `job_started(title)`, `progressed(stage, fraction or None)`, `job_failed(Failure)`, `job_stopped(title)`,
    and after each of them `job_ended(title)`; `job_refused(title of the running job)`.
    """

    job_started = Signal(str)
    progressed = Signal(str, object)
    job_failed = Signal(object)
    job_stopped = Signal(str)
    job_ended = Signal(str)
    job_refused = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        sys.setswitchinterval(_SWITCH_SECONDS)
        self._thread: _JobThread | None = None
        self._on_result: Callable[[Any], None] = _ignore
        self._on_item: Callable[[Any], None] = _ignore
        self._on_abort: Callable[[], None] = _ignore

    @property
    def busy(self) -> bool:
        """Whether a job is under way."""
        return self._thread is not None

    @property
    def title(self) -> str:
        """What the running job is called, empty if there is none."""
        return self._thread.title if self._thread is not None else ""

    def start(
        self,
        title: str,
        job: Callable[[Progress], T],
        on_result: Callable[[T], None] = _ignore,
        on_item: Callable[[Any], None] = _ignore,
        on_abort: Callable[[], None] = _ignore,
    ) -> bool:
        """Start a job; False if another one is running.

        ``job`` gets a `Progress` (a `Reporter`, so it may also ``hand_out`` items). ``on_item`` gets these items,
        ``on_result`` what the job returns, ``on_abort`` is called if it was stopped or failed.
        """
        if self._thread is not None:
            self.job_refused.emit(self._thread.title)
            return False
        thread = _JobThread(title, job, self)
        self._thread = thread
        self._on_result, self._on_item, self._on_abort = on_result, on_item, on_abort
        thread.progressed.connect(self._on_progressed)
        thread.handed_out.connect(self._on_handed_out)
        thread.ended.connect(self._on_ended)
        self.job_started.emit(title)
        thread.start()
        return True

    def stop(self) -> None:
        """Ask the running job to stop; it ends at its next progress update."""
        if self._thread is not None:
            self._thread.reporter.stopping.set()

    def shut_down(self) -> None:
        """Stop the running job, wait for its thread, and forget what it was about to say."""
        thread, abort = self._thread, self._on_abort
        if thread is not None:
            thread.reporter.stopping.set()
            self._let_go(thread)
            abort()

    @property
    def _heard(self) -> _JobThread | None:
        """The running thread, if the slot was called by it and not by an earlier one."""
        return self._thread if self.sender() is self._thread else None

    @Slot(str, object)
    def _on_progressed(self, stage: str, fraction: float | None) -> None:
        if self._heard is not None:
            self.progressed.emit(stage, fraction)

    @Slot(object)
    def _on_handed_out(self, item: object) -> None:
        if self._heard is not None:
            self._on_item(item)

    @Slot(object)
    def _on_ended(self, outcome: _Result | Failure | Cancelled) -> None:
        thread, on_result, on_abort = self._heard, self._on_result, self._on_abort
        if thread is None:
            return
        self._let_go(thread)
        try:
            if isinstance(outcome, _Result):
                on_result(outcome.value)
            else:
                on_abort()
                told = isinstance(outcome, Failure)
                self.job_failed.emit(outcome) if told else self.job_stopped.emit(thread.title)
        finally:
            self.job_ended.emit(thread.title)

    def _let_go(self, thread: _JobThread) -> None:
        """Forget a thread whose job is over; waiting takes no longer than its last few instructions."""
        for signal in (thread.progressed, thread.handed_out, thread.ended):
            signal.disconnect()
        thread.wait()
        thread.deleteLater()
        self._thread, self._on_result, self._on_item, self._on_abort = None, _ignore, _ignore, _ignore


class Latest(QObject):
    """Runs the newest wanted job as soon as the (shared) runner is free. Results of older ones are dropped."""

    def __init__(self, runner: JobRunner, title: str, parent: QObject) -> None:
        super().__init__(parent)
        self._runner, self._title = runner, title
        self._wanted: tuple[Callable[[Progress], Any], Callable[[Any], None], Callable[[], None]] | None = None
        self._number = 0
        runner.job_ended.connect(self._start)

    @property
    def waiting(self) -> bool:
        """Whether a result is still to come."""
        return self._wanted is not None or self._runner.title == self._title

    def want(
        self,
        job: Callable[[Progress], Any],
        on_result: Callable[[Any], None],
        on_abort: Callable[[], None] = _ignore,
    ) -> None:
        """Have this done instead of anything wanted before; ``on_abort`` is called if it was stopped or failed."""
        self._number += 1
        self._wanted = (job, on_result, on_abort)
        self._start()

    def forget(self) -> None:
        """Want nothing any more."""
        self._number += 1
        self._wanted = None

    @Slot()
    def _start(self) -> None:
        if self._wanted is None or self._runner.busy:
            return
        job, on_result, on_abort = self._wanted
        number = self._number
        self._wanted = None

        def deliver(result: Any) -> None:
            if number == self._number:
                on_result(result)

        def abort() -> None:
            if number == self._number:
                on_abort()

        self._runner.start(self._title, job, deliver, on_abort=abort)


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Keeps the last few values; the one that has not been asked for longest goes first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        """A value that is still there; it counts as the newest now."""
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key]

    def put(self, key: K, value: V) -> None:
        """Keep a value."""
        self._values[key] = value
        self._values.move_to_end(key)
        while len(self._values) > self._most:
            self._values.popitem(last=False)
