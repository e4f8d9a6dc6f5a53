"""As many sites, or as little loss of information, as the allowed share of suppressed records permits."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import ClassVar, Literal

from vbas_desktop.algorithms.site_counts import (
    forecast_site_count,
    max_suppressed,
    refine_and_correct,
    search_finest,
    search_largest_within,
    search_least_penalty,
)
from vbas_desktop.model.solution import DEFAULT_LOSS_PERCENT, FINEST, LEAST_LOSS

from ..interface import Context, Metadata, SiteNumber, Trials, option


class LimitSiteNumber(SiteNumber):
    """The finest aggregation, or the one that loses least information, within the allowed share of suppressed records.

    The chosen locations and construction are tried out with different numbers of sites.

    “finest”: first the number that evenly spread classes would allow, then larger or smaller ones until one fits and a
    larger one does not, then in between by interpolation and bisection. The number that is found fits, and one site
    more would not, unless every initial region has its own. At most 2 · log2(r) + 12 numbers are tried. In tiers the
    loss rises and falls with the number of sites; there a grid of numbers is tried from above, each 1/√2 of the one
    before, and the search goes on between the first that fits and the one above it (at most 3 · log2(r) + 20 numbers).

    “least-loss”: the number with the least certainty penalty (see the measure) of those that fit: the same grid, a
    finer one around its best number, then the gaps beside that are halved down to one percent of it. The penalty of
    merged regions falls with the number of sites and that of suppressed records rises, so the allowance is usually not
    spent.

    Long searches (“refine-sites”, “boundaries”) are left out of trials. The number that is found is refined, and
    corrected by at most two more refinements: the share of the loss that refinement leaves changes slowly with the
    number of sites. The best refined one within the limit is kept.

    References
    ----------
    The Voronoi-Based Aggregation System, on suppression: the allowable level as an input of the number of sites.
    """

    metadata: ClassVar[Metadata] = Metadata(
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

    allowed_loss_percent: float = option(
        DEFAULT_LOSS_PERCENT,
        label="Allowed loss (percent)",
        help="The share of all records that may be suppressed, in percent.",
        ge=0.0,
        le=100.0,
        flag="--allowed-loss",
    )
    aim: Literal["finest", "least-loss"] = option(
        FINEST,
        label="Aim",
        help="What is best within the allowed loss: finest takes as many sites as fit, least-loss the number with the "
        "least total loss of information by region size, groups and suppressed records (certainty penalty).",
    )

    def allowed_loss(self) -> float:
        """Return the percentage of the records that may be suppressed."""
        return self.allowed_loss_percent

    def approximate(self, context: Context) -> int:
        """Compute the number that evenly spread classes would allow."""
        return self._start(context, max_suppressed(context.records, self.allowed_loss_percent))

    def decide(self, context: Context, trials: Trials) -> int:
        """Search for the best number of sites within the limit; 1 if none is within it."""
        allowed = max_suppressed(trials.records, self.allowed_loss_percent)
        if not trials.is_simplified:
            return self._find(context, trials, lambda _, loss: loss, allowed)
        find = partial(self._find, context, trials)
        refined = refine_and_correct(
            find,
            trials.count_suppressed,
            trials.count_refined_suppressed,
            allowed,
            trials.expected_share,
        )
        fitting = [sites for sites, loss in refined.items() if loss <= allowed]
        if not fitting:
            return min(refined, key=lambda sites: (refined[sites], sites))
        return (
            min(fitting, key=trials.compute_refined_penalty) if self.aim == LEAST_LOSS else max(fitting)
        )

    def _find(
        self, context: Context, trials: Trials, predict: Callable[[int, int], float], allowed: float
    ) -> int:
        """Search for the number of sites whose predicted loss, by sites and loss of the trial, is within the limit."""

        def loss(sites: int) -> int:
            return math.ceil(predict(sites, trials.count_suppressed(sites)))

        def penalty(sites: int) -> float:
            # A record that refinement saves from suppression counts with its place instead of 1.
            saved = trials.count_suppressed(sites) - predict(sites, trials.count_suppressed(sites))
            return trials.compute_penalty(sites) - saved / max(1, trials.records)

        most = len(context.regions)
        within = math.floor(allowed)
        if self.aim == LEAST_LOSS:
            return search_least_penalty(loss, penalty, within, most)
        if trials.in_tiers:
            return search_finest(loss, within, most)
        start = self._start(context, within - (trials.records - context.records))
        return search_largest_within(loss, within, most, start)

    def _start(self, context: Context, allowed: int) -> int:
        return forecast_site_count(
            context.counts.combination_totals, context.k, allowed, len(context.regions)
        )
