"""Which values of the quasi-identifiers lost records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.release.plan import Plan


@dataclass(frozen=True)
class LostValue:
    """One value of a quasi-identifier: its records that were released and those that were not."""

    label: str
    released: int
    suppressed: int


@dataclass(frozen=True)
class ValueLoss:
    """All values of one quasi-identifier, in class order."""

    column: str
    values: tuple[LostValue, ...]

    @property
    def suppressed(self) -> NDArray[np.int64]:
        """The suppressed records of each value."""
        return np.array([value.suppressed for value in self.values], np.int64)


def losses_by_value(plan: Plan) -> tuple[ValueLoss, ...]:
    """Released and suppressed records by value; records of unknown regions are not among them."""
    counts = plan.problem.counts
    numbers, losses = counts.classes[plan.columns], []
    for categories, number in zip(reversed(plan.problem.categories), reversed(counts.category_numbers), strict=True):
        numbers, code = np.divmod(numbers, number)
        before = np.bincount(code, weights=plan.counts, minlength=number).astype(np.int64)
        after = np.bincount(code, weights=plan.released, minlength=number).astype(np.int64)
        values = tuple(
            LostValue(categories.label(index), int(after[index]), int(before[index] - after[index]))
            for index in range(len(categories.values))
        )
        losses.append(ValueLoss(categories.column, values))
    return tuple(reversed(losses))
