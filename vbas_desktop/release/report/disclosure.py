"""What the recipient may learn of counts: nothing that tells of fewer than k records, neither directly nor by sums."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

OF_PLACES = frozenset({"average_distance", "alternative_average_distance", "precision_loss"})
"""Measures that see places, not records."""
OF_RELEASED_RECORDS = frozenset({"suppressed_records", "discernibility", "average_anonymity_deviation"})
"""Measures of the released classes alone; the suppressed records pass `Disclosure.total` besides."""


class Disclosure:
    """Sets counts for one reader. The custodian sees all; for the recipient those below k are not told apart."""

    def __init__(self, k: int, internal: bool) -> None:
        self.k, self.internal = k, internal

    def count(self, number: int) -> str:
        """A number of records. The recipient cannot tell none from a few, so a few are not exposed by the sum."""
        if self.internal or number >= self.k:
            return f"{number:,}"
        return f"fewer than {self.k:,}"

    def total(self, number: int) -> str | None:
        """A total, or None if it is below k: to the recipient a few are like none."""
        return f"{number:,}" if self.internal or number >= self.k else None

    def table(self, total: int, counts: NDArray[np.int64]) -> bool:
        """Whether counts may be shown, those below k as such, to someone who may know their total.

        Not having been told the total protects nothing: another table whose counts are all shown adds up to it.
        """
        return self.internal or (total >= self.k and self.sum_is_safe(counts))

    def measure(self, name: str, released: bool) -> bool:
        """Whether the value of a measure may be told: of the ``released`` solution, or of one that was not taken.

        The recipient gets what the released files tell anyway. The other measures depend on records that are not in
        them: from the values of two solutions the classes can follow that one of them suppressed, and from the bits
        lost how the records of an aggregated region are spread over its members.
        """
        return self.internal or name in OF_PLACES or (released and name in OF_RELEASED_RECORDS)

    def sum_is_safe(self, counts: NDArray[np.int64]) -> bool:
        """Whether, given the sum, every count below k could still be anything from 0 to k − 1."""
        hidden = counts[counts < self.k]
        most = self.k - 1
        return hidden.size == 0 or most <= int(hidden.sum()) <= (hidden.size - 1) * most
