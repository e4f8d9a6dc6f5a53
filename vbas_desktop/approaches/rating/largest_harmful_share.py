"""How surely a released class gives a sensitive value away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbas_desktop.approaches.base import Card, Measure, Outcome


@dataclass(frozen=True)
class LargestHarmfulShare(Measure):
    """The largest share that one harmful value of a sensitive column has in a released class; the worst of all columns.

    Undefined without sensitive columns, or if nothing is released. O(cells that are not empty).
    """

    card: ClassVar[Card] = Card(
        name="largest_harmful_share",
        title="Largest share of a harmful value",
        summary="How surely somebody in the worst released class has a certain sensitive value: 100 % gives it away.",
        formula="max over released classes of (records with the commonest harmful value) / (records)",
        complexity="O(cells that are not empty)",
        when="For releases with a sensitive column: the lower it is, the less a class gives away.",
        order=90,
    )
    unit: ClassVar[str] = "share"
    of_sensitive_values: ClassVar[bool] = True

    def rate(self, outcome: Outcome) -> float | None:
        """The share, from 0 to 1."""
        told = (figures["largest_share_percent"] for figures in outcome.sensitive.values())
        return max((share / 100 for share in told if share is not None), default=None)
