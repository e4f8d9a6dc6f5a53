"""Where data came from."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Source:
    """Which file something came from: enough to find it again and to notice that it changed.

    ``state`` is what the file system said of the file while it was read (size, time of the last change, number), by
    which a later change is noticed without reading it again; None if nobody asked. It takes no part in comparisons.
    ``elsewhere``: the path is the address of records that an engine reads, and the hash is that of their counts.
    """

    path: str
    size_bytes: int
    sha256: str
    state: tuple[int, int, int] | None = field(default=None, compare=False)
    elsewhere: bool = field(default=False, compare=False)
