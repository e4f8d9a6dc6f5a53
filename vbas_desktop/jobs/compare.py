"""Comparing many combinations of approaches on the same records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from vbas_desktop.approaches.base import Approach
from vbas_desktop.comparison.plan import Plan
from vbas_desktop.comparison.run import Comparison, Finished, Prepared, count_scenarios, prepare, run_prepared
from vbas_desktop.comparison.store import Memory, Store
from vbas_desktop.comparison.summary import Summary, summarise
from vbas_desktop.model.progress import Progress, Silent, Span
from vbas_desktop.settings.run import GENERALISED, RunSettings

from .data import Data
from .run import checked, none_suitable

if TYPE_CHECKING:
    from vbas_desktop.assessment.representability.requirement import Requirement


@dataclass(frozen=True, eq=False)
class Compared:
    """A finished comparison, and what is said of it in its summary if it was written to ``target``."""

    comparison: Comparison
    text: str = ""
    target: Path | None = None
    summary: Summary | None = None


@dataclass(frozen=True, eq=False)
class CompareJob:
    """A comparison. ``target`` receives the tables; until they are written, a hidden folder beside it
    holds the finished combinations.

    With a ``requirement``, every solution says whether it meets it; with ``suitable_only`` the table lists only those.
    ``inputs`` are files that were read besides those of the data.
    """

    plan: Plan
    data: Data
    target: Path | None = None
    requirement: Requirement | None = None
    identifiers: tuple[str, ...] = ()
    suitable_only: bool = False
    inputs: tuple[Path, ...] = ()

    @property
    def keeper(self) -> Store | Memory:
        """Where finished combinations are kept."""
        from vbas_desktop.release.comparison import store_beside

        return Memory() if self.target is None else Store(store_beside(self.target))

    def look_ahead(self, progress: Progress = Silent()) -> Prepared:  # noqa: B008 (Silent has no state)
        """Count, and see how much work it is and how much of it is done."""
        problems = count_scenarios(self.plan, self.data.table, self.data.regions, progress)
        return prepare(self.plan, problems, self.keeper, progress)

    def execute(
        self,
        progress: Progress = Silent(),  # noqa: B008
        on_finished: Callable[[Finished], None] | None = None,
        on_prepared: Callable[[Prepared], None] | None = None,
    ) -> Compared:
        """Run what is missing and write the folder."""
        from vbas_desktop.io.hashing import require_unchanged
        from vbas_desktop.release.comparison import check_comparison_target, write_comparison

        if self.target is not None:
            check_comparison_target(self.target, (*self.data.paths, *self.inputs))
        prepared = self.look_ahead(Span(progress, 0.0, 0.05))
        if on_prepared is not None:
            on_prepared(prepared)
        found = run_prepared(prepared, self.keeper, Span(progress, 0.05, 1.0), on_finished)
        # No table is written of records that were changed while they were read.
        require_unchanged(self.data.table.source)
        comparison = self._checked(found)
        if self.target is None:
            return Compared(comparison)
        text = write_comparison(comparison, self.target, self.suitable_only)
        self.keeper.forget()
        return Compared(comparison, text, self.target, summarise(comparison))

    def _checked(self, comparison: Comparison) -> Comparison:
        released = [name for name in self.data.table.dialect.header if name not in self.identifiers]
        finished = tuple(
            replace(one, result=checked(one.result, one.problem, self.requirement, released))
            for one in comparison.finished
        )
        found = replace(comparison, finished=finished)
        if self.suitable_only and not any(solution.is_suitable for _, solution in found.solutions):
            raise none_suitable(len(found.solutions))
        return found


def plan_of(
    settings: RunSettings,
    quasi_identifier_sets: tuple[tuple[str, ...], ...],
    ks: tuple[int, ...],
    chosen: Mapping[str, tuple[Approach, ...]],
    generalised: str,
) -> Plan:
    """The plan of these sets, values of k and approaches by component; all else is as the settings say."""
    from vbas_desktop.io.generalise import from_plain

    return Plan(
        region_column=settings.region_column,
        quasi_identifier_sets=quasi_identifier_sets,
        ks=ks,
        approaches=chosen,
        groupings=from_plain(settings.groupings),
        sensitive=settings.sensitive_columns,
        generalised=GENERALISED[generalised],
        unknown_regions=settings.unknown_regions,
        **settings.of_every_run,
    )
