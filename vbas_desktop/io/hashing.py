"""The SHA-256 of a file, made in passing while it is read, and whether it stayed what was read; that of a problem."""

from __future__ import annotations

import hashlib
import io
import json
import os
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.source import Source


class HashedFile(io.RawIOBase):
    """A raw file that hashes the bytes that are read from it, so that it can say where they came from."""

    def __init__(self, path: str, raw: io.FileIO) -> None:
        self._path, self._raw = path, raw
        self._sha = hashlib.sha256()
        self._state = file_state(os.fstat(raw.fileno()))
        self.bytes_read = 0

    def readable(self) -> bool:
        """Always: that is what it is for."""
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
        view, size = memoryview(buffer), 0
        while size < len(view) and (more := self._raw.readinto(view[size:])):
            size += more
        self._sha.update(view[:size])
        self.bytes_read += size
        return size

    def source(self) -> Source:
        """The file's identity when everything was read from it; refused if it was changed meanwhile."""
        if file_state(os.fstat(self._raw.fileno())) != self._state:
            raise InputError(changed(self._path))
        return Source(self._path, self.bytes_read, self._sha.hexdigest(), self._state)


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


def require_unchanged(source: Source) -> None:
    """Refuse to go on if the file is not the one any more that was read: whatever is said would be of other records."""
    if source.state is None:
        return
    try:
        now = file_state(os.stat(source.path))
    except OSError:
        now = None
    if now != source.state:
        raise InputError(changed(source.path))


def changed(path: str) -> Finding:
    """The finding that a file did not stay what it was."""
    return Finding("input-changed", "The file was changed while it was read.", "Load it again.", file=path)


def file_state(found: os.stat_result) -> tuple[int, int, int]:
    """Return what changes when a file is written or replaced: its size, time and number."""
    return found.st_size, found.st_mtime_ns, found.st_ino


def fingerprint(problem: Problem) -> str:
    """What the counts, the regions and their places are, whatever files they came from; k is left out."""
    digest = hashlib.sha256()
    for array in (problem.regions.points, *_list_arrays(problem.counts)):
        digest.update(str(array.shape).encode())
        digest.update(np.ascontiguousarray(array).data)
    told: dict[str, object] = {
        "ids": hashlib.sha256("\n".join(problem.regions.ids).encode()).hexdigest(),
        "unit": problem.regions.system.unit,
        "categories": list(problem.counts.n_categories),
        "unknown": problem.unknown_region_records,
    }
    if problem.regions.obstacles is not None:
        told["obstacles"] = [source.sha256 for source in problem.regions.obstacles.sources]
    if problem.regions.earlier is not None:
        told["earlier"] = problem.regions.earlier.source.sha256
    for each in problem.sensitive:
        for array in _list_arrays(each.cells):
            digest.update(np.ascontiguousarray(array).data)
        texts = [criterion.text for criterion in each.chosen.criteria]
        told.setdefault("sensitive", []).append([each.column, each.harmful.tolist(), texts])  # type: ignore[attr-defined]
    digest.update(json.dumps(told, sort_keys=True).encode())
    return digest.hexdigest()


def _list_arrays(counts: ClassCounts) -> list[NDArray[np.int64]]:
    """List what makes up counts, in one type, whatever scipy chose for the indices."""
    arrays = (counts.combinations, counts.table.indptr, counts.table.indices, counts.table.data)
    return [np.asarray(array, np.int64) for array in arrays]
