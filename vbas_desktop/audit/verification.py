"""Check that a written release is what it claims to be: read both files again, by other means than the writer.

The classes of the input that reach k and meet the criteria for sensitive values, with the stated changes made to their
records, must be exactly the rows that the released file holds.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from vbas_desktop.model.findings import Check, VerificationFailed
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Cancelled, Progress, RepeatingProgress, SubProgress
from vbas_desktop.model.records import FileFormat

from .aggregates import check_class_counts
from .chunk_store import THREADS
from .claim import ReleaseClaim
from .crosswalk_checks import check_crosswalk
from .csv_stream import UnreadableFile
from .expected import ClassOutcomes, ExpectedRows, decide_classes
from .fingerprints import RowSummary, hash_rows, summarise_rows
from .record_keys import KeyedRows, check_record_keys
from .release_files import (
    Case,
    Crosswalk,
    InputRecords,
    WrittenRecords,
    find_csv_fault,
    find_type_fault,
    read_crosswalk,
    read_input,
    read_release,
)
from .row_order import follows_order, is_sorted_by
from .sensitive import check_criteria, sensitive_columns
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

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
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
                checks.append(Check("the released file has the hash that is listed", self._hash_release() == sha256))
        except UnreadableFile as error:
            checks = [Check("the released file can be read back", False, str(error))]
        failed = [check for check in checks if not check.passed]
        if failed:
            names = "; ".join(f"{check.name}: no ({check.detail})" for check in failed)
            raise VerificationFailed(f"The written file did not pass its verification ({names}). Nothing was released.")
        return tuple(checks)

    def _check_files(self, before: InputRecords, after: WrittenRecords, progress: Progress) -> list[Check]:
        problem = self._case.problem
        claim = self._case.claim
        crosswalk = read_crosswalk(claim.crosswalk, problem.regions.ids if claim.escaped else ())
        self._files = before, after, crosswalk
        steady = RepeatingProgress(progress)
        for records in (before, after):
            records.file.store.tick = partial(steady.update, STAGE)
        checks = list(check_crosswalk(problem, claim, crosswalk))
        if self._stamp_input() != self._begun:
            checks.append(Check("the record file stayed the same while the release was made", False, "it changed"))
        if all(check.passed for check in checks):
            steady.update(STAGE, 0.0)
            outcomes = decide_classes(before, crosswalk)
            steady.update(STAGE, 0.3)
            checks += _Comparison(self._case, before, after, crosswalk, outcomes).checks()
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
        return 0 if self._case.claim.source is not None or source is None else self._size(Path(source.path))

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


class _Comparison:
    """Compares what must have been released with what was."""

    def __init__(
        self,
        case: Case,
        before: InputRecords,
        after: WrittenRecords,
        crosswalk: Crosswalk,
        outcomes: ClassOutcomes,
    ) -> None:
        self._case = case
        self._before = before
        self._after = after
        self._crosswalk = crosswalk
        self._outcomes = outcomes

    def checks(self) -> list[Check]:
        """Make all checks of the records."""
        claim = self._case.claim
        checks = [
            Check("the columns are those that were chosen", list(self._after.file.names) == claim.names),
            self._check_anonymity(),
            self._check_numbers(),
            self._check_codes(),
            self._check_rows(),
        ]
        if claim.class_size is not None:
            checks.append(self._check_sizes())
        checks += self._check_tiers()
        if claim.record_key is not None and claim.record_index is not None:
            checks += check_record_keys(claim, self._keyed_rows())
        checks += self._check_criteria()
        if claim.class_counts is not None:
            names = dict(claim.columns)
            class_columns = [names[name] for name in self._after.class_columns]
            checks.append(check_class_counts(claim.class_counts, class_columns, self._released_classes()))
        return checks

    def _check_anonymity(self) -> Check:
        names = dict(self._case.claim.columns)
        listed = ", ".join(f"“{names[name][:80]}”" for name in self._after.class_columns) or "values"
        sizes = self._after.classes.counts
        k = self._case.problem.k
        smallest = int(sizes.min()) if sizes.size else None
        return Check(
            f"every combination of {listed} has at least {k:,} records",
            smallest is None or smallest >= k,
            "nothing is released" if smallest is None else f"smallest: {smallest:,}",
        )

    def _check_numbers(self) -> Check:
        claim = self._case.claim
        records = self._before.file.rows
        released = self._after.file.rows
        suppressed = records - int(self._outcomes.sizes.sum())
        return Check(
            "released and suppressed records together are the records of the input",
            released + suppressed == records == claim.records and released == claim.released,
            f"{released:,} + {suppressed:,} = {records:,}",
        )

    def _check_codes(self) -> Check:
        column = self._after.columns.get(self._case.problem.region_column)
        codes = {code for codes in self._crosswalk.values() for code in codes}
        unknown = set() if column is None else set(column.known_texts) - codes
        return Check("every region of the released file is in the crosswalk", not unknown)

    def _check_rows(self) -> Check:
        with ThreadPoolExecutor(THREADS, "compare") as pool:
            released = pool.submit(lambda: self._released.total)
            fault = "" if self._expected.total.equals(released.result()) else "they are not the same"
        fault = fault or find_csv_fault(self._before, self._after) or find_type_fault(self._case)
        if not fault and self._case.claim.shuffled:
            fault = self._find_order()
        name = "every released row is an input row with only the stated changes"
        return Check(name, not fault, fault or f"{self._after.file.rows:,} rows compared")

    def _find_order(self) -> str:
        """Say which order the rows are in if it is not at chance level; empty: it is."""
        if follows_order(self._released.order, self._expected.order):
            return "the rows are in the order of the input"
        columns = self._after.file.columns[: len(self._case.claim.columns)]
        with ThreadPoolExecutor(THREADS, "compare") as pool:
            is_sorted = pool.map(partial(is_sorted_by, self._after.file), columns)
            for (_, name), column_is_sorted in zip(self._case.claim.columns, is_sorted, strict=False):
                if column_is_sorted:
                    return f"the rows are sorted by “{name[:80]}”"
        return ""

    @cached_property
    def _expected(self) -> RowSummary:
        rows = ExpectedRows(self._before, self._outcomes).chunks(with_sizes=False)
        return summarise_rows(rows, self._case.claim.record_key is not None)

    @cached_property
    def _released(self) -> RowSummary:
        rows = hash_rows(self._after.file, self._case.hasher, len(self._case.claim.columns))
        return summarise_rows(rows, self._case.claim.record_key is not None)

    def _check_sizes(self) -> Check:
        rows = hash_rows(self._after.file, self._case.hasher, len(self._case.claim.columns) + 1)
        written = summarise_rows(rows)
        expected = summarise_rows(ExpectedRows(self._before, self._outcomes).chunks(with_sizes=True))
        return Check("the class sizes are those of the released file", expected.total.equals(written.total))

    def _check_tiers(self) -> list[Check]:
        problem = self._case.problem
        if self._tiers == 1 or not {problem.region_column, *problem.quasi_identifiers} <= set(self._after.columns):
            return []
        sizes = self._after.classes.counts
        is_same = np.array_equal(np.sort(sizes), np.sort(self._outcomes.sizes))
        name = "every combination is released in the smallest place where that is safe"
        return [Check(name, is_same, f"{sizes.size:,} combinations")]

    @property
    def _tiers(self) -> int:
        return len(next(iter(self._crosswalk.values()), ("",)))

    def _check_criteria(self) -> list[Check]:
        # An aggregated class has one value; its own values were judged when it was decided what is released.
        aggregated = {aggregated_column.column for aggregated_column in self._case.claim.aggregated}
        columns = {name: column for name, column in self._after.columns.items() if name not in aggregated}
        classes = self._after.classes
        every = np.arange(classes.counts.size)
        written = sensitive_columns(self._case, self._after.file, classes.column, columns, every, every.size)
        return check_criteria(written, dict(self._case.claim.columns))

    def _released_classes(self) -> dict[tuple[str, ...], int]:
        classes = self._after.classes
        columns = [self._after.columns[name] for name in self._after.class_columns]
        texts = [
            [column.known_texts[code] for code in codes] for column, codes in zip(columns, classes.codes, strict=True)
        ]
        # Where nothing of a class is released, all records are one class without a name.
        labels = zip(*texts, strict=True) if texts else [()]
        return dict(zip(labels, classes.counts.tolist(), strict=True))

    def _keyed_rows(self) -> KeyedRows:
        """Return the released rows, and where the records that must have been released stand."""
        rows = ExpectedRows(self._before, self._outcomes)
        masks = [rows.find_released(number) for number in range(len(self._before.file.sizes))]
        positions = np.flatnonzero(np.concatenate(masks)) if masks else np.zeros(0, np.int64)
        if self._before.positions is not None:
            positions = self._before.positions[positions]
        return KeyedRows(self._released.rows, positions, self._expected.rows)
