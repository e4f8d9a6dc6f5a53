"""Keep the chunks of coded columns: in memory as long as they are few, then in a nameless file."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

MEMORY_BYTES = 1 << 28
"""Bytes of codes of one file that are held in memory."""
THREADS = 2
"""Number of threads that read the chunks of a file."""

Chunk = NDArray[Any] | tuple[int, np.dtype[Any], int]
"""An array in memory; or where in the file it begins, its type, and how many entries it has."""


def _never_stop() -> None:
    """Do nothing: the default of `tick`, which others replace to report progress or to stop."""


class ChunkStore:
    """Arrays that are written once and read many times.

    Codes tell of single records, so the file has no name and only its owner may open it. ``folder`` says where it is.
    ``tick`` is called whenever an array is read, and may raise to stop. Several threads can add and read arrays.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._in_memory = 0
        self._file: IO[bytes] | None = None
        self._end = 0
        self._lock = threading.Lock()
        self.tick: Callable[[], None] = _never_stop

    def add(self, array: NDArray[Any]) -> Chunk:
        """Keep an array; returns what `get` finds it by."""
        with self._lock:
            if self._in_memory + array.nbytes <= MEMORY_BYTES:
                self._in_memory += array.nbytes
                return array
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 (closed by `close`)
            start = self._end
            self._file.seek(start)
            self._file.write(np.ascontiguousarray(array).data)
            self._end += array.nbytes
            return start, array.dtype, array.size

    def get(self, chunk: Chunk) -> NDArray[Any]:
        """Return an array that was added."""
        self.tick()
        if not isinstance(chunk, tuple):
            return chunk
        start, kind, size = chunk
        with self._lock:
            assert self._file is not None
            self._file.seek(start)
            return np.frombuffer(self._file.read(size * kind.itemsize), kind)

    def close(self) -> None:
        """Drop the file."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None
