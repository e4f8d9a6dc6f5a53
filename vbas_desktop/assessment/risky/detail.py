"""Measure how much detail coarsening leaves: distinct values of each column before and after, and information loss."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .table import Table


@dataclass(frozen=True)
class ColumnDetail:
    """One column before and after coarsening.

    ``information_loss`` is the share of the information that is lost, 0 (nothing) … 1 (all): H(before | after) /
    H(before), where a suppressed record says nothing. None for a column that had one value only.
    """

    column: str
    values_before: int
    values_after: int
    information_loss: float | None

    def as_dict(self) -> dict[str, Any]:
        """The figures as plain JSON data."""
        return asdict(self)

    def in_words(self) -> str:
        """Say how many values are left of how many, and what that costs."""
        loss = (
            "" if self.information_loss is None else f" ({100 * self.information_loss:.0f} % of the information lost)"
        )
        return f"{self.column} {self.values_before:,} → {self.values_after:,}{loss}"


@dataclass(frozen=True)
class Detail:
    """All columns, in the order of the table."""

    columns: tuple[ColumnDetail, ...] = ()

    @property
    def information_loss(self) -> float:
        """The mean over the columns that had more than one value; 0 if there are none."""
        losses = [column.information_loss for column in self.columns if column.information_loss is not None]
        return sum(losses) / len(losses) if losses else 0.0


def measure_detail(start: Table, state: Table) -> Detail:
    """Compare a table with its coarsened state. O(records + rows · columns)."""
    row_after = _row_after(start, state)
    released = row_after >= 0
    columns = []
    for column, name in enumerate(start.columns):
        before = start.codes[column].astype(np.int64)
        after = np.full(before.size, -1, np.int64)
        after[released] = state.codes[column][row_after[released]]
        loss = _information_loss(before, after, start.weights)
        columns.append(ColumnDetail(name, _distinct(before), _distinct(after[released]), loss))
    return Detail(tuple(columns))


def _row_after(start: Table, state: Table) -> NDArray[np.int32]:
    """Find the row of the state that each row of the start became (−1: suppressed); equal records stay together."""
    row_after = np.empty(start.rows, np.int32)
    row_after[start.row_of] = state.row_of
    return row_after


def _distinct(codes: NDArray[np.int64]) -> int:
    return int(np.unique(codes).size)


def _information_loss(before: NDArray[np.int64], after: NDArray[np.int64], records: NDArray[np.int32]) -> float | None:
    """Compute the lost share of the bits that the values say: log₂(records of the new value / of the old value)."""
    total = int(records.sum())
    if not total:
        return None
    own = np.bincount(before, records)[before]
    bits = float((records * np.log2(total / own)).sum())
    if bits <= 0:
        return None
    # Codes of suppressed rows are −1: their new value stands for all records.
    merged = np.bincount(after + 1, records)
    merged[0] = total
    lost = float((records * np.log2(merged[after + 1] / own)).sum())
    return min(1.0, max(0.0, lost / bits))
