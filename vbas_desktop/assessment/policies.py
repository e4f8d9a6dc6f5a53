"""Judges a release by a policy, criterion by criterion, and says what nobody computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from vbas_desktop.model.policies import MEASURES, POPULATION, RECORDS, Demand, Policy, figure
from vbas_desktop.model.words import agreeing, counted

Key = tuple[str, str]
"""A measure, and what it is computed on."""

NO_POPULATION = "no inhabitants are known: name a column of the region file, or a table of the population"
NO_SENSITIVE = "no column is marked as sensitive"
NO_LEDGER = "no earlier release of this audience is in a ledger"
NOT_HERE = "it does not follow from this file alone"


class Verdict(StrEnum):
    """What became of a criterion."""

    HELD = "held"
    MISSED = "not held"
    UNKNOWN = "not computed"
    ASKED = "for a person to answer"
    ANSWERED = "answered by a person"


@dataclass(frozen=True)
class Figures:
    """What was computed of a release, by measure and base; ``reasons`` say why others were not."""

    values: Mapping[Key, float] = field(default_factory=dict)
    reasons: Mapping[Key, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Judged:
    """One criterion with what was found."""

    demand: Demand
    verdict: Verdict
    actual: str = ""
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        """As plain data, for run.json."""
        return {
            "criterion": self.demand.text,
            "actual": self.actual,
            "verdict": str(self.verdict),
            "reason": self.reason,
            "note": self.demand.note,
            "told": self.demand.told,
        }


@dataclass(frozen=True)
class Judgement:
    """A policy with all its criteria judged."""

    policy: Policy
    criteria: tuple[Judged, ...]

    def number(self, *verdicts: Verdict) -> int:
        """How many criteria have one of these verdicts."""
        return sum(each.verdict in verdicts for each in self.criteria)

    @property
    def met(self) -> bool | None:
        """False if a criterion is not held, True if all are; None as long as some are not for the program to say."""
        if self.number(Verdict.MISSED):
            return False
        return True if self.number(Verdict.HELD) == len(self.criteria) else None

    @property
    def in_words(self) -> str:
        """The outcome in a sentence; it never says more than was computed."""
        title = f"the policy “{self.policy.name}”"
        missed, unknown = self.number(Verdict.MISSED), self.number(Verdict.UNKNOWN)
        asked, answered = self.number(Verdict.ASKED), self.number(Verdict.ANSWERED)
        if missed:
            return f"The release does not meet {title}: {counted(missed, 'criterion is', 'criteria are')} not held."
        if self.met:
            return f"The release meets {title}."
        held = self.number(Verdict.HELD)
        parts = [f"{held:,} {agreeing(held, 'is', 'are')} held" if held else "none is held"]
        parts += [f"{unknown:,} {agreeing(unknown, 'was', 'were')} not computed"] * bool(unknown)
        parts += [f"{asked:,} {agreeing(asked, 'waits', 'wait')} for a person to answer"] * bool(asked)
        parts += [f"{answered:,} {agreeing(answered, 'was', 'were')} answered by a person"] * bool(answered)
        told = f"of {counted(len(self.criteria), 'criterion', 'criteria')}, {', '.join(parts)}"
        return f"Whether the release meets {title} is not for the program alone to say: {told}."

    def as_dict(self) -> dict[str, Any]:
        """As plain data, for run.json."""
        return {
            **policy_facts(self.policy),
            "met": self.met,
            "text": self.in_words,
            "criteria": [each.as_dict() for each in self.criteria],
        }


def policy_facts(policy: Policy) -> dict[str, str]:
    """What a policy is called and where it comes from, as plain data."""
    names = ("id", "name", "authority", "citation", "date", "source", "check")
    return {name: getattr(policy, name) for name in names}


def answer_key(policy: Policy, number: int) -> str:
    """The name under which the answer to a question is kept (criteria count from 0)."""
    return f"{policy.id}/{number + 1}"


def judge(policy: Policy, figures: Figures, answers: Mapping[str, str] | None = None) -> Judgement:
    """Every criterion of a policy against the figures, and the answers that people gave to its questions."""
    given = answers or {}
    return Judgement(
        policy,
        tuple(
            _judged(demand, figures, given.get(answer_key(policy, number), "").strip() or demand.answer.strip())
            for number, demand in enumerate(policy.criteria)
        ),
    )


def _judged(demand: Demand, figures: Figures, answer: str) -> Judged:
    if demand.question:
        return Judged(demand, Verdict.ANSWERED if answer else Verdict.ASKED, answer)
    key = (demand.measure, demand.of)
    if key not in figures.values:
        return Judged(demand, Verdict.UNKNOWN, reason=figures.reasons.get(key, NOT_HERE))
    value = figures.values[key]
    verdict = Verdict.HELD if demand.holds(value) else Verdict.MISSED
    return Judged(demand, verdict, figure(value, MEASURES[demand.measure].unit))


def record_figures(vector: Mapping[int, int], smallest_region: int | None) -> Figures:
    """What released classes give by themselves; ``vector`` has the number of classes of each size that occurs."""
    smallest = min(vector, default=None)
    if smallest is None:
        return Figures({}, {(name, RECORDS): "nothing is released" for name in MEASURES})
    records = sum(size * number for size, number in vector.items())
    values: dict[Key, float] = {
        ("smallest_class", RECORDS): smallest,
        ("highest_risk", RECORDS): 1 / smallest,
        ("average_risk", RECORDS): sum(vector.values()) / records,
    }
    if smallest_region is not None:
        values["smallest_region", RECORDS] = smallest_region
    return Figures(values)


def sensitive_figures(found: Mapping[str, Mapping[str, Any]]) -> Figures:
    """The worst of all sensitive columns; a column without a harmful value in any class gives nothing away."""
    keys: dict[Key, tuple[str, Any]] = {
        ("commonest_harmful_percent", RECORDS): ("largest_share_percent", max),
        ("distinct_values", RECORDS): ("least_distinct", min),
    }
    if not found:
        return Figures({}, dict.fromkeys(keys, NO_SENSITIVE))
    values, reasons = {}, {}
    for key, (name, worst) in keys.items():
        known = [each[name] for each in found.values() if each.get(name) is not None]
        if known:
            values[key] = worst(known)
        else:
            reasons[key] = "no released class has a harmful value"
    return Figures(values, reasons)


def ledger_figures(found: Mapping[str, Any] | None) -> Figures:
    """The result of the check against earlier releases, as run.json has it."""
    key = ("singled_out", RECORDS)
    if not found:
        return Figures({}, {key: NO_LEDGER})
    people = max((each["people"] for each in found["compared_with"]), default=0)
    if found["safe"] or people:
        return Figures({key: people})
    texts = [each["text"] for each in found["compared_with"] if not each["safe"]]
    return Figures({}, {key: (texts or [found["together"]])[0]})


def population_figures(found: Mapping[str, Any] | None) -> Figures:
    """What the inhabitants give, as run.json has it; an estimate is told as the reason why nothing is computed."""
    measures = ("smallest_class", "smallest_region", "highest_risk", "average_risk", "sampling_percent")
    if not found:
        return Figures({}, {(name, POPULATION): NO_POPULATION for name in measures})
    fraction = found["sampling_fraction"]
    given = {
        "smallest_region": found["smallest_region"],
        "sampling_percent": None if fraction is None else 100 * fraction,
        "smallest_class": found.get("k_map"),
        "highest_risk": found.get("journalist_maximum"),
        "average_risk": found.get("journalist_average"),
    }
    estimates = {
        "highest_risk": found.get("journalist_maximum_estimated"),
        "average_risk": found.get("journalist_average_estimated"),
    }
    values = {(name, POPULATION): value for name, value in given.items() if value is not None}
    reasons = {}
    for name in measures:
        if given[name] is None:
            estimate = estimates.get(name)
            told = "" if estimate is None else f"; an estimate is {estimate:.4g}"
            reasons[name, POPULATION] = f"{found['not_exact_because']}{told}"
    return Figures(values, reasons)


def together(*parts: Figures) -> Figures:
    """All figures in one; what one part knows counts, whatever another says."""
    values = {key: value for part in parts for key, value in part.values.items()}
    reasons = {key: text for part in parts for key, text in part.reasons.items() if key not in values}
    return Figures(values, reasons)
