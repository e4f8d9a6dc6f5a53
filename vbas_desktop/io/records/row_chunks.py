"""Describe the columns of a file that is written, and divide its rows into chunks of a bounded size."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

ROWS_PER_CHUNK = 1 << 17

_THREADS = 2
_CHUNKS_AHEAD = 3
_TEXT_ROWS = 1 << 14

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ReleasedColumn:
    """A column of a file that is written: codes of distinct values, or values that come with the rows.

    name: its name in the file.
    type: the Arrow type of its values.
    values: the distinct values (Arrow array); None if there are too many to code, so that they come with the rows.
    codes: returns the codes of records, given by their numbers; None with ``values``.
    """

    name: str
    type: Any
    values: Any = None
    codes: Callable[[NDArray[np.integer]], NDArray[np.integer]] | None = None

    @cached_property
    def value_bytes(self) -> NDArray[np.int64]:
        """The bytes of each distinct value."""
        return measure_values(self.values)


@dataclass(frozen=True, eq=False)
class RowChunk:
    """Consecutive rows of a file that is written.

    rows: the numbers of their records.
    arrays: the values of those columns that have no codes, in the order of the columns (Arrow arrays).
    """

    rows: NDArray[np.integer]
    arrays: tuple[Any, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def slice(self, start: int, end: int) -> RowChunk:
        """Return the rows from ``start`` to ``end``."""
        return RowChunk(
            self.rows[start:end], tuple(array.slice(start, end - start) for array in self.arrays)
        )


def chunk_texts(
    names: Sequence[str], rows: Iterable[Sequence[str]]
) -> tuple[list[ReleasedColumn], Iterator[RowChunk]]:
    """Return columns of text with these names, and rows of texts in chunks, for the writers of CSV and Parquet."""
    return [ReleasedColumn(name, pa.string()) for name in names], _chunk_texts(iter(rows))


def _chunk_texts(rows: Iterator[Sequence[str]]) -> Iterator[RowChunk]:
    while block := list(islice(rows, _TEXT_ROWS)):
        columns = zip(*block, strict=True)
        yield RowChunk(np.arange(len(block)), tuple(pa.array(column, pa.string()) for column in columns))


def divide_rows(
    columns: Sequence[ReleasedColumn],
    chunks: Iterable[RowChunk],
    most_bytes: int,
    most_rows: int | None = None,
) -> Iterator[RowChunk]:
    """Divide rows again, so that each chunk has ``most_rows`` rows or ends with the row that makes it large enough.

    How the rows were divided before leaves no trace, so that the division tells nothing of records that are not
    among them.
    """
    most_rows = most_rows or ROWS_PER_CHUNK
    pending: list[RowChunk] = []
    rows = 0
    size = 0
    for chunk in chunks:
        ends = np.cumsum(_measure_rows(columns, chunk, most_bytes // most_rows))
        start = 0
        while start < len(chunk):
            before = int(ends[start - 1]) if start else 0
            full = int(np.searchsorted(ends, before + most_bytes - size)) + 1
            end = min(start + most_rows - rows, full, len(chunk))
            pending.append(chunk.slice(start, end))
            rows += end - start
            size += int(ends[end - 1]) - before
            if rows == most_rows or size >= most_bytes:
                yield _join(pending)
                pending = []
                rows = 0
                size = 0
            start = end
    if pending:
        yield _join(pending)


def _join(chunks: Sequence[RowChunk]) -> RowChunk:
    if len(chunks) == 1:
        return chunks[0]
    arrays = zip(*(chunk.arrays for chunk in chunks), strict=True)
    return RowChunk(
        np.concatenate([chunk.rows for chunk in chunks]), tuple(map(pa.concat_arrays, arrays))
    )


def _measure_rows(
    columns: Sequence[ReleasedColumn], chunk: RowChunk, harmless: int
) -> NDArray[np.int64]:
    """Count the bytes of the values of each row; 0 if all are coded and no row has ``harmless`` bytes.

    Rows with other values are always measured: whether they are must not depend on values of records that are not
    among them.
    """
    coded = [column for column in columns if column.codes is not None]
    sizes = np.zeros(len(chunk), np.int64)
    longest = sum(int(column.value_bytes.max(initial=0)) for column in coded)
    if not chunk.arrays and longest < harmless:
        return sizes
    for array in chunk.arrays:
        sizes += measure_values(array)
    for column in coded:
        assert column.codes is not None
        sizes += column.value_bytes[column.codes(chunk.rows)]
    return sizes


def measure_values(array: Any) -> NDArray[np.int64]:
    """Count the bytes of each value of an Arrow array, without what Arrow adds to them."""
    kind = array.type
    if pa.types.is_null(kind):
        return np.zeros(len(array), np.int64)
    if pa.types.is_struct(kind):
        return np.sum([measure_values(field) for field in array.flatten()], axis=0, dtype=np.int64)
    if pa.types.is_fixed_size_list(kind):
        return _sum_lists(array.flatten(), pc.list_value_length(array))
    if pa.types.is_map(kind):
        entries = array.cast(pa.list_(pa.struct([("key", kind.key_type), ("item", kind.item_type)])))
        return measure_values(entries)
    if pa.types.is_nested(kind):
        return _sum_lists(array.flatten(), pc.list_value_length(array))
    try:
        return np.full(len(array), kind.bit_width // 8, np.int64)
    except ValueError:
        # Only texts and bytes have no fixed width.
        lengths = pc.fill_null(pc.binary_length(array), 0)
        return lengths.to_numpy(zero_copy_only=False).astype(np.int64)


def _sum_lists(items: Any, lengths: Any) -> NDArray[np.int64]:
    """Add up the bytes of the items of each list."""
    ends = np.cumsum(pc.fill_null(lengths, 0).to_numpy(zero_copy_only=False).astype(np.int64))
    running = np.concatenate(([0], np.cumsum(measure_values(items))))
    return np.diff(running[ends], prepend=0)


def prepare_ahead(prepare: Callable[[RowChunk], T], chunks: Iterable[RowChunk]) -> Iterator[T]:
    """Prepare chunks in two threads, some ahead of the one that is asked for; their order stays."""
    waiting: deque[Future[T]] = deque()
    with ThreadPoolExecutor(_THREADS, "chunks") as pool:
        try:
            for chunk in chunks:
                waiting.append(pool.submit(prepare, chunk))
                if len(waiting) > _CHUNKS_AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
