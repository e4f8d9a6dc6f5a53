"""Find the initial region of each released record, as the tests of columns in the written file need it.

Rows are shuffled, so there is no link from row to row, and none is needed: all records of an initial region with the
same quasi-identifiers are released under one code, that of the smallest of their places in which the written file has
this class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .chunk_store import THREADS
from .coded_file import MOST_VALUES, FileColumn
from .combinations import Ints, number_rows
from .csv_stream import UnreadableFile
from .expected_values import expected_values
from .release_files import Crosswalk, InputRecords, WrittenRecords
from .released_records import (
    SAMPLE_ROWS,
    ExaminedColumn,
    Sample,
    draw_cells,
    rare_combination_share,
    sampled_rows,
    text_hashes,
)


def _describe_uncoded(name: str) -> ExaminedColumn:
    """Describe a column that has too many values, in the original or in the written file."""
    return ExaminedColumn(name, MOST_VALUES, -1, 1, 0, MOST_VALUES, coded=False)


def describe_column(name: str, column: FileColumn, counts: Ints | None = None) -> ExaminedColumn:
    """Describe a column by the texts of its codes and how often each occurs."""
    if column.texts is None:
        return _describe_uncoded(name)
    counts = column.frequencies if counts is None else counts
    blank = column.texts.index("") if "" in column.texts else -1
    missing = int(counts[blank]) if blank >= 0 else 0
    return ExaminedColumn(
        name, column.values, blank, int(counts.sum()) - missing, missing, column.values
    )


class OriginalRecords:
    """The released records with their initial regions, for the tests of columns (`released_records`)."""

    def __init__(
        self,
        before: InputRecords,
        after: WrittenRecords,
        crosswalk: Crosswalk,
        plain: Sequence[str],
    ) -> None:
        problem = before.case.problem
        self.k = problem.k
        self.quasi_identifiers = problem.quasi_identifiers
        self._before = before
        self._file = before.file
        self._class_of = before.classes.column
        area_numbers, self.memberships = _number_places(crosswalk)
        self._region = before.regions(crosswalk)
        self._kind, tier = _find_tiers(before, after, self._region, area_numbers, self.memberships)
        self._tier = np.where(self._region >= 0, tier, -1)
        released = int(before.classes.counts[self._tier >= 0].sum())
        if released != after.file.rows and not problem.judged_columns:
            raise UnreadableFile("its records are not those of the record file")
        self._columns: dict[str, FileColumn] = {}
        self._counts: dict[str, Ints] = {}
        self._hashes: dict[str, NDArray[np.uint64]] = {}
        with ThreadPoolExecutor(THREADS, "look") as pool:
            # The list lets what was raised in a thread be raised here.
            list(pool.map(lambda name: self._add_column(name, after.columns[name]), plain))

    def _find_released(self, number: int) -> NDArray[np.bool_]:
        """Return which records of a chunk are released."""
        return self._tier[self._class_of.codes(number)] >= 0

    def _add_column(self, name: str, written: FileColumn) -> None:
        """Give the values of released records the notation that results in the counts of the written file."""
        column = self._before.columns[name]
        if column.texts is None or written.texts is None:
            return
        counts = column.count_codes(self._find_released)
        used = np.flatnonzero(counts)
        new = np.zeros(counts.size, np.int32)
        new[used] = np.arange(used.size)
        texts = [column.texts[code] for code in used.tolist()]
        column = replace(
            column,
            texts=tuple(texts),
            new_codes=new if column.new_codes is None else new[column.new_codes],
        )
        counts = counts[used]
        escape = self._before.case.escape
        expected = _counts_by_text(written.texts, written.frequencies)
        for notation in (list, _strip, expected_values):
            if _counts_by_text(escape(notation(texts)), counts) == expected:
                renamed = column.with_texts(notation(texts))
                number_of = {text: code for code, text in enumerate(renamed.known_texts)}
                codes = [number_of[text] for text in notation(texts)]
                counts = np.bincount(codes, counts, len(number_of)).astype(np.int64)
                column = renamed
                break
        self._columns[name] = column
        self._counts[name] = counts

    def column(self, name: str) -> ExaminedColumn:
        """Describe a released column."""
        if name not in self._columns:
            return _describe_uncoded(name)
        values = int(np.count_nonzero(self._before.columns[name].frequencies))
        return replace(describe_column(name, self._columns[name], self._counts[name]), distinct=values)

    def values_at(self, column: ExaminedColumn, rows: Ints) -> Ints:
        """Return the codes of a column in these rows."""
        return self._file.take(self._columns[column.name], rows).astype(np.int64)

    def frequencies(self, column: ExaminedColumn) -> Ints:
        """Count the released records with each code of a column."""
        return self._counts[column.name].copy()

    def rare_combinations(self, columns: Sequence[ExaminedColumn], blanks: bool) -> float:
        """Return the share of the released records whose combination of values fewer than k have."""
        for column in columns:
            if column.name not in self._hashes:
                self._hashes[column.name] = text_hashes(self._columns[column.name].known_texts)
        hashes = [self._hashes[column.name] for column in columns]
        return rare_combination_share(
            self._codes(columns), columns, hashes, self._file.rows, self.k, blanks
        )

    def _codes(self, columns: Sequence[ExaminedColumn]) -> Iterator[list[Ints]]:
        for number in range(len(self._file.sizes)):
            rows = np.flatnonzero(self._find_released(number))
            yield [self._columns[column.name].codes(number)[rows].astype(np.int64) for column in columns]

    @cached_property
    def sample(self) -> Sample:
        """Released records from all over the file."""
        rows = sampled_rows(self._file.rows)
        return self._sample(rows[self._tier[self._file.take(self._class_of, rows)] >= 0])

    @cached_property
    def larger(self) -> Sample:
        """Records released under a larger area, in whole classes."""
        chosen = self._tier > 0
        counts = self._before.classes.counts
        if int(counts[chosen].sum()) > SAMPLE_ROWS:
            chosen &= self._draw_classes(chosen, counts)
        rows = [np.zeros(0, np.int64)]
        for number, start in enumerate(self._file.starts[:-1].tolist() if chosen.any() else ()):
            rows.append(start + np.flatnonzero(chosen[self._class_of.codes(number)]))
        return self._sample(np.concatenate(rows))

    def _draw_classes(self, chosen: NDArray[np.bool_], counts: Ints) -> NDArray[np.bool_]:
        """Draw about as many records as a sample has, in whole released classes."""
        area = np.zeros(chosen.size, np.int64)
        for tier, membership in enumerate(self.memberships):
            here = chosen & (self._tier == tier)
            area[here] = membership[self._region[here]]
        classes = np.flatnonzero(chosen)
        cell = number_rows([self._tier[classes], area[classes], self._kind[classes]], classes.size)
        # Cells are numbered in the order in which they occur, so that the draw is the same for any numbering.
        first = np.full(int(cell.max()) + 1, self._file.rows, np.int64)
        np.minimum.at(first, cell, self._first_rows()[classes])
        order = np.argsort(first)
        drawn = np.zeros(order.size, np.bool_)
        drawn[order] = draw_cells(
            np.bincount(cell, counts[classes]).astype(np.int64)[order], SAMPLE_ROWS
        )
        is_drawn = np.zeros(chosen.size, np.bool_)
        is_drawn[classes] = drawn[cell]
        return is_drawn

    def _first_rows(self) -> Ints:
        """Return the first record of each class."""
        first = np.zeros(self._tier.size, np.int64)
        for number in reversed(range(len(self._file.sizes))):
            codes = self._class_of.codes(number)[::-1]
            first[codes] = self._file.starts[number] + np.arange(codes.size)[::-1]
        return first

    def _sample(self, rows: Ints) -> Sample:
        classes = self._file.take(self._class_of, rows)
        originals = []
        for name, column in zip(self.quasi_identifiers, self._before.categories, strict=True):
            is_grouped = column.texts != tuple(
                self._before.case.escape(self._before.columns[name].known_texts)
            )
            values = (
                self._file.take(self._before.columns[name], rows).astype(np.int64)
                if is_grouped
                else None
            )
            originals.append(values)
        categories = [codes[classes] for codes in self._before.classes.codes[1:]]
        return Sample(
            rows,
            self._region[classes],
            self._tier[classes],
            np.stack(categories),
            tuple(originals),
            self._kind[classes],
        )


def _strip(texts: Sequence[str]) -> list[str]:
    return [text.strip(" \t") for text in texts]


def _counts_by_text(texts: Sequence[str], numbers: Ints) -> dict[str, int]:
    counts: dict[str, int] = {}
    for text, number in zip(texts, numbers.tolist(), strict=True):
        counts[text] = counts.get(text, 0) + number
    return {text: number for text, number in counts.items() if number}


def _number_places(crosswalk: Crosswalk) -> tuple[dict[str, int], tuple[Ints, ...]]:
    """Number the codes of all tiers; returns their numbers, and tier by tier the place of each initial region.

    The numbers of a tier follow those of the finer ones; the places of a tier are counted from its first number on.
    """
    numbers: dict[str, int] = {}
    memberships = []
    for codes in zip(*crosswalk.values(), strict=True):
        start = len(numbers)
        for code in codes:
            numbers.setdefault(code, len(numbers))
        memberships.append(np.array([numbers[code] - start for code in codes], np.int64))
    return numbers, tuple(memberships)


def _find_tiers(
    before: InputRecords,
    after: WrittenRecords,
    region: Ints,
    area_numbers: dict[str, int],
    memberships: Sequence[Ints],
) -> tuple[Ints, Ints]:
    """Return the number of the combination of quasi-identifiers of each class of the input, and its tier.

    That is the finest tier in which the written file has the combination at the place of the region; −1: in none.
    """
    region_column, *categories = (after.columns[name] for name in after.class_columns)
    written_regions, *written_codes = after.classes.codes
    columns = []
    for column, codes, own, own_codes in zip(
        categories, written_codes, before.categories, before.classes.codes[1:], strict=True
    ):
        number_of = {text: code for code, text in enumerate(column.known_texts)}
        shared = np.array(
            [number_of.setdefault(text, len(number_of)) for text in own.known_texts], np.int64
        )
        columns.append(np.concatenate((codes, shared[own_codes])))
    written_number = after.classes.counts.size
    kind = number_rows(columns, written_number + before.classes.counts.size)
    kinds = int(kind.max(initial=0)) + 1
    place_of = np.array([area_numbers.get(text, -1) for text in region_column.known_texts], np.int64)
    released = np.unique(place_of[written_regions] * kinds + kind[:written_number])
    own_kind = kind[written_number:]
    tier = np.full(own_kind.size, -1, np.int64)
    start = 0
    for level, membership in enumerate(memberships):
        classes = np.flatnonzero(tier < 0)
        keys = (start + membership[region[classes]]) * kinds + own_kind[classes]
        tier[classes[np.isin(keys, released)]] = level
        start += int(membership.max(initial=0)) + 1
    return own_kind, tier
