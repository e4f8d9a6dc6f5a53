"""Counts of records by the values of a sensitive column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .counts import ClassCounts
from .criteria import SensitiveColumn


@dataclass(frozen=True, eq=False)
class SensitiveCounts:
    """The records by region, class and value of a sensitive column; memory follows the cells that are not empty.

    ``cells`` are counts in which the value is one more quasi-identifier, the last one: the cells of a class follow each
    other. ``values`` are written as in a release, ``harmful[v]`` says whether learning value v does harm, ``totals``
    are the records of the whole file by value.
    """

    chosen: SensitiveColumn
    values: tuple[str, ...]
    harmful: NDArray[np.bool_]
    cells: ClassCounts
    totals: NDArray[np.int64]

    @property
    def column(self) -> str:
        """Return the name of the column."""
        return self.chosen.column

    @property
    def codes(self) -> NDArray[np.int32]:
        """Return the value (index into ``values``) of each combination of ``cells``."""
        return (self.cells.combinations % max(1, self.cells.n_categories[-1])).astype(np.int32)

    def with_cells(self, cells: ClassCounts) -> SensitiveCounts:
        """Return the same values with other counts: aggregated, or without some classes."""
        return replace(self, cells=cells)


def with_criteria(sensitive: Sequence[SensitiveCounts]) -> tuple[SensitiveCounts, ...]:
    """Return the columns that have criteria."""
    return tuple(counts for counts in sensitive if counts.chosen.criteria)
