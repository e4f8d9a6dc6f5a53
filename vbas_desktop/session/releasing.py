"""Releasing one solution: whether it can be, what will be released, and the regions of an earlier release again."""

from __future__ import annotations

from dataclasses import replace

from vbas_desktop.approaches.registry import NOTHING, revealed
from vbas_desktop.jobs.ledger import Earlier
from vbas_desktop.model.solution import RunResult, Solution
from vbas_desktop.model.words import counted, share_in_words

from .choices import Choices
from .results import Entry, Run


def why_not_release(entry: Entry | None) -> str | None:
    """Why a solution cannot be released, in words that say what to do; None if it can."""
    if entry is None:
        return "Run a combination and choose a solution first."
    if entry.run.outdated or entry.problem is None:
        return "The files changed since this solution was computed. Run again, then export."
    if not records_released(entry):
        return "This solution releases no record. Choose a smaller k, fewer quasi-identifiers or broader groups."
    return None


def records_released(entry: Entry) -> int:
    """How many records a release of this solution holds."""
    assert entry.problem is not None
    solution = entry.solution
    suppressed = solution.suppressed_global + solution.suppressed_local + entry.problem.unknown_region_records
    return entry.problem.records - suppressed


def loss_limit_of(run: Run, now: Choices) -> float | None:
    """Return the allowed loss that is in force for a solution of a run, in percent; None if there is none.

    The field of the window counts, also if it was changed after the run.
    """
    if "allowed_loss_percent" in now.values_of("site_number", "limit"):
        return now.allowed_loss_percent
    return run.settings.loss_limit_percent


def release_in_words(entry: Entry) -> str:
    """What a release of this solution holds and what it lacks."""
    assert entry.problem is not None
    records, solution = entry.problem.records, entry.solution
    released = records_released(entry)
    suppressed = records - released
    text = (
        f"{released:,} of {counted(records, 'record')} ({share_in_words(released, records)}) will be released in "
        f"{counted(solution.aggregated_regions, 'aggregated region')}{_above(solution)}, every combination at least "
        f"{entry.problem.k} times. {counted(suppressed, 'record')} suppressed"
    )
    causes = {
        "too rare in the whole file": solution.suppressed_global,
        "too rare in their region": solution.suppressed_local,
        "of unknown regions": entry.problem.unknown_region_records,
    }
    parts = [f"{number:,} {cause}" for cause, number in causes.items() if number]
    text = f"{text}: {', '.join(parts)}." if parts else f"{text}."
    return " ".join((text, *revealed(solution.approaches, solution.parameters)))


def _above(solution: Solution) -> str:
    if solution.tiers is None:
        return ""
    raised = sum(solution.released_by_tier[1:])
    return f" and larger places ({share_in_words(raised, solution.released_records)} of them in these)"


def result_of(run: Run, entries: tuple[Entry, ...]) -> RunResult:
    """The run's result; of a stopped run, what was finished."""
    if run.result is not None:
        return run.result
    assert run.problem is not None
    solutions = tuple(entry.solution for entry in entries if entry.run.id == run.id)
    first = solutions[0]
    return RunResult(
        solutions,
        first.approximated_sites,
        first.suppressed_global,
        int((run.problem.counts.combination_totals > 0).sum()),
        seconds=sum(solution.seconds for solution in solutions),
    )


def as_then(choices: Choices, earlier: Earlier) -> Choices:
    """The same choices with the quasi-identifiers, groups, k and regions of an earlier release."""
    entry = earlier.entry
    chosen = {"site_number": "fixed", "construction": "coarsen", "refinement": NOTHING, "tiers": NOTHING}
    made = replace(
        choices.with_quasi_identifiers(entry.quasi_identifiers),
        k=entry.k,
        groupings=earlier.groupings,
        coarsen_from=str(earlier.crosswalk),
        range_reach=0,
        approaches={**choices.approaches, **chosen},
    )
    return made.with_parameter("site_number", "fixed", "sites", entry.aggregated_regions)
