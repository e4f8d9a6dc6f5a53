"""Decide whether a solution can be released, describe its release, and reuse the settings of an earlier one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vbas_desktop.app.ledger import RecordedRelease
from vbas_desktop.approaches.registry import NOTHING, disclosure_notes
from vbas_desktop.approaches.selection import find_loss_limit
from vbas_desktop.model.records import Role
from vbas_desktop.model.solution import RunResult, Solution
from vbas_desktop.model.text import format_count, format_share

from .choices import Choices
from .scenario import ResultRow, RunEntry


@dataclass
class ColumnDecision:
    """What becomes of a column of the records in a release.

    counted_role: the role with which the solution was computed; `Role.AS_IS` if the column had no part in it.
    role: the decision; None until there is one.
    new_name: the name of the column in the release.
    is_allowed: the column is released even if it reveals a person, a region or a category.
    """

    name: str
    counted_role: Role
    role: Role | None
    new_name: str
    is_allowed: bool = False

    @property
    def is_released(self) -> bool:
        """Tell whether the release has the column, as far as that is decided."""
        return self.role is None or self.role.is_released

    @property
    def needs_run(self) -> bool:
        """Tell whether only another run gives the column the protection of its role."""
        return self.role is not None and self.role.is_released and self.role is not self.counted_role


def list_decisions(columns: Sequence[str], entry: ResultRow, choices: Choices) -> list[ColumnDecision]:
    """List what becomes of the columns in a release of this solution, from how it was computed and from Input.

    A column whose role in Input has no effect on this solution is undecided.
    """
    key = entry.run.key
    sensitive = {column.column for column in key.sensitive}
    decisions = []
    for name in columns:
        counted_role = Role.AS_IS
        if name == key.region_column:
            counted_role = Role.REGION
        elif name in key.quasi_identifiers:
            counted_role = Role.QUASI_IDENTIFIER
        elif name in sensitive:
            counted_role = Role.SENSITIVE
        given = choices.roles.get(name, Role.AS_IS)
        role: Role | None = None
        if counted_role is Role.REGION:
            role = Role.REGION
        elif not given.is_released:
            role = given
        elif counted_role is not Role.AS_IS:
            role = counted_role
        elif given is Role.AS_IS and name in choices.decided:
            role = Role.AS_IS
        decisions.append(ColumnDecision(name, counted_role, role, name))
    return decisions


def explain_why_not_releasable(entry: ResultRow | None) -> str | None:
    """Explain why a solution cannot be released, and what to do; None if it can be released."""
    if entry is None:
        return "Run a combination and choose a solution first."
    if entry.run.outdated or entry.problem is None:
        return "The files changed since this solution was computed. Run again, then export."
    if not count_released_records(entry):
        return "This solution releases no record. Choose a smaller k, fewer quasi-identifiers or broader groups."
    return None


def count_released_records(entry: ResultRow) -> int:
    """Count the records in the release of this solution."""
    assert entry.problem is not None
    solution = entry.solution
    suppressed = (
        solution.suppressed_global + solution.suppressed_local + entry.problem.unknown_region_records
    )
    return entry.problem.records - suppressed


def choose_loss_limit(run: RunEntry, choices: Choices) -> float | None:
    """Return the allowed loss for the solutions of a run, in percent; None if there is none.

    The field of the window counts, also if it was changed after the run.
    """
    if "allowed_loss_percent" in choices.values_of("site_number", "limit"):
        return choices.allowed_loss_percent
    return find_loss_limit(run.settings)


def describe_release(entry: ResultRow) -> str:
    """Describe which records a release of this solution has, and which are suppressed and why."""
    assert entry.problem is not None
    records = entry.problem.records
    solution = entry.solution
    released = count_released_records(entry)
    suppressed = records - released
    text = (
        f"{released:,} of {format_count(records, 'record')} ({format_share(released, records)}) will be released in "
        f"{format_count(solution.aggregated_regions, 'aggregated region')}{_describe_tiers(solution)}, every "
        f"combination at least {entry.problem.k} times. {format_count(suppressed, 'record')} suppressed"
    )
    causes = {
        "too rare in the whole file": solution.suppressed_global,
        "too rare in their region": solution.suppressed_local,
        "of unknown regions": entry.problem.unknown_region_records,
    }
    parts = [f"{number:,} {cause}" for cause, number in causes.items() if number]
    text = f"{text}: {', '.join(parts)}." if parts else f"{text}."
    return " ".join((text, *disclosure_notes(solution.approaches, solution.parameters)))


def _describe_tiers(solution: Solution) -> str:
    if solution.tiers is None:
        return ""
    in_larger_areas = sum(solution.released_by_tier[1:])
    return f" and larger areas ({format_share(in_larger_areas, solution.released_records)} of them in these)"


def build_run_result(run: RunEntry, entries: tuple[ResultRow, ...]) -> RunResult:
    """Return the result of a run; if it was cancelled, build one from the finished solutions."""
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


def reuse_settings(choices: Choices, earlier: RecordedRelease) -> Choices:
    """Return the settings with the quasi-identifiers, groups, k and regions of an earlier release."""
    entry = earlier.entry
    approaches = {
        "site_number": "fixed",
        "construction": "coarsen",
        "refinement": NOTHING,
        "tiers": NOTHING,
    }
    reused = choices.with_quasi_identifiers(entry.quasi_identifiers).replaced(
        k=entry.k,
        groupings=earlier.groupings,
        coarsen_from=str(earlier.crosswalk),
        range_reach=0,
        approaches={**choices.approaches, **approaches},
    )
    return reused.with_parameter("site_number", "fixed", "sites", entry.aggregated_regions)
