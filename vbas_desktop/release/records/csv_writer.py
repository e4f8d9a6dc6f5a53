"""Writing the anonymised CSV file from a CSV record file: bytes in, bytes out, a few blocks in memory at a time."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.progress import Progress, Span
from vbas_desktop.domain.source import Source
from vbas_desktop.files.dialect import Dialect
from vbas_desktop.release.plan import Plan
from vbas_desktop.settings.release import ReleaseOptions

from .blocks import Block, RowBlocks, changed
from .canonical import Canonical
from .composition import Decision, code_tables, make_composition, value_table
from .fields import Bytes, regular_rows, split_rows
from .rows import compose, decide
from .shuffle import Arranged, Buckets, assign, bucket_number, order_key

WORKERS = 2
AHEAD = 3


@dataclass(frozen=True, eq=False)
class Composed:
    """The released rows of one block: their bytes and where each ends, or arranged by bucket."""

    bytes: Bytes
    ends: NDArray[np.int64]
    rows: int
    formulas: NDArray[np.int64]
    arranged: Arranged | None = None


@dataclass(frozen=True)
class Written:
    """What was written: counts, hash, and the cells of each column that a spreadsheet might run."""

    records: int
    released: int
    sha256: str
    size_bytes: int
    formulas: dict[str, int]


class CsvRecords:
    """One pass over the record file. `write` streams the release into an open file."""

    def __init__(
        self,
        plan: Plan,
        dialect: Dialect,
        options: ReleaseOptions,
        source: Source,
        canonical: Canonical = MappingProxyType({}),
    ) -> None:
        self._plan, self._dialect, self._options, self._source = plan, dialect, options, source
        self._blocks = RowBlocks(source, dialect)
        delimiter, encoding = dialect.delimiter or ",", self._blocks.encoding
        self._regions, self._tables = code_tables(plan.problem, encoding, delimiter.encode())
        self._counted = len(self._tables)
        self._tables += [value_table(values, encoding, delimiter.encode()) for values, _ in canonical.values()]
        self._decision = Decision.of(plan)
        self._composition = make_composition(plan, options, dialect.header, delimiter, encoding, canonical)
        columns = {name: place for place, name in enumerate(dialect.header)}
        self._region_place = columns[plan.problem.region_column]
        self._places = [columns[name] for name in (*plan.problem.quasi_identifiers, *canonical)]

    def write(self, out: IO[bytes], scratch: Path, progress: Progress) -> Written:
        """Write all released rows; ``scratch`` is a folder on the same disk for the nameless file of the shuffle."""
        self._out, self._digest, self._size = out, hashlib.sha256(), 0
        counts = np.zeros(2, np.int64)
        formulas = np.zeros(len(self._dialect.header), np.int64)
        buckets = self._buckets(scratch)
        with ThreadPoolExecutor(WORKERS, "release") as pool:
            try:
                for part in self._composed(pool, buckets, Span(progress, 0.0, 0.8 if buckets else 1.0)):
                    counts += (part.rows, part.ends.size)
                    formulas += part.formulas
                    if buckets is None:
                        self._put(part.bytes[: part.ends[-1] if part.ends.size else 0])
                    elif part.arranged is not None:
                        buckets.add(part.arranged)
                for number, rows in enumerate(buckets.shuffled(pool) if buckets else ()):
                    progress.update("Shuffling the rows", 0.8 + 0.2 * number / max(1, buckets.number if buckets else 1))
                    self._put(rows)
            finally:
                pool.shutdown(wait=True, cancel_futures=True)
                if buckets is not None:
                    buckets.close()
        found = {name: int(count) for name, count in zip(self._dialect.header, formulas, strict=True) if count}
        return Written(int(counts[0]), int(counts[1]), self._digest.hexdigest(), self._size, found)

    def _put(self, data: Bytes | bytes) -> None:
        view = memoryview(data if isinstance(data, bytes) else data.data)
        self._digest.update(view)
        self._size += view.nbytes
        self._out.write(view)

    def _buckets(self, scratch: Path) -> Buckets | None:
        if not self._options.shuffle:
            return None
        # A compressed file holds about six times its size; only the number of buckets depends on it.
        size = self._source.size_bytes * (6 if self._dialect.compressed else 1)
        key = order_key(self._plan, self._options, self._dialect.header, self._source.sha256)
        return Buckets(scratch, key, bucket_number(size))

    def _composed(self, pool: ThreadPoolExecutor, buckets: Buckets | None, progress: Progress) -> Iterator[Composed]:
        """The blocks' rows in the order of the file, some blocks being worked on ahead."""
        stage = "Writing the anonymised file"
        waiting: deque[tuple[float, Future[Composed]]] = deque()
        rows = 0
        no_records = 0
        for index, block in enumerate(self._blocks):
            if index == 0:
                no_records = self._head(block)
            # The first block of a compressed file may end after the names, before the numbers of categories.
            skip = min(no_records, self._split(block)[1]) if no_records else 0
            no_records -= max(0, skip)
            waiting.append((block.read, pool.submit(self._compose, block, max(0, skip), buckets)))
            if len(waiting) > AHEAD:
                read, future = waiting.popleft()
                progress.update(stage, read)
                yield self._checked(future.result(), rows)
                rows += future.result().rows
        while waiting:
            read, future = waiting.popleft()
            progress.update(stage, read)
            yield self._checked(future.result(), rows)
            rows += future.result().rows

    def _checked(self, part: Composed, before: int) -> Composed:
        if part.rows < 0:
            row = before - part.rows + 1 + self._dialect.category_line
            raise InputError(
                Finding(
                    "ragged-row",
                    "The row does not have as many fields as there are columns.",
                    "Mend the row, load the file again, and release the new result.",
                    file=Path(self._source.path).name,
                    row=row,
                )
            )
        return part

    def _head(self, block: Block) -> int:
        """Write the names; returns how many rows at the start of the file are no records."""
        if self._split(block)[1] < 1:
            raise InputError(Finding("empty-file", "The record file is empty.", file=Path(self._source.path).name))
        self._put(self._blocks.bom + self._composition.header_row(self._blocks.newline))
        return 2 if self._dialect.category_line else 1

    def _split(self, block: Block) -> tuple[NDArray[np.int32], int, bool]:
        lines = block.data.count(self._blocks.line_end, 0, block.buf.size)
        if not block.holds(b'"\r'):
            even = regular_rows(
                block.buf, self._blocks.delimiter, self._blocks.line_end, lines, len(self._dialect.header)
            )
            if even is not None:
                return even, lines, False
        starts = np.empty((lines + 1, len(self._dialect.header) + 1), np.int32)
        rows, wrong, bare = split_rows(block.buf, self._blocks.delimiter, self._blocks.line_end, starts)
        return starts, rows if wrong < 0 else -1 - wrong, bare

    def _compose(self, block: Block, skip: int, buckets: Buckets | None) -> Composed:
        starts, rows, bare = self._split(block)
        if rows < 0:
            return Composed(block.buf[:0], np.empty(0, np.int64), rows, np.zeros(1, np.int64))
        starts, rows = starts[skip:rows], rows - skip
        region = self._regions.codes(block.buf, starts, rows, self._region_place)
        codes = np.empty((len(self._tables), rows), np.int32)
        for q, (table, place) in enumerate(zip(self._tables, self._places, strict=True)):
            codes[q] = table.codes(block.buf, starts, rows, place)
        if (codes[self._counted :] < 0).any():
            raise changed(self._source)
        area, size = np.empty(rows, np.int32), np.empty(rows, np.int64)
        kept = decide(region, codes, *self._decision.arrays(), area, size)
        plan = self._composition
        requote = plan.requote or bare or block.holds(b'"')
        room = block.buf.size * (2 if requote or plan.escape else 1) + kept * (plan.longest + 3 * plan.kinds.size)
        out, ends = np.empty(room, np.uint8), np.empty(kept, np.int64)
        formulas = np.zeros(len(self._dialect.header), np.int64)
        newline = np.frombuffer(self._blocks.newline, np.uint8)
        compose(
            block.buf, starts, area, size, codes, plan.kinds, plan.first, plan.last, plan.pool, plan.bounds,
            plan.delimiter, requote, plan.escape, block.holds(b"=+-@\t\r\xef"), newline, out, ends, formulas,
        )  # fmt: skip
        arranged = None
        if buckets is not None:
            places = starts[:, 0][area >= 0].astype(np.int64) + block.offset
            arranged = Arranged(out, ends, assign(places, buckets.mixing_keys, buckets.number), buckets.number)
            out = out[:0]
        return Composed(out, ends, rows, formulas, arranged)
