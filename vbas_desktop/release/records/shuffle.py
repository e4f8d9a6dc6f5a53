"""Putting rows into a random order that does not need them all in memory: random buckets, then each bucket by itself.

The buckets are parts of one temporary file without a name, so that nothing of it survives the process, however it ends.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.compiled import compiled
from vbas_desktop.io.records.row_order import KEY_BYTES, RowKeys, buckets_of_keys, sort_by_keys
from vbas_desktop.model.file_format import Dialect
from vbas_desktop.model.records import RecordTable
from vbas_desktop.model.source import Source
from vbas_desktop.release.plan import Plan
from vbas_desktop.settings.release import ReleaseOptions

from .fields import Bytes

BUCKET_BYTES = 1 << 20
"""Small enough that a bucket is shuffled within the processor's cache."""
MOST_BUCKETS = 512
"""So that the pieces of a bucket, one per block, stay large enough to be read quickly."""
LENGTH_BYTES = 4
HEAD_BYTES = KEY_BYTES + LENGTH_BYTES
"""What stands before each row in a bucket: its key and its length."""


def bucket_number(source: Source, dialect: Dialect) -> int:
    """Return how many buckets keep one bucket near `BUCKET_BYTES`."""
    # A compressed file holds about six times its size.
    size = source.size_bytes * (6 if dialect.compressed else 1)
    return max(1, min(MOST_BUCKETS, -(-size // BUCKET_BYTES)))


@compiled
def put_number(out: Bytes, start: int, number: np.uint64, width: int) -> None:
    """Write a number as so many bytes, least significant first."""
    for byte in range(width):
        out[start + byte] = (number >> np.uint64(8 * byte)) & np.uint64(255)


@compiled
def get_number(buf: Bytes, start: int, width: int) -> np.uint64:
    """Read a number of so many bytes, least significant first."""
    number = np.uint64(0)
    for byte in range(width):
        number |= np.uint64(buf[start + byte]) << np.uint64(8 * byte)
    return number


@compiled
def scatter(
    buf: Bytes,
    ends: NDArray[np.int64],
    keys: NDArray[np.uint64],
    bucket: NDArray[np.int64],
    bounds: NDArray[np.int64],
    out: Bytes,
) -> None:
    """Copy the rows bucket after bucket, each behind its key and length; ``bounds`` gets where the buckets begin."""
    for i in range(ends.size):
        bounds[bucket[i] + 1] += ends[i] - (ends[i - 1] if i else np.int64(0)) + HEAD_BYTES
    for b in range(bounds.size - 1):
        bounds[b + 1] += bounds[b]
    cursor = bounds[:-1].copy()
    for i in range(ends.size):
        start = ends[i - 1] if i else np.int64(0)
        at = cursor[bucket[i]]
        put_number(out, at, keys[i], KEY_BYTES)
        put_number(out, at + KEY_BYTES, np.uint64(ends[i] - start), LENGTH_BYTES)
        at += HEAD_BYTES
        for j in range(start, ends[i]):
            out[at] = buf[j]
            at += 1
        cursor[bucket[i]] = at


@compiled
def find_rows(buf: Bytes, starts: NDArray[np.int64], keys: NDArray[np.uint64]) -> int:
    """Find where the rows of a bucket begin, and their keys; returns their number."""
    at, rows = 0, 0
    while at < buf.size:
        starts[rows] = at
        keys[rows] = get_number(buf, at, KEY_BYTES)
        rows += 1
        at += HEAD_BYTES + int(get_number(buf, at + KEY_BYTES, LENGTH_BYTES))
    return rows


@compiled
def gather(buf: Bytes, starts: NDArray[np.int64], out: Bytes) -> int:
    """Copy the rows that begin there, one after the other, without keys and lengths; returns the bytes written."""
    at = 0
    for i in range(starts.size):
        length = np.int64(get_number(buf, starts[i] + KEY_BYTES, LENGTH_BYTES))
        first = starts[i] + HEAD_BYTES
        for j in range(first, first + length):
            out[at] = buf[j]
            at += 1
    return at


class Arranged:
    """The rows of one block, bucket after bucket, each behind its key and length."""

    def __init__(self, buf: Bytes, ends: NDArray[np.int64], keys: NDArray[np.uint64], n_buckets: int) -> None:
        self.bytes = np.empty((int(ends[-1]) if ends.size else 0) + HEAD_BYTES * ends.size, np.uint8)
        self.bounds = np.zeros(n_buckets + 1, np.int64)
        scatter(buf, ends, keys, buckets_of_keys(keys, n_buckets), self.bounds, self.bytes)


class Buckets:
    """Collects arranged blocks and gives the rows back sorted by their keys."""

    def __init__(self, folder: Path, keys: RowKeys, number: int) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        self.keys = keys
        self.number = number
        self._lock = threading.Lock()
        self._index: list[tuple[int, NDArray[np.int64]]] = []
        self._end = 0

    def add(self, block: Arranged) -> None:
        """Append the rows of one block to their buckets."""
        view = memoryview(block.bytes.data)
        while view:
            view = view[self._file.write(view) :]
        self._index.append((self._end, block.bounds))
        self._end += block.bytes.size

    def jobs(self) -> list[Callable[[], Bytes]]:
        """Return functions that give the rows of each bucket in their order."""
        return [partial(self._bucket, number) for number in range(self.number)]

    def _bucket(self, number: int) -> Bytes:
        pieces = []
        for start, bounds in self._index:
            low, high = int(bounds[number]), int(bounds[number + 1])
            if high > low:
                with self._lock:
                    self._file.seek(start + low)
                    pieces.append(self._file.read(high - low))
        return sort_rows(np.frombuffer(b"".join(pieces), np.uint8))

    def close(self) -> None:
        """Let go of the temporary file, which ends it."""
        self._file.close()


def sort_rows(buf: Bytes) -> Bytes:
    """Return the rows of a bucket sorted by their keys, without keys and lengths."""
    most = buf.size // HEAD_BYTES
    starts = np.empty(most, np.int64)
    keys = np.empty(most, np.uint64)
    rows = find_rows(buf, starts, keys)
    order = sort_by_keys(keys[:rows])
    out = np.empty(buf.size, np.uint8)
    return out[: gather(buf, starts[order], out)]


def order_key(plan: Plan, table: RecordTable, options: ReleaseOptions) -> bytes:
    """512 bits from the seed, the hash of the record file and what is released.

    The hash never leaves the organisation, so that a seed that was guessed tells nothing. With what is released mixed
    in, two releases of one file have unrelated orders even if they were given the same seed: rows that are in both
    cannot be told by their places.
    """
    problem = plan.problem
    content = {
        "regions": hashlib.sha256(plan.membership.astype(np.int64).tobytes()).hexdigest(),
        "k": problem.k,
        "region_column": problem.region_column,
        "quasi_identifiers": list(problem.quasi_identifiers),
        "groupings": [[grouping.column, dict(grouping.groups)] for grouping in problem.groupings],
        "columns": options.released_columns(table.dialect.header),
        "class_size": options.class_size,
        "form": [options.format, options.delimiter, options.escape_formulas],
    }
    if options.record_key is not None:
        content["record_key"] = options.record_key
    if options.aggregate:
        content["aggregate"] = [list(options.aggregate), options.aggregate_classes]
    told = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hashlib.sha512(f"vbas row order {options.shuffle_seed} {table.source.identity} {told}".encode()).digest()
