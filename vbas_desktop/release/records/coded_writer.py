"""Writing the anonymised CSV file from the codes in memory: a text for every code, rows put together from them.

The bytes are those that `csv_writer` makes of the record file, in less time. It needs every released column as codes;
where one has too many values for that, or memory would not do, `csv_writer` reads the file instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.compiled import compiled
from vbas_desktop.io.records.row_order import RowKeys, buckets_of_keys, sort_by_keys
from vbas_desktop.model.progress import Progress, Silent
from vbas_desktop.model.records import RecordTable, frozen
from vbas_desktop.release.plan import Plan
from vbas_desktop.settings.release import ReleaseOptions

from . import packed
from .blocks import RowBlocks, refuse_changed
from .canonical import Canonical
from .composition import Texts, names_row, region_and_category_codes
from .fields import Bytes
from .packed import Codes, Packing, Words, put_in_places
from .rows import is_formula
from .shuffle import bucket_number
from .writing import SHUFFLING, WRITING, Records, Sink, Written, ahead

WORKERS = 2
AHEAD = 4
CHUNK_ROWS = 1 << 16
MOST_VALUES = 1 << 20
"""More texts than this take longer to set up than the file to be read."""
MOST_BYTES = 1 << 30
"""How much memory the codes may take while they are put into another order."""


@compiled
def places_in_order(buckets: NDArray[np.int16], cursor: NDArray[np.int64], places: NDArray[np.int64]) -> None:
    """Where each row goes if rows stand bucket by bucket; -1: it is not released. Moves ``cursor`` on."""
    for row in range(buckets.size):
        bucket = buckets[row]
        places[row] = -1
        if bucket >= 0:
            places[row] = cursor[bucket]
            cursor[bucket] += 1


@compiled
def translate(codes: Codes, table: NDArray[np.int32], out: NDArray[np.int32]) -> None:
    """What the table has for each code."""
    for row in range(codes.size):
        out[row] = table[codes[row]]


@dataclass(frozen=True, eq=False)
class _Part:
    """A field of the released rows: the column whose codes it has (None: the place or class size), and its texts.

    ``formulas``: which of them a spreadsheet might run (None: none).
    """

    column: str | None
    texts: list[bytes]
    formulas: NDArray[np.bool_] | None
    is_size: bool = False


class CodedRecords(Records):
    """Sets the rows from the codes of a loaded table."""

    def __init__(self, plan: Plan, table: RecordTable, options: ReleaseOptions, canonical: Canonical) -> None:
        super().__init__(plan, table, options)
        self._region_of, self._categories_of = region_and_category_codes(plan.problem, table)
        blocks = RowBlocks(table.source, table.dialect)
        # The first block settles the mark, the encoding and the line ends.
        next(iter(blocks), None)
        new = self._delimiter.encode()
        self._sizes = np.unique(plan.class_sizes) if options.class_size else np.empty(0, np.int64)
        self._encoding = blocks.encoding
        texts = Texts(blocks.encoding, new, options.escape_formulas)
        self._parts = [self._part(column, texts, canonical) for column, _ in self._released]
        if options.class_size:
            values = [str(size) for size in self._sizes.tolist()]
            self._parts.append(replace(self._made(None, texts, values, options.class_size), is_size=True))
        names = names_row(options, table.dialect.header, blocks.encoding, self._delimiter)
        self._head = blocks.bom + names + blocks.newline
        self._packing = Packing(self._with_ends(new, blocks.newline))
        self._chunks = [slice(row, min(table.rows, row + CHUNK_ROWS)) for row in range(0, table.rows, CHUNK_ROWS)]
        self._formulas = np.zeros((len(self._chunks), len(self._parts)), np.int64)

    @staticmethod
    def suits(plan: Plan, table: RecordTable, options: ReleaseOptions) -> bool:
        """Whether everything that is released is there as codes, and not too much; keys of records have no codes."""
        if table.dialect.format != "csv" or options.format != "csv" or options.record_key or options.aggregate:
            return False
        known = {facts.name: facts for facts in table.columns if facts.categories is not None}
        released = {column for column, _ in options.released_columns(table.dialect.header)}
        if not {*released, plan.problem.region_column, *plan.problem.quasi_identifiers} <= known.keys():
            return False
        values = sum(known[name].distinct for name in released)
        per_row = 40 + sum(table.codes(name).itemsize for name in released)
        return values <= MOST_VALUES and per_row * table.rows <= MOST_BYTES

    def _part(self, column: str, texts: Texts, canonical: Canonical) -> _Part:
        problem = self._plan.problem
        if column == problem.region_column:
            return self._made(None, texts, self._plan.every_code, column)
        facts = self._table.facts(column)
        assert facts.categories is not None
        values = facts.categories.values
        if column in problem.quasi_identifiers:
            q = problem.quasi_identifiers.index(column)
            counted = problem.categories[q].values
            values = tuple(counted[code] if code >= 0 else "" for code in self._categories_of[q].tolist())
        elif column in canonical:
            values = canonical[column][1]
        return self._made(column, texts, values, column)

    def _made(self, codes_of: str | None, texts: Texts, values: Sequence[str], column: str) -> _Part:
        first = texts.add(values, column)
        risky = np.array(texts.formulas[first:], np.bool_)
        return _Part(codes_of, texts.fields[first:], risky if risky.any() else None)

    def _with_ends(self, delimiter: bytes, newline: bytes) -> list[list[bytes]]:
        """The texts of each field with what follows it."""
        *others, last = [part.texts for part in self._parts]
        # An empty line would be no row.
        ended = [text + newline if text or others else b'""' + newline for text in last]
        return [*([text + delimiter for text in texts] for texts in others), ended]

    def write(self, out: IO[bytes], scratch: Path, progress: Progress) -> Written:
        """Write all released rows; unlike the others, this needs no ``scratch`` folder."""
        sink = Sink(out)
        sink.write(self._head)
        stage = SHUFFLING if self._options.shuffle else WRITING
        with ThreadPoolExecutor(WORKERS, "release") as pool:
            try:
                same = pool.submit(refuse_changed, self._table.source, Silent())
                jobs = self._shuffled(pool, progress) if self._options.shuffle else self._in_order()
                for done, rows in enumerate(ahead(pool, jobs, AHEAD)):
                    progress.update(stage, 0.5 + 0.5 * done / len(jobs))
                    sink.write(rows)
                same.result()
            finally:
                pool.shutdown(wait=True, cancel_futures=True)
        formulas = zip(self._released, self._formulas.sum(axis=0).tolist(), strict=False)
        found = {column: count for (column, _), count in formulas if count}
        return Written(sink.sha256, found, sink.encoding(self._encoding))

    def _decided(self, rows: slice) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Of each row its place (-1: not released) and which of the class sizes it has."""
        problem = self._plan.problem
        region = np.empty(rows.stop - rows.start, np.int32)
        translate(self._table.codes(problem.region_column)[rows], self._region_of, region)
        codes = np.empty((len(self._categories_of), region.size), np.int32)
        for q, (name, categories) in enumerate(zip(problem.quasi_identifiers, self._categories_of, strict=True)):
            translate(self._table.codes(name)[rows], categories, codes[q])
        area, size = self._decision.places(region, codes)
        return area, np.searchsorted(self._sizes, size).astype(np.int32) if self._sizes.size else area

    def _packed(self, place: int, area: Codes, size: Codes) -> list[Words]:
        """The numbers of a chunk's rows, given what was decided of them; notes the formulas in those released."""
        rows = self._chunks[place]
        columns = [
            self._table.codes(part.column)[rows] if part.column is not None else size if part.is_size else area
            for part in self._parts
        ]
        self._formulas[place] = [
            0 if part.formulas is None else np.count_nonzero(part.formulas[codes[area >= 0]])
            for part, codes in zip(self._parts, columns, strict=True)
        ]
        return self._packing.packed(columns)

    def _in_order(self) -> list[Callable[[], Bytes]]:
        def chunk_set(place: int) -> Bytes:
            area, size = self._decided(self._chunks[place])
            kept = np.flatnonzero(area >= 0).astype(np.int32)
            return self._packing.text(self._packed(place, area, size), kept)

        return [partial(chunk_set, place) for place in range(len(self._chunks))]

    def _shuffled(self, pool: ThreadPoolExecutor, progress: Progress) -> list[Callable[[], Bytes]]:
        """The rows bucket by bucket in memory, and what sets each bucket."""
        row_keys, chunks = RowKeys(self._order_key), self._chunks
        number = bucket_number(self._table.source, self._table.dialect)
        keys = np.empty(self._table.rows, np.uint64)
        area, bucket = np.empty(self._table.rows, np.int32), np.empty(self._table.rows, np.int16)
        size = np.empty(self._table.rows if self._sizes.size else 0, np.int32)
        counts = np.zeros((len(chunks), number), np.int64)

        def decide_chunk(place: int) -> None:
            rows = chunks[place]
            area[rows], of_class = self._decided(rows)
            if size.size:
                size[rows] = of_class
            keys[rows] = row_keys.of_rows(self._table.positions_of(rows))
            bucket[rows] = buckets_of_keys(keys[rows], number)
            bucket[rows][area[rows] < 0] = -1
            counts[place] = np.bincount(bucket[rows] + np.int16(1), minlength=number + 1)[1:]

        _all(pool, decide_chunk, len(chunks), progress, 0.0)
        borders = np.concatenate(([0], np.cumsum(counts.sum(axis=0))))
        cursors = borders[:-1] + np.cumsum(counts, axis=0) - counts
        arranged = [np.empty(int(borders[-1]), np.uint64) for _ in range(self._packing.words + 1)]

        def arrange_chunk(place: int) -> None:
            rows = chunks[place]
            places = np.empty(rows.stop - rows.start, np.int64)
            places_in_order(bucket[rows], cursors[place], places)
            words = self._packed(place, area[rows], size[rows] if size.size else size)
            for each, target in zip((*words, keys[rows]), arranged, strict=True):
                put_in_places(each, places, target)

        _all(pool, arrange_chunk, len(chunks), progress, 0.25)

        def bucket_set(place: int) -> Bytes:
            low, high = int(borders[place]), int(borders[place + 1])
            *words, keys_in_bucket = (part[low:high] for part in arranged)
            return self._packing.text(words, sort_by_keys(keys_in_bucket).astype(np.int32))

        return [partial(bucket_set, place) for place in range(number)]


def _all(pool: ThreadPoolExecutor, work: Callable[[int], None], number: int, progress: Progress, begin: float) -> None:
    for done, _ in enumerate(ahead(pool, (partial(work, place) for place in range(number)), AHEAD)):
        progress.update(WRITING, begin + 0.25 * done / number)


def rehearse() -> None:
    """The loops for codes of every size, and the look at a text."""
    packed.rehearse()
    is_formula(np.frombuffer(b"=", np.uint8), 0, 1)
    for kind in (np.uint8, np.uint16, np.uint32):
        translate(frozen(np.zeros(1, kind)), np.zeros(1, np.int32), np.zeros(1, np.int32))
