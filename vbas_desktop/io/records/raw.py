"""A record file after its pass: codes in order of first appearance, with the line each record
begins on."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.errors import Finding
from vbas_desktop.model.file_format import Dialect
from vbas_desktop.model.records import Categories, ColumnFacts, category_order, frozen
from vbas_desktop.model.source import Source

from .dictionary import recode, tally


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

    def rows(self, records: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row numbers of records, which are counted from 0 and ascend."""
        records = records + self._dropped
        if not self._records:
            return records + 2
        found = np.empty(records.size, np.int64)
        borders = np.append(np.searchsorted(records, self._records), records.size)
        for block, (low, high) in enumerate(pairwise(borders.tolist())):
            within = records[low:high] - self._records[block]
            offsets = self._offsets[block]
            found[low:high] = self._lines[block] + (within if offsets is None else offsets[within])
        return found


IDENTIFIER_FROM = 50_000
"""From this number of values on, a column with a value of its own for every second record is not coded either."""


def code_type(values: int) -> type[np.unsignedinteger]:
    """The smallest unsigned type for so many codes."""
    return np.uint8 if values <= 1 << 8 else np.uint16 if values <= 1 << 16 else np.uint32


@dataclass
class RawColumn:
    """A column as it was met: codes in order of first appearance (in parts), and the values they stand for.

    ``place`` is that among the names. ``parts`` is None if there are too many values to code; ``distinct`` and
    ``missing`` are then all that is known.
    """

    name: str
    place: int
    parts: list[NDArray] | None
    values: list[str]
    distinct: int
    missing: int
    dropped: int | None = None

    @property
    def first(self) -> int | None:
        """The code of the first record."""
        return next((int(part[0]) for part in self.parts or () if part.size), None)

    @cached_property
    def frequencies(self) -> NDArray[np.int64]:
        """How many records have each code."""
        counts = np.zeros((4, len(self.values)), np.int64)
        for part in self.parts or ():
            tally(part, counts)
        return counts.sum(axis=0)

    def drop_first(self, value: str) -> None:
        """Take the first record, which has this value, away."""
        if self.parts is None:
            self.missing -= value == ""
        else:
            self.dropped = self.first
            index = next(i for i, part in enumerate(self.parts) if part.size)
            self.frequencies[self.dropped] -= 1
            self.parts[index] = self.parts[index][1:]


@dataclass(frozen=True)
class LineTwo:
    """What line 2 was taken for: the declared number of each column (None: a record), and what to say.

    ``doubtful``: more records could lead to another verdict.
    """

    declared: tuple[int | None, ...] | None
    findings: tuple[Finding, ...] = ()
    doubtful: bool = False


@dataclass
class RawRecords:
    """A record file after the pass: columns with raw codes, and what was found on the way.

    ``first_record`` is the text of the row after the names if it has a field for each name; ``first_row`` its number;
    ``verdict`` what it was taken for, if the beginning of the file left no doubt.
    """

    source: Source
    dialect: Dialect
    columns: list[RawColumn]
    rows: int
    first_record: tuple[str, ...] | None
    first_row: int
    findings: list[Finding] = field(default_factory=list)
    lines: RowNumbers = field(default_factory=RowNumbers)
    verdict: LineTwo | None = None


class OrderedCodes:
    """A column's codes in class order, put into it when they are asked for: most columns of a file never are."""

    def __init__(self, parts: list[NDArray], table: NDArray[np.uint32], rows: int, values: int) -> None:
        self._parts, self._table = parts, table
        self._codes: NDArray[np.unsignedinteger] = np.empty(rows, code_type(values))
        self._lock = threading.Lock()

    def array(self) -> NDArray[np.unsignedinteger]:
        """The codes, one per record."""
        with self._lock:
            done = self._codes.size
            while self._parts:
                part = self._parts.pop()
                recode(part, self._table, self._codes[done - part.size : done])
                done -= part.size
            return frozen(self._codes)

    def at(self, records: NDArray[np.int64]) -> NDArray[np.unsignedinteger]:
        """The codes of some records, which are given in ascending order; the others stay as they are."""
        with self._lock:
            if not self._parts:
                return self._codes[records]
            out = np.empty(records.size, self._codes.dtype)
            borders = np.cumsum([0, *(part.size for part in self._parts)])
            bounds = np.searchsorted(records, borders)
            for part, start, low, high in zip(self._parts, borders[:-1], bounds[:-1], bounds[1:], strict=True):
                out[low:high] = self._table[part[records[low:high] - start]]
            return out


class PlainCodes:
    """The codes of a column that was made for these records."""

    def __init__(self, codes: NDArray[np.integer], values: int) -> None:
        self._codes = frozen(codes.astype(code_type(values)))

    def array(self) -> NDArray[np.unsignedinteger]:
        """Return the codes, one per record."""
        return self._codes

    def at(self, records: NDArray[np.int64]) -> NDArray[np.unsignedinteger]:
        """Return the codes of some records, which are given in ascending order."""
        return self._codes[records]


class MergedCodes:
    """A column's codes after some of its values became one."""

    def __init__(self, codes: Codes, code_of: NDArray[np.int64], values: int) -> None:
        self._codes = codes
        self._table = code_of.astype(code_type(values))

    @cached_property
    def _merged(self) -> NDArray[np.unsignedinteger]:
        return frozen(self._table[self._codes.array()])

    def array(self) -> NDArray[np.unsignedinteger]:
        """Return the codes, one per record."""
        return self._merged

    def at(self, records: NDArray[np.int64]) -> NDArray[np.unsignedinteger]:
        """Return the codes of some records, which are given in ascending order."""
        return self._table[self._codes.at(records)]


class SelectedCodes:
    """The codes of some of a column's records, without the values that none of them has.

    ``records`` are the positions of the records in ascending order, ``code_of`` the new code of each code.
    """

    def __init__(
        self,
        codes: Codes,
        records: NDArray[np.int64],
        code_of: NDArray[np.int64],
        values: int,
    ) -> None:
        self._codes = codes
        self._records = records
        self._table = code_of.astype(code_type(values))

    @cached_property
    def _selected(self) -> NDArray[np.unsignedinteger]:
        return frozen(self._table[self._codes.array()[self._records]])

    def array(self) -> NDArray[np.unsignedinteger]:
        """Return the codes, one per considered record."""
        return self._selected

    def at(self, records: NDArray[np.int64]) -> NDArray[np.unsignedinteger]:
        """Return the codes of some considered records, which are given in ascending order."""
        return self._table[self._codes.at(self._records[records])]


Codes = OrderedCodes | PlainCodes | MergedCodes | SelectedCodes
"""The codes of a column, however they were made."""


def given_column(name: str, values: tuple[str, ...], codes: NDArray[np.int32]) -> tuple[ColumnFacts, PlainCodes]:
    """Return the facts and codes of a column with these values, of which some may not occur."""
    frequencies = np.bincount(codes, minlength=len(values)).astype(np.int64)
    facts = ColumnFacts(name, len(values), 0, True, Categories(name, values), frozen(frequencies))
    selected, code_of = selected_facts(facts, frequencies)
    return selected, PlainCodes(code_of[codes], selected.distinct)


def selected_facts(facts: ColumnFacts, frequencies: NDArray[np.int64]) -> tuple[ColumnFacts, NDArray[np.int64]]:
    """Return the facts of a column whose values have these frequencies now, and the new code of each old code.

    Values that no record has any more are left out.
    """
    assert facts.categories is not None
    there = frequencies > 0
    code_of = np.cumsum(there) - 1
    values = tuple(value for value, stays in zip(facts.categories.values, there.tolist(), strict=True) if stays)
    missing = int(frequencies[there][0]) if values[:1] == ("",) else 0
    categories = replace(facts.categories, values=values)
    selected = ColumnFacts(facts.name, len(values), missing, True, categories, frozen(frequencies[there]))
    return selected, np.maximum(code_of, 0)


def merged_facts(facts: ColumnFacts, texts: Sequence[str]) -> tuple[ColumnFacts, NDArray[np.int64]]:
    """Return the facts of a column whose values became these texts, equal ones one value, and the new code of each."""
    assert facts.frequencies is not None
    ordered = tuple(category_order(sorted(set(texts))))
    place = {text: code for code, text in enumerate(ordered)}
    code_of = np.array([place[text] for text in texts], np.int64)
    frequencies = np.zeros(len(ordered), np.int64)
    np.add.at(frequencies, code_of, facts.frequencies)
    missing = int(frequencies[place[""]]) if "" in place else 0
    categories = Categories(facts.name, ordered)
    return ColumnFacts(facts.name, len(ordered), missing, True, categories, frozen(frequencies)), code_of


def finished(raw: RawColumn, rows: int, declared: int | None) -> tuple[ColumnFacts, OrderedCodes | None]:
    """A column's facts and its codes in class order, leaving out values that no record has. Uses up ``raw.parts``."""
    if raw.parts is None or (raw.distinct > IDENTIFIER_FROM and 2 * raw.distinct > rows):
        missing = raw.missing if raw.parts is None else _count_of_empty(raw)
        return ColumnFacts(raw.name, raw.distinct, missing, categorical=False), None
    # Every value was met in some record; only that of a dropped first record can be left without any.
    there = raw.frequencies > 0
    ordered = category_order([value for value, met in zip(raw.values, there.tolist(), strict=True) if met])
    place = {value: code for code, value in enumerate(ordered)}
    table = np.array([place.get(value, 0) for value in raw.values], np.uint32)
    frequencies = np.zeros(len(ordered), np.int64)
    frequencies[table[there]] = raw.frequencies[there]
    missing = int(frequencies[0]) if ordered and ordered[0] == "" else 0
    categories = Categories(raw.name, tuple(ordered), declared)
    facts = ColumnFacts(raw.name, len(ordered), missing, True, categories, frozen(frequencies))
    return facts, OrderedCodes(raw.parts, table, rows, len(ordered))


def _count_of_empty(raw: RawColumn) -> int:
    return int(raw.frequencies[raw.values.index("")]) if "" in raw.values else 0
