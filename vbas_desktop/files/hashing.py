"""The SHA-256 of a record file: in passing, while its bytes are read, or behind that, in a thread of its own.

Hashing takes longer than anything else that is done with the bytes, and nothing needs the hash before results are
written. A file that is read in no time is therefore read twice: first for its records, with a quick imprint of the
bytes on the way, then for the hash, from the same open file. The imprint is taken again; if it differs, the file was
changed in between, and there is no hash of what was read.
"""

from __future__ import annotations

import hashlib
import io
import os
import threading
import weakref
from concurrent.futures import Future

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.source import Digest, Source

from .words import load_word

BLOCK_BYTES = 1 << 21
"""Small enough that what is made of one block stays in the processor's cache, large enough that handing it from thread
to thread does not count."""

BEHIND_FROM = 16 << 20
"""A smaller file is hashed in passing: that takes less time than anybody would notice."""

BEHIND_TO = 2 << 30
"""A larger file is hashed in passing: the machine may not remember it, and reading it once more would take long."""

_WORD = np.uint64(8)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, nogil=True)
def imprint(block: NDArray[np.uint8], lanes: NDArray[np.uint64]) -> None:
    """Stir the bytes of a block into four numbers; no byte can change without changing them."""
    place, size = np.uint64(0), np.uint64(block.size)
    a, b, c, d = lanes[0], lanes[1], lanes[2], lanes[3]
    while place + np.uint64(32) <= size:
        a = (a ^ load_word(block, place)) * _MULTIPLIER
        b = (b ^ load_word(block, place + _WORD)) * _MULTIPLIER
        c = (c ^ load_word(block, place + np.uint64(16))) * _MULTIPLIER
        d = (d ^ load_word(block, place + np.uint64(24))) * _MULTIPLIER
        place += np.uint64(32)
    while place < size:
        a = (a ^ np.uint64(block[place])) * _MULTIPLIER
        place += np.uint64(1)
    lanes[0], lanes[1], lanes[2], lanes[3] = a, b, c, d


class Imprint:
    """A quick checksum of bytes that pass by in blocks; the blocks must be the same when it is taken again."""

    def __init__(self) -> None:
        self._lanes = np.zeros(4, np.uint64)

    def update(self, block: memoryview) -> None:
        """Take in the next block."""
        imprint(np.frombuffer(block, np.uint8), self._lanes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Imprint) and bool((self._lanes == other._lanes).all())

    __hash__ = None  # type: ignore[assignment]


class HashedFile(io.RawIOBase):
    """A raw file that keeps account of the bytes that were read from it, so that it can say where they came from."""

    def __init__(self, path: str, raw: io.FileIO, behind: bool) -> None:
        self._path, self._raw = path, raw
        self._sha = None if behind else hashlib.sha256()
        self._imprint = Imprint()
        self.bytes_read = 0

    def readable(self) -> bool:
        """Always: that is what it is for."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the buffer as far as the file goes."""
        size = filled(self._raw, buffer)
        (self._sha or self._imprint).update(memoryview(buffer)[:size])
        self.bytes_read += size
        return size

    def source(self) -> Source:
        """The file's identity when everything was read from it; its hash may come later."""
        if self._sha is not None:
            return Source(self._path, self.bytes_read, self._sha.hexdigest())
        again = io.FileIO(os.dup(self._raw.fileno()))
        return _Behind(self._path, again, self.bytes_read, self._imprint).start()


def filled(raw: io.FileIO, buffer: memoryview) -> int:
    """Read until the buffer is full or the file ends."""
    view, size = memoryview(buffer), 0
    while size < len(view) and (more := raw.readinto(view[size:])):
        size += more
    return size


class _Behind:
    """Hashes a file that was read before. Stops when nobody wants to know any more."""

    def __init__(self, path: str, raw: io.FileIO, size: int, expected: Imprint) -> None:
        self._path, self._raw, self._size, self._expected = path, raw, size, expected
        self._future: Future[str] = Future()
        self._stop = threading.Event()

    def start(self) -> Source:
        """Begin, and hand out what will know the hash."""
        digest = Digest(self._future)
        weakref.finalize(digest, self._stop.set)
        # A daemon: who ends the program does not want to wait for a hash.
        threading.Thread(target=self._run, name="hash", daemon=True).start()
        return Source(self._path, self._size, digest)

    def _run(self) -> None:
        try:
            with self._raw:
                self._future.set_result(self._hashed())
        except OSError:
            self._future.set_exception(InputError(changed(self._path)))
        except BaseException as error:  # noqa: BLE001 (whoever waits for the hash would wait for ever)
            self._future.set_exception(error)

    def _hashed(self) -> str:
        sha, again, size = hashlib.sha256(), Imprint(), 0
        buffer = memoryview(bytearray(BLOCK_BYTES))
        self._raw.seek(0)
        while not self._stop.is_set() and (more := filled(self._raw, buffer)):
            sha.update(buffer[:more])
            again.update(buffer[:more])
            size += more
        if size != self._size or again != self._expected:
            raise InputError(changed(self._path))
        return sha.hexdigest()


def changed(path: str) -> Finding:
    """The finding that a file did not stay what it was."""
    return Finding("input-changed", "The file was changed while it was read.", "Load it again.", file=path)
