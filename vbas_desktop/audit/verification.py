"""Is the written file what it claims to be? Reads both files again, by other means than the writer, and recounts.

Both files are reduced to classes: how many records, and the sum of the records' fingerprints. The input's classes that
reach k and whose sensitive values meet the criteria, with the stated changes made to their values, must be exactly what
the released file holds.
"""

from __future__ import annotations

import csv
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from vbas_desktop.model.crosswalk import code_columns
from vbas_desktop.model.errors import Check, VerificationFailed
from vbas_desktop.model.file_format import Dialect
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Cancelled, Progress, Span

from .aggregates import check_class_counts, expected_aggregates
from .blocks import Unreadable
from .fingerprints import (
    Case,
    Claim,
    Crosswalk,
    Notation,
    Seen,
    certain_notation,
    expected_notation,
    hashed,
    output_parts,
    seen_input,
    seen_output,
    taken_together,
)
from .readback import Stretch, escaped
from .record_keys import check_record_keys
from .sensitive import barring_by, criteria_check, judged_columns, settled
from .tally import Hashes, Translation
from .tier_recount import recounted_tiers

T = TypeVar("T")

STAGE = "Reading the release back"
_LOOK_SECONDS = 0.05
_READERS = 2


def verify(problem: Problem, dialect: Dialect, claim: Claim, progress: Progress) -> tuple[Check, ...]:
    """All checks, passed; `VerificationFailed` names those that were not."""
    with Verification(problem, dialect, claim) as verification:
        return verification.checks(progress)


class Verification:
    """Reads the input from the beginning of the block on, and the released file, once it is there, for `checks`.

    The crosswalk must be there before. What stops the block, or one reader, stops all.
    """

    def __init__(self, problem: Problem, dialect: Dialect, claim: Claim) -> None:
        self._case, self._problem, self._claim = Case(problem, dialect, claim), problem, claim
        self._certain, self._open_columns = certain_notation(self._case)
        self._stop, self._lock, self._done = threading.Event(), threading.Lock(), 0
        self._pool = ThreadPoolExecutor(1 + _READERS, "verify")

    def __enter__(self) -> Verification:
        self._begun = self._input_now()
        self._crosswalk = self._pool.submit(
            _read_crosswalk, self._claim.crosswalk, self._problem.regions.ids if self._claim.escaped else ()
        )
        # An engine that holds the records serves one reader at a time.
        self._before = None if self._claim.source is not None else self._begin(self._read_input)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def checks(self, progress: Progress) -> tuple[Check, ...]:
        """All checks, passed; `VerificationFailed` names those that were not."""
        problem, claim = self._problem, self._claim
        try:
            before, after = self._both(Span(progress, 0.0, 0.5 if self._open_columns or claim.aggregated else 1.0))
            crosswalk = self._crosswalk.result()
            checks = [*_crosswalk_checks(problem, crosswalk), *_limit_checks(problem, claim, crosswalk)]
            checks += _name_checks(problem, claim, crosswalk)
            checks += self._same_input()
            if all(check.passed for check in checks):
                expected = _expected(self._case, crosswalk, before)
                if self._open_columns or claim.aggregated:
                    rest = Span(progress, 0.5, 1.0)
                    before, expected = self._expected_as_written(crosswalk, before, expected, rest)
                    checks += self._same_input()
                checks += _checks(problem, claim, before, after, expected)
                checks += _key_checks(claim, before, after)
                # An aggregated class has one value; its own values were judged when it was decided what is released.
                one_value = {each.column for each in claim.aggregated}
                judged = [each for each in judged_columns(self._case, after) if each.column not in one_value]
                checks += criteria_check(judged, dict(claim.columns))
                checks += _class_count_checks(self._case, after)
        except Unreadable as error:
            checks = [Check("the released file can be read back", False, str(error))]
        failed = [check for check in checks if not check.passed]
        if failed:
            names = "; ".join(f"{check.name}: no ({check.detail})" for check in failed)
            raise VerificationFailed(f"The written file did not pass its verification ({names}). Nothing was released.")
        return tuple(checks)

    def _same_input(self) -> list[Check]:
        """A failed check if the record file was changed."""
        if self._input_now() == self._begun:
            return []
        return [Check("the record file stayed the same while the release was made", False, "it changed")]

    def _expected_as_written(
        self, crosswalk: Crosswalk, before: Seen, expected: _Expected, progress: Progress
    ) -> tuple[Seen, _Expected]:
        """What the input comes down to and what must have been released, where what is written depends on that: the
        input is read once or twice more.

        Which classes are released does not depend on what is written, so the first reading settles that.
        """
        notation = dict(self._certain)
        if self._open_columns:
            decided = self._begin(
                partial(expected_notation, self._case, crosswalk, expected.classes, self._open_columns, self._tick)
            )
            (found,) = self._results([decided], Span(progress, 0.0, 0.5), self._claim.records)
            notation |= found
        values = _aggregates(self._case, before, expected, notation)
        written = self._begin(partial(seen_input, self._case, crosswalk, self._tick, notation, values))
        (again,) = self._results([written], Span(progress, 0.5, 1.0), self._claim.records)
        return again, _expected(self._case, crosswalk, again)

    def _both(self, progress: Progress) -> tuple[Seen, Seen]:
        """What the input and the released file come down to."""
        parts = output_parts(self._case, _READERS)
        before = self._before or self._begin(self._read_input)
        after = [self._begin(partial(self._read_part, part)) for part in parts]
        first, *others = self._results([before, *after], progress, self._claim.records + self._claim.released)
        return first, taken_together(others)

    def _results(self, futures: Sequence[Future[T]], progress: Progress, rows: int) -> list[T]:
        """Wait for readers that read so many rows together."""
        progress.update(STAGE, 0.0)
        while not all(future.done() for future in futures):
            progress.update(STAGE, min(1.0, self._done / max(1, rows)))
            wait(futures, _LOOK_SECONDS, FIRST_EXCEPTION)
        self._done = 0
        errors = [error for error in (future.exception() for future in futures) if error is not None]
        # A reader that failed by itself says more than the others, which it stopped.
        for error in sorted(errors, key=lambda error: isinstance(error, Cancelled)):
            raise error
        return [future.result() for future in futures]

    def _input_now(self) -> tuple[int, ...] | None:
        """What tells whether the input is still the file that it was; an engine keeps its records steady itself."""
        if self._claim.source is not None:
            return None
        assert self._problem.records_source is not None
        try:
            now = Path(self._problem.records_source.path).stat()
        except OSError:
            return None
        return now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns

    def _read_input(self) -> Seen:
        return seen_input(self._case, self._crosswalk.result(), self._tick, self._certain)

    def _read_part(self, part: Stretch | None) -> Seen:
        return seen_output(self._case, self._crosswalk.result(), self._tick, part)

    def _begin(self, read: Callable[[], T]) -> Future[T]:
        def stopping() -> T:
            try:
                return read()
            except BaseException:
                self._stop.set()
                raise

        return self._pool.submit(stopping)

    def _tick(self, rows: int) -> None:
        if self._stop.is_set():
            raise Cancelled
        with self._lock:
            self._done += rows


@dataclass(frozen=True, eq=False)
class _Expected:
    """What must have been released: the sizes of the classes, and the sum of the fingerprints of their rows.

    ``classes`` are the hashes of the released classes by aggregated region, ``cells`` is the same number for those that
    are released as one.
    """

    classes: Hashes
    sizes: NDArray[np.int64]
    fingerprints: np.uint64
    suppressed: int
    cells: NDArray[np.int64]

    @property
    def rows(self) -> int:
        return int(self.sizes.sum())


def _expected(case: Case, crosswalk: Crosswalk, before: Seen) -> _Expected:
    k = case.problem.k
    keys, counts, sums, notes = before.tally.classes()
    judged = judged_columns(case, before)
    barring, every = barring_by(judged), np.arange(counts.size)
    if before.tiers == 1:
        kept = (counts >= k) & ~barring(every, counts.size, np.ones(counts.size, np.bool_))
        kept = settled(judged, every, kept)
        everything = np.sum(sums[kept], dtype=np.uint64)
        cells = np.arange(int(kept.sum()))
        return _Expected(keys[kept], counts[kept], everything, int(counts[~kept].sum()), cells)
    codes = [np.array(column) for column in zip(*crosswalk.values(), strict=True)]
    numbered = [np.unique(column, return_inverse=True) for column in codes]
    members = [inverse.astype(np.int64) for _, inverse in numbered]
    parents = []
    for below, above in pairwise(members):
        parent = np.zeros(int(below.max()) + 1, np.int64)
        parent[below] = above
        parents.append(parent)
    regions, kinds = notes.T
    hashes = hashed(numbered[0][0].tolist(), case.encoding)
    order = np.argsort(hashes)
    place = order[np.searchsorted(hashes[order], regions)].astype(np.int64)
    kind = np.unique(kinds, return_inverse=True)[1].astype(np.int64)
    tier, last = recounted_tiers(place, kind, counts, parents, k, barring)
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
    suppressed = int(counts[tier > last].sum())
    _, cells = np.unique(code[tier <= last], return_inverse=True)
    return _Expected(keys[tier <= last], np.concatenate(sizes), everything, suppressed, cells.ravel().astype(np.int64))


def _aggregates(case: Case, before: Seen, expected: _Expected, notation: Notation) -> dict[str, Translation]:
    """The hash of the value that all records of a class have, by aggregated column and by the hash of the class."""
    order = np.argsort(expected.classes)
    found = {}
    for claim in case.claim.aggregated:
        tally = before.aggregated.get(claim.column)
        if tally is None:
            continue
        _, counts, _, notes = tally.classes()
        place = np.minimum(np.searchsorted(expected.classes[order], notes[:, 0]), max(0, order.size - 1))
        kept = expected.classes[order[place]] == notes[:, 0]
        cell = expected.cells[order[place[kept]]]
        hashes = hashed(claim.values, case.encoding, case.claim.escaped)
        written = notation.get(claim.column, {})
        text_of = {one: written.get(text, text) for one, text in zip(hashes.tolist(), claim.values, strict=True)}
        frequencies: dict[int, Counter[str]] = {}
        for number, value, count in zip(cell.tolist(), notes[kept, 1].tolist(), counts[kept].tolist(), strict=True):
            if value not in text_of:
                raise Unreadable("a column that is aggregated has values that were not counted")
            frequencies.setdefault(number, Counter())[text_of[value]] += count
        sizes = np.bincount(cell, counts[kept], minlength=int(expected.cells.max(initial=-1)) + 1).astype(np.int64)
        values = expected_aggregates(frequencies, sizes, claim.below)
        concerned = [number in values for number in expected.cells.tolist()]
        texts = [values[number] for number in expected.cells.tolist() if number in values]
        found[claim.column] = Translation(
            expected.classes[np.array(concerned, np.bool_)], hashed(texts, case.encoding, case.claim.escaped)
        )
    return found


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


def _counted_names(problem: Problem, claim: Claim) -> str:
    """Name the released columns that make the classes, as the release does."""
    released = dict(claim.columns)
    names = [released[name] for name in (problem.region_column, *problem.quasi_identifiers) if name in released]
    return ", ".join(f"“{name[:80]}”" for name in names) or "values"


def _checks(problem: Problem, claim: Claim, before: Seen, after: Seen, expected: _Expected) -> list[Check]:
    suppressed = expected.suppressed + before.strangers
    _, released, released_sums, _ = after.tally.classes()
    anonymity = int(released.min()) if released.size else None
    checks = [
        Check("the columns are those that were chosen", after.names_fit),
        Check(
            f"every combination of {_counted_names(problem, claim)} has at least {problem.k:,} records",
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


def _class_count_checks(case: Case, after: Seen) -> list[Check]:
    """Check the list of classes, if there is one."""
    claim, problem = case.claim, case.problem
    if claim.class_counts is None:
        return []
    names = dict(claim.columns)
    shown = [names[name] for name in (problem.region_column, *problem.quasi_identifiers) if name in names]
    keys, counts, _, _ = after.tally.classes()
    return [check_class_counts(claim.class_counts, shown, keys, counts, partial(hashed, encoding=case.encoding))]


def _key_checks(claim: Claim, before: Seen, after: Seen) -> list[Check]:
    """Check the keys of the records, if there are any."""
    if claim.record_key is None or claim.record_index is None:
        return []
    positions = np.concatenate([part for part, _ in before.keyed])
    expected = np.concatenate([rows for _, rows in before.keyed], axis=1)
    keys = np.concatenate([part for part, _ in after.keyed])
    rows = np.concatenate([part[0] for _, part in after.keyed])
    return check_record_keys(claim.record_index, keys, rows, positions, expected)


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


def _name_checks(problem: Problem, claim: Claim, crosswalk: Crosswalk) -> Iterator[Check]:
    """Names of aggregated regions, read from the file: one for each, taken from the region file."""
    if claim.name_column is None:
        return
    with claim.crosswalk.open(encoding="utf-8", newline="") as file:
        names = [row[-1] for row in csv.reader(file)][1:]
    given = zip(problem.regions.ids, problem.regions.columns[claim.name_column], strict=True)
    called = {id: " ".join(text.split()) or id for id, text in given}
    found: dict[str, set[str]] = {}
    members: dict[str, list[str]] = {}
    for (region, codes), name in zip(crosswalk.items(), names, strict=True):
        found.setdefault(codes[0], set()).add(name)
        members.setdefault(codes[0], []).append(called.get(region, ""))
    wrong = 0
    for code, told in found.items():
        more = f" + {len(members[code]) - 1:,}" if len(members[code]) > 1 else ""
        wrong += len(told) != 1 or min(told).removesuffix(more).removeprefix("'" * claim.escaped) not in {
            text.removeprefix("'" * claim.escaped) for text in members[code]
        }
    yield Check(
        "every aggregated region has one name, after one of its initial regions", wrong == 0, f"{wrong:,} have not"
    )


def _read_crosswalk(path: Path, ids: Sequence[str]) -> Crosswalk:
    """What the file says of each initial region. Of those that it has with an apostrophe ``ids`` are the true ones."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    width = code_columns(header)
    crosswalk = {row[0]: tuple(row[1:width]) for row in rows if len(row) == len(header)}
    if len(crosswalk) != len(rows):
        raise Unreadable("the crosswalk names a region twice")
    written = escaped(pa.array([text.encode() for text in ids], pa.binary())).to_pylist()
    true = {text.decode(): id for text, id in zip(written, ids, strict=True)}
    return {true.get(text, text): code for text, code in crosswalk.items()}
