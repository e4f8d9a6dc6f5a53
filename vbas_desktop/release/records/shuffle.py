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
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.compiled import compiled, inlined
from vbas_desktop.domain.source import Source
from vbas_desktop.files.dialect import Dialect
from vbas_desktop.files.records.table import RecordTable
from vbas_desktop.release.plan import Plan
from vbas_desktop.settings.release import ReleaseOptions

from .fields import Bytes

BUCKET_BYTES = 1 << 20
"""Small enough that a bucket is shuffled within the processor's cache."""
MOST_BUCKETS = 512
"""So that the pieces of a bucket, one per block, stay large enough to be read quickly."""
LENGTH_BYTES = 4
MIXING_BYTES = 16
"""How much of the key assigns rows to buckets; the rest orders the rows of each."""


def mixing_keys(key: bytes) -> NDArray[np.uint64]:
    """The part of the key that assigns rows to buckets."""
    return np.frombuffer(key[:MIXING_BYTES], "<u8").astype(np.uint64)


def bucket_generator(key: bytes, number: int) -> np.random.Generator:
    """What orders the rows of one bucket."""
    return np.random.default_rng([number, *np.frombuffer(key[MIXING_BYTES:], "<u4").tolist()])


def bucket_number(source: Source, dialect: Dialect) -> int:
    """How many buckets keep one bucket near `BUCKET_BYTES`; depends on the input alone, so the order does too."""
    # A compressed file holds about six times its size.
    size = source.size_bytes * (6 if dialect.compressed else 1)
    return max(1, min(MOST_BUCKETS, -(-size // BUCKET_BYTES)))


def mixed(z: Any) -> Any:
    """A number of 64 bits, or an array of them, mixed so that every bit depends on all others (splitmix64)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


_mixed = inlined(mixed)


@compiled
def assign(places: NDArray[np.int64], keys: NDArray[np.uint64], buckets: int) -> NDArray[np.int32]:
    """A bucket for each row by a mixing function of its place in the input (splitmix64): every one equally likely.

    Twice with a key each: after one round, the buckets under another key could be those of places farther on.
    """
    out = np.empty(places.size, np.int32)
    for i in range(places.size):
        z = _mixed(keys[0] + np.uint64(places[i]) * np.uint64(0x9E3779B97F4A7C15))
        z = _mixed(z ^ keys[1])
        out[i] = np.int32(((z >> np.uint64(32)) * np.uint64(buckets)) >> np.uint64(32))
    return out


@compiled
def scatter(
    buf: Bytes, ends: NDArray[np.int64], bucket: NDArray[np.int32], bounds: NDArray[np.int64], out: Bytes
) -> None:
    """Copy the rows bucket after bucket, each with its length before it; ``bounds`` gets where the buckets begin."""
    for i in range(ends.size):
        bounds[bucket[i] + 1] += ends[i] - (ends[i - 1] if i else np.int64(0)) + LENGTH_BYTES
    for b in range(bounds.size - 1):
        bounds[b + 1] += bounds[b]
    place = bounds[:-1].copy()
    for i in range(ends.size):
        b, start = bucket[i], ends[i - 1] if i else np.int64(0)
        at, length = place[b], ends[i] - start
        for byte in range(LENGTH_BYTES):
            out[at + byte] = (length >> (8 * byte)) & 255
        at += LENGTH_BYTES
        for j in range(start, ends[i]):
            out[at] = buf[j]
            at += 1
        place[b] = at


@compiled
def find_rows(buf: Bytes, starts: NDArray[np.int64]) -> int:
    """Where the rows begin (their lengths first); returns their number."""
    at, rows = 0, 0
    while at < buf.size:
        starts[rows] = at
        rows += 1
        length = np.int64(0)
        for byte in range(LENGTH_BYTES):
            length |= np.int64(buf[at + byte]) << (8 * byte)
        at += int(length) + LENGTH_BYTES
    return rows


@compiled
def drawn_order(randoms: NDArray[np.uint32]) -> NDArray[np.int32]:
    """The order in which `gather` would take so many rows."""
    order, left_over = np.empty(randoms.size, np.int32), np.arange(randoms.size).astype(np.int32)
    for left in range(randoms.size, 0, -1):
        chosen = np.int64((np.uint64(randoms[left - 1]) * np.uint64(left)) >> np.uint64(32))
        order[randoms.size - left] = left_over[chosen]
        left_over[chosen] = left_over[left - 1]
    return order


@compiled
def gather(buf: Bytes, starts: NDArray[np.int64], randoms: NDArray[np.uint32], out: Bytes) -> int:
    """Copy the rows in random order (Fisher and Yates), without their lengths; returns the bytes written."""
    at = 0
    for left in range(randoms.size, 0, -1):
        chosen = np.int64((np.uint64(randoms[left - 1]) * np.uint64(left)) >> np.uint64(32))
        start = starts[chosen]
        starts[chosen] = starts[left - 1]
        length = np.int64(0)
        for byte in range(LENGTH_BYTES):
            length |= np.int64(buf[start + byte]) << (8 * byte)
        for j in range(start + LENGTH_BYTES, start + LENGTH_BYTES + length):
            out[at] = buf[j]
            at += 1
    return at


class Arranged:
    """The rows of one block, bucket after bucket, each with its length before it."""

    def __init__(self, buf: Bytes, ends: NDArray[np.int64], bucket: NDArray[np.int32], buckets: int) -> None:
        self.bytes = np.empty((int(ends[-1]) if ends.size else 0) + LENGTH_BYTES * ends.size, np.uint8)
        self.bounds = np.zeros(buckets + 1, np.int64)
        scatter(buf, ends, bucket, self.bounds, self.bytes)


class Buckets:
    """Collects arranged blocks and gives the rows back in random order."""

    def __init__(self, folder: Path, key: bytes, number: int) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        self._key, self.number = key, number
        self._lock = threading.Lock()
        self._index: list[tuple[int, NDArray[np.int64]]] = []
        self._end = 0

    @property
    def mixing_keys(self) -> NDArray[np.uint64]:
        """The part of the key that assigns rows to buckets."""
        return mixing_keys(self._key)

    def add(self, block: Arranged) -> None:
        """Append the rows of one block to their buckets."""
        view = memoryview(block.bytes.data)
        while view:
            view = view[self._file.write(view) :]
        self._index.append((self._end, block.bounds))
        self._end += block.bytes.size

    def jobs(self) -> list[Callable[[], Bytes]]:
        """What gives the rows of each bucket in random order."""
        return [partial(self._bucket, number) for number in range(self.number)]

    def _bucket(self, number: int) -> Bytes:
        pieces = []
        for start, bounds in self._index:
            low, high = int(bounds[number]), int(bounds[number + 1])
            if high > low:
                with self._lock:
                    self._file.seek(start + low)
                    pieces.append(self._file.read(high - low))
        return shuffled_rows(np.frombuffer(b"".join(pieces), np.uint8), bucket_generator(self._key, number))

    def close(self) -> None:
        """Let go of the temporary file, which ends it."""
        self._file.close()


def shuffled_rows(buf: Bytes, generator: np.random.Generator) -> Bytes:
    """The rows of a bucket in random order, without their lengths."""
    starts = np.empty(buf.size // LENGTH_BYTES, np.int64)
    rows = find_rows(buf, starts)
    out = np.empty(buf.size, np.uint8)
    return out[: gather(buf, starts, generator.integers(0, 1 << 32, rows, np.uint32), out)]


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
    told = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hashlib.sha512(f"vbas row order {options.shuffle_seed} {table.source.sha256} {told}".encode()).digest()
