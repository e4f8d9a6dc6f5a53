"""Writing the anonymised CSV file from a CSV record file: bytes in, bytes out, a few blocks in memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import IO

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.io.records.row_order import RowKeys
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.progress import Progress, Span
from vbas_desktop.model.records import RecordTable
from vbas_desktop.release.aggregation import Aggregated
from vbas_desktop.release.plan import Plan
from vbas_desktop.settings.release import ReleaseOptions

from .blocks import Block, RowBlocks, changed
from .canonical import Canonical
from .composition import UNKNOWN, Lookup, lookups, make_composition, mapped_regions, names_row
from .fields import Bytes, regular_rows, split_rows
from .rows import compose
from .shuffle import Arranged, Buckets, bucket_number
from .writing import SHUFFLING, WRITING, Records, Sink, Written, ahead

WORKERS = 2
AHEAD = 3


@dataclass(frozen=True, eq=False)
class Composed:
    """The released rows of one block, as they are or arranged by bucket, and its share of the file."""

    rows: Bytes | Arranged
    formulas: NDArray[np.int64]
    read: float


@dataclass(frozen=True, eq=False)
class Cut:
    """Where the fields of a block begin, of how many rows (below 0: the first ragged one, counted from -1 down).

    ``bare``: some field holds a return outside quotes.
    """

    block: Block
    starts: NDArray[np.int32]
    rows: int
    bare: bool


class CsvRecords(Records):
    """One pass over the record file."""

    def __init__(
        self,
        plan: Plan,
        table: RecordTable,
        options: ReleaseOptions,
        canonical: Canonical = MappingProxyType({}),
        aggregated: Aggregated = MappingProxyType({}),
    ) -> None:
        super().__init__(plan, table, options)
        canonical = {name: texts for name, texts in canonical.items() if name not in aggregated}
        self._aggregated = [table.in_file(column.codes) for column in aggregated.values()]
        self._header, self._blocks = table.dialect.header, RowBlocks(table.source, table.dialect)
        delimiter, encoding = table.dialect.delimiter or ",", self._blocks.encoding
        known = [*lookups(plan.problem), *(Lookup(values) for values, _ in canonical.values())]
        self._regions, *self._tables = (each.table(encoding, delimiter.encode()) for each in known)
        self._mapped = mapped_regions(plan.problem, table)
        self._counted = len(plan.problem.categories)
        texts = {name: column.texts for name, column in aggregated.items()}
        self._composition = make_composition(plan, options, self._header, delimiter, encoding, canonical, texts)
        columns = {name: place for place, name in enumerate(self._header)}
        self._region_place = columns[plan.problem.region_column]
        self._places = [columns[name] for name in (*plan.problem.quasi_identifiers, *canonical)]

    def write(self, out: IO[bytes], scratch: Path, progress: Progress) -> Written:
        """Write all released rows; ``scratch`` is a folder on the same disk for the nameless file of the shuffle."""
        sink, formulas = Sink(out), np.zeros(len(self._header), np.int64)
        buckets = None
        if self._options.shuffle:
            buckets = Buckets(scratch, RowKeys(self._order_key), bucket_number(self._table.source, self._table.dialect))
        reading = Span(progress, 0.0, 0.8 if buckets else 1.0)
        with ThreadPoolExecutor(WORKERS, "release") as pool:
            try:
                for part in ahead(pool, self._jobs(pool, sink, buckets), AHEAD):
                    reading.update(WRITING, part.read)
                    formulas += part.formulas
                    if buckets is not None and isinstance(part.rows, Arranged):
                        buckets.add(part.rows)
                    else:
                        sink.write(part.rows)
                jobs = buckets.jobs() if buckets is not None else []
                for number, rows in enumerate(ahead(pool, jobs, AHEAD)):
                    progress.update(SHUFFLING, 0.8 + 0.2 * number / len(jobs))
                    sink.write(rows)
            finally:
                pool.shutdown(wait=True, cancel_futures=True)
                if buckets is not None:
                    buckets.close()
        found = {name: count for name, count in zip(self._header, formulas.tolist(), strict=True) if count}
        return Written(sink.sha256, found, sink.encoding(self._blocks.encoding))

    def _jobs(self, pool: ThreadPoolExecutor, sink: Sink, buckets: Buckets | None) -> Iterator[Callable[[], Composed]]:
        """What composes the rows of each block, some blocks being cut ahead. Writes the names."""
        head = no_records = 2 if self._table.dialect.category_line else 1
        before = 0
        # The first block settles how lines end.
        for index, cut in enumerate(ahead(pool, (partial(self._split, block) for block in self._blocks), AHEAD)):
            self._check_rows(cut.rows, before + head - no_records)
            if index == 0:
                self._head(cut.rows, sink)
            # The first block of a compressed file may end after the names, before the numbers of categories.
            skip = min(no_records, cut.rows)
            no_records -= skip
            yield partial(self._compose, cut, skip, before, buckets)
            before += cut.rows - skip

    def _check_rows(self, rows: int, before: int) -> None:
        if rows < 0:
            raise InputError(
                Finding(
                    "ragged-row",
                    "The row does not have as many fields as there are columns.",
                    "Mend the row, load the file again, and release the new result.",
                    file=Path(self._table.source.path).name,
                    row=before - rows,
                )
            )

    def _head(self, rows: int, sink: Sink) -> None:
        """Write the names."""
        if rows < 1:
            file = Path(self._table.source.path).name
            raise InputError(Finding("empty-file", "The record file is empty.", file=file))
        names = names_row(self._options, self._header, self._blocks.encoding, self._delimiter)
        sink.write(self._blocks.bom + names + self._blocks.newline)

    def _split(self, block: Block) -> Cut:
        width, marks = len(self._header), (self._blocks.delimiter, self._blocks.line_end)
        lines = block.data.count(self._blocks.line_end, 0, block.buf.size)
        if not block.holds(b'"\r'):
            even = regular_rows(block.buf, *marks, lines, width)
            if even is not None:
                return Cut(block, even, lines, False)
        starts = np.empty((lines + 1, width + 1), np.int32)
        rows, wrong, bare = split_rows(block.buf, *marks, starts)
        return Cut(block, starts, rows if wrong < 0 else -1 - wrong, bare)

    def _compose(self, cut: Cut, skip: int, before: int, buckets: Buckets | None) -> Composed:
        """The released rows of a block, before whose first record there are so many."""
        block, starts, rows = cut.block, cut.starts[skip : cut.rows], cut.rows - skip
        if self._mapped is None:
            region = self._regions.codes(block.buf, starts, rows, self._region_place)
        else:
            region = self._mapped[before : before + rows]
        codes = np.empty((len(self._tables) + len(self._aggregated), rows), np.int32)
        for q, (table, place) in enumerate(zip(self._tables, self._places, strict=True)):
            codes[q] = table.codes(block.buf, starts, rows, place)
        for place, every_code in enumerate(self._aggregated, len(self._tables)):
            if before + rows > every_code.size:
                raise changed(self._table.source)
            codes[place] = every_code[before : before + rows]
        considered = self._table.considered
        if considered is not None:
            if before + rows > considered.size:
                raise changed(self._table.source)
            # Records that are left out have no region here, and so no place.
            region[~considered[before : before + rows]] = UNKNOWN
        if (codes[self._counted :, region != UNKNOWN] < 0).any():
            raise changed(self._table.source)
        area, size = self._decision.places(region, codes)
        kept, plan = np.flatnonzero(area >= 0), self._composition
        requote = plan.requote or cut.bare or block.holds(b'"')
        room = block.buf.size * (2 if requote or plan.escape else 1) + kept.size * (plan.longest + 3 * plan.kinds.size)
        out, ends = np.empty(room, np.uint8), np.empty(kept.size, np.int64)
        formulas = np.zeros(len(self._header), np.int64)
        newline = np.frombuffer(self._blocks.newline, np.uint8)
        record_keys = np.empty((0, 0), np.uint8)
        if self._record_keys is not None:
            record_keys = self._record_keys.of_rows(kept + before)
        compose(
            block.buf, starts, area, size, codes, plan.kinds, plan.first, plan.last, plan.columns, plan.pool,
            plan.bounds, plan.formulas, plan.delimiter, requote, plan.escape, block.holds(b"=+-@\t\r\xef"), newline,
            record_keys, out, ends, formulas,
        )  # fmt: skip
        if buckets is None:
            return Composed(out[: ends[-1] if ends.size else 0], formulas, block.read)
        keys = buckets.keys.of_rows(kept + before)
        return Composed(Arranged(out, ends, keys, buckets.number), formulas, block.read)
