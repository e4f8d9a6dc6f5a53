"""Waiting for what cannot be stopped half way, without keeping whoever wants to stop waiting."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import IO, Generic, TypeVar

from vbas_desktop.model.progress import Cancelled, Progress

T = TypeVar("T")
Save = Callable[[Path, bytes], None]

_LOOK_SECONDS = 0.05


def patiently(job: Callable[[], T], progress: Progress, stage: str, fraction: float) -> T:
    """What ``job`` returns, done by a thread of its own while a stop is listened for.

    After a stop the job goes on unheard until it ends, so it must do nothing but return something.
    """
    return _awaited(_begun(job), progress, stage, fraction)


class Beside(Generic[T]):
    """A job that a thread of its own does while the block goes on. It writes files with what it is given for that.

    If the block ends before the job, it goes on unheard, but writes nothing any more.
    """

    def __init__(self, job: Callable[[Save], T]) -> None:
        self._job, self._lock, self._left = job, threading.Lock(), False

    def __enter__(self) -> Beside[T]:
        self._future = _begun(partial(self._job, self._save))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._left = True

    def result(self, progress: Progress, stage: str, fraction: float) -> T:
        """What the job returns."""
        return _awaited(self._future, progress, stage, fraction)

    def _save(self, path: Path, data: bytes) -> None:
        with self._lock:
            if self._left:
                raise Cancelled
            path.write_bytes(data)


def _begun(job: Callable[[], T]) -> Future[T]:
    future: Future[T] = Future()
    threading.Thread(target=_answer, args=(job, future), name="vbas-release", daemon=True).start()
    return future


def _awaited(future: Future[T], progress: Progress, stage: str, fraction: float) -> T:
    while True:
        progress.update(stage, fraction)
        if future.done():
            return future.result()
        wait((future,), timeout=_LOOK_SECONDS)


def _answer(job: Callable[[], T], future: Future[T]) -> None:
    try:
        future.set_result(job())
    except BaseException as error:  # noqa: BLE001 (it is raised where the result is asked for)
        future.set_exception(error)


class Saving:
    """Lets the disk take everything that was written to an open file; a slow one can take seconds."""

    def __init__(self, file: IO[bytes]) -> None:
        file.flush()
        # The copy stays open for the thread when a stop has closed and removed the file.
        self._future = _begun(partial(_synchronise, os.dup(file.fileno())))

    def finish(self, progress: Progress, fraction: float) -> None:
        """Wait until the disk has it."""
        _awaited(self._future, progress, "Saving to the disk", fraction)


def _synchronise(handle: int) -> None:
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
