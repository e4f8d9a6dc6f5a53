"""ADC once on a handful of points, so that its loops are compiled before they are needed."""

from __future__ import annotations

import numpy as np

from vbas_desktop.domain.records import EquivalenceCounts

from .search import cluster


def rehearse() -> None:
    """A full matrix, and rows of counts; one site moves."""
    points = np.array([(0.0, 0.0), (4.0, 0.0), (6.0, 0.0), (10.0, 0.0)])
    dense = np.array([(5, 5), (0, 3), (0, 1), (9, 0)], np.int64)
    counts = EquivalenceCounts((2,), np.arange(2, dtype=np.int64), dense=dense)
    for kept in (counts, EquivalenceCounts((2,), counts.classes, sparse=counts.rows)):
        cluster(points, kept, points[[0, 3]], k=4)
