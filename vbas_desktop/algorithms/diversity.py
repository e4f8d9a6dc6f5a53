"""Which classes do not meet the criteria for sensitive values, and the figures that tell how near they come.

Everything works on the cells (region, class, value) that are not empty. In counts by region, class and value the cells
of a class follow each other in the same order as the classes in the counts by region and class, so that entry e of
these belongs to segment e of the cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.criteria import COMPARED_WITH_ALL, Sensitive, criterion_of
from vbas_desktop.model.progress import SILENT, Progress
from vbas_desktop.model.records import EquivalenceCounts
from vbas_desktop.model.sensitive import SensitiveCounts

from .ahead import make_ready
from .grouping import with_classes

REHEARSAL = "vbas_desktop.algorithms.diversity:rehearse"
_STAGE = "Looking at sensitive values"
_BLOCK = 400_000
"""Classes between two looks at whether the user wants to stop."""

Shares = NDArray[np.float64]


def shares_of(totals: NDArray[np.int64]) -> Shares:
    """The share of each value in all records."""
    return np.asarray(totals / max(1, int(totals.sum())))


@dataclass(frozen=True, eq=False)
class Segments:
    """The sensitive values of the classes of some places: those of class e from ``starts[e]`` to ``starts[e + 1]``.

    ``numbers`` count records, ``codes`` are values; ``cells`` is what they come from.
    """

    column: SensitiveCounts
    cells: EquivalenceCounts
    starts: NDArray[np.int64]
    codes: NDArray[np.int32]
    numbers: NDArray[np.int64]

    def __len__(self) -> int:
        return int(self.starts.size) - 1

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """How many different values each class has."""
        return np.diff(self.starts)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The records of each class."""
        return np.add.reduceat(self.numbers, self.starts[:-1]) if len(self) else np.zeros(0, np.int64)

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """The place of each class: its row of the counts."""
        indptr = self.cells.rows[0]
        return np.searchsorted(indptr, self.starts[:-1], side="right").astype(np.int64) - 1

    @cached_property
    def classes(self) -> NDArray[np.int64]:
        """The number of each class among all combinations of quasi-identifiers."""
        first = self.cells.classes[self.cells.rows[1][self.starts[:-1]]]
        return np.asarray(first // max(1, self.cells.category_numbers[-1]))

    def totals(self, kept: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The records of each value in the classes that are kept."""
        from .diversity_kernel import add_totals

        totals = np.zeros(self.column.harmful.size, np.int64)
        add_totals(self.starts, self.codes, self.numbers, kept, totals)
        return totals

    def figures(self, kind: int, limit: float, shares: Shares, progress: Progress = SILENT) -> NDArray[np.float64]:
        """The figure of each class for a kind of criterion (see `diversity_kernel`)."""
        from .diversity_kernel import figures

        found = np.empty(len(self))
        given = (self.starts, self.codes, self.numbers, self.column.harmful, shares)
        for first in range(0, found.size, _BLOCK):
            progress.update(_STAGE)
            figures(kind, float(limit), *given, first, found[first : first + _BLOCK])
        return found

    def meets(
        self, shares: Shares, progress: Progress = SILENT, among: NDArray[np.bool_] | None = None
    ) -> NDArray[np.bool_]:
        """Whether each class meets the criteria; ``shares`` are those of the values among all records.

        Where only some classes are looked at, those that are ``among`` them and meet the criteria.
        """
        from .diversity_kernel import judge

        good = np.ones(len(self), np.bool_) if among is None else among.copy()
        given = (self.starts, self.codes, self.numbers, self.column.harmful, shares)
        for each in self.column.chosen.criteria:
            for first in range(0, good.size, _BLOCK):
                progress.update(_STAGE)
                judge(each.number, float(each.limit), float(each.factor), *given, first, good[first : first + _BLOCK])
        return good


def segments(column: SensitiveCounts, cells: EquivalenceCounts, progress: Progress = SILENT) -> Segments:
    """The classes of ``cells``, which are counts by place, class and value of the column. O(cells)."""
    make_ready(REHEARSAL, progress)
    from .diversity_kernel import starts_of_classes

    progress.update(_STAGE)
    indptr, columns, numbers = cells.rows
    values = max(1, cells.category_numbers[-1])
    starts = np.empty(columns.size + 1, np.int64)
    count = starts_of_classes(indptr, columns, cells.classes // values, starts)
    codes = (cells.classes % values).astype(np.int32)[columns]
    return Segments(column, cells, starts[: count + 1].copy(), codes, numbers)


def compares_with_all(column: SensitiveCounts) -> bool:
    """Whether a criterion of the column depends on what else is released."""
    return any(each.number in COMPARED_WITH_ALL for each in column.chosen.criteria)


def without_classes(column: SensitiveCounts, counts: EquivalenceCounts) -> SensitiveCounts:
    """The cells of those classes only that the counts have."""
    cells = column.cells
    kept = np.isin(cells.classes // max(1, cells.category_numbers[-1]), counts.classes)
    return column.with_cells(with_classes(cells, kept))


def rehearse() -> None:
    """Two places, one class, two values."""
    from .diversity_kernel import starts_of_classes

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
