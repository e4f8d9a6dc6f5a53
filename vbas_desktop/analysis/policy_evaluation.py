"""Evaluate a policy for a release, criterion by criterion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from vbas_desktop.model.policies import (
    MEASURES,
    POPULATION,
    RECORDS,
    Policy,
    PolicyCriterion,
    format_figure,
)
from vbas_desktop.model.text import format_count, inflect

Key = tuple[str, str]
"""A measure, and the base that it is computed on."""

NO_POPULATION = (
    "no inhabitants are known: name a column of the region file, or a table of the population"
)
NO_SENSITIVE = "no column is marked as sensitive"
NO_LEDGER = "no earlier release of this audience is in a ledger"
NOT_COMPUTABLE = "it does not follow from this file alone"


class CriterionStatus(StrEnum):
    """Status of a criterion after the evaluation."""

    HELD = "held"
    MISSED = "not held"
    UNKNOWN = "not computed"
    ASKED = "for a person to answer"
    ANSWERED = "answered by a person"


@dataclass(frozen=True)
class ReleaseFigures:
    """Figures of a release by measure and base; ``reasons`` say why others are missing."""

    values: Mapping[Key, float] = field(default_factory=dict)
    reasons: Mapping[Key, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CriterionResult:
    """One criterion with its status and the actual figure or answer."""

    demand: PolicyCriterion
    verdict: CriterionStatus
    actual: str = ""
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain data for run.json."""
        return {
            "criterion": self.demand.text,
            "actual": self.actual,
            "verdict": str(self.verdict),
            "reason": self.reason,
            "note": self.demand.note,
            "told": self.demand.is_public,
        }


@dataclass(frozen=True)
class PolicyEvaluation:
    """A policy with the results of all its criteria."""

    policy: Policy
    criteria: tuple[CriterionResult, ...]

    def count(self, *statuses: CriterionStatus) -> int:
        """Count the criteria with one of these statuses."""
        return sum(result.verdict in statuses for result in self.criteria)

    @property
    def met(self) -> bool | None:
        """False if a criterion is missed, True if all are held; None while some are left to people or not computed."""
        if self.count(CriterionStatus.MISSED):
            return False
        return True if self.count(CriterionStatus.HELD) == len(self.criteria) else None

    @property
    def in_words(self) -> str:
        """Outcome as a sentence, which claims no more than was computed."""
        title = f"the policy “{self.policy.name}”"
        missed = self.count(CriterionStatus.MISSED)
        if missed:
            criteria = format_count(missed, "criterion is", "criteria are")
            return f"The release does not meet {title}: {criteria} not held."
        if self.met:
            return f"The release meets {title}."
        held = self.count(CriterionStatus.HELD)
        unknown = self.count(CriterionStatus.UNKNOWN)
        open_questions = self.count(CriterionStatus.ASKED)
        answered = self.count(CriterionStatus.ANSWERED)
        parts = [f"{held:,} {inflect(held, 'is', 'are')} held" if held else "none is held"]
        if unknown:
            parts.append(f"{unknown:,} {inflect(unknown, 'was', 'were')} not computed")
        if open_questions:
            parts.append(
                f"{open_questions:,} {inflect(open_questions, 'waits', 'wait')} for a person to answer"
            )
        if answered:
            parts.append(f"{answered:,} {inflect(answered, 'was', 'were')} answered by a person")
        summary = f"of {format_count(len(self.criteria), 'criterion', 'criteria')}, {', '.join(parts)}"
        return f"Whether the release meets {title} is not for the program alone to say: {summary}."

    def as_dict(self) -> dict[str, Any]:
        """Return the evaluation as plain data for run.json."""
        return {
            **describe_policy(self.policy),
            "met": self.met,
            "text": self.in_words,
            "criteria": [result.as_dict() for result in self.criteria],
        }


def describe_policy(policy: Policy) -> dict[str, str]:
    """Return name and origin of a policy as plain data."""
    names = ("id", "name", "authority", "citation", "date", "source", "check")
    return {name: getattr(policy, name) for name in names}


def make_answer_key(policy: Policy, number: int) -> str:
    """Make the key under which the answer to a question is stored (criteria count from 0)."""
    return f"{policy.id}/{number + 1}"


def evaluate_policy(
    policy: Policy, figures: ReleaseFigures, answers: Mapping[str, str] | None = None
) -> PolicyEvaluation:
    """Evaluate every criterion of a policy by the figures; ``answers`` are those of people to its questions."""
    results = []
    for number, criterion in enumerate(policy.criteria):
        answer = (answers or {}).get(
            make_answer_key(policy, number), ""
        ).strip() or criterion.answer.strip()
        results.append(_evaluate_criterion(criterion, figures, answer))
    return PolicyEvaluation(policy, tuple(results))


def _evaluate_criterion(
    criterion: PolicyCriterion, figures: ReleaseFigures, answer: str
) -> CriterionResult:
    """Evaluate one criterion; a question is answered by a person."""
    if criterion.question:
        return CriterionResult(
            criterion, CriterionStatus.ANSWERED if answer else CriterionStatus.ASKED, answer
        )
    key = (criterion.measure, criterion.of)
    if key not in figures.values:
        return CriterionResult(
            criterion, CriterionStatus.UNKNOWN, reason=figures.reasons.get(key, NOT_COMPUTABLE)
        )
    value = figures.values[key]
    status = CriterionStatus.HELD if criterion.holds(value) else CriterionStatus.MISSED
    return CriterionResult(criterion, status, format_figure(value, MEASURES[criterion.measure].unit))


def collect_record_figures(vector: Mapping[int, int], smallest_region: int | None) -> ReleaseFigures:
    """Compute the figures of released classes; ``vector`` has the number of classes of each size that occurs."""
    smallest = min(vector, default=None)
    if smallest is None:
        return ReleaseFigures({}, {(name, RECORDS): "nothing is released" for name in MEASURES})
    records = sum(size * number for size, number in vector.items())
    values: dict[Key, float] = {
        ("smallest_class", RECORDS): smallest,
        ("highest_risk", RECORDS): 1 / smallest,
        ("average_risk", RECORDS): sum(vector.values()) / records,
    }
    if smallest_region is not None:
        values["smallest_region", RECORDS] = smallest_region
    return ReleaseFigures(values)


def collect_sensitive_figures(measures: Mapping[str, Mapping[str, Any]]) -> ReleaseFigures:
    """Collect the worst figures of all sensitive columns; one without harmful values discloses nothing.

    ``measures`` are the figures of each sensitive column as in run.json.
    """
    keys: dict[Key, tuple[str, Any]] = {
        ("commonest_harmful_percent", RECORDS): ("largest_share_percent", max),
        ("distinct_values", RECORDS): ("least_distinct", min),
    }
    if not measures:
        return ReleaseFigures({}, dict.fromkeys(keys, NO_SENSITIVE))
    values = {}
    reasons = {}
    for key, (name, worst) in keys.items():
        column_values = [column[name] for column in measures.values() if column.get(name) is not None]
        if column_values:
            values[key] = worst(column_values)
        else:
            reasons[key] = "no released class has a harmful value"
    return ReleaseFigures(values, reasons)


def collect_ledger_figures(check: Mapping[str, Any] | None) -> ReleaseFigures:
    """Collect the result of the check against earlier releases, as in run.json."""
    key = ("singled_out", RECORDS)
    if not check:
        return ReleaseFigures({}, {key: NO_LEDGER})
    people = max((comparison["people"] for comparison in check["compared_with"]), default=0)
    if check["safe"] or people:
        return ReleaseFigures({key: people})
    texts = [comparison["text"] for comparison in check["compared_with"] if not comparison["safe"]]
    return ReleaseFigures({}, {key: (texts or [check["together"]])[0]})


def collect_population_figures(risk: Mapping[str, Any] | None) -> ReleaseFigures:
    """Collect the figures by inhabitants from the risk in run.json.

    A criterion is judged by exact figures only; where there is none, the reason names the estimate.
    """
    measures = ("smallest_class", "smallest_region", "highest_risk", "average_risk", "sampling_percent")
    if not risk:
        return ReleaseFigures({}, {(name, POPULATION): NO_POPULATION for name in measures})
    fraction = risk["sampling_fraction"]
    exact = {
        "smallest_region": risk["smallest_region"],
        "sampling_percent": None if fraction is None else 100 * fraction,
        "smallest_class": risk.get("k_map"),
        "highest_risk": risk.get("journalist_maximum"),
        "average_risk": risk.get("journalist_average"),
    }
    estimates = {
        "highest_risk": risk.get("journalist_maximum_estimated"),
        "average_risk": risk.get("journalist_average_estimated"),
    }
    values = {(name, POPULATION): value for name, value in exact.items() if value is not None}
    reasons = {}
    for name in measures:
        if exact[name] is None:
            estimate = estimates.get(name)
            suffix = "" if estimate is None else f"; an estimate is {estimate:.4g}"
            reasons[name, POPULATION] = f"{risk['not_exact_because']}{suffix}"
    return ReleaseFigures(values, reasons)


def merge_figures(*parts: ReleaseFigures) -> ReleaseFigures:
    """Merge figures; a value of one part replaces the reason of another."""
    values = {key: value for part in parts for key, value in part.values.items()}
    reasons = {key: text for part in parts for key, text in part.reasons.items() if key not in values}
    return ReleaseFigures(values, reasons)
