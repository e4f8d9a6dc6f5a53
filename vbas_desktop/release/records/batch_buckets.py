"""Put batches of rows into the order of their keys, with some of them in memory at a time.

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

from vbas_desktop.io.records.row_order import buckets_of_keys, sort_by_keys

HELD_ROWS = 1 << 20
"""So many rows wait in memory before they are divided, so that the pieces in the file are not too small."""


class BatchBuckets:
    """Buckets of rows by the leading bits of their keys, each bucket in pieces of one file.

    The key of a row is its last column while it waits.
    """

    def __init__(self, folder: Path, number: int) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        self.number = number
        self._pieces: list[list[tuple[int, int]]] = [[] for _ in range(number)]
        self._held: list[Any] = []
        self._held_rows = 0

    def add(self, batch: Any, keys: NDArray[np.uint64]) -> None:
        """Take the rows of one batch with their keys."""
        self._held.append(batch.append_column("", pa.array(keys)))
        self._held_rows += batch.num_rows
        if self._held_rows >= HELD_ROWS:
            self._divide()

    def _divide(self) -> None:
        """Append the rows in memory to their buckets."""
        if not self._held:
            return
        table = pa.Table.from_batches(self._held)
        self._held = []
        self._held_rows = 0
        bucket = buckets_of_keys(np.asarray(table.column(table.num_columns - 1)), self.number)
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
        """Yield all rows in the order of their keys, bucket after bucket, each batch with the number of its bucket."""
        self._divide()
        for number, pieces in enumerate(self._pieces):
            parts = []
            for start, size in pieces:
                self._file.seek(start)
                parts.append(pa.ipc.open_stream(pa.py_buffer(self._file.read(size))).read_all())
            if parts:
                for batch in _sorted(pa.concat_tables(parts)).combine_chunks().to_batches():
                    yield number, batch

    def close(self) -> None:
        """Close the temporary file, which removes it."""
        self._file.close()


def _sorted(table: Any) -> Any:
    """Sort rows by their keys, and take the keys away."""
    last = table.num_columns - 1
    order = sort_by_keys(np.asarray(table.column(last)))
    return table.remove_column(last).take(pa.array(order))


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
