"""Test whether released columns, alone or together, disclose place, category or person; docs/release.md has the rules.

Every test is made twice: over the records with a value, and over all records with blank as one more value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod

import numpy as np

from vbas_desktop.model.progress import Progress
from vbas_desktop.model.words import counted

from .agreement import (
    ALIKE,
    RARE_SHARE,
    Agreement,
    Ints,
    agreeing,
    agreement,
    alike,
    chance_limit,
    pair_counts,
    rare_share,
)
from .released_records import Question, ReleasedColumn, ReleasedRecords, Sample, questions

RARE_PAIRS = 0.2
"""From this share of the records whose pair of values is rarer than k on, two columns count as identifying.

It is more than of one column: in small files many pairs of harmless columns are rare in a few records.
"""
MOST_ROWS, LEAST_ROWS = 1 << 15, 1 << 12
WORK = 1 << 19
"""So many rows are looked at in all pairs together, as long as each pair has `LEAST_ROWS`."""
MOST_GROUPINGS = 300
"""So many pairs and triples of columns are tested at most; a number and no time, so that verdicts can be repeated."""
TRIPLE_COLUMNS = 60
_WIDEST = 1 << 31
_BLANKS = " Records without a value count as having one more value here."


@dataclass(frozen=True)
class Disclosure:
    """Columns that disclose too much, alone or together, and what it is, with its figures."""

    columns: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Combinations:
    """The pairs and triples of columns that are tested, and the number of those that are not."""

    tried: tuple[tuple[ReleasedColumn, ...], ...]
    not_tried: int


def disclosing_columns(
    records: ReleasedRecords, columns: Sequence[ReleasedColumn], progress: Progress
) -> Iterator[Disclosure]:
    """Yield each column that discloses too much by itself."""
    asked = questions(records)
    for column in columns:
        progress.update("Testing the released columns", 0.0)
        told = " ".join(_told_by_one(records, asked, column))
        if told:
            yield Disclosure((column.name,), told)


def _told_by_one(records: ReleasedRecords, asked: Sequence[Question], column: ReleasedColumn) -> Iterator[str]:
    if not column.filled:
        return
    if not column.coded:
        yield _too_many_values(column)
        return
    yield from _identifying(records, column)
    test = _ColumnTest(records, column)
    done: set[int] = set()
    for question in asked:
        # One reason is enough for the place, and one for each quasi-identifier.
        if question.about in done:
            continue
        told = test.told(question)
        if told:
            done.add(question.about)
            yield told


def _too_many_values(column: ReleasedColumn) -> str:
    if not column.values:
        return "Values of this kind cannot be tested: they may identify the person or the place."
    return (
        f"It has {column.values:,} or more different values in {counted(column.filled, 'record')}: "
        "almost every one may identify a person."
    )


def _identifying(records: ReleasedRecords, column: ReleasedColumn) -> Iterator[str]:
    k = records.k
    # If all values were rare, their records would be too few still: counting can be spared.
    if column.values * (k - 1) < RARE_SHARE * column.filled:
        return
    frequencies = records.frequencies(column)
    shares = [rare_share(frequencies, k)]
    if column.blank >= 0:
        frequencies[column.blank] = 0
        shares.append(rare_share(frequencies, k))
    if max(shares) >= RARE_SHARE:
        yield (
            f"In {percent(max(shares))} of the released records the value is one that fewer than {k:,} of them have: "
            "it may identify the person."
        )


class _ColumnTest:
    """Ask what a single column discloses."""

    def __init__(self, records: ReleasedRecords, column: ReleasedColumn) -> None:
        self._records, self._column = records, column
        self._values: dict[int, Ints] = {}
        self._dividing: dict[tuple[int, bool], bool] = {}

    def told(self, question: Question) -> str:
        """Say what the column discloses, over filled records or over all; empty if nothing."""
        found = self._answer(question, blanks=False)
        if found or self._column.blank < 0:
            return found
        found = self._answer(question, blanks=True)
        return f"{found}{_BLANKS}" if found else ""

    def _at(self, sample: Sample) -> Ints:
        if id(sample) not in self._values:
            self._values[id(sample)] = self._records.values_at(self._column, sample.rows)
        return self._values[id(sample)]

    def _answer(self, question: Question, blanks: bool) -> str:
        values, part = self._at(question.sample), question.part
        if not blanks and self._column.blank >= 0:
            there = values != self._column.blank
            values, part = values[there], part[there]
        counts = pair_counts(part, values, (question.whole_of.size, self._column.values))
        found = agreement(counts, question.whole_of)
        if question.dividing:
            if found.gain < question.least or not found.beyond_chance or not self._divides(question.sample, blanks):
                return ""
            return (
                f"It reveals {question.text}: two records with the same value have the same category in "
                f"{percent(found.with_value)} of the cases instead of {percent(found.without)}, and the value divides "
                "the categories further."
            )
        if not found.refines:
            return ""
        return _in_words(question, found)

    def _divides(self, sample: Sample, blanks: bool) -> bool:
        key = id(sample), blanks
        if key not in self._dividing:
            values, classes = self._at(sample), sample.classes
            if not blanks and self._column.blank >= 0:
                there = values != self._column.blank
                values, classes = values[there], classes[there]
            numbers = int(classes.max(initial=0)) + 1, self._column.values
            self._dividing[key] = alike(pair_counts(classes, values, numbers)) < ALIKE
        return self._dividing[key]


def _in_words(question: Question, found: Agreement) -> str:
    shares = f"{percent(found.with_value)} of the cases instead of {percent(found.without)}"
    if question.about >= 0:
        return (
            f"It reveals {question.text}: two records of {question.within} with the same value have the same "
            f"{question.same} in {shares}."
        )
    return (
        f"It reveals {question.text}: two of its records with the same value come from the same {question.same} in "
        f"{shares}; in {percent(found.single)} of the records the value occurs in a single {question.same}."
    )


def combinations_to_try(columns: Sequence[ReleasedColumn], every_pair: bool = False) -> Combinations:
    """Choose the pairs and triples of columns to test: `MOST_GROUPINGS` at most, pairs and the most selective first.

    ``every_pair``: all pairs are tested, whatever the bound. Triples are made of the `TRIPLE_COLUMNS` most selective
    columns.
    """
    able = [column for column in columns if column.coded and column.values > 1]
    pairs = sorted(combinations(able, 2), key=_selectivity)
    if not every_pair:
        pairs = pairs[:MOST_GROUPINGS]
    selective = sorted(able, key=lambda column: -column.distinct)[:TRIPLE_COLUMNS]
    triples = sorted(combinations([column for column in able if column in selective], 3), key=_selectivity)
    triples = triples[: max(0, MOST_GROUPINGS - len(pairs))]
    everything = comb(len(able), 2) + comb(len(able), 3)
    return Combinations((*pairs, *triples), everything - len(pairs) - len(triples))


def _selectivity(columns: Sequence[ReleasedColumn]) -> int:
    """Sort by the number of combinations of values, descending."""
    return -prod(column.distinct for column in columns)


def disclosing_combinations(
    records: ReleasedRecords, tried: Sequence[tuple[ReleasedColumn, ...]], progress: Progress
) -> Iterator[Disclosure]:
    """Yield the pairs and triples of columns that disclose together what fewer of them do not."""
    found: list[set[str]] = []
    for size in (2, 3):
        chosen = [columns for columns in tried if len(columns) == size]
        if not chosen:
            continue
        test = _CombinationTest(records, max(LEAST_ROWS, min(MOST_ROWS, WORK // len(chosen))))
        for columns in chosen:
            progress.update(f"Testing {'pairs' if size == 2 else 'triples'} of released columns", 0.0)
            names = {column.name for column in columns}
            if any(pair <= names for pair in found):
                continue
            identifying = _identifying_together(records, columns) if size == 2 else ()
            told = " ".join([*identifying, *test.told(columns)])
            if told:
                found.append(names)
                yield Disclosure(tuple(column.name for column in columns), told)


def _identifying_together(records: ReleasedRecords, columns: Sequence[ReleasedColumn]) -> Iterator[str]:
    k = records.k
    # If all combinations were rare, their records would be too few still: counting can be spared.
    if prod(column.values for column in columns) * (k - 1) < RARE_PAIRS * _filled_together(columns):
        return
    share = records.rare_combinations(columns, blanks=False)
    if any(column.blank >= 0 for column in columns):
        share = max(share, records.rare_combinations(columns, blanks=True))
    if share >= RARE_PAIRS:
        yield (
            f"In {percent(share)} of the released records both values together are ones that fewer than {k:,} of them "
            "have: they may identify the person."
        )


def _filled_together(columns: Sequence[ReleasedColumn]) -> int:
    """Return a number of records that are certainly released with a value in all of these columns."""
    missing = sum(column.missing for column in columns)
    return max(0, *(column.filled - (missing - column.missing) for column in columns))


class _CombinationTest:
    """Ask what several columns disclose together and none of them alone."""

    def __init__(self, records: ReleasedRecords, rows: int) -> None:
        self._records = records
        self._questions = questions(records, rows)
        self._wholes = [question.whole_of[question.part] for question in self._questions]
        self._values: dict[tuple[str, int], Ints] = {}
        self._gains: dict[tuple[int, tuple[str, ...], bool], Agreement] = {}

    def told(self, columns: Sequence[ReleasedColumn]) -> Iterator[str]:
        """Say what the columns disclose, over filled records or over all."""
        place_told = False
        values = "both values" if len(columns) == 2 else "all these values"
        for place, question in enumerate(self._questions):
            if place_told and question.about < 0:
                continue
            for blanks in (False, True) if any(column.blank >= 0 for column in columns) else (False,):
                found = self._answer(place, columns, blanks)
                if found is None:
                    continue
                place_told = place_told or question.about < 0
                yield (
                    f"Together they reveal {question.text}: two records that have {values} in common agree in it in "
                    f"{percent(found.with_value)} of the cases instead of {percent(found.without)}."
                    f"{_BLANKS if blanks else ''}"
                )
                break

    def _answer(self, place: int, columns: Sequence[ReleasedColumn], blanks: bool) -> Agreement | None:
        """Measure what the columns disclose together; None if it is too little, or no more than a part of them does."""
        question = self._questions[place]
        fewer = list(combinations(columns, len(columns) - 1))
        alone = max((self._agreement(place, few, blanks) for few in fewer), key=lambda found: found.gain)
        if alone.gain >= question.least:
            # This was judged when the part was tested by itself.
            return None
        found = self._agreement(place, columns, blanks)
        if found.gain < question.least or not _more(found, alone):
            return None
        if question.dividing and not self._divides(question, columns, blanks):
            return None
        return found

    def _agreement(self, place: int, columns: Sequence[ReleasedColumn], blanks: bool) -> Agreement:
        key = place, tuple(column.name for column in columns), blanks
        if key not in self._gains:
            question = self._questions[place]
            values, there = self._combined(question.sample, columns, blanks)
            self._gains[key] = agreeing(question.part[there], self._wholes[place][there], values)
        return self._gains[key]

    def _at(self, column: ReleasedColumn, sample: Sample) -> Ints:
        key = column.name, id(sample)
        if key not in self._values:
            self._values[key] = self._records.values_at(column, sample.rows)
        return self._values[key]

    def _combined(self, sample: Sample, columns: Sequence[ReleasedColumn], blanks: bool) -> tuple[Ints, Ints]:
        """Number the combinations of values of the records that count, and say which these are."""
        combined, kept = np.zeros(sample.rows.size, np.int64), np.ones(sample.rows.size, np.bool_)
        width = 1
        for column in columns:
            values = self._at(column, sample)
            if not blanks and column.blank >= 0:
                kept &= values != column.blank
            combined, width = combined * column.values + values, width * column.values
            if width > _WIDEST:
                combined = np.unique(combined, return_inverse=True)[1].astype(np.int64)
                width = combined.size
        there = np.flatnonzero(kept)
        return combined[there], there

    def _divides(self, question: Question, columns: Sequence[ReleasedColumn], blanks: bool) -> bool:
        values, there = self._combined(question.sample, columns, blanks)
        dense, members = np.unique(values, return_inverse=True)
        classes = question.sample.classes[there]
        numbers = int(classes.max(initial=0)) + 1, max(1, dense.size)
        return alike(pair_counts(classes, members.astype(np.int64), numbers)) < ALIKE


def _more(found: Agreement, alone: Agreement) -> bool:
    """Return whether a combination discloses more than chance, and more than the best part of it does."""
    expected = max(found.without, found.without + alone.gain * (1 - found.without))
    return found.beyond_chance and found.with_value - expected > chance_limit(expected, found.records)


def percent(share: float) -> str:
    """Write a share for people."""
    return f"{100 * share:.0f} %" if share >= 0.01 or share == 0 else "less than 1 %"
