"""Which values of the quasi-identifiers lost records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..plan import Plan
from .disclosure import Disclosure


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


def stated_total(plan: Plan, losses: tuple[ValueLoss, ...], show: Disclosure) -> str | None:
    """The number of suppressed records, or None if this reader could work out a small group from it."""
    tables = [
        plan.records_by_region - plan.released_by_region,
        *(np.array([value.suppressed for value in loss.values]) for loss in losses),
    ]
    unknown = np.array([plan.problem.unknown_region_records])
    with_unknown = [np.concatenate((table, unknown)) if unknown[0] else table for table in tables]
    return show.total(plan.records_suppressed, with_unknown)


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
