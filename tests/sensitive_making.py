"""Counts of made-up records with a sensitive value, for tests."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.criteria import SensitiveColumn, parse_criterion
from vbas_desktop.model.sensitive import SensitiveCounts

Row = tuple[int, int, int]
"""Region, class, value of one record."""


def counts_of(rows: Sequence[Row], regions: int, classes: int) -> ClassCounts:
    """The records by region and class; only classes that occur have a column."""
    matrix = np.zeros((regions, classes), np.int64)
    for region, kind, _ in rows:
        matrix[region, kind] += 1
    present = np.flatnonzero(matrix.sum(axis=0))
    return ClassCounts.from_matrix((classes,), present, matrix[:, present])


def sensitive_of(
    rows: Sequence[Row],
    regions: int,
    classes: int,
    values: int,
    criteria: Sequence[str],
    benign: Sequence[int] = (),
) -> SensitiveCounts:
    """The same by value, under these criteria; values are named by their numbers."""
    matrix = np.zeros((regions, classes * values), np.int64)
    for region, kind, value in rows:
        matrix[region, kind * values + value] += 1
    present = np.flatnonzero(matrix.sum(axis=0))
    cells = ClassCounts.from_matrix((classes, values), present, matrix[:, present])
    totals = np.bincount([value for _, _, value in rows], minlength=values).astype(np.int64)
    harmful = np.array([value not in benign for value in range(values)])
    names = tuple(str(value) for value in range(values))
    chosen = SensitiveColumn(
        "s", tuple(map(str, benign)), tuple(parse_criterion(text).of("s") for text in criteria)
    )
    return SensitiveCounts(chosen, names, harmful, cells, totals)


def by_class(rows: Sequence[Row], membership: Sequence[int]) -> dict[tuple[int, int], Counter]:
    """The values of each class of each aggregated region; values are named by their numbers."""
    found: dict[tuple[int, int], Counter] = defaultdict(Counter)
    for region, kind, value in rows:
        found[int(membership[region]), kind][str(value)] += 1
    return dict(found)
