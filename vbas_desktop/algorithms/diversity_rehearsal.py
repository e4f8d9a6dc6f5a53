"""Criteria for sensitive values once on a handful of cells, so that their loops are compiled before they are needed."""

from __future__ import annotations

import numpy as np

from vbas_desktop.domain.criteria import Sensitive, criterion_of
from vbas_desktop.domain.records import EquivalenceCounts
from vbas_desktop.domain.sensitive import SensitiveCounts

from .diversity import Segments, shares_of
from .diversity_kernel import starts_of_classes


def rehearse() -> None:
    """Two places, one class, two values."""
    cells = EquivalenceCounts.from_dense((1, 2), np.arange(2, dtype=np.int64), np.array([(3, 1), (2, 2)], np.int64))
    chosen = Sensitive("", criteria=(criterion_of("share:50"),))
    column = SensitiveCounts(chosen, ("a", "b"), np.ones(2, np.bool_), cells, np.array([5, 3], np.int64))
    indptr, columns, numbers = cells.rows
    starts = np.empty(columns.size + 1, np.int64)
    count = starts_of_classes(indptr, columns, cells.classes // 2, starts)
    found = Segments(column, cells, starts[: count + 1].copy(), columns.astype(np.int32), numbers)
    found.meets(shares_of(column.totals))
    found.totals(np.ones(len(found), np.bool_))
    found.figures(1, 1.0, shares_of(column.totals))
