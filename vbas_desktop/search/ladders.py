"""Ladders: the ways to coarsen one attribute, from its categories as they are to a few groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.intervals import interval_name, starts_with_number
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.records import MISSING, Categories, ColumnFacts, Grouping, category_order

OTHER = "other"
_FEWEST = 2
_ORDERED_FROM = 3
"""Two categories have no order worth keeping, and nothing to merge but everything."""


@dataclass(frozen=True)
class Rung:
    """One level of a ladder: the group of every category, in the order of the column's categories."""

    groups: tuple[str, ...]

    @property
    def number(self) -> int:
        """How many groups remain."""
        return len(set(self.groups))


@dataclass(frozen=True, eq=False)
class Ladder:
    """The rungs of one column; rung 0 leaves the categories as they are. ``frequencies``: records of each category."""

    categories: Categories
    rungs: tuple[Rung, ...]
    frequencies: NDArray[np.int64]

    @property
    def column(self) -> str:
        """The column's name."""
        return self.categories.column

    def grouping(self, level: int) -> Grouping | None:
        """What a level does to the values; None on level 0."""
        pairs = zip(self.categories.values, self.rungs[level].groups, strict=True)
        changed = {value: group for value, group in pairs if value != group}
        return Grouping(self.column, changed) if level and changed else None

    def grouped(self, level: int) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """The groups of a level in class order, and the code that each category gets among them."""
        if level == 0:
            return self.categories.values, np.arange(len(self.categories.values))
        order = category_order(sorted(set(self.rungs[level].groups)))
        place = {group: code for code, group in enumerate(order)}
        return tuple(order), np.array([place[group] for group in self.rungs[level].groups], np.int64)

    def labels(self, level: int) -> tuple[str, ...]:
        """The groups of a level as people read them, each once; a code that stays has what it means beside it."""
        codes = range(len(self.categories.values))
        named = zip(self.categories.values, self.rungs[level].groups, map(self.categories.label, codes), strict=True)
        return tuple(dict.fromkeys(label if value == group else group or MISSING for value, group, label in named))

    def number(self, level: int) -> int:
        """How many categories count for the number of classes."""
        return self.categories.number if level == 0 else self.rungs[level].number

    def entropy(self, level: int) -> float:
        """The bits that one value tells on a level."""
        groups, codes = self.grouped(level)
        totals = np.bincount(codes, self.frequencies, len(groups))
        shares = totals[totals > 0] / max(1.0, totals.sum())
        return float(max(0.0, -(shares * np.log2(shares)).sum()))


def ladder_of(facts: ColumnFacts, levels: Iterable[Mapping[str, str]] = ()) -> Ladder:
    """A ladder from what each level makes of the original values; a level that changes nothing is left out.

    A value without an entry stays what the level below made of it. `InputError` if a level parts what one below joined.
    """
    assert facts.categories is not None
    assert facts.frequencies is not None
    values = facts.categories.values
    rungs = [Rung(values)]
    for level in levels:
        below = rungs[-1].groups
        groups = tuple(level.get(value, before) for value, before in zip(values, below, strict=True))
        if len(set(zip(below, groups, strict=True))) > rungs[-1].number:
            raise InputError(
                Finding(
                    "not-nested",
                    f"Level {len(rungs)} parts values that the level below it takes together.",
                    "Give every level the groups of the one below, or larger ones.",
                    column=facts.name,
                )
            )
        if groups != below:
            rungs.append(Rung(groups))
    return Ladder(facts.categories, tuple(rungs), facts.frequencies)


def proposed(facts: ColumnFacts) -> Ladder:
    """A ladder made up from the categories.

    Numbers and intervals are merged with their neighbours, two, four, eight at a time; other categories are taken
    together from the rarest up, half of them at a time, as “other”. The labels of a codebook decide what is an
    interval, and give names to what is merged. Missing values stay apart.
    """
    assert facts.categories is not None
    assert facts.frequencies is not None
    values = [value for value in facts.categories.values if value != ""]
    names = [facts.categories.labels.get(value) or value for value in values]
    if len(values) < _ORDERED_FROM:
        return ladder_of(facts)
    if all(starts_with_number(name) for name in names):
        return ladder_of(facts, _intervals(values, names))
    frequencies = dict(zip(facts.categories.values, facts.frequencies.tolist(), strict=True))
    return ladder_of(facts, _others(values, frequencies))


def _intervals(values: Sequence[str], names: Sequence[str]) -> Iterable[dict[str, str]]:
    size = 2
    while -(-len(values) // size) >= _FEWEST:
        level = {}
        for start in range(0, len(values), size):
            end = min(start + size, len(values))
            level.update(dict.fromkeys(values[start:end], interval_name(names[start], names[end - 1])))
        yield level
        size *= 2


def _others(values: Sequence[str], frequencies: Mapping[str, int]) -> Iterable[dict[str, str]]:
    """The more frequent half stays each time; ties by the order of the categories."""
    order = sorted(values, key=lambda value: -frequencies[value])
    name = OTHER
    while name in frequencies:
        name = f"{name} values"
    kept = (len(values) + 1) // 2
    while kept >= 1:
        if len(values) - kept >= 2:
            yield dict.fromkeys(order[kept:], name)
        kept = kept // 2 if kept > 1 else 0
