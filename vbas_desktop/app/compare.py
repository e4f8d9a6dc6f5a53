"""Comparing many combinations of approaches on the same records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from vbas_desktop.approaches.interface import Approach
from vbas_desktop.engine.comparison.plan import ComparisonPlan
from vbas_desktop.engine.comparison.run import (
    Comparison,
    FinishedCombination,
    WorkEstimate,
    count_scenarios,
    estimate_work,
    run_comparison,
)
from vbas_desktop.engine.comparison.summary import ComparisonSummary, summarise_comparison
from vbas_desktop.engine.result_cache import MemoryCache, ResultCache
from vbas_desktop.io.documents.hierarchies import groupings_from_json
from vbas_desktop.io.documents.result_cache import open_run_cache
from vbas_desktop.io.hashing import require_unchanged
from vbas_desktop.model.progress import NO_PROGRESS, Progress, SubProgress
from vbas_desktop.model.solution import RunResult
from vbas_desktop.releases.comparison import check_comparison_target, store_beside, write_comparison
from vbas_desktop.settings.run import GENERALISED, RunSettings

from .data import LoadedData
from .run import check_requirement, no_suitable_solution, with_given_partition

if TYPE_CHECKING:
    from vbas_desktop.analysis.representability.requirement import Requirement


@dataclass(frozen=True, eq=False)
class Compared:
    """A finished comparison, and what is said of it in its summary if it was written to ``target``."""

    comparison: Comparison
    text: str = ""
    target: Path | None = None
    summary: ComparisonSummary | None = None


@dataclass(frozen=True, eq=False)
class CompareRequest:
    """A comparison. ``target`` receives the tables; until they are written, a hidden folder beside it
    holds the finished combinations.

    With a ``requirement``, every solution says whether it meets it; with ``suitable_only`` the table lists only those.
    ``inputs`` are files that were read besides those of the data.
    """

    plan: ComparisonPlan
    data: LoadedData
    target: Path | None = None
    requirement: Requirement | None = None
    identifiers: tuple[str, ...] = ()
    suitable_only: bool = False
    inputs: tuple[Path, ...] = ()

    @property
    def cache(self) -> ResultCache[RunResult]:
        """Return the cache of finished combinations, on disk if there is a target."""
        return MemoryCache() if self.target is None else open_run_cache(store_beside(self.target))


def estimate_comparison(request: CompareRequest, progress: Progress = NO_PROGRESS) -> WorkEstimate:
    """Count, and see how much work it is and how much of it is done."""
    counted = count_scenarios(request.plan, request.data.table, request.data.regions, progress)
    constructions = request.plan.list_component_approaches("construction")
    problems = {
        scenario: with_given_partition(problem, constructions) for scenario, problem in counted.items()
    }
    return estimate_work(request.plan, problems, request.cache, progress)


def compare_combinations(
    request: CompareRequest,
    progress: Progress = NO_PROGRESS,
    on_finished: Callable[[FinishedCombination], None] | None = None,
    on_prepared: Callable[[WorkEstimate], None] | None = None,
) -> Compared:
    """Run what is missing and write the folder."""
    if request.target is not None:
        check_comparison_target(request.target, (*request.data.paths, *request.inputs))
    prepared = estimate_comparison(request, SubProgress(progress, 0.0, 0.05))
    if on_prepared is not None:
        on_prepared(prepared)
    finished = run_comparison(prepared, request.cache, SubProgress(progress, 0.05, 1.0), on_finished)
    # No table is written of records that were changed while they were read.
    require_unchanged(request.data.table.source)
    comparison = _check_requirement(request, finished)
    if request.target is None:
        return Compared(comparison)
    text = write_comparison(comparison, request.target, request.suitable_only)
    request.cache.clear()
    return Compared(comparison, text, request.target, summarise_comparison(comparison))


def _check_requirement(request: CompareRequest, comparison: Comparison) -> Comparison:
    """Mark the solutions that meet the requirement; refuse if one has to and none does."""
    released = [
        name for name in request.data.table.file_format.header if name not in request.identifiers
    ]
    finished = tuple(
        replace(
            entry, result=check_requirement(entry.result, entry.problem, request.requirement, released)
        )
        for entry in comparison.finished
    )
    checked = replace(comparison, finished=finished)
    if request.suitable_only and not any(solution.is_suitable for _, solution in checked.solutions):
        raise no_suitable_solution(len(checked.solutions))
    return checked


def plan_of(
    settings: RunSettings,
    quasi_identifier_sets: tuple[tuple[str, ...], ...],
    ks: tuple[int, ...],
    chosen: Mapping[str, tuple[Approach, ...]],
    generalised: str,
) -> ComparisonPlan:
    """Build the plan of these sets, values of k and approaches by component; all else is as in the settings."""
    return ComparisonPlan(
        settings=settings,
        quasi_identifier_sets=quasi_identifier_sets,
        ks=ks,
        approaches=chosen,
        groupings=groupings_from_json(settings.groupings),
        generalised=GENERALISED[generalised],
    )
