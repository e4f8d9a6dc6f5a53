"""Waiting for what cannot be stopped half way, without keeping whoever wants to stop waiting."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import partial
from typing import IO, TypeVar

from vbas_desktop.domain.progress import Progress

T = TypeVar("T")

_LOOK_SECONDS = 0.05


def patiently(job: Callable[[], T], progress: Progress, stage: str, fraction: float) -> T:
    """What ``job`` returns, done by a thread of its own while a stop is listened for.

    After a stop the job goes on unheard until it ends, so it must do nothing but return something.
    """
    future: Future[T] = Future()
    threading.Thread(target=_answer, args=(job, future), name="vbas-release", daemon=True).start()
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


def save_to_disk(file: IO[bytes], progress: Progress, fraction: float) -> None:
    """Wait until the disk has everything that was written to the file; a slow one can take seconds."""
    file.flush()
    # The copy stays open for the thread when a stop has closed and removed the file.
    patiently(partial(_synchronise, os.dup(file.fileno())), progress, "Saving to the disk", fraction)


def _synchronise(handle: int) -> None:
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
