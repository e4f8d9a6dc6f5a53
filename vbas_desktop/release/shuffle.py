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
def gather(
    buf: Bytes, ends: NDArray[np.int64], order: NDArray[np.int64], out: Bytes, lengths: NDArray[np.uint32]
) -> None:
    """Copy the rows of ``buf`` in this order, and note their lengths."""
    at = 0
    for i in range(order.size):
        row = order[i]
        start = ends[row - 1] if row else np.int64(0)
        lengths[i] = ends[row] - start
        for j in range(start, ends[row]):
            out[at] = buf[j]
            at += 1


class Arranged:
    """The rows of one block, bucket after bucket."""

    def __init__(self, buf: Bytes, ends: NDArray[np.int64], bucket: NDArray[np.int32], buckets: int) -> None:
        order = np.argsort(bucket, kind="stable")
        self.bytes = np.empty(int(ends[-1]) if ends.size else 0, np.uint8)
        self.lengths = np.empty(ends.size, np.uint32)
        gather(buf, ends, order, self.bytes, self.lengths)
        self.rows = np.bincount(bucket, minlength=buckets)
        row_ends = np.concatenate(([0], np.cumsum(self.lengths, dtype=np.int64)))
        self.byte_bounds = row_ends[np.concatenate(([0], np.cumsum(self.rows)))]


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
        order = np.random.default_rng(words).permutation(ends.size)
        out = np.empty(buf.size, np.uint8)
        gather(buf, ends, order, out, np.empty(ends.size, np.uint32))
        return out

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
