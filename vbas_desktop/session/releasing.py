"""Releasing one solution: what will be released, and the order for the thread that writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.approaches.registry import NOTHING, revealed
from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.problem import Problem
from vbas_desktop.domain.progress import Progress, Silent
from vbas_desktop.domain.solution import RunResult
from vbas_desktop.domain.words import counted

from .choices import COMPONENTS, READING_FIELDS
from .results import Entry, Run
from .words import share_in_words

if TYPE_CHECKING:
    from vbas_desktop.files.records import RecordTable
    from vbas_desktop.release import ReleaseOptions, ReleaseReport


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


def release_in_words(entry: Entry) -> str:
    """What a release of this solution holds and what it lacks."""
    assert entry.problem is not None
    records, solution = entry.problem.records, entry.solution
    released = records_released(entry)
    suppressed = records - released
    text = (
        f"{released:,} of {counted(records, 'record')} ({share_in_words(released, records)}) will be released in "
        f"{counted(solution.aggregated_regions, 'aggregated region')}, every combination at least {entry.problem.k} "
        f"times. {counted(suppressed, 'record')} suppressed"
    )
    causes = {
        "too rare in the whole file": solution.suppressed_global,
        "too rare in their region": solution.suppressed_local,
        "of unknown regions": entry.problem.unknown_region_records,
    }
    parts = [f"{number:,} {cause}" for cause, number in causes.items() if number]
    text = f"{text}: {', '.join(parts)}." if parts else f"{text}."
    return " ".join((text, *revealed(solution.approaches, solution.parameters)))


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
        int((run.problem.counts.class_totals > 0).sum()),
        seconds=sum(solution.seconds for solution in solutions),
    )


@dataclass(frozen=True, eq=False)
class ReleaseOrder:
    """Write the release of one solution to a folder."""

    problem: Problem
    table: RecordTable
    result: RunResult
    entry: Entry
    options: ReleaseOptions
    target: Path
    policy: Mapping[str, Any] | None = None
    requirement: Sequence[Mapping[str, str]] = ()

    def execute_or_tell(self, progress: Progress = Silent()) -> ReleaseReport | tuple[Finding, ...]:  # noqa: B008
        """The same; what is wrong with the columns is handed back, since the person who releases decides about it."""
        from vbas_desktop.release import TELLTALE

        try:
            return self.execute(progress)
        except InputError as error:
            if any(finding.code != TELLTALE for finding in error.findings):
                raise
            return tuple(error.findings)

    def execute(self, progress: Progress = Silent()) -> ReleaseReport:  # noqa: B008
        """Write, verify by reading back, put in place."""
        from vbas_desktop.files.runfile import run_document
        from vbas_desktop.release import check_target, write_release

        check_target(self.target)
        solution = self.entry.solution
        in_force = options_in_force(self.entry.run, self.table.source.path, self.options, self.problem)
        document = run_document(self.problem, self.result, in_force, solution.id)
        if self.policy is not None:
            document["policy_checklist"] = dict(self.policy)
        if self.requirement:
            document["requirement_check"] = [dict(row) for row in self.requirement]
        return write_release(
            self.problem, self.table, self.result, solution, self.options, self.target, progress, document
        )


def options_in_force(run: Run, records: str, release: ReleaseOptions, problem: Problem) -> dict[str, Any]:
    """All settings by the names of the command line, so that `vbas export` can repeat the run from its folder."""
    chosen = run.choices
    regions = problem.regions_source.path if problem.regions_source is not None else ""
    given: dict[str, Any] = {
        "records": records,
        "regions": regions,
        "region_column": run.key.region_column,
        "quasi_identifiers": list(run.key.quasi_identifiers),
        "groupings": run.key.groups,
        "generalise": [],
        "identifiers": list(release.identifiers),
        "unknown_regions": run.key.unknown_regions,
        "k": run.key.k,
        "no_global_suppression": not run.global_suppression,
        "random_seed": run.random_seed,
        "range_step": chosen.range_step_percent,
        "range_reach": chosen.range_reach,
        "pareto": list(chosen.pareto_measures or ()),
        "workers": 0,
        "set": [_assignment(component, run, name, value) for component, name, value in _parameters(run)],
    }
    for name in READING_FIELDS:
        given[name] = getattr(chosen, name)
    for component in COMPONENTS:
        given[component] = run.approaches.get(component, NOTHING)
    return {**given, **_release_settings(release)}


def _parameters(run: Run) -> list[tuple[str, str, Any]]:
    return [
        (component, name, value)
        for component in COMPONENTS
        for name, value in run.choices.values_of(component, run.approaches.get(component, NOTHING)).items()
    ]


def _assignment(component: str, run: Run, name: str, value: Any) -> str:
    text = value.get("name") if isinstance(value, Mapping) else value
    return f"{run.approaches[component]}.{name}={text}"


def _release_settings(release: ReleaseOptions) -> dict[str, Any]:
    return {
        "columns": None if release.columns is None else list(release.columns),
        "allow_column": list(release.allow_columns),
        "rename": [f"{old}={new}" for old, new in release.renames.items()],
        "shuffle": release.shuffle,
        "shuffle_seed": release.shuffle_seed,
        "class_size": release.class_size,
        "release_delimiter": release.delimiter,
        "escape_formulas": release.escape_formulas,
        "format": release.format,
        "policy": release.policy,
        "geometry": list(release.geometry),
        "pdf": release.pdf,
    }
