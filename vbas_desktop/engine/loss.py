"""Explain why records are lost, and say what would keep more of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from vbas_desktop.algorithms.site_counts import max_suppressed
from vbas_desktop.algorithms.suppression import Aggregation, count_released, suppress_locally
from vbas_desktop.approaches.construction.given import GivenConstruction
from vbas_desktop.approaches.interface import Context
from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.model.findings import Finding, Severity
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.sensitive import with_criteria
from vbas_desktop.model.solution import RunResult, Solution
from vbas_desktop.model.text import format_count, format_share

from .constraint_zones import build_tiers_within
from .constraints import CONSTRAINT_DIAGNOSTICS, resolve_boundaries
from .outcome import aggregate_solution

DEFAULT_TIERS = "auto"
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


def count_loss_causes(
    problem: Problem,
    merged: Aggregation,
    suppressed: int,
    has_sites: bool = True,
    bounded: bool = False,
    progress: Progress = NO_PROGRESS,
) -> tuple[LossCause, ...]:
    """Count the lost records by cause, the most frequent cause first.

    The records lost for criteria are those that the same regions would release without any criterion. ``has_sites``:
    fewer sites make larger regions; those of a crosswalk stay as they are. ``bounded``: regions keep to boundaries,
    so that they cannot all be merged. O(counts stored).
    """
    criteria = 0
    if with_criteria(merged.sensitive):
        by_size = count_released(replace(merged, sensitive=()), progress)
        criteria = suppressed - (problem.records - sum(int(totals.sum()) for totals in by_size))
    totals = problem.counts.combination_totals
    rare = int(totals[totals < problem.k].sum())
    unknown = problem.unknown_region_records
    causes = (
        LossCause(unknown, "of unknown regions", _UNKNOWN_REMEDY),
        LossCause(rare, "too rare in the whole file", _RARE_REMEDY),
        LossCause(criteria, "in classes that miss the criteria", _criteria_remedy(problem)),
        LossCause(
            suppressed - unknown - rare - criteria,
            "too rare in their region",
            _choose_region_remedy(has_sites, bounded),
        ),
    )
    return tuple(
        sorted((cause for cause in causes if cause.records > 0), key=lambda cause: -cause.records)
    )


_UNKNOWN_REMEDY = (
    "Correct the region ids of these records, or add the missing regions to the region file."
)
_RARE_REMEDY = (
    "Take categories together, use fewer quasi-identifiers or a smaller k; Find a release (vbas search) shows what "
    "that gives."
)
_SMALL_REGIONS_REMEDY = "Use fewer sites (--site-number limit finds how many)."
_BOUNDED_REMEDY = (
    "Let fewer boundaries and regions that stay alone limit the merging, or take categories together."
)

_GIVEN_REMEDY = "Give a crosswalk of larger regions, or take categories together."


def _choose_region_remedy(has_sites: bool, bounded: bool) -> str:
    if not has_sites:
        return _GIVEN_REMEDY
    return _BOUNDED_REMEDY if bounded else _SMALL_REGIONS_REMEDY


def _criteria_remedy(problem: Problem) -> str:
    rules = [
        f"{criterion.text} of “{column.column[:80]}”"
        for column in with_criteria(problem.sensitive)
        for criterion in column.chosen.criteria
    ]
    return f"Choose a weaker criterion than {' and '.join(rules)}."


def describe_causes(causes: Sequence[LossCause]) -> str:
    """List the causes with their numbers: "1,900 of unknown regions, 28 too rare in the whole file"."""
    return ", ".join(f"{cause.records:,} {cause.in_words}" for cause in causes)


def list_remedies(causes: Sequence[LossCause], suppressed: int, allowed: int) -> Iterator[str]:
    """Give the remedies that together bring the loss down to what is allowed, that of the main cause first."""
    left = suppressed
    for cause in causes:
        if left > allowed:
            yield cause.remedy
        left -= cause.records


def count_lost_records(problem: Problem, solution: Solution) -> int:
    """Count the records of the file that a solution does not release, for whatever reason."""
    return problem.records - solution.released_records


def exceeds_loss(problem: Problem, solution: Solution, percent: float) -> bool:
    """Say whether a solution loses more than this share of all records."""
    return count_lost_records(problem, solution) > max_suppressed(problem.records, percent)


def describe_loss(
    problem: Problem,
    result: RunResult,
    solution: Solution,
    percent: float,
    in_force: bool = True,
    progress: Progress = NO_PROGRESS,
) -> Finding:
    """Describe a loss above ``percent``: how large it is, its causes, and what would help in this very case.

    ``in_force``: the percentage is a limit that somebody set, not merely the usual one.
    """
    suppressed = count_lost_records(problem, solution)
    records = problem.records
    causes = count_loss_causes(
        problem,
        aggregate_solution(problem, solution),
        suppressed,
        has_sites=solution.approaches["construction"] != GivenConstruction.metadata.name,
        bounded=CONSTRAINT_DIAGNOSTICS in solution.diagnostics,
        progress=progress,
    )
    rule = f"the {percent:g} % that are allowed" if in_force else f"the usual {percent:g} %"
    message = (
        f"The release of this solution lacks {suppressed:,} of {format_count(records, 'record')} "
        f"({format_share(suppressed, records)}), more than {rule}: {describe_causes(causes)}."
    )
    help = [
        *_other_solution(problem, result, percent),
        *list_remedies(causes, suppressed, max_suppressed(records, percent)),
        *_tiers_remedy(problem, solution, progress),
    ]
    return Finding(LOSS, message, " ".join(help), Severity.WARNING)


def _other_solution(problem: Problem, result: RunResult, percent: float) -> Iterator[str]:
    """Point to the finest solution of the run that keeps to the limit, if there is one."""
    fitting = [solution for solution in result.solutions if not exceeds_loss(problem, solution, percent)]
    if fitting:
        finest = max(fitting, key=lambda candidate: candidate.aggregated_regions)
        regions = format_count(finest.aggregated_regions, "aggregated region")
        yield f"A solution of this run with {regions} is within it (--solution {finest.id})."


def _tiers_remedy(problem: Problem, solution: Solution, progress: Progress) -> Iterator[str]:
    """Say what the same regions would lose in tiers, if that is less."""
    suppressed = count_suppressed_in_tiers(problem, solution, progress)
    if suppressed is not None:
        share = format_share(suppressed, problem.records)
        yield f"In tiers (--tiers {DEFAULT_TIERS}) the same regions would lose {share}."


def count_suppressed_in_tiers(problem: Problem, solution: Solution, progress: Progress) -> int | None:
    """Count the records suppressed if the same regions had tiers; None if tiers save nothing.

    Larger areas keep to the boundaries that the solution keeps to, as they do in a run.
    """
    if solution.tiers is not None or not solution.suppressed_local:
        return None
    context = Context(problem.regions, problem.counts, problem.k, sensitive=problem.sensitive)
    limits = resolve_boundaries(problem, solution)
    tiers = build_tiers_within(
        limits, create_approach("tiers", DEFAULT_TIERS), context, solution.membership, progress
    )
    merged = replace(aggregate_solution(problem, solution).judged, tiers=tiers)
    suppressed = problem.records - suppress_locally(merged, progress).records
    return suppressed if suppressed < solution.suppressed_records else None


def describe_gain_of_tiers(suppressed: int, in_tiers: int, records: int) -> str:
    """Describe briefly what tiers would save."""
    return f"{format_share(suppressed, records)} of the records are lost; in tiers {format_share(in_tiers, records)}."
