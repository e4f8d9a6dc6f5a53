"""The SHA-256 of a file, made in passing while it is read, and whether it stayed what was read."""

from __future__ import annotations

import hashlib
import io
import os
from typing import IO, Any

import numpy as np

from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.records import SourceFile


class HashingReader(io.RawIOBase):
    """A raw file that hashes the bytes that are read from it, so that it can say where they came from."""

    def __init__(self, path: str, raw: io.FileIO) -> None:
        self._path = path
        self._raw = raw
        self._sha = hashlib.sha256()
        self._state = file_state(os.fstat(raw.fileno()))
        self.bytes_read = 0

    def readable(self) -> bool:
        """Return True: it can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, as many as asked for unless the file ends."""
        data = self._raw.read(size) or b""
        while len(data) < size and (more := self._raw.read(size - len(data))):
            data += more
        self._sha.update(data)
        self.bytes_read += len(data)
        return data

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the buffer as far as the file goes."""
        view = memoryview(buffer)
        size = 0
        while size < len(view) and (more := self._raw.readinto(view[size:])):
            size += more
        self._sha.update(view[:size])
        self.bytes_read += size
        return size

    def source(self) -> SourceFile:
        """Return the file's identity after everything was read. Raises `InputError` if it was changed meanwhile."""
        if file_state(os.fstat(self._raw.fileno())) != self._state:
            raise InputError(file_changed_finding(self._path))
        return SourceFile(self._path, self.bytes_read, self._sha.hexdigest(), self._state)


class HashingWriter:
    """A file that hashes the bytes that are written to it, and notices whether all of them are ASCII."""

    closed = False

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._digest = hashlib.sha256()
        self._size = 0
        self.is_ascii = True

    @property
    def sha256(self) -> str:
        """The hash of everything that was written."""
        return self._digest.hexdigest()

    def write(self, data: Any) -> int:
        """Append bytes, or a buffer of them."""
        view = memoryview(data)
        self.is_ascii = self.is_ascii and int(np.frombuffer(view, np.uint8).max(initial=0)) < 128
        self._digest.update(view)
        self._size += view.nbytes
        self._out.write(view)
        return view.nbytes

    def tell(self) -> int:
        """Return the position of the next byte, which Parquet files contain."""
        return self._size

    def flush(self) -> None:
        """Pass on what is buffered."""
        self._out.flush()

    def close(self) -> None:
        """Leave the file open: its owner closes it."""


def require_unchanged(source: SourceFile) -> None:
    """Refuse to go on if the file is not the one any more that was read: whatever is said would be of other records."""
    if source.state is None:
        return
    try:
        now = file_state(os.stat(source.path))
    except OSError:
        now = None
    if now != source.state:
        raise InputError(file_changed_finding(source.path))


def file_changed_finding(path: str) -> Finding:
    """Return the finding that a file was changed."""
    return Finding(
        "input-changed", "The file was changed while it was read.", "Load it again.", file=path
    )


def file_state(status: os.stat_result) -> tuple[int, int, int]:
    """Return what changes when a file is written or replaced: its size, time and number."""
    return status.st_size, status.st_mtime_ns, status.st_ino
