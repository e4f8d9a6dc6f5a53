"""Numbers of sites: the population cutoffs of the GAPS models, and the range around an approximated number.

Everything that ends in a floor or a ceiling is computed with exact fractions of the decimals as they were written:
0.1 means one tenth, so no number of sites hangs on the last bit of a product.
"""

from __future__ import annotations

import math
from fractions import Fraction

GAPS_MODELS: dict[str, tuple[float, float]] = {
    "western": (1588.0, 0.42),
    "central": (1436.0, 0.43),
    "eastern": (1978.0, 0.304),
}
"""B and b of the published models: the least population of a region is B · (diversity)^b."""

CANADA = "canada"
OWN = "own"
MODEL_CHOICES = (*GAPS_MODELS, CANADA, OWN)


def decimal(number: float) -> Fraction:
    """The decimal number as people wrote it, exactly."""
    return Fraction(repr(float(number)))


def gaps_cutoff(diversity: float | int, model: str, factor: float, exponent: float) -> float:
    """The least population of a region: B · diversity^b; ``canada`` takes the largest of the three models.

    ``factor`` and ``exponent`` are used with the model ``own`` alone.
    """
    models = {OWN: [(factor, exponent)], CANADA: list(GAPS_MODELS.values())}.get(model) or [GAPS_MODELS[model]]
    return max(b_factor * _power(diversity, b_exponent) for b_factor, b_exponent in models)


def sites_for_cutoff(records: int, cutoff: float, share: float) -> int | None:
    """floor(share · floor(records / cutoff)); None if the cutoff is zero, that is, if there is no upper limit."""
    if cutoff <= 0:
        return None
    return math.floor(decimal(share) * math.floor(records / cutoff))


def range_of_sites(approximated: int, step_percent: float, reach: int, regions: int) -> list[int]:
    """s + j·ceil(step·s), j = −reach … reach, ascending, without repeats and what is below 1 or above ``regions``."""
    step = math.ceil(decimal(step_percent) * approximated / 100)
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
