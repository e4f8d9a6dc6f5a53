"""Check that a written release is what it claims to be: read both files again, by other means than the writer.

The classes of the input that reach k and meet the criteria for sensitive values, with the stated changes made to their
records, must be exactly the rows that the released file holds.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from typing import TypeVar

from vbas_desktop.model.findings import Check, VerificationFailed
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Cancelled, Progress, RepeatingProgress, SubProgress
from vbas_desktop.model.records import FileFormat

from .claim import ReleaseClaim
from .crosswalk_checks import check_crosswalk
from .csv_stream import UnreadableFile
from .expected import decide_classes
from .release_files import (
    Case,
    Crosswalk,
    InputRecords,
    WrittenRecords,
    read_crosswalk,
    read_input,
    read_release,
)
from .row_comparison import Comparison
from .text_hashes import TextHasher

T = TypeVar("T")

STAGE = "Reading the release back"
_LOOK_SECONDS = 0.05


def verify_release(
    problem: Problem, file_format: FileFormat, claim: ReleaseClaim, progress: Progress
) -> tuple[Check, ...]:
    """Make all checks; `VerificationFailed` names those that were not passed."""
    with Verification(problem, file_format, claim) as verification:
        return verification.check(progress)


class Verification:
    """Reads the input from the beginning of the block on, and the released file, once it is there, for `check`.

    The crosswalk must be there before. What stops the block, or one reader, stops all.
    """

    def __init__(self, problem: Problem, file_format: FileFormat, claim: ReleaseClaim) -> None:
        self._case = Case(problem, file_format, claim, TextHasher())
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._done = 0
        self._pool = ThreadPoolExecutor(2, "verify")
        self._files: tuple[InputRecords, WrittenRecords, Crosswalk] | None = None

    def __enter__(self) -> Verification:
        self._begun = self._stamp_input()
        # An engine that holds the records serves one reader at a time.
        self._before = None if self._case.claim.source is not None else self._begin(read_input)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        if self._files is not None:
            for records in self._files[:2]:
                records.file.store.close()

    @property
    def files(self) -> tuple[InputRecords, WrittenRecords, Crosswalk]:
        """Return what was read; `check` must have been called."""
        assert self._files is not None
        return self._files

    def check(self, progress: Progress, sha256: str = "") -> tuple[Check, ...]:
        """Make all checks; `VerificationFailed` names those that were not passed.

        ``sha256`` is the hash under which the released file is going to be listed (empty: it is not listed).
        """
        try:
            before, after = self._read_both(SubProgress(progress, 0.0, 0.8))
            checks = self._check_files(before, after, SubProgress(progress, 0.8, 1.0))
            if sha256:
                checks.append(
                    Check(
                        "the released file has the hash that is listed", self._hash_release() == sha256
                    )
                )
        except UnreadableFile as error:
            checks = [Check("the released file can be read back", False, str(error))]
        failed = [check for check in checks if not check.passed]
        if failed:
            names = "; ".join(f"{check.name}: no ({check.detail})" for check in failed)
            raise VerificationFailed(
                f"The written file did not pass its verification ({names}). Nothing was released."
            )
        return tuple(checks)

    def _check_files(
        self, before: InputRecords, after: WrittenRecords, progress: Progress
    ) -> list[Check]:
        problem = self._case.problem
        claim = self._case.claim
        crosswalk = read_crosswalk(claim.crosswalk, problem.regions.ids if claim.escaped else ())
        self._files = before, after, crosswalk
        steady = RepeatingProgress(progress)
        for records in (before, after):
            records.file.store.tick = partial(steady.update, STAGE)
        checks = list(check_crosswalk(problem, claim, crosswalk))
        if self._stamp_input() != self._begun:
            checks.append(
                Check("the record file stayed the same while the release was made", False, "it changed")
            )
        if all(check.passed for check in checks):
            steady.update(STAGE, 0.0)
            outcomes = decide_classes(before, crosswalk)
            steady.update(STAGE, 0.3)
            checks += Comparison(self._case, before, after, crosswalk, outcomes).checks()
        return checks

    def _read_both(self, progress: Progress) -> tuple[InputRecords, WrittenRecords]:
        before = self._before or self._begin(read_input)
        if self._case.claim.source is not None:
            self._wait(before, progress, 0.0)
        after = self._begin(read_release)
        return self._wait(before, progress, 0.0), self._wait(after, progress, 0.5)

    def _wait(self, future: Future[T], progress: Progress, start: float) -> T:
        """Wait for a reader, and tell how far both are."""
        total = max(1, self._input_size() + self._size(self._case.claim.file))
        progress.update(STAGE, start)
        while not future.done():
            progress.update(STAGE, min(1.0, self._done / total))
            wait([future], _LOOK_SECONDS, FIRST_EXCEPTION)
        return future.result()

    def _hash_release(self) -> str:
        with self._case.claim.file.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def _begin(self, read: Callable[[Case, Callable[[int], None]], T]) -> Future[T]:
        return self._pool.submit(partial(read, self._case, self._advance))

    def _advance(self, number: int) -> None:
        if self._stop.is_set():
            raise Cancelled
        with self._lock:
            self._done += number

    def _input_size(self) -> int:
        source = self._case.problem.records_source
        return (
            0 if self._case.claim.source is not None or source is None else self._size(Path(source.path))
        )

    @staticmethod
    def _size(path: Path) -> int:
        try:
            return path.stat().st_size
        except OSError:
            return 0

    def _stamp_input(self) -> tuple[int, ...] | None:
        """Return what tells whether the input is still the file that it was; an engine watches its records itself."""
        if self._case.claim.source is not None:
            return None
        assert self._case.problem.records_source is not None
        try:
            now = Path(self._case.problem.records_source.path).stat()
        except OSError:
            return None
        return now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns
