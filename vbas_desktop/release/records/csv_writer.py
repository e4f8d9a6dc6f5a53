"""Writing the anonymised CSV file from a CSV record file: bytes in, bytes out, a few blocks in memory at a time."""

from __future__ import annotations

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
from .sink import Sink, Written

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


@dataclass(frozen=True, eq=False)
class Cut:
    """Where the fields of a block begin, of how many rows (below 0: the first ragged one, counted from -1 down).

    ``bare``: some field holds a return outside quotes.
    """

    starts: NDArray[np.int32]
    rows: int
    bare: bool


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
        self._sink = Sink(out)
        counts = np.zeros(2, np.int64)
        formulas = np.zeros(len(self._dialect.header), np.int64)
        buckets = self._buckets(scratch)
        with ThreadPoolExecutor(WORKERS, "release") as pool:
            try:
                for part in self._composed(pool, buckets, Span(progress, 0.0, 0.8 if buckets else 1.0)):
                    counts += (part.rows, part.ends.size)
                    formulas += part.formulas
                    if buckets is None:
                        self._sink.write(part.bytes[: part.ends[-1] if part.ends.size else 0])
                    elif part.arranged is not None:
                        buckets.add(part.arranged)
                for number, rows in enumerate(buckets.shuffled(pool) if buckets else ()):
                    progress.update("Shuffling the rows", 0.8 + 0.2 * number / max(1, buckets.number if buckets else 1))
                    self._sink.write(rows)
            finally:
                pool.shutdown(wait=True, cancel_futures=True)
                if buckets is not None:
                    buckets.close()
        found = {name: int(count) for name, count in zip(self._dialect.header, formulas, strict=True) if count}
        return Written(int(counts[0]), int(counts[1]), self._sink.sha256, self._sink.size, found)

    def _buckets(self, scratch: Path) -> Buckets | None:
        if not self._options.shuffle:
            return None
        key = order_key(self._plan, self._options, self._dialect.header, self._source.sha256)
        return Buckets(scratch, key, bucket_number(self._source, self._dialect))

    def _composed(self, pool: ThreadPoolExecutor, buckets: Buckets | None, progress: Progress) -> Iterator[Composed]:
        """The blocks' rows in the order of the file, some blocks being worked on ahead."""
        stage = "Writing the anonymised file"
        waiting: deque[tuple[float, Future[Composed]]] = deque()
        head = no_records = 2 if self._dialect.category_line else 1
        before = 0
        for index, (block, cut) in enumerate(self._cut(pool)):
            self._check_rows(cut.rows, before + head - no_records)
            if index == 0:
                self._head(cut.rows)
            # The first block of a compressed file may end after the names, before the numbers of categories.
            skip = min(no_records, cut.rows)
            no_records -= skip
            waiting.append((block.read, pool.submit(self._compose, block, cut, skip, before, buckets)))
            before += cut.rows - skip
            if len(waiting) > AHEAD:
                read, future = waiting.popleft()
                progress.update(stage, read)
                yield future.result()
        for read, future in waiting:
            progress.update(stage, read)
            yield future.result()

    def _cut(self, pool: ThreadPoolExecutor) -> Iterator[tuple[Block, Cut]]:
        """The blocks with the places of their fields, some being cut ahead."""
        waiting: deque[tuple[Block, Future[Cut]]] = deque()
        for block in self._blocks:
            waiting.append((block, pool.submit(self._split, block)))
            # The first block settles how lines end.
            while len(waiting) > AHEAD:
                ahead, future = waiting.popleft()
                yield ahead, future.result()
        for ahead, future in waiting:
            yield ahead, future.result()

    def _check_rows(self, rows: int, before: int) -> None:
        if rows < 0:
            raise InputError(
                Finding(
                    "ragged-row",
                    "The row does not have as many fields as there are columns.",
                    "Mend the row, load the file again, and release the new result.",
                    file=Path(self._source.path).name,
                    row=before - rows,
                )
            )

    def _head(self, rows: int) -> None:
        """Write the names."""
        if rows < 1:
            raise InputError(Finding("empty-file", "The record file is empty.", file=Path(self._source.path).name))
        self._sink.write(self._blocks.bom + self._composition.header_row(self._blocks.newline))

    def _split(self, block: Block) -> Cut:
        lines = block.data.count(self._blocks.line_end, 0, block.buf.size)
        if not block.holds(b'"\r'):
            even = regular_rows(
                block.buf, self._blocks.delimiter, self._blocks.line_end, lines, len(self._dialect.header)
            )
            if even is not None:
                return Cut(even, lines, False)
        starts = np.empty((lines + 1, len(self._dialect.header) + 1), np.int32)
        rows, wrong, bare = split_rows(block.buf, self._blocks.delimiter, self._blocks.line_end, starts)
        return Cut(starts, rows if wrong < 0 else -1 - wrong, bare)

    def _compose(self, block: Block, cut: Cut, skip: int, before: int, buckets: Buckets | None) -> Composed:
        """The released rows of a block, before whose first record there are so many."""
        starts, rows = cut.starts[skip : cut.rows], cut.rows - skip
        region = self._regions.codes(block.buf, starts, rows, self._region_place)
        codes = np.empty((len(self._tables), rows), np.int32)
        for q, (table, place) in enumerate(zip(self._tables, self._places, strict=True)):
            codes[q] = table.codes(block.buf, starts, rows, place)
        if (codes[self._counted :] < 0).any():
            raise changed(self._source)
        area, size = np.empty(rows, np.int32), np.empty(rows, np.int64)
        kept = decide(region, codes, *self._decision.arrays(), area, size)
        plan = self._composition
        requote = plan.requote or cut.bare or block.holds(b'"')
        room = block.buf.size * (2 if requote or plan.escape else 1) + kept * (plan.longest + 3 * plan.kinds.size)
        out, ends = np.empty(room, np.uint8), np.empty(kept, np.int64)
        formulas = np.zeros(len(self._dialect.header), np.int64)
        newline = np.frombuffer(self._blocks.newline, np.uint8)
        compose(
            block.buf, starts, area, size, codes, plan.kinds, plan.first, plan.last, plan.columns, plan.pool,
            plan.bounds, plan.formulas, plan.delimiter, requote, plan.escape, block.holds(b"=+-@\t\r\xef"), newline,
            out, ends, formulas,
        )  # fmt: skip
        arranged = None
        if buckets is not None:
            places = np.flatnonzero(area >= 0) + before
            arranged = Arranged(out, ends, assign(places, buckets.mixing_keys, buckets.number), buckets.number)
            out = out[:0]
        return Composed(out, ends, rows, formulas, arranged)
