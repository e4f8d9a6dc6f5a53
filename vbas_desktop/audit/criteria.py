"""Compute again, for the verification, whether sensitive values meet their criteria.

Shares no code with what decided about a release: all classes are done at once, with sorted lists and matrices. The
definitions are those of docs/sensitive-values.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.criteria import Criterion

Numbers = NDArray[np.int64]
Figures = NDArray[np.float64]

SLACK = 1e-9
_BLOCK = 1 << 21
"""Entries of a matrix of classes × values that are filled at a time."""


@dataclass(frozen=True, eq=False)
class ValueDistribution:
    """Distribution of the records of some classes over the values of a sensitive column.

    ``number[i]`` records of class ``group[i]`` have value ``value[i]``; no pair occurs twice. ``harmful`` says of each
    value whether it does harm; ``order`` lists the values from the lowest to the highest, if they have an order.
    """

    groups: int
    group: Numbers
    value: Numbers
    number: Numbers
    harmful: NDArray[np.bool_]
    order: Numbers | None = None

    @property
    def sizes(self) -> Numbers:
        """Return the records of each class."""
        return _sums(self.group, self.number, self.groups)

    @property
    def totals(self) -> Numbers:
        """Return the records of each value."""
        return _sums(self.value, self.number, self.harmful.size)

    @property
    def is_harmed(self) -> NDArray[np.bool_]:
        """Return whether each class has a harmful value."""
        return _sums(self.group, self.number * self.harmful[self.value], self.groups) > 0

    def merge_classes(
        self, group: Numbers, groups: int, is_kept: NDArray[np.bool_]
    ) -> ValueDistribution:
        """Put the records into other classes: ``group[g]`` is the new one of class g, if it is kept."""
        mine = is_kept[self.group]
        keys = group[self.group[mine]] * self.harmful.size + self.value[mine]
        keys_present, where = np.unique(keys, return_inverse=True)
        classes, values = np.divmod(keys_present, self.harmful.size)
        number = _sums(where.ravel(), self.number[mine], keys_present.size)
        return ValueDistribution(groups, classes, values, number, self.harmful, self.order)

    def failing(self, criteria: Sequence[Criterion], everybody: Numbers) -> NDArray[np.bool_]:
        """Find the classes that miss a criterion; ``everybody`` has the records of each value among all."""
        bad = np.zeros(self.groups, bool)
        for criterion in criteria:
            limit = criterion.limit
            figure = self.figure(criterion.kind, everybody, int(criterion.limit))
            if criterion.kind in ("distinct", "entropy"):
                bad |= figure < limit - SLACK * limit
            elif criterion.kind == "recursive":
                bad |= ~(figure < criterion.factor - SLACK * criterion.factor)
            else:
                bad |= figure > limit + SLACK * max(1.0, limit)
        return bad & self.is_harmed

    def figure(self, kind: str, everybody: Numbers, least: int = 2) -> Figures:
        """Compute the figure of each class by which a kind of criterion is judged."""
        sizes = np.maximum(self.sizes, 1)
        harm = self.harmful[self.value]
        if kind == "share":
            return 100.0 * self._commonest() / sizes
        if kind == "distinct":
            return np.bincount(self.group[self.number > 0], minlength=self.groups).astype(float)
        if kind == "entropy":
            bits = np.bincount(self.group, self.number * np.log(np.maximum(self.number, 1)), self.groups)
            return np.asarray(np.exp(np.log(sizes) - bits / sizes))
        if kind == "recursive":
            return self._against_the_rest(least)
        shares = everybody / max(1, int(everybody.sum()))
        if kind == "closeness":
            more = np.maximum(0.0, self.number / sizes[self.group] - shares[self.value])
            return np.asarray(np.bincount(self.group[harm], more[harm], self.groups), np.float64)
        return self._measure_distances(shares)

    def _commonest(self) -> Numbers:
        """Count the records of the commonest harmful value of each class."""
        top = np.zeros(self.groups, np.int64)
        np.maximum.at(top, self.group, np.where(self.harmful[self.value], self.number, 0))
        return top

    def _against_the_rest(self, least: int) -> Figures:
        """Divide the commonest harmful value by what is left when the ``least`` − 1 commonest values are ruled out.

        The value itself is never ruled out, and counts among those that are if it is one of the commonest.
        """
        top = self._commonest()
        benign_first = np.where(self.harmful[self.value], 1, 0)
        order = np.lexsort((benign_first, -self.number, self.group))
        group = self.group[order]
        number = self.number[order]
        harm = self.harmful[self.value[order]]
        starts = np.searchsorted(group, np.arange(self.groups))
        rank = np.arange(group.size) - starts[group] + 1
        its_rank = np.full(self.groups, group.size + 1)
        np.minimum.at(its_rank, group, np.where(harm, rank, group.size + 1))
        own = rank == its_rank[group]
        begin = np.where(its_rank < least, least, least - 1)[group]
        rest = _sums(group, np.where((rank >= begin) & ~own, number, 0), self.groups)
        return np.where(rest > 0, top / np.maximum(rest, 1), np.inf)

    def _measure_distances(self, shares: Figures) -> Figures:
        """Measure how far values lie from those of everybody, in steps from one that occurs to the next, over all."""
        assert self.order is not None
        order = self.order[shares[self.order] > 0]
        rank = np.full(shares.size, -1)
        rank[order] = np.arange(order.size)
        distances = np.zeros(self.groups)
        if order.size < 2:
            return distances
        sizes = np.maximum(self.sizes, 1)
        running = np.cumsum(shares[order])
        by_group = np.argsort(self.group, kind="stable")
        step = max(1, _BLOCK // order.size)
        for first in range(0, self.groups, step):
            end = min(self.groups, first + step)
            low, high = np.searchsorted(self.group[by_group], (first, end))
            some = by_group[low:high]
            matrix = np.zeros((end - first, order.size))
            np.add.at(matrix, (self.group[some] - first, rank[self.value[some]]), self.number[some])
            away = np.cumsum(matrix, axis=1) / sizes[first:end, None] - running
            distances[first:end] = np.abs(away).sum(axis=1) / (order.size - 1)
        return distances


def _sums(group: Numbers, number: Numbers, groups: int) -> Numbers:
    # As floating-point numbers, but exact: no file has 2**53 records.
    return np.bincount(group, number, minlength=groups).astype(np.int64)


def order_of(texts: Sequence[str]) -> Numbers | None:
    """Order texts by the numbers that they are; None if one is not a finite number."""
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        return None
    return np.argsort(numbers, kind="stable").astype(np.int64) if np.isfinite(numbers).all() else None


@dataclass(frozen=True)
class SensitiveRecount:
    """Disclosure by one sensitive column of a file: the worst figures of its classes, and how many miss each criterion.

    ``missing`` maps a criterion, as it is typed, to classes and records that do not meet it. Figures are None if no
    class has a harmful value.
    """

    column: str
    figures: Mapping[str, float | None]
    missing: Mapping[str, tuple[int, int]]

    @property
    def passed(self) -> bool:
        """Return whether every class meets every criterion."""
        return not any(classes for classes, _ in self.missing.values())

    def as_dict(self) -> dict[str, object]:
        """Return plain JSON data."""
        failing = {
            text: {"violating_classes": classes, "violating_records": records}
            for text, (classes, records) in self.missing.items()
        }
        return {**self.figures, "criteria": failing, "ok": self.passed}


def evaluate_criteria(
    column: str, distribution: ValueDistribution, criteria: Sequence[Criterion]
) -> SensitiveRecount:
    """Count what misses the criteria, compared with all records of the file."""
    everybody = distribution.totals
    sizes = distribution.sizes
    missing = {}
    for criterion in criteria:
        bad = distribution.failing([criterion], everybody)
        missing[criterion.text] = (int(bad.sum()), int(sizes[bad].sum()))
    harmed = distribution.is_harmed
    figures: dict[str, float | None] = {}
    for name, kind, worst in _FIGURES:
        if kind != "ordered-closeness" or distribution.order is not None:
            figure = distribution.figure(kind, everybody)
            figures[name] = float(worst(figure[harmed])) if harmed.any() else None
    distinct = figures["least_distinct"]
    return SensitiveRecount(
        column, {**figures, "least_distinct": None if distinct is None else int(distinct)}, missing
    )


_FIGURES = (
    ("largest_share_percent", "share", np.max),
    ("least_distinct", "distinct", np.min),
    ("least_entropy", "entropy", np.min),
    ("largest_closeness", "closeness", np.max),
    ("largest_ordered_closeness", "ordered-closeness", np.max),
)
"""Reported for a sensitive column: the kind of criterion by which it is judged, and which class is the worst."""
