"""The vector class by class: how much each released class of at least k records keeps, and its sensitive values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.indices import PairCounts
from vbas_desktop.domain.records import MISSING, finite_number
from vbas_desktop.files.records.row_texts import coded_texts
from vbas_desktop.files.records.table import RecordTable

from .classes import Classes
from .pairing import Pairing
from .words import figure_shown, may_tell, shown


def class_rows(paired: Pairing, precisions: NDArray[np.float64], k: int) -> list[dict[str, Any]]:
    """Size, precision and the share of pairs that belonged together before, for each class of at least k records."""
    sizes = paired.released.sizes
    order = np.argsort(paired.cell_released, kind="stable")
    ends = np.searchsorted(paired.cell_released[order], np.arange(len(paired.released.labels) + 1))
    return [
        {
            "class": named(paired.released, int(number)),
            "records": int(sizes[number]),
            **_figures(paired, order[ends[number] : ends[number + 1]], precisions, k),
        }
        for number in np.flatnonzero(sizes >= k)
    ]


def _figures(paired: Pairing, cells: NDArray[np.intp], precisions: NDArray[np.float64], k: int) -> dict[str, Any]:
    """The figures of one class from its cells; made-up records are in none of them."""
    records = paired.cell_records[cells]
    total = int(records.sum())
    if not total:
        return {"precision": None, "jaccard": None, "original_classes": None, "levels": {}}
    smallest = int(records.min())
    _, alike = np.unique(precisions[cells], return_inverse=True)
    smallest_alike = int(np.bincount(alike, records).min())
    precision = float((precisions[cells] * records).sum() / total)
    jaccard = PairCounts.of(records, records, [total]).jaccard
    before = figure_shown(float(records.size), total, smallest, k)
    return {
        "precision": figure_shown(precision, total, smallest_alike, k),
        "jaccard": figure_shown(jaccard, total, smallest, k),
        "original_classes": None if before is None else int(before),
        "levels": {name: int(paired.levels[cells, q].max()) for q, name in enumerate(paired.released.columns)},
    }


def sensitive_rows(table: RecordTable, paired: Pairing, column: str, k: int) -> list[dict[str, Any]]:
    """Count, mean and sample standard deviation per class of at least k records; made-up records are left out."""
    classes = paired.released
    codes, distinct = coded_texts(table, column)
    code = codes[paired.released_rows]
    values = np.array([np.nan if (n := finite_number(str(text))) is None else n for text in distinct])[code]
    present = (distinct != "")[code]
    numeric = not np.isnan(values[present]).any()
    mine = classes.class_of[paired.released_rows]
    order = np.argsort(mine, kind="stable")
    ends = np.searchsorted(mine[order], np.arange(len(classes.labels) + 1))
    rows = []
    for number in np.flatnonzero(classes.sizes >= k):
        place = order[ends[number] : ends[number + 1]]
        there = present[place]
        usable = values[place][there]
        enough = numeric and usable.size >= k
        # The class is as large as it is, so a few missing values would be told by the number of the others.
        fine = may_tell((usable.size, int(np.count_nonzero(~there))), k)
        rows.append(
            {
                "class": named(classes, int(number)),
                "count": shown(int(usable.size), k) if fine else None,
                "mean": float(usable.mean()) if enough else None,
                "sd": float(usable.std(ddof=1)) if enough and usable.size > 1 else None,
            }
        )
    return rows


def named(classes: Classes, number: int) -> dict[str, str]:
    """The values of a class by column."""
    return dict(zip(classes.columns, (value or MISSING for value in classes.labels[number]), strict=True))
