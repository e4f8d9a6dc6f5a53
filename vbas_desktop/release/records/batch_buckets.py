"""Batches of rows in a random order, or in one that what they hold and a secret decide; memory holds some at a time.

The rows wait in a temporary file without a name, which vanishes with the process.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .shuffle import assign, bucket_generator, mixed, mixing_keys

KEYED_ROWS = 1 << 20
HELD_ROWS = 1 << 20
"""So many rows wait in memory before they are divided, so that the pieces in the file are not too small."""


class _Buckets:
    """Buckets of rows, each in pieces of one file."""

    def __init__(self, folder: Path, key: bytes, number: int) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        self._key, self.number = key, number
        self._pieces: list[list[tuple[int, int]]] = [[] for _ in range(number)]

    def _put(self, table: Any, bucket: NDArray[np.int64]) -> None:
        """Append rows to their buckets."""
        arranged = table.take(pa.array(np.argsort(bucket, kind="stable")))
        bounds = np.concatenate(([0], np.cumsum(np.bincount(bucket, minlength=self.number)))).tolist()
        for number, pieces in enumerate(self._pieces):
            low, high = bounds[number], bounds[number + 1]
            if high > low:
                sink = pa.BufferOutputStream()
                with pa.ipc.new_stream(sink, table.schema) as writer:
                    writer.write_table(arranged.slice(low, high - low))
                data = sink.getvalue()
                pieces.append((self._file.tell(), data.size))
                self._file.write(data)

    def ordered(self) -> Iterator[tuple[int, Any]]:
        """All rows in their order, bucket after bucket, each with the number of its bucket."""
        for number, pieces in enumerate(self._pieces):
            parts = []
            for place, size in pieces:
                self._file.seek(place)
                parts.append(pa.ipc.open_stream(pa.py_buffer(self._file.read(size))).read_all())
            if parts:
                for batch in self._arranged(pa.concat_tables(parts), number).combine_chunks().to_batches():
                    yield number, batch

    def _arranged(self, table: Any, number: int) -> Any:
        """The rows of a bucket in their order."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of the temporary file, which ends it."""
        self._file.close()


class BatchBuckets(_Buckets):
    """Random buckets, their rows in random order."""

    def add(self, batch: Any, places: NDArray[np.int64]) -> None:
        """Take the rows of one batch, which stood at these places of the input."""
        self._put(pa.Table.from_batches([batch]), assign(places, mixing_keys(self._key), self.number))

    def _arranged(self, table: Any, number: int) -> Any:
        return table.take(pa.array(bucket_generator(self._key, number).permutation(table.num_rows)))


class KeyedBuckets(_Buckets):
    """Buckets by the leading bits of the keyed hash; within a bucket the rows are sorted by it.

    Neither the order of the source nor that in which an engine hands rows out leaves a trace, and the same rows with
    the same secret come out in the same order from every engine run.
    """

    def __init__(self, folder: Path, key: bytes, rows: int) -> None:
        super().__init__(folder, key, max(1, -(-rows // KEYED_ROWS)))
        self._held: list[Any] = []
        self._rows = 0

    def add(self, batch: Any, hashes: NDArray[np.uint64]) -> None:
        """Take the rows of one batch with the hashes of what they hold."""
        self._held.append(batch.append_column("", pa.array(keyed(hashes, mixing_keys(self._key)))))
        self._rows += batch.num_rows
        if self._rows >= HELD_ROWS:
            self._divide()

    def _divide(self) -> None:
        if self._held:
            table = pa.Table.from_batches(self._held)
            self._held, self._rows = [], 0
            order = np.asarray(table.column(table.num_columns - 1))
            bucket = ((order >> np.uint64(32)) * np.uint64(self.number)) >> np.uint64(32)
            self._put(table, bucket.astype(np.int64))

    def ordered(self) -> Iterator[tuple[int, Any]]:
        """All rows in their order, bucket after bucket, each with the number of its bucket."""
        self._divide()
        return super().ordered()

    def _arranged(self, table: Any, number: int) -> Any:
        last = table.num_columns - 1
        order = np.argsort(np.asarray(table.column(last)), kind="stable")
        return table.remove_column(last).take(pa.array(order))


def keyed(hashes: NDArray[np.uint64], keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The hashes mixed twice with a part of the key each."""
    with np.errstate(over="ignore"):
        return np.asarray(mixed(mixed(hashes + keys[0]) ^ keys[1]))
