"""From fields to small integer codes, one dictionary per column, without a Python object per record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .bits import CELL, PADDING
from .dictionary import DIRECT, LONGER, code_fields, count_empty, rehash
from .raw import RawColumn, code_type

DISTINCT_LIMIT = 1_000_000
"""A column with more values than this is not coded: it is text or an identifier, not a category."""

FEW_COLUMNS = 256
"""Up to so many columns each has a table for all values of one or two bytes; it would be large for very wide files."""


@dataclass
class Fields:
    """The fields of one block of complete rows, as the kernels of `tokens` describe them."""

    text: NDArray[np.uint8]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    rows: int
    columns: int
    strip_cr: bool = False


class ColumnCoder:
    """Builds the dictionary of one column while its fields pass by, and keeps their codes."""

    narrowest: type[np.unsignedinteger] | None = None
    """The type of the codes even if there are few; as narrow as can be if None."""

    def __init__(self, name: str, column: int, columns: int) -> None:
        self.name, self.column = name, column
        self.categorical = True
        self.missing_uncoded = 0
        self.parts: list[NDArray] = []
        self._direct = np.zeros(DIRECT if columns <= FEW_COLUMNS else 0, np.int32)
        # Much larger than it must be: two values that come often and share a place would cost time at every field.
        self._slots = np.full(1 << 10 if columns <= FEW_COLUMNS else 1 << 6, -1, np.int32)
        self._sizes, self._offsets = np.zeros(1 << 5, np.int64), np.zeros(1 << 5, np.int64)
        self._cells = np.zeros(CELL << 5, np.uint8)
        self._arena = np.zeros((1 << 8) + PADDING, np.uint8)
        self._state = np.zeros(2, np.int64)

    @property
    def distinct(self) -> int:
        """How many values have been met (a lower bound once coding was given up)."""
        return int(self._state[0])

    def add(self, fields: Fields) -> None:
        """Code the column's fields in one block."""
        if not self.categorical:
            self._count_missing(fields)
            return
        part, done = np.empty(fields.rows, self.narrowest or code_type(self.distinct)), 0
        while (done := self._code(fields, done, part)) < fields.rows:
            i = done * fields.columns + self.column
            self._grow(int(fields.ends[i] - fields.starts[i]))
            if self.distinct > np.iinfo(part.dtype).max:
                part = part.astype(code_type(self.distinct + 1))
        self.parts.append(part)
        if self.distinct > DISTINCT_LIMIT:
            self._give_up()

    def _code(self, fields: Fields, done: int, codes: NDArray[np.unsignedinteger]) -> int:
        return code_fields(
            fields.text,
            fields.starts,
            fields.ends,
            fields.rows,
            done,
            self.column,
            fields.columns,
            self._strip(fields),
            self._direct,
            self._slots,
            self._sizes,
            self._offsets,
            self._cells,
            self._arena,
            self._state,
            codes,
            np.iinfo(codes.dtype).max,
        )

    def raw(self, encoding: str) -> RawColumn:
        """What was gathered so far, with the values as text."""
        values = self._values(encoding) if self.categorical else []
        parts = self.parts if self.categorical else None
        return RawColumn(self.name, self.column, parts, values, self.distinct, self.missing_uncoded)

    def _values(self, encoding: str) -> list[str]:
        data = self._arena[: int(self._state[1])].tobytes()
        ends = (self._offsets + self._sizes)[: self.distinct].tolist()
        starts = self._offsets[: self.distinct].tolist()
        return [data[start:end].decode(encoding) for start, end in zip(starts, ends, strict=True)]

    def _count_missing(self, fields: Fields) -> None:
        self.missing_uncoded += int(
            count_empty(
                fields.text, fields.starts, fields.ends, fields.rows, self.column, fields.columns, self._strip(fields)
            )
        )

    def _strip(self, fields: Fields) -> bool:
        return fields.strip_cr and self.column == fields.columns - 1

    def _give_up(self) -> None:
        empty = np.flatnonzero(self._sizes[: self.distinct] == 0)
        self.missing_uncoded = sum(int((part == empty[0]).sum()) for part in self.parts) if empty.size else 0
        self.categorical, self.parts = False, []

    def _grow(self, needed: int) -> None:
        distinct, used = int(self._state[0]), int(self._state[1])
        if 2 * distinct >= self._slots.size:
            self._slots = np.full(self._slots.size * 4, -1, np.int32)
            shortest = LONGER if self._direct.size else 0
            rehash(self._arena, self._offsets, self._sizes, distinct, shortest, self._slots)
        if distinct >= self._offsets.size:
            self._offsets, self._sizes = _doubled(self._offsets), _doubled(self._sizes)
            self._cells = _doubled(self._cells)
        while used + needed + PADDING > self._arena.size:
            self._arena = _doubled(self._arena)


def _doubled(array: NDArray) -> NDArray:
    return np.concatenate((array, np.zeros_like(array)))
