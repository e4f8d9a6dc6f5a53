"""On which line of the file each record begins, without a number per record where lines and records go together."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray


class RowNumbers:
    """Blocks of records: where each starts, and the lines of its records where they are not one per line.

    Without any blocks (a table that is not text) record i is row i + 2, as if the names were row 1.
    """

    def __init__(self) -> None:
        self._records: list[int] = []
        self._lines: list[int] = []
        self._offsets: list[NDArray[np.int32] | None] = []
        self._next = 0
        self._dropped = 0

    def add(self, records: int, line: int, offsets: NDArray[np.int32] | None) -> None:
        """Append a block that begins on ``line``; ``offsets`` counts from it, None if there is one line per record."""
        if not records:
            return
        plain = offsets is None and self._offsets and self._offsets[-1] is None
        if not (plain and line == self._lines[-1] + self._next - self._records[-1]):
            self._records.append(self._next)
            self._lines.append(line)
            self._offsets.append(None if offsets is None else offsets.copy())
        self._next += records

    def drop_first(self) -> None:
        """The first record turned out not to be one."""
        self._dropped = 1

    def row(self, record: int) -> int:
        """The row number of a record counted from 0."""
        record += self._dropped
        if not self._records:
            return record + 2
        block = bisect_right(self._records, record) - 1
        within, offsets = record - self._records[block], self._offsets[block]
        return self._lines[block] + (within if offsets is None else int(offsets[within]))
