"""Does a column tell what the release hides? Three tests on counts; docs/release.md gives the formulas.

The measures are the chance that two records that agree in one thing agree in another. Taken over pairs of different
records, they have the same expectation whether a harmless column has two values or two hundred thousand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .column_counts import Ints, Pairs

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
"""A measure counts if it is beyond chance by so many standard deviations."""
_SIZES = 40


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
        """How much of what is open the value settles: 0 nothing, 1 all."""
        return (self.with_value - self.without) / (1 - self.without) if self.without < 1 else 0.0

    @property
    def beyond_chance(self) -> bool:
        """Whether so much cannot be chance; two records of a pair count as one observation."""
        deviation = np.sqrt(2 * self.without * (1 - self.without) / max(1, self.records))
        return bool(self.with_value - self.without > DEVIATIONS * deviation)

    @property
    def refines(self) -> bool:
        """Whether the value tells the part within its whole."""
        surplus = self.single - self.single_by_chance
        deviation = np.sqrt(2 * self.single_by_chance * (1 - self.single_by_chance) / max(1, self.records))
        alone = surplus >= SINGLE_SHARE and surplus > DEVIATIONS * deviation
        return (self.gain >= GAIN and self.beyond_chance) or bool(alone and self.beyond_chance)


def agreement(pairs: Pairs, whole_of: Ints) -> Agreement:
    """Of pairs (part, value): how well a value tells the part within its whole, such as the region in its area.

    ``whole_of`` gives the whole of each part. Each record counts by the share of the others of its whole and value that
    are in its part; the comparison is the same share without regard to the value.
    """
    part, value, counts = pairs.first, pairs.second, pairs.counts.astype(np.float64)
    wholes = int(whole_of.max(initial=0)) + 1
    cell, members = np.unique(value * wholes + whole_of[part], return_inverse=True)
    whole = cell % wholes
    size, parts = np.bincount(members, counts), np.bincount(members)
    same = np.bincount(members, counts * (counts - 1))
    by_part = np.bincount(part, counts, whole_of.size)
    by_whole = np.bincount(whole_of, by_part, wholes)
    pairs_of_whole = np.maximum(1.0, by_whole * (by_whole - 1))
    chance = np.bincount(whole_of, by_part * (by_part - 1), wholes) / pairs_of_whole
    several = (size > 1) & (np.bincount(whole_of, by_part > 0, wholes)[whole] > 1)
    records = float(size[several].sum())
    if not records:
        return Agreement(0.0, 1.0, 0)
    single, alone = float(size[several & (parts == 1)].sum() / records), np.zeros(1)
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
    """The chance that all of so many records are in one part: the sum of the parts' shares to that power."""
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


def alike(pairs: Pairs) -> float:
    """Of pairs (class, value): the chance that two records of a class have the same value."""
    counts = pairs.counts.astype(np.float64)
    size = np.bincount(pairs.first, counts)
    same = np.bincount(pairs.first, counts * (counts - 1))
    several = size > 1
    if not several.any():
        return 1.0
    return float((same[several] / (size[several] - 1)).sum() / size[several].sum())


def merged(pairs: Pairs, to: Ints) -> Pairs:
    """The pairs with the first thing replaced by a coarser one."""
    width = int(pairs.second.max(initial=0)) + 1
    keys, members = np.unique(to[pairs.first] * width + pairs.second, return_inverse=True)
    counts = np.bincount(members, pairs.counts).astype(np.int64)
    return Pairs(keys // width, keys % width, counts)


def rare_share(frequencies: Ints, k: int) -> float:
    """The share of the records whose value fewer than k have; 0 if these records are themselves fewer than k."""
    rare = int(frequencies[frequencies < k].sum())
    return rare / int(frequencies.sum()) if rare >= k else 0.0
