"""Jobs on several threads, with results in the order of the jobs and cancellation that reaches all of them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.progress import Cancelled, Progress

T = TypeVar("T")

_PAYS_FROM = 200_000
"""Stored counts below which a second thread saves nothing: the steps are so short that Python's lock is the limit."""

_WORK_SPACE = 360
"""Bytes that a thread needs for each initial region; more of that than there are counts would not be sparing."""

_MOST = 3
"""With five site numbers a fourth thread brings nothing, and each needs memory for a solution."""


def choose_worker_count(requested: int, jobs: int, counts: ClassCounts) -> int:
    """Choose the number of threads: as requested, or as many cores as there is work and memory for.

    Measured (docs/decisions/0007): from 200,000 counts on, two threads mostly take 0.6 to 0.8 of the time.
    """
    if requested > 0:
        return min(requested, jobs)
    if counts.table.nnz < _PAYS_FROM:
        return 1
    return min(os.cpu_count() or 1, jobs, _MOST, 1 + counts.nbytes // (_WORK_SPACE * counts.n_regions))


def run_ordered(
    jobs: Sequence[Callable[[Progress], T]], progress: Progress, workers: int
) -> Generator[T, None, None]:
    """Yield the results in the order of the jobs, each as soon as it and all before it are there.

    Closing the iterator, an error or a stop ends the other jobs at their next progress update.
    """
    whole = _Whole(progress, len(jobs))
    if workers <= 1:
        yield from (whole.execute(number, job) for number, job in enumerate(jobs))
        return
    with ThreadPoolExecutor(workers, thread_name_prefix="vbas-run") as pool:
        futures = [pool.submit(whole.execute, number, job) for number, job in enumerate(jobs)]
        try:
            for future in futures:
                try:
                    result = future.result()
                except Cancelled:
                    # One that failed stops the others: what it said matters, not that they obeyed.
                    raise whole.first_error or Cancelled from None
                yield result
        finally:
            whole.stop()
            for future in futures:
                future.cancel()


class _Whole:
    """The progress of all jobs together: the mean of theirs."""

    def __init__(self, progress: Progress, jobs: int) -> None:
        self._progress = progress
        self._fractions = [0.0] * jobs
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self.first_error: BaseException | None = None

    def execute(self, number: int, job: Callable[[Progress], T]) -> T:
        try:
            result = job(_Part(self, number))
        except BaseException as error:
            with self._lock:
                self.first_error = self.first_error or error
            self.stop()
            raise
        self._fractions[number] = 1.0
        return result

    def stop(self) -> None:
        self._stopped.set()

    def update(self, number: int, stage: str, fraction: float | None) -> None:
        if self._stopped.is_set():
            raise Cancelled
        if fraction is not None:
            self._fractions[number] = max(self._fractions[number], min(1.0, fraction))
        self._progress.update(stage, sum(self._fractions) / len(self._fractions))


class _Part:
    """The progress of one job."""

    def __init__(self, whole: _Whole, number: int) -> None:
        self._whole = whole
        self._number = number

    def update(self, stage: str, fraction: float | None = None) -> None:
        self._whole.update(self._number, stage, fraction)
