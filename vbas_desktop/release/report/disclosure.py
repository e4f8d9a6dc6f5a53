"""What the recipient may learn of counts: nothing that tells of fewer than k records, neither directly nor by sums."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray


class Disclosure:
    """Sets counts for one reader. The custodian sees all; for the recipient those below k are not told apart."""

    def __init__(self, k: int, internal: bool) -> None:
        self.k, self.internal = k, internal

    def count(self, number: int) -> str:
        """A number of records. The recipient cannot tell none from a few, so a few are not exposed by the sum."""
        if self.internal or number >= self.k:
            return f"{number:,}"
        return f"fewer than {self.k:,}"

    def total(self, number: int, tables: Iterable[Sequence[int] | NDArray[np.int64]]) -> str | None:
        """A total over each of these tables, or None if it would narrow down a count that is not shown."""
        if self.internal or number == 0:
            return f"{number:,}"
        if number < self.k or not all(self.sum_is_safe(np.asarray(table)) for table in tables):
            return None
        return f"{number:,}"

    def sum_is_safe(self, counts: NDArray[np.int64]) -> bool:
        """Whether, given the sum, every count below k could still be anything from 0 to k − 1."""
        hidden = counts[counts < self.k]
        most = self.k - 1
        return hidden.size == 0 or most <= int(hidden.sum()) <= (hidden.size - 1) * most
