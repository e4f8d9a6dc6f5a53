"""Count records that are in one of the two files only: deleted ones in the original, made-up ones in the release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vbas_desktop.algorithms.indices import PairCounts

from .classes import Classes
from .hierarchy import SUPPRESSED, Hierarchy
from .pairing import Pairing


def with_deleted_class(paired: Pairing, hierarchies: Sequence[Hierarchy]) -> Pairing:
    """Add the deleted records as one released class of their own, suppressed in every column."""
    deleted = np.flatnonzero(paired.vanished)
    released = paired.released
    label = (SUPPRESSED,) * len(released.columns)
    top = np.array([hierarchy.height for hierarchy in hierarchies], np.int64)
    return replace(
        paired,
        released=Classes(released.columns, (*released.labels, label), released.class_of),
        cell_original=np.concatenate([paired.cell_original, deleted]),
        cell_released=np.concatenate([paired.cell_released, np.full(deleted.size, len(released.labels))]),
        cell_records=np.concatenate([paired.cell_records, paired.vanished[deleted]]),
        levels=np.concatenate([paired.levels, np.tile(top, (deleted.size, 1))]),
        vanished=np.zeros_like(paired.vanished),
        added=np.append(paired.added, 0),
    )


def count_pairs(paired: Pairing, with_made_up: bool) -> PairCounts:
    """Count the pairs of records by whether they share a class before and after.

    Made-up records are a class of their own on the side of the original; without ``with_made_up`` they are left out.
    """
    original = np.bincount(paired.cell_original, paired.cell_records).astype(np.int64)
    released = np.bincount(paired.cell_released, paired.cell_records, len(paired.released.labels)).astype(np.int64)
    if not with_made_up:
        return PairCounts.of(paired.cell_records, original, released)
    both = np.concatenate([paired.cell_records, paired.added])
    return PairCounts.of(both, np.append(original, paired.added.sum()), released + paired.added)
