"""Where data came from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Source:
    """Which file something came from: enough to find it again and to notice that it changed.

    ``state`` is what the file system said of the file while it was read (size, time of the last change, number), by
    which a later change is noticed without reading it again; None if nobody asked. It takes no part in comparisons.
    ``elsewhere``: the path is the address of records that an engine reads, and the hash is that of their counts.
    ``selection`` is the hash of the filters that chose among the records of the file; empty if all are considered.
    """

    path: str
    size_bytes: int
    sha256: str
    state: tuple[int, int, int] | None = field(default=None, compare=False)
    elsewhere: bool = field(default=False, compare=False)
    selection: str = ""

    @property
    def identity(self) -> str:
        """Return a hash of the considered records: that of the file, combined with the filters if there are any."""
        return identify(self.sha256, self.selection)


def identify(sha256: str, selection: str) -> str:
    """Combine the hash of a file with that of the filters that chose among its records."""
    if not selection:
        return sha256
    return hashlib.sha256(f"vbas selection {sha256} {selection}".encode()).hexdigest()
