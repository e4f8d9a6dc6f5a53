"""The vector class by class: how much each released class of at least k records keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.indices import PairCounts

from .classes import named
from .pairing import Pairing
from .words import figure_shown


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
