"""Rows in an order that what they hold and a secret decide, and nothing else; memory holds some of them at a time.

Neither the order of the source nor that in which an engine hands rows out leaves a trace, and the same rows with the
same secret come out in the same order from every engine run. The rows wait in a temporary file without a name, which
vanishes with the process.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .shuffle import mixing_keys

BUCKET_ROWS = 1 << 20
HELD_ROWS = 1 << 20
"""So many rows wait in memory before they are divided, so that the pieces in the file are not too small."""


class KeyedBuckets:
    """Buckets by the leading bits of the keyed hash; within a bucket the rows are sorted by it."""

    def __init__(self, folder: Path, key: bytes, rows: int) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        self._keys = mixing_keys(key)
        self.number = max(1, -(-rows // BUCKET_ROWS))
        self._pieces: list[list[tuple[int, int]]] = [[] for _ in range(self.number)]
        self._held: list[Any] = []
        self._rows = 0
        self._schema: Any = None

    def add(self, batch: Any, hashes: NDArray[np.uint64]) -> None:
        """Take the rows of one batch with the hashes of what they hold."""
        order = keyed(hashes, self._keys)
        self._held.append(batch.append_column("", pa.array(order)))
        self._rows += batch.num_rows
        if self._rows >= HELD_ROWS:
            self._divide()

    def _divide(self) -> None:
        if not self._held:
            return
        table = pa.Table.from_batches(self._held)
        self._held, self._rows = [], 0
        self._schema = table.schema
        order = np.asarray(table.column(table.num_columns - 1))
        bucket = ((order >> np.uint64(32)) * np.uint64(self.number)) >> np.uint64(32)
        arranged = table.take(pa.array(np.argsort(bucket, kind="stable")))
        bounds = np.concatenate(([0], np.cumsum(np.bincount(bucket.astype(np.int64), minlength=self.number))))
        for number in range(self.number):
            low, high = int(bounds[number]), int(bounds[number + 1])
            if high > low:
                sink = pa.BufferOutputStream()
                with pa.ipc.new_stream(sink, self._schema) as writer:
                    writer.write_table(arranged.slice(low, high - low))
                data = sink.getvalue()
                self._pieces[number].append((self._file.tell(), data.size))
                self._file.write(data)

    def ordered(self) -> Iterator[tuple[int, Any]]:
        """All rows in their order, bucket after bucket, each with the number of its bucket."""
        self._divide()
        for number, pieces in enumerate(self._pieces):
            parts = []
            for place, size in pieces:
                self._file.seek(place)
                parts.append(pa.ipc.open_stream(pa.py_buffer(self._file.read(size))).read_all())
            if not parts:
                continue
            table = pa.concat_tables(parts)
            last = table.num_columns - 1
            order = np.argsort(np.asarray(table.column(last)), kind="stable")
            for batch in table.remove_column(last).take(pa.array(order)).combine_chunks().to_batches():
                yield number, batch

    def close(self) -> None:
        """Let go of the temporary file, which ends it."""
        self._file.close()


def keyed(hashes: NDArray[np.uint64], keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The hashes mixed twice with a part of the key each (splitmix64)."""
    with np.errstate(over="ignore"):
        return _mixed(_mixed(hashes + keys[0]) ^ keys[1])


def _mixed(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
