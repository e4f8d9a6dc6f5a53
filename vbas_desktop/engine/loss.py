"""Explain why records are lost, and say what would keep more of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from vbas_desktop.algorithms.site_numbers import allowed_records
from vbas_desktop.algorithms.suppression import Aggregation, released_by_place, suppress_locally
from vbas_desktop.approaches.base import Situation
from vbas_desktop.approaches.registry import make
from vbas_desktop.model.errors import Finding, Severity
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import SILENT, Progress
from vbas_desktop.model.sensitive import enforced
from vbas_desktop.model.solution import RunResult, Solution
from vbas_desktop.model.words import counted, share_in_words

from .limits import TOLD as LIMITS
from .limits import boundaries_of
from .outcome import aggregation_for
from .parts import tiers_within

USUAL_TIERS = "auto"
"""The approach that is offered."""

LOSS = "allowed-loss"
"""The code of the finding about a release that loses more than is allowed or usual."""

EXCEED_HINT = " To write it all the same, use --exceed-loss (in Python: exceed_loss=True)."
"""How commands and scripts give their consent; the window asks."""


@dataclass(frozen=True)
class LossCause:
    """A number of lost records with their common cause and what would help."""

    records: int
    in_words: str
    remedy: str


def loss_causes(
    problem: Problem, merged: Aggregation, lost: int, bounded: bool = False, progress: Progress = SILENT
) -> tuple[LossCause, ...]:
    """Count the lost records by cause, the most frequent cause first.

    The records lost for criteria are those that the same regions would release without any criterion. ``bounded``:
    regions keep to boundaries, so that they cannot all be merged. O(counts stored).
    """
    criteria = 0
    if enforced(merged.sensitive):
        by_size = released_by_place(replace(merged, sensitive=()), progress)
        criteria = lost - (problem.records - sum(int(totals.sum()) for totals in by_size))
    totals = problem.counts.combination_totals
    rare = int(totals[totals < problem.k].sum())
    unknown = problem.unknown_region_records
    found = (
        LossCause(unknown, "of unknown regions", _UNKNOWN_REMEDY),
        LossCause(rare, "too rare in the whole file", _RARE_REMEDY),
        LossCause(criteria, "in classes that miss the criteria", _criteria_remedy(problem)),
        LossCause(
            lost - unknown - rare - criteria,
            "too rare in their region",
            _BOUNDED_REMEDY if bounded else _SMALL_REGIONS_REMEDY,
        ),
    )
    return tuple(sorted((cause for cause in found if cause.records > 0), key=lambda cause: -cause.records))


_UNKNOWN_REMEDY = "Correct the region ids of these records, or add the missing regions to the region file."
_RARE_REMEDY = (
    "Take categories together, use fewer quasi-identifiers or a smaller k; Find a release (vbas search) shows what "
    "that gives."
)
_SMALL_REGIONS_REMEDY = "Use fewer sites (--site-number limit finds how many)."
_BOUNDED_REMEDY = "Let fewer boundaries and regions that stay alone limit the merging, or take categories together."


def _criteria_remedy(problem: Problem) -> str:
    rules = [
        f"{criterion.text} of “{each.column[:80]}”"
        for each in enforced(problem.sensitive)
        for criterion in each.chosen.criteria
    ]
    return f"Choose a weaker criterion than {' and '.join(rules)}."


def causes_in_words(causes: Sequence[LossCause]) -> str:
    """Name the causes with their numbers: "1,900 of unknown regions, 28 too rare in the whole file"."""
    return ", ".join(f"{cause.records:,} {cause.in_words}" for cause in causes)


def remedies(causes: Sequence[LossCause], lost: int, allowed: int) -> Iterator[str]:
    """Give the remedies that together bring the loss down to what is allowed, that of the main cause first."""
    left = lost
    for cause in causes:
        if left > allowed:
            yield cause.remedy
        left -= cause.records


def lost_records(problem: Problem, solution: Solution) -> int:
    """Count the records of the file that a solution does not release, for whatever reason."""
    return problem.records - solution.released_records


def exceeds_loss(problem: Problem, solution: Solution, percent: float) -> bool:
    """Say whether a solution loses more than this share of all records."""
    return lost_records(problem, solution) > allowed_records(problem.records, percent)


def loss_finding(
    problem: Problem,
    result: RunResult,
    solution: Solution,
    percent: float,
    in_force: bool = True,
    progress: Progress = SILENT,
) -> Finding:
    """Describe a loss above ``percent``: how large it is, its causes, and what would help in this very case.

    ``in_force``: the percentage is a limit that somebody set, not merely the usual one.
    """
    lost, records = lost_records(problem, solution), problem.records
    causes = loss_causes(problem, aggregation_for(problem, solution), lost, LIMITS in solution.told, progress)
    rule = f"the {percent:g} % that are allowed" if in_force else f"the usual {percent:g} %"
    message = (
        f"The release of this solution lacks {lost:,} of {counted(records, 'record')} "
        f"({share_in_words(lost, records)}), more than {rule}: {causes_in_words(causes)}."
    )
    help = [
        *_other_solution(problem, result, percent),
        *remedies(causes, lost, allowed_records(records, percent)),
        *_tiers_remedy(problem, solution, progress),
    ]
    return Finding(LOSS, message, " ".join(help), Severity.WARNING)


def _other_solution(problem: Problem, result: RunResult, percent: float) -> Iterator[str]:
    """Name the finest solution of the run that keeps to the limit, if there is one."""
    fitting = [each for each in result.solutions if not exceeds_loss(problem, each, percent)]
    if fitting:
        finest = max(fitting, key=lambda each: each.aggregated_regions)
        regions = counted(finest.aggregated_regions, "aggregated region")
        yield f"A solution of this run with {regions} is within it (--solution {finest.id})."


def _tiers_remedy(problem: Problem, solution: Solution, progress: Progress) -> Iterator[str]:
    """Say what the same regions would lose in tiers, if that is less."""
    lost = suppressed_in_tiers(problem, solution, progress)
    if lost is not None:
        share = share_in_words(lost, problem.records)
        yield f"In tiers (--tiers {USUAL_TIERS}) the same regions would lose {share}."


def suppressed_in_tiers(problem: Problem, solution: Solution, progress: Progress) -> int | None:
    """How many records would be suppressed with the same aggregated regions in tiers; None if tiers save nothing.

    Larger places keep to the boundaries that the solution keeps to, as they do in a run.
    """
    if solution.tiers is not None or not solution.suppressed_local:
        return None
    situation = Situation(problem.regions, problem.counts, problem.k, sensitive=problem.sensitive)
    limits = boundaries_of(problem, solution)
    tiers = tiers_within(limits, make("tiers", USUAL_TIERS), situation, solution.membership, progress)
    merged = replace(aggregation_for(problem, solution).judged, tiers=tiers)
    lost = problem.records - suppress_locally(merged, progress).records
    return lost if lost < solution.suppressed_records else None


def in_tiers_in_words(lost: int, in_tiers: int, records: int) -> str:
    """What tiers would save, at once and in few words."""
    return f"{share_in_words(lost, records)} of the records are lost; in tiers {share_in_words(in_tiers, records)}."
