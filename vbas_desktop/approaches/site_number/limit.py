"""As many sites, or as little loss of information, as the allowed share of suppressed records permits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbas_desktop.algorithms.site_numbers import (
    allowed_records,
    finest_on_grid,
    forecast,
    largest_within,
    least_penalty,
)
from vbas_desktop.approaches.base import Card, SiteNumber, Situation, Trials, parameter
from vbas_desktop.model.solution import FINEST, LEAST_LOSS, USUAL_LOSS_PERCENT


@dataclass(frozen=True)
class LimitSiteNumber(SiteNumber):
    """The finest aggregation, or the one that loses least information, within the allowed share of suppressed records.

    The chosen locations and construction are tried out with different numbers of sites.

    “finest”: first the number that evenly spread classes would allow, then larger or smaller ones until one fits and a
    larger one does not, then in between by interpolation and bisection. The number that is found fits, and one site
    more would not, unless every initial region has its own. At most 2 · log2(r) + 12 numbers are tried. In tiers the
    loss rises and falls with the number of sites; there a grid of numbers is tried from above, each 1/√2 of the one
    before, and the search goes on between the first that fits and the one above it (at most 3 · log2(r) + 14 numbers).

    “least-loss”: the number with the least certainty penalty (see the measure) of those that fit: the same grid, then
    the gaps beside the best number are halved down to one percent of it. The penalty of merged regions falls with the
    number of sites and that of suppressed records rises, so the allowance is usually not spent.

    References
    ----------
    The Voronoi-Based Aggregation System, on suppression: the allowable level as an input of the number of sites.
    """

    card: ClassVar[Card] = Card(
        name="limit",
        title="Allowed loss",
        summary="As many sites as possible, or those that lose least information, without losing more records than "
        "you allow; found by trying.",
        formula="finest: s = the largest number tried with suppressed(s) ≤ p % · records < suppressed(s + 1); "
        "least-loss: s = arg min penalty(s) with suppressed(s) ≤ p % · records",
        complexity="O(log r) aggregations",
        when="Start with it: it gives the finest regions at a loss that you can accept, or with the aim “least-loss” "
        "the best balance of region size and suppressed records. With ADC it takes longer, as each trial is a whole "
        "search.",
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
    aim: str = parameter(
        FINEST,
        label="Aim",
        help="What is best within the allowed loss: finest takes as many sites as fit, least-loss the number with the "
        "least total loss of information by region size, groups and suppressed records (certainty penalty).",
        choices=(FINEST, LEAST_LOSS),
    )

    def allowed_loss(self) -> float:
        """The share of the records that may be suppressed, in percent."""
        return self.allowed_loss_percent

    def approximate(self, situation: Situation) -> int:
        """The number that evenly spread classes would allow."""
        return self._start(situation, allowed_records(situation.records, self.allowed_loss_percent))

    def decide(self, situation: Situation, trials: Trials) -> int:
        """The best number of sites within the limit; 1 if none is within it."""
        allowed, most = allowed_records(trials.records, self.allowed_loss_percent), len(situation.regions)
        if self.aim == LEAST_LOSS:
            return least_penalty(trials.suppressed, trials.penalty, allowed, most)
        if trials.in_tiers:
            return finest_on_grid(trials.suppressed, allowed, most)
        start = self._start(situation, allowed - (trials.records - situation.records))
        return largest_within(trials.suppressed, allowed, most, start)

    def _start(self, situation: Situation, allowed: int) -> int:
        return forecast(situation.counts.combination_totals, situation.k, allowed, len(situation.regions))
