"""Putting rows into a random order that does not need them all in memory: random buckets, then each bucket by itself.

The buckets are parts of one temporary file without a name, so that nothing of it survives the process, however it ends.
"""

from __future__ import annotations

import hashlib
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .fields import Bytes

BUCKET_BYTES = 8 << 20
PART_BYTES = 128 << 10


def shuffle_key(seed: int, sha256: str) -> bytes:
    """The secret of the order: from the seed and the hash of the record file, which never leaves the house."""
    return hashlib.sha256(f"vbas row order {seed} {sha256}".encode()).digest()


def bucket_number(size_bytes: int) -> int:
    """How many buckets keep one bucket near `BUCKET_BYTES`; depends on the input alone, so the order does too."""
    return max(1, min(65_536, -(-size_bytes // BUCKET_BYTES)))


@njit(cache=True, nogil=True)
def assign(places: NDArray[np.int64], key: np.uint64, buckets: int) -> NDArray[np.int32]:
    """A bucket for each row by a mixing function of its place in the input (splitmix64): every one equally likely."""
    out = np.empty(places.size, np.int32)
    for i in range(places.size):
        z = key + np.uint64(places[i]) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
        out[i] = np.int32(((z >> np.uint64(32)) * np.uint64(buckets)) >> np.uint64(32))
    return out


@njit(cache=True, nogil=True)
def permuted(rows: NDArray[np.int64], randoms: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Row numbers of parts of so many rows each, every part in random order (Fisher and Yates)."""
    order = np.arange(randoms.size)
    low = 0
    for part in range(rows.size):
        for i in range(rows[part] - 1, 0, -1):
            j = np.int64((np.uint64(randoms[low + i]) * np.uint64(i + 1)) >> np.uint64(32))
            order[low + i], order[low + j] = order[low + j], order[low + i]
        low += rows[part]
    return order


@njit(cache=True, nogil=True)
def gather(buf: Bytes, ends: NDArray[np.int64], order: NDArray[np.int64], out: Bytes) -> None:
    """Copy the rows of ``buf`` in this order."""
    at = 0
    for i in range(order.size):
        row = order[i]
        start = ends[row - 1] if row else np.int64(0)
        for j in range(start, ends[row]):
            out[at] = buf[j]
            at += 1


@njit(cache=True, nogil=True)
def scatter(
    buf: Bytes,
    ends: NDArray[np.int64],
    bucket: NDArray[np.int32],
    rows: NDArray[np.int64],
    bounds: NDArray[np.int64],
    out: Bytes,
    lengths: NDArray[np.uint32],
) -> None:
    """Copy the rows bucket after bucket, in their order within each; count ``rows`` and note where buckets end."""
    for i in range(ends.size):
        rows[bucket[i]] += 1
        bounds[bucket[i] + 1] += ends[i] - (ends[i - 1] if i else np.int64(0))
    for b in range(rows.size):
        bounds[b + 1] += bounds[b]
    place = bounds[:-1].copy()
    index = np.cumsum(rows) - rows
    for i in range(ends.size):
        b, start = bucket[i], ends[i - 1] if i else np.int64(0)
        lengths[index[b]] = ends[i] - start
        index[b] += 1
        at = place[b]
        for j in range(start, ends[i]):
            out[at] = buf[j]
            at += 1
        place[b] = at


class Arranged:
    """The rows of one block, bucket after bucket."""

    def __init__(self, buf: Bytes, ends: NDArray[np.int64], bucket: NDArray[np.int32], buckets: int) -> None:
        self.bytes = np.empty(int(ends[-1]) if ends.size else 0, np.uint8)
        self.lengths = np.empty(ends.size, np.uint32)
        self.rows, self.byte_bounds = np.zeros(buckets, np.int64), np.zeros(buckets + 1, np.int64)
        scatter(buf, ends, bucket, self.rows, self.byte_bounds, self.bytes, self.lengths)


def shuffled_rows(buf: Bytes, ends: NDArray[np.int64], generator: np.random.Generator) -> Bytes:
    """The rows in random order: first into parts that fit into the processor's cache, then each part by itself."""
    parts = max(1, buf.size // PART_BYTES)
    block = Arranged(buf, ends, generator.integers(0, parts, ends.size, np.int32), parts)
    order = permuted(block.rows, generator.integers(0, 1 << 32, ends.size, np.uint32))
    out = np.empty(buf.size, np.uint8)
    gather(block.bytes, np.cumsum(block.lengths, dtype=np.int64), order, out)
    return out


class Buckets:
    """Collects arranged blocks and gives the rows back in random order."""

    def __init__(self, folder: Path, key: bytes, number: int) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        self._key, self.number = key, number
        self._lock = threading.Lock()
        self._index: list[tuple[int, NDArray[np.int64], NDArray[np.int64]]] = []
        self._end = 0

    @property
    def mixing_key(self) -> np.uint64:
        """The part of the key that assigns rows to buckets."""
        return np.frombuffer(self._key[:8], "<u8").astype(np.uint64)[0]

    def add(self, block: Arranged) -> None:
        """Append the rows of one block to their buckets."""
        start = self._end
        for part in (block.bytes, block.lengths):
            _write_all(self._file, part)
            self._end += part.nbytes
        row_bounds = np.concatenate(([0], np.cumsum(block.rows))).astype(np.int64)
        self._index.append((start, block.byte_bounds, row_bounds))

    def shuffled(self, pool: ThreadPoolExecutor) -> Iterator[Bytes]:
        """The rows of one bucket after the other, each bucket in random order; two are prepared ahead."""
        waiting = [pool.submit(self._bucket, number) for number in range(min(3, self.number))]
        for number in range(self.number):
            ready = waiting.pop(0).result()
            if number + 3 < self.number:
                waiting.append(pool.submit(self._bucket, number + 3))
            yield ready

    def _bucket(self, number: int) -> Bytes:
        texts, lengths = [], []
        for start, byte_bounds, row_bounds in self._index:
            low, high = byte_bounds[number], byte_bounds[number + 1]
            texts.append(self._read(start + low, high - low))
            first, last = row_bounds[number], row_bounds[number + 1]
            lengths.append(self._read(start + byte_bounds[-1] + 4 * first, 4 * (last - first)))
        buf = np.frombuffer(b"".join(texts), np.uint8)
        ends = np.cumsum(np.frombuffer(b"".join(lengths), np.uint32), dtype=np.int64)
        words = [number, *np.frombuffer(self._key[8:], "<u4").tolist()]
        return shuffled_rows(buf, ends, np.random.default_rng(words))

    def _read(self, offset: int, length: int) -> bytes:
        if not length:
            return b""
        with self._lock:
            self._file.seek(int(offset))
            return self._file.read(int(length))

    def close(self) -> None:
        """Let go of the temporary file, which ends it."""
        self._file.close()


def _write_all(file: IO[bytes], data: NDArray[np.generic]) -> None:
    view = memoryview(data.view(np.uint8).data)
    while view:
        view = view[file.write(view) :]
