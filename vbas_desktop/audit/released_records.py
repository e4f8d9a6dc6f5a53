"""Describe released records for the tests of columns, and list what a column might disclose about them.

The same tests run twice: before writing, on the loaded table, and on the written file with its original. Therefore
nothing here may depend on how values are numbered, only on the order of the records and on which values are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .agreement import GAIN, KNOWING, Ints

SAMPLE_ROWS = 1 << 18
"""Number of records of larger files on which region and categories are tested."""
COMBINATION_ROWS = 1 << 18
"""Approximate number of records whose combinations of values are counted to find rare ones."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
_ODD = np.uint64(0xD6E8FEB86659FD93)


@dataclass(frozen=True, eq=False)
class Sample:
    """Some released records: row, initial region, released tier, categories of the quasi-identifiers, class.

    ``categories`` and ``originals`` have one row for each quasi-identifier; ``originals`` are the values before they
    were grouped (None: nothing was grouped).
    """

    rows: Ints
    region: Ints
    tier: Ints
    categories: Ints
    originals: tuple[Ints | None, ...]
    classes: Ints

    def at(self, chosen: Ints) -> Sample:
        """Take some of them."""
        originals = tuple(None if codes is None else codes[chosen] for codes in self.originals)
        parts = (
            self.rows[chosen],
            self.region[chosen],
            self.tier[chosen],
            self.categories[:, chosen],
            originals,
        )
        return Sample(*parts, self.classes[chosen])


@dataclass(frozen=True)
class ExaminedColumn:
    """A column to be tested: ``values`` codes, of which ``blank`` means no value (−1: every record has one).

    ``filled`` records, or more, are released with a value, ``missing`` records, or fewer, without one. ``coded`` is
    False if there are too many values to test.
    ``distinct`` values are in the file; columns with more of them are more selective.
    """

    name: str
    values: int
    blank: int
    filled: int
    missing: int
    distinct: int
    coded: bool = True


class ExaminedRecords(Protocol):
    """The released records as the tests of columns need them.

    ``memberships`` has the place of each initial region, tier by tier. ``larger`` are records that are released under
    a place of a higher tier than the aggregated regions.
    """

    k: int
    quasi_identifiers: tuple[str, ...]
    memberships: tuple[Ints, ...]

    @property
    def sample(self) -> Sample:
        """Released records from all over the file."""

    @property
    def larger(self) -> Sample:
        """Records released under a larger area, in whole classes."""

    def values_at(self, column: ExaminedColumn, rows: Ints) -> Ints:
        """Return the codes of a column in these rows."""

    def frequencies(self, column: ExaminedColumn) -> Ints:
        """Count the released records with each code of a column."""

    def rare_combinations(self, columns: Sequence[ExaminedColumn], blanks: bool) -> float:
        """Return the share of the released records whose combination of values fewer than k have."""


def sampled_rows(records: int) -> Ints:
    """Choose one row at random from each of `SAMPLE_ROWS` stretches of a file, or all rows of a smaller one."""
    if records <= SAMPLE_ROWS:
        return np.arange(records, dtype=np.int64)
    borders = np.arange(SAMPLE_ROWS + 1, dtype=np.int64) * records // SAMPLE_ROWS
    return np.random.default_rng(0).integers(borders[:-1], borders[1:])


def whole_cells(cells: Ints, most: int) -> Ints:
    """Choose about ``most`` records by drawing whole cells; returns their positions, ascending."""
    if cells.size <= most:
        return np.arange(cells.size, dtype=np.int64)
    # Cells are numbered in the order in which they occur, so that the draw is the same for any numbering.
    numbered, _ = pd.factorize(cells)
    return np.flatnonzero(draw_cells(np.bincount(numbered), most)[numbered])


def draw_cells(sizes: Ints, most: int) -> NDArray[np.bool_]:
    """Draw cells at random that have about ``most`` records together."""
    order = np.random.default_rng(0).permutation(sizes.size)
    drawn = np.zeros(sizes.size, np.bool_)
    drawn[order[: max(1, int(np.searchsorted(np.cumsum(sizes[order]), most)))]] = True
    return drawn


def released_cells(sample: Sample, memberships: Sequence[Ints]) -> Ints:
    """Number the combinations of released place and class."""
    area = np.zeros(sample.region.size, np.int64)
    start = 0
    for tier, membership in enumerate(memberships):
        here = sample.tier == tier
        area[here] = start + membership[sample.region[here]]
        start += int(membership.max(initial=0)) + 1
    width = int(sample.classes.max(initial=0)) + 1
    return np.asarray(pd.factorize(area * width + sample.classes)[0], np.int64)


@dataclass(frozen=True, eq=False)
class Question:
    """Something hidden that a value might disclose: the part of each of some records within its whole.

    ``whole_of`` is the whole of each part, ``least`` the gain from which a column discloses the part. If ``dividing``,
    this counts only if its values also divide the classes. ``about`` names the quasi-identifier (−1: the place).
    ``text`` says what is disclosed, ``same`` and ``within`` what two records agree in and of which whole they are.
    """

    sample: Sample
    part: Ints
    whole_of: Ints
    least: float
    about: int
    text: str
    same: str
    within: str = ""
    dividing: bool = False


def questions(records: ExaminedRecords, most: int | None = None) -> list[Question]:
    """List what columns might disclose, on about ``most`` sampled records for each question (None: on all of them)."""
    sample = records.sample
    larger = records.larger
    if most is not None:
        number = min(most, sample.rows.size)
        sample = sample.at(np.arange(number) * sample.rows.size // max(1, number))
        larger = larger.at(whole_cells(released_cells(larger, records.memberships), most))
    return [
        *_ask_about_places(sample, records.larger, records.memberships),
        *_ask_about_larger_places(larger, records.memberships),
        *_ask_about_categories(sample, records.quasi_identifiers),
    ]


def _ask_about_places(sample: Sample, larger: Sample, memberships: Sequence[Ints]) -> Iterator[Question]:
    """Ask for the place within the places of each tier under which records are released, by all records there."""
    for tier, membership in enumerate(memberships):
        used = np.ones(int(membership.max(initial=0)) + 1, np.bool_)
        if tier:
            used[:] = False
            used[membership[larger.region[larger.tier == tier]]] = True
        chosen = np.flatnonzero(used[membership[sample.region]])
        if not chosen.size:
            continue
        here = sample if chosen.size == sample.rows.size else sample.at(chosen)
        whole = membership[here.region]
        for same, part in _finer_places(here, memberships[:tier]):
            yield _place_question(here, part, whole, same, _place_of(tier))


def _ask_about_larger_places(larger: Sample, memberships: Sequence[Ints]) -> Iterator[Question]:
    """Ask for the place of records under a larger area, among those with the same quasi-identifiers."""
    for tier in range(1, len(memberships)):
        here = larger.at(np.flatnonzero(larger.tier == tier))
        if not here.rows.size:
            continue
        whole = released_cells(here, memberships)
        for same, part in _finer_places(here, memberships[:tier]):
            yield _place_question(
                here, part, whole, same, f"{_place_of(tier)} with its quasi-identifiers"
            )


def _place_question(sample: Sample, part: Ints, whole: Ints, same: str, area: str) -> Question:
    text = f"the place in more detail than {area}"
    return Question(sample, *_parts_in_wholes(part, whole), GAIN, -1, text, same, area)


def _finer_places(sample: Sample, finer: Sequence[Ints]) -> Iterator[tuple[str, Ints]]:
    """Yield initial regions, and the places of finer tiers that consist of several of them."""
    yield "initial region", sample.region
    for tier, membership in enumerate(finer):
        if np.bincount(membership).max(initial=0) > 1:
            yield (
                ("aggregated region" if tier == 0 else f"place of tier {tier}"),
                membership[sample.region],
            )


def _place_of(tier: int) -> str:
    return "the aggregated region" if tier == 0 else f"the released place of tier {tier}"


def _ask_about_categories(sample: Sample, names: Iterable[str]) -> Iterator[Question]:
    """Yield the questions whether a released column tells more of a quasi-identifier than its released category."""
    for number, name in enumerate(names):
        category = sample.categories[number]
        original = sample.originals[number]
        text = f"“{name}” in more detail than the released categories"
        parts = _parts_in_wholes(category, np.zeros_like(category))
        yield Question(sample, *parts, KNOWING, number, text, "category", dividing=True)
        if original is not None:
            parts = _parts_in_wholes(original, category)
            text = f"“{name}” in more detail than the released groups"
            yield Question(sample, *parts, GAIN, number, text, f"“{name}”", "a group")


def _parts_in_wholes(part: Ints, whole: Ints) -> tuple[Ints, Ints]:
    """Number the parts so that each is in one whole; returns them and the whole of each."""
    keys = whole * (int(part.max(initial=0)) + 1) + part
    number, keys_found = pd.factorize(keys)
    whole_of = np.zeros(max(1, keys_found.size), np.int64)
    whole_of[number] = whole
    return np.asarray(number, np.int64), whole_of


def text_hashes(texts: Sequence[str]) -> NDArray[np.uint64]:
    """Hash the values of a column, the same in every process."""
    return np.asarray(pd.util.hash_array(np.array(texts, object), categorize=False), np.uint64)


def rare_combination_share(
    chunks: Iterable[Sequence[Ints]],
    columns: Sequence[ExaminedColumn],
    hashes: Sequence[NDArray[np.uint64]],
    records: int,
    k: int,
    blanks: bool,
) -> float:
    """Return the share of the records whose combination of values fewer than k have; 0 if they are fewer than k.

    ``chunks`` has the codes of each column. Of more than `COMBINATION_ROWS` records, combinations are chosen by
    ``hashes`` of their texts, and each chosen one is counted in all records. Without ``blanks``, records that lack a
    value in one of the columns are left out.
    """
    bits = max(0, (records // COMBINATION_ROWS).bit_length())
    keys_found = [np.zeros(0, np.int64)]
    total = 0
    for codes in chunks:
        mask = np.ones(codes[0].size, np.bool_)
        for column, values in zip(columns, codes, strict=True):
            if not blanks and column.blank >= 0:
                mask &= values != column.blank
        total += int(np.count_nonzero(mask))
        if bits:
            mixed = np.zeros(mask.size, np.uint64)
            for values, value_hashes in zip(codes, hashes, strict=True):
                mixed = (mixed + value_hashes[values]) * _MIX
                mixed ^= mixed >> np.uint64(32)
            mask &= (mixed * _ODD) >> np.uint64(64 - bits) == 0
        keys = np.zeros(int(np.count_nonzero(mask)), np.int64)
        for column, values in zip(columns, codes, strict=True):
            keys = keys * column.values + values[mask]
        keys_found.append(keys)
    if not total:
        return 0.0
    counts = np.unique(np.concatenate(keys_found), return_counts=True)[1]
    rare = int(counts[counts < k].sum()) << bits
    return min(1.0, rare / total) if rare >= k else 0.0
