"""Do two columns together tell what neither tells alone? docs/release.md gives the rules.

Place and categories are judged by a few thousand of the sampled records, whatever the size of the file: the more pairs,
the fewer. Rare pairs of values are counted in all records, but only where there can be enough of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from vbas_desktop.domain.progress import Progress
from vbas_desktop.domain.records import ColumnFacts

from .column_counts import Ints, ReleasedRecords, Sample, empty_code, pair_counts
from .column_tests import ALIKE, DEVIATIONS, GAIN, KNOWING, Agreement, alike

RARE_PAIRS = 0.2
"""From this share of the records whose pair of values is rarer than k on, two columns count as identifying.

It is more than of one column: in small files many pairs of harmless columns are rare in a few records.
"""
MOST_ROWS, LEAST_ROWS = 1 << 15, 1 << 12
WORK = 1 << 19
"""So many rows are looked at in all pairs together, as long as each pair has `LEAST_ROWS`."""
_WIDEST = 1 << 62


@dataclass(frozen=True, eq=False)
class _Question:
    """What a value might tell: the part of each record within its whole. ``least`` is the gain from which it does.

    ``dividing``: it counts only if the values also divide the classes further.
    """

    what: str
    part: Ints
    whole: Ints
    least: float
    dividing: bool = False


def telling_pairs(
    records: ReleasedRecords, columns: Sequence[ColumnFacts], progress: Progress
) -> Iterator[tuple[str, str]]:
    """The pairs of these columns, none of which tells too much alone, that do so together, and what they tell."""
    able = [facts for facts in columns if facts.categorical and facts.distinct - bool(facts.missing) > 1]
    pairs = list(combinations(able, 2))
    if not pairs:
        return
    test = _PairTest(records, able, max(LEAST_ROWS, min(MOST_ROWS, WORK // len(pairs))))
    for one, other in pairs:
        progress.update("Testing pairs of released columns", 0.0)
        told = " ".join([*_identifying(records, one, other), *test.told(one.name, other.name)])
        if told:
            yield f"{one.name}+{other.name}", told


def _identifying(records: ReleasedRecords, one: ColumnFacts, other: ColumnFacts) -> Iterator[str]:
    k, filled = records.plan.problem.k, records.rows - max(one.missing, other.missing)
    # If all pairs of values were rare, their records would be too few still: counting can be spared.
    if one.distinct * other.distinct * (k - 1) < RARE_PAIRS * (filled - records.plan.records_suppressed):
        return
    share = records.rare_pairs(one, other, k)
    if share >= RARE_PAIRS:
        yield (
            f"In {percent(share)} of the released records both values together are ones that fewer than {k:,} of them "
            "have: they may identify the person."
        )


class _PairTest:
    """The sampled records that pairs are judged by, and what each column tells of them alone."""

    def __init__(self, records: ReleasedRecords, columns: Sequence[ColumnFacts], rows: int) -> None:
        whole = records.sample
        number = min(rows, whole.rows.size)
        sample = whole.at(np.arange(number) * whole.rows.size // max(1, number))
        self._classes = sample.classes
        self._values = {facts.name: _values(records, facts, sample.rows) for facts in columns}
        self._distinct = {facts.name: facts.distinct for facts in columns}
        self._questions = list(_questions(records, sample))
        self._alone = {
            facts.name: [self._agreement(question, self._values[facts.name]) for question in self._questions]
            for facts in columns
        }

    def told(self, one: str, other: str) -> Iterator[str]:
        """What both columns tell together and neither alone."""
        first, second = self._values[one], self._values[other]
        both = np.where((first < 0) | (second < 0), -1, first * self._distinct[other] + second)
        for place, question in enumerate(self._questions):
            alone = max((self._alone[name][place] for name in (one, other)), key=lambda found: found.gain)
            if alone.gain >= question.least:
                # What one of them tells was judged when it was tested by itself.
                continue
            found = self._agreement(question, both)
            if found.gain < question.least or not _more(found, alone):
                continue
            if question.dividing and self._alike(both) >= ALIKE:
                continue
            yield (
                f"Together they reveal {question.what}: two records that have both values in common agree in it in "
                f"{percent(found.with_value)} of the cases instead of {percent(found.without)}."
            )

    def _agreement(self, question: _Question, values: Ints) -> Agreement:
        there = values >= 0
        return agreeing(question.part[there], question.whole[there], values[there])

    def _alike(self, values: Ints) -> float:
        there = values >= 0
        dense, members = np.unique(values[there], return_inverse=True)
        classes = self._classes[there]
        return alike(pair_counts(classes, members.astype(np.int64), (int(classes.max()) + 1, dense.size)))


def _more(found: Agreement, alone: Agreement) -> bool:
    """Whether a pair tells more than chance, and more than the better of its columns does."""
    expected = max(found.without, found.without + alone.gain * (1 - found.without))
    deviation = np.sqrt(2 * expected * (1 - expected) / max(1, found.records))
    return found.beyond_chance and bool(found.with_value - expected > DEVIATIONS * deviation)


def _values(records: ReleasedRecords, facts: ColumnFacts, places: Ints) -> Ints:
    """The column's codes at these rows, −1 where there is none."""
    values = records.table.codes_at(facts.name, places).astype(np.int64)
    return np.where(values == empty_code(facts), -1, values)


def _questions(records: ReleasedRecords, sample: Sample) -> Iterator[_Question]:
    plan = records.plan
    area = plan.membership.astype(np.int64)[sample.region]
    yield _Question("the place in more detail than the aggregated region", sample.region, area, GAIN)
    for q, name in enumerate(plan.problem.quasi_identifiers):
        category = sample.codes[q]
        what = f"“{name}” in more detail than the released categories"
        yield _Question(what, category, np.zeros_like(category), KNOWING, dividing=True)
        group_of = records.categories_of[q].astype(np.int64)
        if np.unique(group_of).size < group_of.size:
            before = records.table.codes_at(name, sample.rows).astype(np.int64)
            grouped = f"“{name}” in more detail than the released groups"
            yield _Question(grouped, before, np.maximum(0, group_of[before]), GAIN)


def agreeing(part: Ints, whole: Ints, value: Ints) -> Agreement:
    """`column_tests.agreement` of single records, by one sort; without what single parts tell."""
    if not part.size:
        return Agreement(0.0, 1.0, 0)
    parts, values = int(part.max()) + 1, int(value.max()) + 1
    by_part, whole_of = np.bincount(part, minlength=parts).astype(np.float64), np.zeros(parts, np.int64)
    whole_of[part] = whole
    by_whole = np.bincount(whole_of, by_part)
    chance = np.bincount(whole_of, by_part * (by_part - 1)) / np.maximum(1.0, by_whole * (by_whole - 1))
    open_to = np.bincount(whole_of, by_part > 0) > 1
    if by_whole.size * values * parts >= _WIDEST:
        value = np.unique(value, return_inverse=True)[1].astype(np.int64)
        values = int(value.max()) + 1
    keys = np.sort((whole * values + value) * parts + part)
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    counts = np.diff(starts, append=keys.size).astype(np.float64)
    cells = keys[starts] // parts
    cell_starts = np.flatnonzero(np.concatenate(([True], cells[1:] != cells[:-1])))
    size, same = (np.add.reduceat(each, cell_starts) for each in (counts, counts * (counts - 1)))
    of = cells[cell_starts] // values
    several = (size > 1) & open_to[of]
    size, same, of = size[several], same[several], of[several]
    total = float(size.sum())
    if not total:
        return Agreement(0.0, 1.0, 0)
    return Agreement(float((same / (size - 1)).sum() / total), float((size * chance[of]).sum() / total), int(total))


def percent(share: float) -> str:
    """A share for people."""
    return f"{100 * share:.0f} %" if share >= 0.01 or share == 0 else "less than 1 %"
