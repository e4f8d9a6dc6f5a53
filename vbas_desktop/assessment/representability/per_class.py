"""The vector class by class: how much each released class of at least k records keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.indices import PairCounts

from .classes import named
from .pairing import Pairing
from .words import figure_shown


def class_rows(
    paired: Pairing, precisions: NDArray[np.float64], ratios: Mapping[int, float | None], k: int
) -> list[dict[str, Any]]:
    """Describe each class of at least k records: size, precision, pairs that belonged together, Davies–Bouldin.

    ``ratios`` are the Davies–Bouldin ratios that may be shown (see `shown_ratios`).
    """
    sizes = paired.released.sizes
    order = np.argsort(paired.cell_released, kind="stable")
    ends = np.searchsorted(paired.cell_released[order], np.arange(len(paired.released.labels) + 1))
    return [
        {
            "class": named(paired.released, int(number)),
            "records": int(sizes[number]),
            **_figures(paired, order[ends[number] : ends[number + 1]], precisions, k),
            "davies_bouldin": ratios.get(int(number)),
        }
        for number in np.flatnonzero(sizes >= k)
    ]


def shown_ratios(paired: Pairing, ratios: Mapping[int, tuple[float, int]], k: int) -> dict[int, float | None]:
    """Select the Davies–Bouldin ratios that may be shown.

    A ratio depends on how the records of two classes are spread over the original classes, so both decide.
    ``paired`` holds the classes that the ratios were computed from.
    """
    number = len(paired.released.labels)
    records = np.bincount(paired.cell_released, paired.cell_records, minlength=number).astype(np.int64)
    smallest = np.full(number, np.iinfo(np.int64).max)
    np.minimum.at(smallest, paired.cell_released, paired.cell_records)
    found: dict[int, float | None] = {}
    for released, (ratio, partner) in ratios.items():
        both = [released, partner]
        found[released] = figure_shown(ratio, int(records[both].min()), int(smallest[both].min()), k)
    return found


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
