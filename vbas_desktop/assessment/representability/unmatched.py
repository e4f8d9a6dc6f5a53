"""Count records that are in one of the two files only: deleted ones in the original, made-up ones in the release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.indices import PairCounts, compute_entropy_loss, sum_of_logs

from .classes import Classes
from .hierarchy import SUPPRESSED, Hierarchy
from .pairing import Pairing

Ints = NDArray[np.int64]


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


@dataclass(frozen=True, eq=False)
class Contingency:
    """Records in common of an original and a released class (``both``), and the records of each of these classes."""

    both: Ints
    original: Ints
    released: Ints

    @property
    def pairs(self) -> PairCounts:
        """Pairs of records by whether they share a class before and after."""
        return PairCounts.of(self.both, self.original, self.released)

    @property
    def entropy_loss(self) -> float:
        """The entropy-based loss: 0 if the released classes tell the original ones, 1 if they tell nothing of them."""
        both, original, released = (sum_of_logs(counts) for counts in (self.both, self.original, self.released))
        return compute_entropy_loss(both, original, released, int(self.original.sum()))


def count_classes(paired: Pairing, with_made_up: bool) -> Contingency:
    """Count the records of the classes of both files and of what they have in common.

    Made-up records are a class of their own on the side of the original; without ``with_made_up`` they are left out.
    """
    original = np.bincount(paired.cell_original, paired.cell_records).astype(np.int64)
    released = np.bincount(paired.cell_released, paired.cell_records, len(paired.released.labels)).astype(np.int64)
    if not with_made_up:
        return Contingency(paired.cell_records, original, released)
    both = np.concatenate([paired.cell_records, paired.added])
    return Contingency(both, np.append(original, paired.added.sum()), released + paired.added)
