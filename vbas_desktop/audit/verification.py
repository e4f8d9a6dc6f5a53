"""Is the written file what it claims to be? Reads both files again, by other means than the writer, and recounts.

Both files are reduced to classes: how many records, and the sum of the records' fingerprints. The input's classes that
reach k and whose sensitive values meet the criteria, with the stated changes made to their values, must be exactly what
the released file holds.
"""

from __future__ import annotations

import csv
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from vbas_desktop.domain.errors import Check, VerificationFailed
from vbas_desktop.domain.problem import Problem
from vbas_desktop.domain.progress import Cancelled, Progress
from vbas_desktop.files.dialect import Dialect

from .blocks import Unreadable
from .fingerprints import Claim, Crosswalk, Seen, hashed, seen_input, seen_output, text_encoding
from .readback import escaped
from .sensitive import barring_by, criteria_check, judged_columns, settled
from .tier_recount import recounted_tiers

STAGE = "Reading the release back"
T = TypeVar("T")


def verify(problem: Problem, dialect: Dialect, claim: Claim, progress: Progress) -> tuple[Check, ...]:
    """All checks, passed; `VerificationFailed` names those that were not."""
    try:
        crosswalk = _read_crosswalk(claim.crosswalk, problem.regions.ids if claim.escaped else ())
        before, after = _read_both(problem, dialect, claim, crosswalk, progress)
        checks = [*_crosswalk_checks(problem, crosswalk), *_limit_checks(problem, claim, crosswalk)]
        if all(check.passed for check in checks):
            expected = _expected(problem, dialect, claim, crosswalk, before)
            checks += _checks(problem, claim, before, after, expected)
            checks += criteria_check(judged_columns(problem, dialect, claim, after))
    except Unreadable as error:
        checks = [Check("the released file can be read back", False, str(error))]
    failed = [check for check in checks if not check.passed]
    if failed:
        names = "; ".join(f"{check.name}: no ({check.detail})" for check in failed)
        raise VerificationFailed(f"The written file did not pass its verification ({names}). Nothing was released.")
    return tuple(checks)


def _read_both(
    problem: Problem, dialect: Dialect, claim: Claim, crosswalk: Crosswalk, progress: Progress
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


@dataclass(frozen=True, eq=False)
class _Expected:
    """What must have been released: the sizes of the classes, and the sum of the fingerprints of their rows."""

    sizes: NDArray[np.int64]
    fingerprints: np.uint64
    suppressed: int

    @property
    def rows(self) -> int:
        return int(self.sizes.sum())


def _expected(problem: Problem, dialect: Dialect, claim: Claim, crosswalk: Crosswalk, before: Seen) -> _Expected:
    _, counts, sums, notes = before.tally.classes()
    judged = judged_columns(problem, dialect, claim, before)
    barring, every = barring_by(judged), np.arange(counts.size)
    if before.tiers == 1:
        kept = counts >= problem.k
        if barring is not None:
            kept &= ~barring(every, counts.size, np.ones(counts.size, np.bool_))
            kept = settled(judged, every, kept)
        return _Expected(counts[kept], np.sum(sums[kept], dtype=np.uint64), int(counts[~kept].sum()))
    codes = [np.array(column) for column in zip(*crosswalk.values(), strict=True)]
    numbered = [np.unique(column, return_inverse=True) for column in codes]
    members = [inverse.astype(np.int64) for _, inverse in numbered]
    parents = []
    for below, above in pairwise(members):
        parent = np.zeros(int(below.max()) + 1, np.int64)
        parent[below] = above
        parents.append(parent)
    regions, kinds = notes.T
    hashes = hashed(numbered[0][0].tolist(), text_encoding(dialect, claim))
    order = np.argsort(hashes)
    place = order[np.searchsorted(hashes[order], regions)].astype(np.int64)
    kind = np.unique(kinds, return_inverse=True)[1].astype(np.int64)
    tier, last = recounted_tiers(place, kind, counts, parents, problem.k, barring)
    if barring is not None:
        code = _released_as(place, kind, tier, parents)
        tier = np.where(settled(judged, code, tier <= last), tier, last + 1)
    sizes, parts = [counts[tier == 0]], [np.sum(sums[tier == 0, 0], dtype=np.uint64)]
    for number in range(1, before.tiers):
        here = tier == number
        parts.append(np.sum(sums[here, number], dtype=np.uint64))
        place = parents[number - 1][place]
        _, where = np.unique(place[here] * (int(kind.max(initial=0)) + 1) + kind[here], return_inverse=True)
        sizes.append(np.bincount(where, counts[here]).astype(np.int64))
    everything = np.sum(np.array(parts, np.uint64), dtype=np.uint64)
    return _Expected(np.concatenate(sizes), everything, int(counts[tier > last].sum()))


def _released_as(
    place: NDArray[np.int64], kind: NDArray[np.int64], tier: NDArray[np.int64], parents: Sequence[NDArray[np.int64]]
) -> NDArray[np.int64]:
    """A number for each cell that is the same for those that are released with one code and one class."""
    above, start, code = place, 0, place.copy()
    for number, parent in enumerate(parents, 1):
        start += parent.size
        above = parent[above]
        code = np.where(tier >= number, start + above, code)
    return np.asarray(code * (int(kind.max(initial=0)) + 1) + kind)


def _checks(problem: Problem, claim: Claim, before: Seen, after: Seen, expected: _Expected) -> list[Check]:
    suppressed = expected.suppressed + before.strangers
    _, released, released_sums, _ = after.tally.classes()
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
            after.rows == expected.rows
            and bool(np.sum(released_sums, dtype=np.uint64) == expected.fingerprints)
            and after.quotes_fit,
            f"{after.rows:,} rows compared" if after.quotes_fit else "quotes where none are needed",
        ),
    ]
    if claim.class_size is not None:
        sizes, classes = np.unique(expected.sizes, return_counts=True)
        texts = hashed((str(size) for size in sizes.tolist()), "ascii")
        rows = dict(zip(texts.tolist(), (sizes * classes).tolist(), strict=True))
        checks.append(Check("the class sizes are those of the released file", dict(after.sizes) == rows))
    told = {name for name, _ in claim.columns}
    if before.tiers > 1 and {problem.region_column, *problem.quasi_identifiers} <= told:
        same = np.array_equal(np.sort(released), np.sort(expected.sizes))
        checks.append(
            Check(
                "every combination is released in the smallest place where that is safe",
                same,
                f"{released.size:,} combinations",
            )
        )
    return checks


def _crosswalk_checks(problem: Problem, crosswalk: Crosswalk) -> Iterator[Check]:
    complete = tuple(crosswalk) == problem.regions.ids
    codes = {code for codes in crosswalk.values() for code in codes}
    yield Check(
        "the crosswalk has every initial region once, and no aggregated region has the id of one",
        complete and not codes & set(problem.regions.ids),
    )
    tiers = list(zip(*crosswalk.values(), strict=True))
    if len(tiers) > 1:
        nested = all(len(set(zip(below, above, strict=True))) == len(set(below)) for below, above in pairwise(tiers))
        apart = sum(len(set(tier)) for tier in tiers) == len(codes)
        yield Check("every place lies in one place of the next tier", nested and apart)


def _limit_checks(problem: Problem, claim: Claim, crosswalk: Crosswalk) -> Iterator[Check]:
    """Boundaries and regions that stay alone, by what the crosswalk says and the region file has."""
    regions = problem.regions
    for column in claim.within:
        value = dict(zip(regions.ids, regions.labels[column], strict=True))
        met: dict[str, set[str]] = {}
        for region, codes in crosswalk.items():
            met.setdefault(codes[0], set()).add(value.get(region, ""))
        across = [code for code, values in met.items() if len(values) > 1]
        yield Check(
            f"no aggregated region crosses a boundary of “{column}”",
            not across,
            f"across: {', '.join(across[:3])}" if across else f"{len(set(value.values())):,} within",
        )
    if claim.alone:
        members: dict[str, int] = {}
        for codes in crosswalk.values():
            members[codes[0]] = members.get(codes[0], 0) + 1
        merged = [region for region in claim.alone if members.get(crosswalk.get(region, ("",))[0]) != 1]
        yield Check(
            "regions that stay alone are merged with no other",
            not merged,
            f"merged: {', '.join(merged[:3])}" if merged else f"{len(claim.alone):,} alone",
        )


def _read_crosswalk(path: Path, ids: Sequence[str]) -> Crosswalk:
    """What the file says of each initial region. Of those that it has with an apostrophe ``ids`` are the true ones."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    crosswalk = {row[0]: tuple(row[1:]) for row in rows if len(row) == len(header)}
    if len(crosswalk) != len(rows):
        raise Unreadable("the crosswalk names a region twice")
    written = escaped(pa.array([text.encode() for text in ids], pa.binary())).to_pylist()
    true = {text.decode(): id for text, id in zip(written, ids, strict=True)}
    return {true.get(text, text): code for text, code in crosswalk.items()}
