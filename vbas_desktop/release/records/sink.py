"""Where released bytes go, and what came of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import IO, Any


@dataclass(frozen=True)
class Written:
    """What was written: counts, hash, and the cells of each column that a spreadsheet might run."""

    records: int
    released: int
    sha256: str
    size_bytes: int
    formulas: dict[str, int]


class Sink:
    """A file that remembers the hash and the size of what was written."""

    closed = False

    def __init__(self, out: IO[bytes]) -> None:
        self._out, self._digest, self.size = out, hashlib.sha256(), 0

    @property
    def sha256(self) -> str:
        """The hash of all that was written."""
        return self._digest.hexdigest()

    def write(self, data: Any) -> int:
        """Append bytes, or an array of them."""
        view = memoryview(data)
        self._digest.update(view)
        self.size += view.nbytes
        self._out.write(view)
        return view.nbytes

    def tell(self) -> int:
        """The place of the next byte."""
        return self.size

    def flush(self) -> None:
        """Hand on what waits."""
        self._out.flush()

    def close(self) -> None:
        """Leave the file open: its owner closes it."""
