"""Is the written file what it claims to be? Reads both files again, by other means than the writer, and recounts.

Both files are reduced to classes: how many records, and the sum of the records' fingerprints. The input's classes that
reach k, with the stated changes made to their values, must be exactly what the released file holds.
"""

from __future__ import annotations

import csv
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import numpy as np

from vbas_desktop.domain.errors import Check, VerificationFailed
from vbas_desktop.domain.problem import Problem
from vbas_desktop.domain.progress import Cancelled, Progress
from vbas_desktop.files.dialect import Dialect

from .fingerprints import Claim, Seen, hashed, seen_input, seen_output
from .readback import Unreadable

STAGE = "Reading the release back"
T = TypeVar("T")


def verify(problem: Problem, dialect: Dialect, claim: Claim, progress: Progress) -> tuple[Check, ...]:
    """All checks, passed; `VerificationFailed` names those that were not."""
    try:
        crosswalk = _read_crosswalk(claim.crosswalk)
        before, after = _read_both(problem, dialect, claim, crosswalk, progress)
        checks = [_crosswalk_check(problem, crosswalk), *_checks(problem, claim, before, after)]
    except Unreadable as error:
        checks = [Check("the released file can be read back", False, str(error))]
    failed = [check for check in checks if not check.passed]
    if failed:
        names = "; ".join(f"{check.name}: no ({check.detail})" for check in failed)
        raise VerificationFailed(f"The written file did not pass its verification ({names}). Nothing was released.")
    return tuple(checks)


def _read_both(
    problem: Problem, dialect: Dialect, claim: Claim, crosswalk: dict[str, str], progress: Progress
) -> tuple[Seen, Seen]:
    """Read input and release side by side; what stops one stops the other."""
    stop, lock = threading.Event(), threading.Lock()
    total, done = max(1, claim.records + claim.released), 0

    def tick(rows: int) -> None:
        nonlocal done
        if stop.is_set():
            raise Cancelled
        with lock:
            done += rows
        progress.update(STAGE, min(1.0, done / total))

    def stopping(job: Callable[[], T]) -> T:
        try:
            return job()
        except BaseException:
            stop.set()
            raise

    with ThreadPoolExecutor(2, "verify") as pool:
        before = pool.submit(stopping, lambda: seen_input(problem, dialect, claim, crosswalk, tick))
        after = pool.submit(stopping, lambda: seen_output(problem, dialect, claim, crosswalk, tick))
        errors = [future.exception() for future in (before, after)]
    # A reader that failed by itself says more than the other, which it stopped.
    for error in sorted((error for error in errors if error), key=lambda error: isinstance(error, Cancelled)):
        raise error
    return before.result(), after.result()


def _checks(problem: Problem, claim: Claim, before: Seen, after: Seen) -> list[Check]:
    _, counts, sums = before.tally.classes()
    kept = counts >= problem.k
    expected, expected_sum = int(counts[kept].sum()), np.sum(sums[kept], dtype=np.uint64)
    suppressed = int(counts[~kept].sum()) + before.strangers
    _, released, released_sums = after.tally.classes()
    anonymity = int(released.min()) if released.size else None
    checks = [
        Check("the columns are those that were chosen", after.names_fit),
        Check(
            f"every combination of values has at least {problem.k:,} records",
            anonymity is None or anonymity >= problem.k,
            "nothing is released" if anonymity is None else f"smallest: {anonymity:,}",
        ),
        Check(
            "released and suppressed records together are the records of the input",
            after.rows + suppressed == before.rows == claim.records and after.rows == claim.released,
            f"{after.rows:,} + {suppressed:,} = {before.rows:,}",
        ),
        Check("every region of the released file is in the crosswalk", after.strangers == 0),
        Check(
            "every released row is an input row with only the stated changes",
            after.rows == expected
            and bool(np.sum(released_sums, dtype=np.uint64) == expected_sum)
            and after.quotes_fit,
            f"{after.rows:,} rows compared" if after.quotes_fit else "quotes where none are needed",
        ),
    ]
    if claim.class_size is not None:
        sizes, classes = np.unique(counts[kept], return_counts=True)
        texts = hashed((str(size) for size in sizes.tolist()), "ascii")
        rows = dict(zip(texts.tolist(), (sizes * classes).tolist(), strict=True))
        checks.append(Check("the class sizes are those of the released file", dict(after.sizes) == rows))
    return checks


def _crosswalk_check(problem: Problem, crosswalk: dict[str, str]) -> Check:
    complete = tuple(crosswalk) == problem.regions.ids
    apart = not set(crosswalk.values()) & set(problem.regions.ids)
    return Check(
        "the crosswalk has every initial region once, and no aggregated region has the id of one", complete and apart
    )


def _read_crosswalk(path: Path) -> dict[str, str]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    crosswalk = {row[0]: row[1] for row in rows if len(row) == 2}
    if len(crosswalk) != len(rows):
        raise Unreadable("the crosswalk names a region twice")
    return crosswalk
