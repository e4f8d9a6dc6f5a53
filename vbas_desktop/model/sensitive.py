"""Records counted by the values of a sensitive column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .counts import ClassCounts
from .criteria import Sensitive


@dataclass(frozen=True, eq=False)
class SensitiveCounts:
    """The records by region, class and value of a sensitive column; memory follows the cells that are not empty.

    ``cells`` are counts in which the value is one more quasi-identifier, the last one: the cells of a class follow each
    other. ``values`` are written as in a release, ``harmful[v]`` says whether learning value v does harm, ``totals``
    are the records of the whole file by value.
    """

    chosen: Sensitive
    values: tuple[str, ...]
    harmful: NDArray[np.bool_]
    cells: ClassCounts
    totals: NDArray[np.int64]

    @property
    def column(self) -> str:
        """The name of the column."""
        return self.chosen.column

    @property
    def codes(self) -> NDArray[np.int32]:
        """The value of each column of ``cells``."""
        return (self.cells.combinations % max(1, self.cells.n_categories[-1])).astype(np.int32)

    def with_cells(self, cells: ClassCounts) -> SensitiveCounts:
        """The same values, counted otherwise: joined, or without some classes."""
        return replace(self, cells=cells)


def enforced(sensitive: Sequence[SensitiveCounts]) -> tuple[SensitiveCounts, ...]:
    """Those of which something must hold."""
    return tuple(each for each in sensitive if each.chosen.criteria)
