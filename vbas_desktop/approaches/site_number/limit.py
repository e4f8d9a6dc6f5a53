"""The largest number of sites whose loss stays within what the user allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbas_desktop.algorithms.site_numbers import allowed_records, forecast, largest_within
from vbas_desktop.approaches.base import Card, SiteNumber, Situation, Trials, parameter
from vbas_desktop.model.solution import USUAL_LOSS_PERCENT


@dataclass(frozen=True)
class LimitSiteNumber(SiteNumber):
    """The finest aggregation that suppresses no more than the allowed share of all records.

    The chosen locations and construction are tried out with different numbers of sites: first with the number that
    evenly spread classes would allow, then larger or smaller ones until one fits and a larger one does not, then in
    between by interpolation and bisection. The number that is found fits, and one site more would not, unless every
    initial region has its own. At most 2 · log2(r) + 12 numbers are tried.

    References
    ----------
    The Voronoi-Based Aggregation System, on suppression: the allowable level as an input of the number of sites.
    """

    card: ClassVar[Card] = Card(
        name="limit",
        title="Allowed loss",
        summary="As many sites as possible without losing more records than you allow, found by trying.",
        formula="s = the largest number tried with suppressed(s) ≤ p % · records < suppressed(s + 1)",
        complexity="O(log r) aggregations",
        when="Start with it: it gives the finest regions at a loss that you can accept. With ADC it takes longer, as "
        "each trial is a whole search.",
        order=5,
    )

    allowed_loss_percent: float = parameter(
        USUAL_LOSS_PERCENT,
        label="Allowed loss (percent)",
        help="The share of all records that may be suppressed, in percent.",
        low=0.0,
        high=100.0,
        option="allowed-loss",
    )

    def allowed_loss(self) -> float:
        """The share of the records that may be suppressed, in percent."""
        return self.allowed_loss_percent

    def approximate(self, situation: Situation) -> int:
        """The number that evenly spread classes would allow."""
        return self._start(situation, allowed_records(situation.records, self.allowed_loss_percent))

    def decide(self, situation: Situation, trials: Trials) -> int:
        """The largest number of sites that stays within the limit; 1 if none does."""
        allowed = allowed_records(trials.records, self.allowed_loss_percent)
        start = self._start(situation, allowed - (trials.records - situation.records))
        return largest_within(trials.suppressed, allowed, len(situation.regions), start)

    def _start(self, situation: Situation, allowed: int) -> int:
        return forecast(situation.counts.class_totals, situation.k, allowed, len(situation.regions))
