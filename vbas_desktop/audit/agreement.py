"""Measure how well the values of a column tell what the release hides; docs/release.md gives the formulas.

The measures are the chance that two records that agree in one thing agree in another. Taken over pairs of different
records, they have the same expectation whether a harmless column has two values or two hundred thousand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

DENSE_CELLS = 1 << 24
RARE_SHARE = 0.05
"""From this share of the records whose value is rarer than k on, a column counts as identifying."""
GAIN = 0.1
"""From this share of what is not known already on, a column refines the place or a grouped quasi-identifier."""
SINGLE_SHARE = 0.02
"""Or from this share of records, beyond chance, whose value occurs in one initial region of several."""
KNOWING = 0.7
"""From this gain on, a column tells the category of a quasi-identifier."""
ALIKE = 0.9
"""Below this chance that two records of a class have the same value, the column is finer than the class."""
DEVIATIONS = 4.0
"""Number of standard deviations by which a measure must exceed chance to count."""
_SIZES = 40
_WIDEST = 1 << 62


@dataclass(frozen=True, eq=False)
class PairTable:
    """Number of records with each pair of two things, for the pairs that occur."""

    first: Ints
    second: Ints
    counts: Ints


def tabulate_pairs(first: Ints, second: Ints, numbers: tuple[int, int]) -> PairTable:
    """Count pairs of numbers below ``numbers``."""
    keys = first * numbers[1] + second
    if numbers[0] * numbers[1] <= max(DENSE_CELLS, 4 * keys.size):
        cells = np.bincount(keys, minlength=1)
        keys_present = np.flatnonzero(cells)
        counts = cells[keys_present]
    else:
        keys_present, counts = np.unique(keys, return_counts=True)
    return PairTable(keys_present // numbers[1], keys_present % numbers[1], counts.astype(np.int64))


def chance_limit(expected: float, records: int) -> float:
    """Return how far a share may exceed what is expected by chance; two records of a pair count as one observation.

    The second term is that of Bernstein's inequality: a few records may agree by chance alone.
    """
    number = max(1, records)
    deviation = np.sqrt(2 * expected * (1 - expected) / number)
    return float(DEVIATIONS * deviation + DEVIATIONS**2 / (1.5 * number))


@dataclass(frozen=True)
class Agreement:
    """The chance that two records with the same value agree, that of any two, and how many records that rests on.

    ``single`` is the share of records whose value occurs in one part of several, ``single_by_chance`` what it would
    be if the value told nothing (0 where the share is too low to matter).
    """

    with_value: float
    without: float
    records: int
    single: float = 0.0
    single_by_chance: float = 0.0

    @property
    def gain(self) -> float:
        """Return how much of what is open the value settles: 0 nothing, 1 all."""
        return (self.with_value - self.without) / (1 - self.without) if self.without < 1 else 0.0

    @property
    def beyond_chance(self) -> bool:
        """Return whether so much cannot be chance."""
        return self.with_value - self.without > chance_limit(self.without, self.records)

    @property
    def refines(self) -> bool:
        """Return whether the value tells the part within its whole."""
        surplus = self.single - self.single_by_chance
        alone = surplus >= SINGLE_SHARE and surplus > chance_limit(self.single_by_chance, self.records)
        return (self.gain >= GAIN or alone) and self.beyond_chance


def measure_agreement(pairs: PairTable, whole_of: Ints) -> Agreement:
    """Measure how well a value tells the part within its whole, such as the region within its area, from (part, value).

    ``whole_of`` gives the whole of each part. Each record counts by the share of the others of its whole and value that
    are in its part; the comparison is the same share without regard to the value.
    """
    part = pairs.first
    value = pairs.second
    counts = pairs.counts.astype(np.float64)
    wholes = int(whole_of.max(initial=0)) + 1
    cell, members = np.unique(value * wholes + whole_of[part], return_inverse=True)
    whole = cell % wholes
    size = np.bincount(members, counts)
    parts = np.bincount(members)
    same = np.bincount(members, counts * (counts - 1))
    by_part = np.bincount(part, counts, whole_of.size)
    by_whole = np.bincount(whole_of, by_part, wholes)
    pairs_of_whole = np.maximum(1.0, by_whole * (by_whole - 1))
    chance = np.bincount(whole_of, by_part * (by_part - 1), wholes) / pairs_of_whole
    several = (size > 1) & (np.bincount(whole_of, by_part > 0, wholes)[whole] > 1)
    records = float(size[several].sum())
    if not records:
        return Agreement(0.0, 1.0, 0)
    single = float(size[several & (parts == 1)].sum() / records)
    alone = np.zeros(1)
    if single >= SINGLE_SHARE:
        shares = by_part / np.maximum(1.0, by_whole[whole_of])
        alone = _chance_alone(shares, whole_of, wholes, whole[several], size[several])
    return Agreement(
        float((same[several] / (size[several] - 1)).sum() / records),
        float((size[several] * chance[whole[several]]).sum() / records),
        int(records),
        single,
        float((size[several] * alone).sum() / records),
    )


def _chance_alone(
    shares: NDArray[np.float64], whole_of: Ints, wholes: int, whole: Ints, size: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Compute the chance that ``size`` records are all in one part: the sum of the parts' shares to that power."""
    out = np.zeros(size.size)
    for number in range(2, _SIZES):
        here = size == number
        if here.any():
            out[here] = np.bincount(whole_of, shares**number, wholes)[whole[here]]
    # In large numbers only the largest part matters.
    largest = np.zeros(wholes)
    np.maximum.at(largest, whole_of, shares)
    many = size >= _SIZES
    out[many] = largest[whole[many]] ** size[many]
    return out


def alike(pairs: PairTable) -> float:
    """Compute of pairs (class, value) the chance that two records of a class have the same value."""
    counts = pairs.counts.astype(np.float64)
    size = np.bincount(pairs.first, counts)
    same = np.bincount(pairs.first, counts * (counts - 1))
    several = size > 1
    if not several.any():
        return 1.0
    return float((same[several] / (size[several] - 1)).sum() / size[several].sum())


def rare_share(frequencies: Ints, k: int) -> float:
    """Compute the share of records whose value fewer than k have; 0 if these records are themselves fewer than k."""
    rare = int(frequencies[frequencies < k].sum())
    return rare / int(frequencies.sum()) if rare >= k else 0.0


def agreeing(part: Ints, whole: Ints, value: Ints) -> Agreement:
    """Compute `agreement` of single records, by one sort; without what single parts tell."""
    if not part.size:
        return Agreement(0.0, 1.0, 0)
    parts = int(part.max()) + 1
    values = int(value.max()) + 1
    by_part = np.bincount(part, minlength=parts).astype(np.float64)
    whole_of = np.zeros(parts, np.int64)
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
    size, same = (np.add.reduceat(amounts, cell_starts) for amounts in (counts, counts * (counts - 1)))
    of = cells[cell_starts] // values
    several = (size > 1) & open_to[of]
    size = size[several]
    same = same[several]
    of = of[several]
    total = float(size.sum())
    if not total:
        return Agreement(0.0, 1.0, 0)
    return Agreement(
        float((same / (size - 1)).sum() / total), float((size * chance[of]).sum() / total), int(total)
    )
