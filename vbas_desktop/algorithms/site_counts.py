"""Numbers of sites: the population cutoffs of the GAPS models, the range around an approximated number, and the number
that is finest or loses least information within an allowed loss, by a forecast and by trial.

Everything that ends in a floor or a ceiling is computed with exact fractions of the decimals as they were written:
0.1 means one tenth, so no number of sites hangs on the last bit of a product.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

GAPS_MODELS: dict[str, tuple[float, float]] = {
    "western": (1588.0, 0.42),
    "central": (1436.0, 0.43),
    "eastern": (1978.0, 0.304),
}
"""B and b of the published models: the least population of a region is B · (diversity)^b."""

CANADA = "canada"
OWN = "own"
MODEL_CHOICES = (*GAPS_MODELS, CANADA, OWN)


def as_exact_fraction(number: float) -> Fraction:
    """Convert a decimal number exactly as people wrote it."""
    return Fraction(repr(float(number)))


def compute_gaps_cutoff(diversity: float | int, model: str, factor: float, exponent: float) -> float:
    """Compute the least population of a region: B · diversity^b; ``canada`` takes the largest of the three models.

    ``factor`` and ``exponent`` are used with the model ``own`` alone.
    """
    models = {OWN: [(factor, exponent)], CANADA: list(GAPS_MODELS.values())}.get(model) or [
        GAPS_MODELS[model]
    ]
    return max(b_factor * _power(diversity, b_exponent) for b_factor, b_exponent in models)


def count_sites_for_cutoff(records: int, cutoff: float, share: float) -> int | None:
    """Compute floor(share · floor(records / cutoff)); None if the cutoff is zero, that is, without an upper limit."""
    if cutoff <= 0:
        return None
    return math.floor(as_exact_fraction(share) * math.floor(records / cutoff))


def list_site_counts(approximated: int, step_percent: float, reach: int, regions: int) -> list[int]:
    """List s + j·ceil(step·s), j = −reach … reach, within 1 … ``regions``, ascending and without repeats."""
    step = math.ceil(as_exact_fraction(step_percent) * approximated / 100)
    # Beyond as many steps as there are regions every number is out of bounds.
    reach = min(reach, regions)
    numbers = {approximated + j * step for j in range(-reach, reach + 1)}
    return sorted(number for number in numbers if 1 <= number <= regions)


def _power(diversity: float | int, exponent: float) -> float:
    try:
        return float(diversity) ** exponent
    except OverflowError:
        # The number of possible classes may exceed every float; its logarithm does not.
        return math.exp(min(700.0, exponent * math.log(diversity)))


_MORE_THAN_TWICE_LOG = 12
_FINER = 12
"""Numbers of the finer grid from the number below the best one of a grid to the number above it."""
_LOOKED_AT_ABOVE = 3
_KEPT_FOR_LOOKING = 6
"""Trials that are kept for looking above what was found, and for following what is found there."""


@lru_cache(maxsize=64)
def max_suppressed(records: int, percent: float) -> int:
    """Compute how many records may be lost: floor(percent of all), the decimal taken as it was written."""
    return math.floor(as_exact_fraction(percent) * records / 100)


def max_trials(regions: int) -> int:
    """Bound the numbers of sites that `search_largest_within` tries: 2 · log2(r) + 12."""
    return math.floor(2 * math.log2(max(1, regions))) + _MORE_THAN_TWICE_LOG


def max_scanned(regions: int) -> int:
    """Bound the numbers of sites that `search_finest` and `search_least_penalty` try: 3 · log2(r) + 20."""
    return math.floor(3 * math.log2(max(1, regions))) + 20


def estimate_loss(class_totals: NDArray[np.int64], k: int, sites: int) -> float:
    """Estimate the records lost if every class were spread evenly over that many regions.

    A class of c records then has Poisson-distributed counts with mean c/s, and a count below k is lost:
    E[X; X < k] = c/s · P(X ≤ k − 2).
    """
    totals = class_totals[class_totals > 0]
    mean = totals / sites
    below = sum(
        (np.exp(i * np.log(mean) - mean - math.lgamma(i + 1)) for i in range(k - 1)), np.zeros(len(mean))
    )
    return float((totals * below).sum())


def forecast_site_count(class_totals: NDArray[np.int64], k: int, allowed: float, regions: int) -> int:
    """Find the largest number of sites whose expected loss is within ``allowed``; at least 1. O(classes · log r)."""
    low = 1
    high = regions
    while low < high:
        middle = (low + high + 1) // 2
        if estimate_loss(class_totals, k, middle) <= allowed:
            low = middle
        else:
            high = middle - 1
    return low


def search_largest_within(loss: Callable[[int], int], allowed: int, most: int, start: int) -> int:
    """Search a number s with ``loss(s) <= allowed`` whose successor loses too much, or ``most``; 1 if there is none.

    ``loss`` is asked for at most `max_trials` different numbers from 1 to ``most``. Bracketing from ``start``, then
    interpolation and bisection in turns. The loss need not grow with every step of s: a few numbers above the one that
    was found are looked at too, because each more is a finer release.
    """
    search = _Search(loss, allowed, most, max_trials(most))
    low, high = search.bracket(max(1, min(most, start)))
    if low == 0 or low == most:
        return max(1, low)
    return search.look_above(search.narrow(low, high))


def make_site_grid(most: int) -> list[int]:
    """List numbers of sites from ``most`` down to 1, each about 1 / √2 of the one before it."""
    steps = math.floor(2 * math.log2(most))
    numbers = [round(most / math.sqrt(2) ** step) for step in range(steps + 1)]
    return list(dict.fromkeys((*numbers, 1)))


def search_finest(loss: Callable[[int], int], allowed: int, most: int) -> int:
    """Find the largest number of sites with ``loss(s) <= allowed`` where the loss rises and falls; 1 if none is met.

    A logarithmic grid is tried from above. Between the first number that fits and the one above it, which does not, the
    search goes on as in `search_largest_within`. At most `max_scanned` numbers are tried.
    """
    search = _Search(loss, allowed, most, max_scanned(most))
    too_many = None
    for sites in make_site_grid(most):
        if search.fits(sites):
            return sites if too_many is None else search.look_above(search.narrow(sites, too_many))
        too_many = sites
    return 1


def search_least_penalty(
    loss: Callable[[int], int], penalty: Callable[[int], float], allowed: int, most: int
) -> int:
    """Find the number of sites with the least penalty among those with ``loss(s) <= allowed``; 1 if none is met.

    A logarithmic grid is tried, then a finer one around the best number: the penalty falls and rises in small steps.
    Then the gaps on both sides of the best number are halved until they are one percent of it. Of equal penalties the
    larger number is taken. ``penalty`` is asked for numbers that fit only. At most `max_scanned` numbers are tried.
    """

    @cache
    def rating(sites: int) -> tuple[bool, float, int]:
        suppressed = loss(sites)
        return (
            suppressed > allowed,
            penalty(sites) if suppressed <= allowed else float(suppressed),
            -sites,
        )

    grid = make_site_grid(most)
    best = min(grid, key=rating)
    if rating(best)[0]:
        return 1
    above, below = _beside(best, grid)
    between = (round(number) for number in np.geomspace(above, below, _FINER))
    finer = sorted({best, *between}, reverse=True)
    best = min(finer, key=rating)
    above, below = _beside(best, finer)
    while max(above - best, best - below) > max(1, best // 100):
        is_above = above - best >= best - below
        middle = (best + (above if is_above else below)) // 2
        if rating(middle) < rating(best):
            above, best, below = (above, middle, best) if is_above else (best, middle, below)
        elif is_above:
            above = middle
        else:
            below = middle
    return best


def _beside(number: int, descending: list[int]) -> tuple[int, int]:
    """Get the numbers before and after one of a descending list; itself at the ends."""
    at = descending.index(number)
    return descending[max(0, at - 1)], descending[min(len(descending) - 1, at + 1)]


MAX_PASSES = 3
"""How many numbers of sites are refined to find the best one: the first one, and two corrections."""

_NEAR_ENOUGH = 1.02
"""A number that is predicted to be better is refined only if it differs by more than this factor."""

_CAUTION = 0.97
"""The share of the allowed loss that the last pass aims at if the one before lost too much: nothing can correct it."""


@dataclass(frozen=True)
class RefinementPasses:
    """Refined solutions by number of sites: what they lose, and what the same number loses without refinement.

    The ratio of the two changes slowly with the number of sites; `predict` takes it from the passes on both sides.
    """

    refined: Mapping[int, int]
    unrefined: Mapping[int, int]

    def predict(self, sites: int, unrefined: int) -> float:
        """Predict the loss after refinement from the loss before it, by the ratios of the passes so far."""
        numbers = sorted(self.refined)
        ratios = [
            self.refined[number] / self.unrefined[number] if self.unrefined[number] else 1.0
            for number in numbers
        ]
        return unrefined * float(np.interp(math.log(sites), np.log(numbers), ratios))


def refine_and_correct(
    find: Callable[[Callable[[int, int], float], float], int],
    unrefined_loss: Callable[[int], int],
    refined_loss: Callable[[int], int],
    allowed: int,
    expected_share: float,
) -> dict[int, int]:
    """Refine the number of sites that trials without refinement find, and correct it by at most two more passes.

    ``find`` searches for the best number with a prediction of the refined loss (from the number of sites and its loss
    without refinement) and an allowed loss. The first prediction is ``expected_share`` of the loss. Returns what the
    refined numbers lose, by number of sites.
    """
    refined: dict[int, int] = {}
    unrefined: dict[int, int] = {}
    sites = find(lambda _, loss: expected_share * loss, allowed)
    while True:
        unrefined[sites] = unrefined_loss(sites)
        refined[sites] = refined_loss(sites)
        if len(refined) == MAX_PASSES:
            return refined
        is_risky = len(refined) == MAX_PASSES - 1 and refined[sites] > allowed
        sites = find(
            RefinementPasses(refined, unrefined).predict, allowed * (_CAUTION if is_risky else 1.0)
        )
        near = [number for number in refined if number / _NEAR_ENOUGH <= sites <= number * _NEAR_ENOUGH]
        if sites in refined or any(refined[number] <= allowed for number in near):
            return refined


class _Search:
    """Remembers every trial, and how many there may still be."""

    def __init__(self, loss: Callable[[int], int], allowed: int, most: int, budget: int) -> None:
        self._loss = loss
        self._allowed = allowed
        self._most = most
        self._known: dict[int, int] = {}
        self._budget = budget

    def fits(self, sites: int) -> bool:
        if sites not in self._known:
            self._known[sites] = self._loss(sites)
        return self._known[sites] <= self._allowed

    def bracket(self, start: int) -> tuple[int, int]:
        """Find a number that fits and one above it that does not; 0 if 1 does not fit, twice ``most`` if that fits."""
        factor = 2
        if self.fits(start):
            low = start
            while low < self._most:
                high = min(self._most, low * factor)
                if not self.fits(high):
                    return low, high
                low = high
                factor = factor * factor
            return low, low
        high = start
        while high > 1:
            low = max(1, high // factor)
            if self.fits(low):
                return low, high
            high = low
            factor = factor * factor
        return 0, 1

    def narrow(self, low: int, high: int) -> int:
        """Interpolate and bisect in turns until the two are neighbours."""
        interpolates = True
        while high - low > 1:
            middle = (low + high) // 2
            left = self._budget - _KEPT_FOR_LOOKING - len(self._known)
            if interpolates and left > (high - low).bit_length():
                middle = self._interpolate(low, high)
            interpolates = not interpolates
            if self.fits(middle):
                low = middle
            else:
                high = middle
        return low

    def _interpolate(self, low: int, high: int) -> int:
        below = self._known[low]
        above = self._known[high]
        share = (self._allowed - below) / (above - below)
        return max(low + 1, min(high - 1, low + round(share * (high - low))))

    def look_above(self, number: int) -> int:
        """Return the largest fitting one of the next few numbers, if the one after it does not fit; else the number."""
        above = range(number + 2, min(self._most, number + 1 + _LOOKED_AT_ABOVE) + 1)
        fitting = [sites for sites in above if self.fits(sites)]
        best = max(fitting, default=number)
        while best < self._most and (best + 1 in self._known or len(self._known) < self._budget):
            if not self.fits(best + 1):
                return best
            best += 1
        return best if best == self._most else number
