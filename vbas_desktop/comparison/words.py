"""The summary of a comparison in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator

from vbas_desktop.approaches.registry import approaches
from vbas_desktop.model.words import agreeing, counted

from .plan import COMPONENTS, Plan
from .run import Prepared
from .summary import Contest, Duel, Front, Summary

COMPONENT_WORDS = {
    "site_number": "Number of sites",
    "site_location": "Site locations",
    "construction": "Construction",
    "refinement": "Refinement",
    "tiers": "Tiers",
}


def measure_title(name: str) -> str:
    """A measure as people read it."""
    kind = approaches("rating").get(name)
    return kind.card.title if kind is not None else name.replace("_", " ").capitalize()


def contest_sentence(contest: Contest) -> str:
    """Who wins the measure, how often, and by how much against the next."""
    first = contest.standings[0]
    if not contest.comparisons or not first.best:
        return f"{measure_title(contest.measure)}: nothing can be compared."
    shared = f" ({first.shared:,} shared)" if first.shared else ""
    text = (
        f"{measure_title(contest.measure)}: {first.label} is lowest in {first.best:,} of "
        f"{contest.comparisons:,} comparisons{shared}."
    )
    others = [standing for standing in contest.standings if standing.label != first.label]
    if not contest.complete or not others:
        return text
    second = min(others, key=lambda standing: standing.total)
    return f"{text} {duel_sentence(contest.duel(first.label, second.label))}"


def duel_sentence(duel: Duel) -> str:
    """One approach against another in words and numbers."""
    if not duel.pairs:
        return f"There is no pair of {duel.first} and {duel.second}."
    ties = f", equal in {duel.equal:,}" if duel.equal else ""
    text = f"Against {duel.second} it is lower in {duel.lower:,} of {counted(duel.pairs, 'pair')}{ties}"
    if duel.ratio_of_sums is None:
        return f"{text}."
    return f"{text}; in sum {difference(duel.ratio_of_sums)}."


def difference(ratio: float) -> str:
    """A ratio as "12.5 % lower" or "3.1 % higher"."""
    percent = abs(ratio - 1) * 100
    if percent < 0.05:
        return "the same within 0.05 %"
    return f"{percent:,.1f} % {'lower' if ratio < 1 else 'higher'}"


def front_sentence(front: Front) -> str:
    """How many solutions of a scenario no other one beats, and whose they are."""
    shares = ", ".join(f"{label} {kept:,} of {of:,}" for label, (kept, of) in front.by_label.items())
    number = len(front.solutions)
    are = agreeing(number, "is", "are")
    return f"{front.scenario.title}: {number:,} of {counted(front.of, 'solution')} {are} unbeaten ({shares})."


def summary_lines(summary: Summary) -> Iterator[str]:
    """The whole summary as plain text, line by line."""
    comparison = summary.comparison
    solutions = len(comparison.solutions)
    yield (
        f"{counted(len(comparison.finished), 'combination')} in {counted(len(comparison.plan.scenarios), 'scenario')}, "
        f"{counted(solutions, 'solution')}."
    )
    for component in COMPONENTS:
        mine = [contest for contest in summary.contests if contest.component == component]
        if mine:
            yield ""
            yield f"{COMPONENT_WORDS[component]}: which approach is lowest, with all else equal"
            for contest in mine:
                yield f"  {contest_sentence(contest)}"
    yield ""
    yield "Unbeaten solutions: no other of their scenario is as good in all measures that count and better in one"
    for front in summary.fronts:
        yield f"  {front_sentence(front)}"


def plan_in_words(plan: Plan) -> str:
    """How much the plan makes at most, before anything is counted."""
    return (
        f"{counted(len(plan.combinations), 'combination')} in {counted(len(plan.scenarios), 'scenario')} make at most "
        f"{counted(plan.most_aggregations, 'aggregation')}."
    )


def prepared_in_words(prepared: Prepared) -> str:
    """How much the plan makes, how much of it is done, and how long the rest will take."""
    scenarios = counted(len(prepared.plan.scenarios), "scenario")
    aggregations = counted(sum(prepared.aggregations), "aggregation")
    text = f"{counted(len(prepared.settings), 'combination')} in {scenarios} make {aggregations}."
    kept = sum(prepared.kept)
    if kept == len(prepared.kept):
        return f"{text} All of them are finished already."
    if kept:
        text += f" {counted(kept, 'combination')} {agreeing(kept, 'is', 'are')} finished already."
    return f"{text} About {duration_in_words(prepared.seconds_left)} to go."


_UNITS = ((1, "second", 90), (60, "minute", 5400), (3600, "hour", math.inf))
"""The seconds of each, its name, and from how many seconds on the next one is told."""


def span_in_words(low: float, high: float) -> str:
    """Between which times something will be, both no more exact than they can be known: 20 to 60 seconds."""
    seconds, unit = next((size, name) for size, name, most in _UNITS if high < most)
    least, most = max(1, math.floor(low / seconds)), max(1, math.ceil(high / seconds))
    return counted(most, unit) if least == most else f"{least:,} to {counted(most, unit)}"


def duration_in_words(seconds: float) -> str:
    """A time no more exact than it can be known."""
    if seconds < 1.5:
        return "a second"
    if seconds < 90:
        return counted(round(seconds), "second")
    return counted(round(seconds / 60), "minute") if seconds < 5400 else f"{seconds / 3600:,.1f} hours"
