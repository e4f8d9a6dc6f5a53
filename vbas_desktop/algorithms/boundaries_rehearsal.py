"""Boundaries and sites moved once on a handful of regions, so that the loops are compiled before they are needed."""

from __future__ import annotations

import numpy as np

from vbas_desktop.domain.records import EquivalenceCounts

from .boundaries import crowded, move_boundaries
from .partition import new_partition
from .site_moves import move_sites


def rehearse() -> None:
    """A full matrix, and rows of counts: both have the types of real use."""
    points = np.array([(0.0, 0.0), (4.0, 0.0), (6.0, 0.0), (10.0, 0.0)])
    dense = np.array([(5, 5), (0, 3), (0, 1), (9, 0)], np.int64)
    counts = EquivalenceCounts((2,), np.arange(2, dtype=np.int64), dense=dense)
    pairs = np.array([(0, 1), (1, 2), (2, 3)], np.int32)
    owner = np.array([0, 0, 1, 1], np.int32)
    for kept in (counts, EquivalenceCounts((2,), counts.classes, sparse=counts.rows)):
        partition = new_partition(kept, points, pairs, owner, points[[0, 3]], 4)
        crowded(partition)
        move_boundaries(partition, 20, 0, 0.1, 10**6, 100.0)
        move_sites(new_partition(kept, points, pairs, owner, points[[0, 3]], 4), 20, 0, 0.1, 2.0, 2.0)
