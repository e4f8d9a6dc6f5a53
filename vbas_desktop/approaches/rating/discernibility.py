"""How large the crowds are in which records hide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.approaches.base import Card, Measure, Outcome

_SAFE_RECORDS = 3_000_000_000
"""Below this number of records the sum of the squares fits into 64 bits."""


@dataclass(frozen=True)
class Discernibility(Measure):
    """Σ size² over the released classes of all places, without a penalty for suppressed records.

    0 if nothing is released. O(classes released).
    """

    card: ClassVar[Card] = Card(
        name="discernibility",
        title="Discernibility",
        summary="The sum of the squared sizes of the released classes.",
        formula="Σ size²",
        complexity="O(released classes)",
        when="Low values mean detailed data: classes are no larger than they have to be.",
        order=50,
    )
    unit: ClassVar[str] = "records²"
    pareto_thesis: ClassVar[bool] = True

    def rate(self, outcome: Outcome) -> int:
        """The sum, exactly."""
        safe = outcome.released_records < _SAFE_RECORDS
        return sum(_squares(released.sizes, safe) for _, released in outcome.places())


def _squares(sizes: NDArray[np.int64], safe: bool) -> int:
    return int((sizes * sizes).sum()) if safe else sum(size * size for size in sizes.tolist())
