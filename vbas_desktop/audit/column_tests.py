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
from vbas_desktop.model.text import format_count

from .agreement import (
    ALIKE,
    RARE_SHARE,
    Agreement,
    Ints,
    agreeing,
    alike,
    chance_limit,
    measure_agreement,
    rare_share,
    tabulate_pairs,
)
from .released_records import ExaminedColumn, ExaminedRecords, Question, Sample, questions

RARE_PAIRS = 0.2
"""From this share of the records whose pair of values is rarer than k on, two columns count as identifying.

It is more than of one column: in small files many pairs of harmless columns are rare in a few records.
"""
MOST_ROWS = 1 << 15
LEAST_ROWS = 1 << 12
WORK = 1 << 19
"""Number of rows that are examined in all pairs together, as long as each pair has `LEAST_ROWS`."""
MOST_GROUPINGS = 300
"""Largest number of pairs and triples of columns that are tested; not a time limit, so that verdicts are repeatable."""
TRIPLE_COLUMNS = 60
_WIDEST = 1 << 31
_BLANKS = " Records without a value count as having one more value here."


@dataclass(frozen=True)
class Disclosure:
    """Columns that disclose too much, alone or together, and what it is, with its figures."""

    columns: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class TestedCombinations:
    """The pairs and triples of columns that are tested, and the number of those that are not."""

    tried: tuple[tuple[ExaminedColumn, ...], ...]
    not_tried: int


def disclosing_columns(
    records: ExaminedRecords, columns: Sequence[ExaminedColumn], progress: Progress
) -> Iterator[Disclosure]:
    """Yield each column that discloses too much by itself."""
    questions_asked = questions(records)
    for column in columns:
        progress.update("Testing the released columns", 0.0)
        explanation = " ".join(_told_by_one(records, questions_asked, column))
        if explanation:
            yield Disclosure((column.name,), explanation)


def _told_by_one(
    records: ExaminedRecords, questions_asked: Sequence[Question], column: ExaminedColumn
) -> Iterator[str]:
    if not column.filled:
        return
    if not column.coded:
        yield _too_many_values(column)
        return
    yield from _identifying(records, column)
    test = _ColumnTest(records, column)
    done: set[int] = set()
    for question in questions_asked:
        # One reason is enough for the place, and one for each quasi-identifier.
        if question.about in done:
            continue
        explanation = test.explain(question)
        if explanation:
            done.add(question.about)
            yield explanation


def _too_many_values(column: ExaminedColumn) -> str:
    if not column.values:
        return "Values of this kind cannot be tested: they may identify the person or the place."
    return (
        f"It has {column.values:,} or more different values in {format_count(column.filled, 'record')}: "
        "almost every one may identify a person."
    )


def _identifying(records: ExaminedRecords, column: ExaminedColumn) -> Iterator[str]:
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

    def __init__(self, records: ExaminedRecords, column: ExaminedColumn) -> None:
        self._records = records
        self._column = column
        self._values: dict[int, Ints] = {}
        self._dividing: dict[tuple[int, bool], bool] = {}

    def explain(self, question: Question) -> str:
        """Say what the column discloses, over filled records or over all; empty if nothing."""
        text = self._answer(question, blanks=False)
        if text or self._column.blank < 0:
            return text
        text = self._answer(question, blanks=True)
        return f"{text}{_BLANKS}" if text else ""

    def _sample_codes(self, sample: Sample) -> Ints:
        """Return the codes of the column in the rows of a sample."""
        if id(sample) not in self._values:
            self._values[id(sample)] = self._records.values_at(self._column, sample.rows)
        return self._values[id(sample)]

    def _answer(self, question: Question, blanks: bool) -> str:
        values = self._sample_codes(question.sample)
        part = question.part
        if not blanks and self._column.blank >= 0:
            there = values != self._column.blank
            values = values[there]
            part = part[there]
        counts = tabulate_pairs(part, values, (question.whole_of.size, self._column.values))
        result = measure_agreement(counts, question.whole_of)
        if question.dividing:
            if (
                result.gain < question.least
                or not result.beyond_chance
                or not self._divides(question.sample, blanks)
            ):
                return ""
            return (
                f"It reveals {question.text}: two records with the same value have the same category in "
                f"{percent(result.with_value)} of the cases instead of {percent(result.without)}, and the value "
                "divides the categories further."
            )
        if not result.refines:
            return ""
        return _in_words(question, result)

    def _divides(self, sample: Sample, blanks: bool) -> bool:
        key = id(sample), blanks
        if key not in self._dividing:
            values = self._sample_codes(sample)
            classes = sample.classes
            if not blanks and self._column.blank >= 0:
                there = values != self._column.blank
                values = values[there]
                classes = classes[there]
            numbers = int(classes.max(initial=0)) + 1, self._column.values
            self._dividing[key] = alike(tabulate_pairs(classes, values, numbers)) < ALIKE
        return self._dividing[key]


def _in_words(question: Question, agreement_found: Agreement) -> str:
    shares = f"{percent(agreement_found.with_value)} of the cases instead of {percent(agreement_found.without)}"
    if question.about >= 0:
        return (
            f"It reveals {question.text}: two records of {question.within} with the same value have the same "
            f"{question.same} in {shares}."
        )
    return (
        f"It reveals {question.text}: two of its records with the same value come from the same {question.same} in "
        f"{shares}; in {percent(agreement_found.single)} of the records the value occurs in a single {question.same}."
    )


def choose_combinations(
    columns: Sequence[ExaminedColumn], every_pair: bool = False
) -> TestedCombinations:
    """Choose the pairs and triples of columns to test: `MOST_GROUPINGS` at most, pairs and the most selective first.

    ``every_pair``: all pairs are tested, whatever the bound. Triples are made of the `TRIPLE_COLUMNS` most selective
    columns.
    """
    able = [column for column in columns if column.coded and column.values > 1]
    pairs = sorted(combinations(able, 2), key=_selectivity)
    if not every_pair:
        pairs = pairs[:MOST_GROUPINGS]
    selective = sorted(able, key=lambda column: -column.distinct)[:TRIPLE_COLUMNS]
    triples = sorted(
        combinations([column for column in able if column in selective], 3), key=_selectivity
    )
    triples = triples[: max(0, MOST_GROUPINGS - len(pairs))]
    everything = comb(len(able), 2) + comb(len(able), 3)
    return TestedCombinations((*pairs, *triples), everything - len(pairs) - len(triples))


def _selectivity(columns: Sequence[ExaminedColumn]) -> int:
    """Sort by the number of combinations of values, descending."""
    return -prod(column.distinct for column in columns)


def disclosing_combinations(
    records: ExaminedRecords, tried: Sequence[tuple[ExaminedColumn, ...]], progress: Progress
) -> Iterator[Disclosure]:
    """Yield the pairs and triples of columns that disclose together what fewer of them do not."""
    disclosive_pairs: list[set[str]] = []
    for size in (2, 3):
        chosen = [columns for columns in tried if len(columns) == size]
        if not chosen:
            continue
        test = _CombinationTest(records, max(LEAST_ROWS, min(MOST_ROWS, WORK // len(chosen))))
        for columns in chosen:
            progress.update(f"Testing {'pairs' if size == 2 else 'triples'} of released columns", 0.0)
            names = {column.name for column in columns}
            if any(pair <= names for pair in disclosive_pairs):
                continue
            identifying = _identifying_together(records, columns) if size == 2 else ()
            explanation = " ".join([*identifying, *test.explain(columns)])
            if explanation:
                disclosive_pairs.append(names)
                yield Disclosure(tuple(column.name for column in columns), explanation)


def _identifying_together(records: ExaminedRecords, columns: Sequence[ExaminedColumn]) -> Iterator[str]:
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


def _filled_together(columns: Sequence[ExaminedColumn]) -> int:
    """Return a number of records that are certainly released with a value in all of these columns."""
    missing = sum(column.missing for column in columns)
    return max(0, *(column.filled - (missing - column.missing) for column in columns))


class _CombinationTest:
    """Ask what several columns disclose together and none of them alone."""

    def __init__(self, records: ExaminedRecords, rows: int) -> None:
        self._records = records
        self._questions = questions(records, rows)
        self._wholes = [question.whole_of[question.part] for question in self._questions]
        self._values: dict[tuple[str, int], Ints] = {}
        self._gains: dict[tuple[int, tuple[str, ...], bool], Agreement] = {}

    def explain(self, columns: Sequence[ExaminedColumn]) -> Iterator[str]:
        """Say what the columns disclose, over filled records or over all."""
        place_told = False
        values = "both values" if len(columns) == 2 else "all these values"
        for index, question in enumerate(self._questions):
            if place_told and question.about < 0:
                continue
            for blanks in (False, True) if any(column.blank >= 0 for column in columns) else (False,):
                text = self._answer(index, columns, blanks)
                if text is None:
                    continue
                place_told = place_told or question.about < 0
                yield (
                    f"Together they reveal {question.text}: two records that have {values} in common agree in it in "
                    f"{percent(text.with_value)} of the cases instead of {percent(text.without)}."
                    f"{_BLANKS if blanks else ''}"
                )
                break

    def _answer(
        self, question_number: int, columns: Sequence[ExaminedColumn], blanks: bool
    ) -> Agreement | None:
        """Measure what the columns disclose together; None if it is too little, or no more than a part of them does."""
        question = self._questions[question_number]
        fewer = list(combinations(columns, len(columns) - 1))
        alone = max(
            (self._agreement(question_number, few, blanks) for few in fewer),
            key=lambda result: result.gain,
        )
        if alone.gain >= question.least:
            # This was judged when the part was tested by itself.
            return None
        result = self._agreement(question_number, columns, blanks)
        if result.gain < question.least or not _discloses_more(result, alone):
            return None
        if question.dividing and not self._divides(question, columns, blanks):
            return None
        return result

    def _agreement(
        self, question_number: int, columns: Sequence[ExaminedColumn], blanks: bool
    ) -> Agreement:
        key = question_number, tuple(column.name for column in columns), blanks
        if key not in self._gains:
            question = self._questions[question_number]
            values, there = self._combine_columns(question.sample, columns, blanks)
            self._gains[key] = agreeing(
                question.part[there], self._wholes[question_number][there], values
            )
        return self._gains[key]

    def _sample_codes(self, column: ExaminedColumn, sample: Sample) -> Ints:
        """Return the codes of a column in the rows of a sample."""
        key = column.name, id(sample)
        if key not in self._values:
            self._values[key] = self._records.values_at(column, sample.rows)
        return self._values[key]

    def _combine_columns(
        self, sample: Sample, columns: Sequence[ExaminedColumn], blanks: bool
    ) -> tuple[Ints, Ints]:
        """Number the combinations of values of the records that count, and say which these are."""
        combined = np.zeros(sample.rows.size, np.int64)
        has_values = np.ones(sample.rows.size, np.bool_)
        width = 1
        for column in columns:
            values = self._sample_codes(column, sample)
            if not blanks and column.blank >= 0:
                has_values &= values != column.blank
            combined = combined * column.values + values
            width = width * column.values
            if width > _WIDEST:
                combined = np.unique(combined, return_inverse=True)[1].astype(np.int64)
                width = combined.size
        there = np.flatnonzero(has_values)
        return combined[there], there

    def _divides(self, question: Question, columns: Sequence[ExaminedColumn], blanks: bool) -> bool:
        values, there = self._combine_columns(question.sample, columns, blanks)
        dense, members = np.unique(values, return_inverse=True)
        classes = question.sample.classes[there]
        numbers = int(classes.max(initial=0)) + 1, max(1, dense.size)
        return alike(tabulate_pairs(classes, members.astype(np.int64), numbers)) < ALIKE


def _discloses_more(joint: Agreement, alone: Agreement) -> bool:
    """Return whether a combination discloses more than chance, and more than the best part of it does."""
    expected = max(joint.without, joint.without + alone.gain * (1 - joint.without))
    return joint.beyond_chance and joint.with_value - expected > chance_limit(expected, joint.records)


def percent(share: float) -> str:
    """Write a share for people."""
    return f"{100 * share:.0f} %" if share >= 0.01 or share == 0 else "less than 1 %"
