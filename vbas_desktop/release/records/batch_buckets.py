"""Put batches of rows into the order of their keys, with some of them in memory at a time.

The rows wait in a temporary file without a name, which vanishes with the process.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from vbas_desktop.io.records.row_order import buckets_of_keys, sort_by_keys

HELD_ROWS = 1 << 20
"""So many rows wait in memory before they are divided, so that the pieces in the file are not too small."""
HELD_BYTES = 64 << 20
"""Rows with so many bytes do not wait for others."""
LARGEST_BUCKET_BYTES = 64 << 20
"""A bucket with more bytes in the file is divided again before it is sorted."""
_MOST_BUCKETS = 1 << 31


@dataclass(frozen=True)
class _Piece:
    """Rows of one bucket that were written together."""

    start: int
    size: int


class BatchBuckets:
    """Buckets of rows by the leading bits of their keys, each bucket in pieces of one file.

    The key of a row is its last column while it waits. Few rows can have many bytes, so what is held in memory is
    bounded by rows and by bytes. The order of the rows depends on neither.
    """

    def __init__(self, folder: Path, number: int) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        self.number = number
        self._pieces: list[list[_Piece]] = [[] for _ in range(number)]
        self._held: list[Any] = []
        self._held_rows = 0
        self._held_bytes = 0

    def add(self, batch: Any, keys: NDArray[np.uint64]) -> None:
        """Take the rows of one batch with their keys."""
        self._held.append(batch.append_column("", pa.array(keys)))
        self._held_rows += batch.num_rows
        self._held_bytes += batch.nbytes
        if self._held_rows >= HELD_ROWS or self._held_bytes >= HELD_BYTES:
            self._divide_held()

    def _divide_held(self) -> None:
        """Append the rows in memory to their buckets."""
        if not self._held:
            return
        table = pa.Table.from_batches(self._held)
        self._held = []
        self._held_rows = 0
        self._held_bytes = 0
        self._divide(table, self.number, 0, self._pieces)

    def _divide(self, table: Any, number: int, first: int, buckets: list[list[_Piece]]) -> None:
        """Write rows to their buckets; ``buckets`` are those from ``first`` on where all keys have ``number``."""
        bucket = buckets_of_keys(_keys(table), number) - first
        arranged = table.take(pa.array(np.argsort(bucket, kind="stable")))
        bounds = np.concatenate(([0], np.cumsum(np.bincount(bucket, minlength=len(buckets))))).tolist()
        self._file.seek(0, os.SEEK_END)
        for low, high, pieces in zip(bounds[:-1], bounds[1:], buckets, strict=True):
            if high > low:
                sink = pa.BufferOutputStream()
                with pa.ipc.new_stream(sink, table.schema) as writer:
                    writer.write_table(arranged.slice(low, high - low))
                data = sink.getvalue()
                pieces.append(_Piece(self._file.tell(), data.size))
                self._file.write(data)

    def _read(self, piece: _Piece) -> Any:
        self._file.seek(piece.start)
        return pa.ipc.open_stream(pa.py_buffer(self._file.read(piece.size))).read_all()

    def _split(self, bucket: int, pieces: list[_Piece]) -> list[list[_Piece]]:
        """Divide a bucket so that its parts, one after the other, are small enough; usually it is the only part."""
        size = sum(piece.size for piece in pieces)
        number = min(-(-size // LARGEST_BUCKET_BYTES), _MOST_BUCKETS // self.number)
        if number <= 1:
            return [pieces]
        parts: list[list[_Piece]] = [[] for _ in range(number)]
        for piece in pieces:
            self._divide(self._read(piece), self.number * number, bucket * number, parts)
        return parts

    def ordered(self) -> Iterator[tuple[int, Any]]:
        """Yield all rows in the order of their keys, bucket after bucket, each batch with the number of its bucket."""
        self._divide_held()
        for bucket, pieces in enumerate(self._pieces):
            for part in self._split(bucket, pieces):
                if part:
                    table = _sorted(pa.concat_tables([self._read(piece) for piece in part]))
                    for batch in table.combine_chunks().to_batches():
                        yield bucket, batch

    def close(self) -> None:
        """Close the temporary file, which removes it."""
        self._file.close()


def _keys(table: Any) -> NDArray[np.uint64]:
    """Return the keys of rows that wait."""
    return np.asarray(table.column(table.num_columns - 1))


def _sorted(table: Any) -> Any:
    """Sort rows by their keys, and take the keys away."""
    order = sort_by_keys(_keys(table))
    return table.remove_column(table.num_columns - 1).take(pa.array(order))


def keys_from_hashes(hashes: NDArray[np.uint64], order_key: bytes) -> NDArray[np.uint64]:
    """Make keys from hashes of what rows hold, for engines that give their rows in no fixed order.

    Neither the order of the source nor that in which an engine hands rows out leaves a trace, and equal rows with the
    same secret come out in the same order from every engine.
    """
    first, second = np.frombuffer(order_key[:16], "<u8").astype(np.uint64)
    with np.errstate(over="ignore"):
        return _mix(_mix(hashes + first) ^ second)


def _mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix numbers so that every bit depends on all others (splitmix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
