"""Global suppression: classes that are too small in the whole file are dropped before anything else."""

from __future__ import annotations

import numpy as np

from vbas_desktop.algorithms.grouping import ends_of_kept
from vbas_desktop.domain.progress import Progress, Silent
from vbas_desktop.domain.records import EquivalenceCounts

_STAGE = "Suppressing classes that are too small everywhere"


def suppress_globally(counts: EquivalenceCounts, k: int, progress: Progress | None = None) -> EquivalenceCounts:
    """The counts without the classes that have fewer than k records in all regions together.

    The possible classes stay what they were: only columns of the classes that occur go away. Nothing is copied if no
    class is too small.
    """
    progress = progress or Silent()
    progress.update(_STAGE)
    large = counts.class_totals >= k
    progress.update(_STAGE)
    if large.all():
        return counts
    classes = counts.classes[large]
    if counts.dense is not None:
        return EquivalenceCounts.from_dense(counts.category_numbers, classes, counts.dense[:, large])
    indptr, columns, values = counts.rows
    kept = large[columns]
    progress.update(_STAGE)
    ends = ends_of_kept(kept, indptr)
    progress.update(_STAGE)
    renumbered = (np.cumsum(large) - 1).astype(np.int32)
    return EquivalenceCounts.from_rows(counts.category_numbers, classes, ends, renumbered[columns[kept]], values[kept])
