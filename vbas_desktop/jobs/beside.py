"""Work that goes on in a thread of its own while its caller does something else, and that a stop reaches."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeVar

from vbas_desktop.model.progress import Cancelled, Progress

T = TypeVar("T")

_POLL_SECONDS = 0.02


@contextmanager
def beside(work: Callable[[Progress], T]) -> Iterator[Callable[[Progress], T]]:
    """``with beside(work) as result: …; result(progress)``; leaving the block stops work that is not done.

    Whoever waits for the result sees how far the work is, in his own thread.
    """
    listener = _Listener()

    def result(progress: Progress) -> T:
        while not wait([future], _POLL_SECONDS).done:
            progress.update(*listener.told)
        return future.result()

    with ThreadPoolExecutor(1, "beside") as pool:
        future = pool.submit(work, listener)
        try:
            yield result
        finally:
            listener.stopped.set()


class _Listener:
    """Progress that is looked at, and stopped, by another thread."""

    def __init__(self) -> None:
        self.told: tuple[str, float | None] = ("Starting", None)
        self.stopped = threading.Event()

    def update(self, stage: str, fraction: float | None = None) -> None:
        if self.stopped.is_set():
            raise Cancelled
        self.told = stage, fraction
