"""Work in other threads, which a stop reaches and whose progress is reported by the thread that waits for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from typing import Generic, TypeVar

from vbas_desktop.model.progress import Cancelled, Progress

T = TypeVar("T")

POLL_SECONDS = 0.05
CANCEL_SECONDS = 30.0


def run_cancellable(
    work: Callable[[], T],
    progress: Progress,
    stage: str,
    *,
    fraction: float | None = None,
    cancel: Callable[[], None] | None = None,
) -> T:
    """Return the result of ``work``, called in a thread; report ``stage`` and watch for cancellation meanwhile.

    On cancellation ``cancel`` ends the work, for which up to `CANCEL_SECONDS` are waited. Without it the work runs on
    unseen, so it must have no side effects.
    """
    future, thread = _start(work)
    try:
        _wait_for(future, lambda: progress.update(stage, fraction))
    except BaseException:
        if cancel is not None and not future.done():
            cancel()
            thread.join(CANCEL_SECONDS)
        raise
    return future.result()


def iterate_cancellable(
    start: Callable[[], Iterator[T]], progress: Progress, stage: str, *, cancel: Callable[[], None]
) -> Iterator[T]:
    """Yield the items of an iterator, each made in a thread as by `run_cancellable`; None ends the iteration."""
    items = run_cancellable(start, progress, stage, cancel=cancel)
    while True:
        item = run_cancellable(lambda: next(items, None), progress, stage, cancel=cancel)
        if item is None:
            return
        yield item


class BackgroundResult(Generic[T]):
    """The result that work in another thread will have."""

    def __init__(self, future: Future[T], relayed: _RelayedProgress) -> None:
        self._future = future
        self._relayed = relayed

    def result(self, progress: Progress) -> T:
        """Wait for the result, and report the progress of the work in the caller's thread.

        Raises what the work raises, and `Cancelled` if ``progress`` does.
        """
        _wait_for(self._future, lambda: progress.update(*self._relayed.latest))
        return self._future.result()


@contextmanager
def in_background(
    work: Callable[[Progress], T], stage: str = "Starting", *, abandon: bool = False
) -> Iterator[BackgroundResult[T]]:
    """Run ``work`` in a thread while the block runs. ``stage`` is reported until the work reports its own.

    After the block the progress of the work raises `Cancelled`, and the end of the work is awaited. With ``abandon``
    nobody waits: such work must have no side effects.
    """
    relayed = _RelayedProgress(stage)
    future, thread = _start(lambda: work(relayed))
    try:
        yield BackgroundResult(future, relayed)
    finally:
        relayed.stopped.set()
        if not abandon:
            thread.join()


class _RelayedProgress:
    """Progress that another thread reads and stops."""

    def __init__(self, stage: str) -> None:
        self.latest: tuple[str, float | None] = (stage, None)
        self.stopped = threading.Event()

    def update(self, stage: str, fraction: float | None = None) -> None:
        """Store the progress, or raise `Cancelled` once the work is stopped."""
        if self.stopped.is_set():
            raise Cancelled
        self.latest = (stage, fraction)


def _start(work: Callable[[], T]) -> tuple[Future[T], threading.Thread]:
    future: Future[T] = Future()
    # A daemon, since a pool would be awaited when the program ends.
    thread = threading.Thread(target=_fulfil, args=(future, work), name="vbas-background", daemon=True)
    thread.start()
    return future, thread


def _fulfil(future: Future[T], work: Callable[[], T]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:  # noqa: BLE001 (it is raised where the result is asked for)
        future.set_exception(error)


def _wait_for(future: Future[T], report: Callable[[], None]) -> None:
    """Wait until the result is there, and report at least once."""
    report()
    while not wait((future,), timeout=POLL_SECONDS).done:
        report()
