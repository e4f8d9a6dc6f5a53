"""The random order of rows (`shuffle`) where they come as batches of columns instead of bytes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .shuffle import assign, bucket_generator, mixing_keys


class BatchBuckets:
    """Random buckets of rows in one nameless temporary file."""

    def __init__(self, folder: Path, key: bytes, number: int) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        self._key, self.number = key, number
        self._pieces: list[list[tuple[int, int]]] = [[] for _ in range(number)]
        self._schema: Any = None

    def add(self, batch: Any, places: NDArray[np.int64]) -> None:
        """Append the rows of one batch, which stood at these places of the input, to their buckets."""
        self._schema = batch.schema
        bucket = assign(places, mixing_keys(self._key), self.number)
        arranged = batch.take(pa.array(np.argsort(bucket, kind="stable")))
        bounds = np.concatenate(([0], np.cumsum(np.bincount(bucket, minlength=self.number))))
        for number in range(self.number):
            rows = int(bounds[number + 1] - bounds[number])
            if rows:
                # The copy leaves out what the other buckets of the batch hold.
                piece = arranged.take(pa.array(np.arange(bounds[number], bounds[number + 1])))
                data = piece.serialize()
                self._pieces[number].append((self._file.tell(), data.size))
                self._file.write(data)

    def shuffled(self, number: int) -> Iterator[Any]:
        """The rows of one bucket in random order."""
        batches = []
        for place, size in self._pieces[number]:
            self._file.seek(place)
            batches.append(pa.ipc.read_record_batch(pa.py_buffer(self._file.read(size)), self._schema))
        if not batches:
            return
        table = pa.Table.from_batches(batches)
        order = bucket_generator(self._key, number).permutation(table.num_rows)
        yield from table.take(pa.array(order)).combine_chunks().to_batches()

    def close(self) -> None:
        """Let go of the temporary file, which ends it."""
        self._file.close()
