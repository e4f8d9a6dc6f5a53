"""What a policy demands of the settings of a run, and how a run with given settings will fare by it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from vbas_desktop.model.policies import POPULATION, RECORDS, Policy, PolicyCriterion
from vbas_desktop.model.text import format_count

_FROM_BELOW = ("at least", "more than")


@dataclass(frozen=True)
class PolicyDemands:
    """The least and largest values that fulfil the criteria of a policy; None or 0 where it demands nothing.

    k: size of the smallest class. min_records, min_population: records and inhabitants of a released region.
    largest_loss_percent: share of suppressed records.
    """

    k: int | None = None
    min_records: int = 0
    min_population: int = 0
    largest_loss_percent: float | None = None


def derive_demands(policy: Policy) -> PolicyDemands:
    """Derive from the criteria of a policy what the settings of a run must be."""
    k = [number for criterion in policy.criteria if (number := _demanded_class(criterion)) is not None]
    loss = [
        criterion.threshold
        for criterion in policy.criteria
        if criterion.measure == "suppressed_percent" and criterion.comparison == "at most"
    ]
    return PolicyDemands(
        k=max(k, default=None),
        min_records=_demanded_region(policy.criteria, RECORDS),
        min_population=_demanded_region(policy.criteria, POPULATION),
        largest_loss_percent=min(loss, default=None),
    )


def _demanded_class(criterion: PolicyCriterion) -> int | None:
    """Return the class size that fulfils a criterion on released classes; None if it is about another figure."""
    if criterion.of != RECORDS:
        return None
    if criterion.measure == "smallest_class" and criterion.comparison in _FROM_BELOW:
        return _least_whole(criterion)
    if (
        criterion.measure == "highest_risk"
        and criterion.comparison not in _FROM_BELOW
        and criterion.threshold > 0
    ):
        # As it is written: 0.1 is a tenth, though no binary number is.
        size = 1 / Fraction(str(criterion.threshold))
        return math.ceil(size) if criterion.comparison == "at most" else math.floor(size) + 1
    return None


def _demanded_region(criteria: Iterable[PolicyCriterion], base: str) -> int:
    sizes = [
        _least_whole(criterion)
        for criterion in criteria
        if criterion.measure == "smallest_region"
        and criterion.of == base
        and criterion.comparison in _FROM_BELOW
    ]
    return max(sizes, default=0)


def _least_whole(criterion: PolicyCriterion) -> int:
    if criterion.comparison == "more than":
        return math.floor(criterion.threshold) + 1
    return math.ceil(criterion.threshold)


class Forecast(StrEnum):
    """Forecast of a policy before a run."""

    PASS = "pass"
    FAIL = "fail"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class PolicyForecast:
    """The forecast of a policy, and a sentence with its reasons."""

    outcome: Forecast
    text: str


def forecast_policy(
    policy: Policy, k: int, expected_loss_percent: float | None = None
) -> PolicyForecast:
    """Forecast whether a run can meet a policy, given that no released class is smaller than k.

    expected_loss_percent: what the number of sites that was found loses; None if nothing was tried.
    """
    failed: list[str] = []
    unknown = 0
    questions = 0
    for criterion in policy.criteria:
        size = _demanded_class(criterion)
        if criterion.question:
            questions += 1
        elif size is not None:
            if k < size:
                failed.append(f"k is {k:,}, it demands {size:,}")
        elif criterion.measure == "suppressed_percent" and expected_loss_percent is not None:
            if not criterion.holds(expected_loss_percent):
                limit = f"{criterion.comparison} {criterion.threshold:g} %"
                failed.append(
                    f"{expected_loss_percent:.4g} % of the records are lost, it demands {limit}"
                )
        else:
            unknown += 1
    if failed:
        return PolicyForecast(Forecast.FAIL, f"Policy: fail, {'; '.join(failed)}.")
    parts = []
    if unknown:
        parts.append(
            f"{format_count(unknown, 'criterion', 'criteria')} can be judged only after the run"
        )
    if questions:
        parts.append(f"{format_count(questions, 'question is', 'questions are')} for a person to answer")
    if parts:
        return PolicyForecast(Forecast.UNKNOWN, f"Policy: unknown, {'; '.join(parts)}.")
    return PolicyForecast(Forecast.PASS, "Policy: pass.")
