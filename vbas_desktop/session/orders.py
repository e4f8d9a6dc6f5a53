"""Frozen descriptions of long work. Threads get an order and never see the session."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vbas_desktop.approaches.registry import approaches, make
from vbas_desktop.domain.problem import Problem, Request
from vbas_desktop.domain.progress import Progress, Silent, Span, Steady
from vbas_desktop.domain.records import Role
from vbas_desktop.domain.regions import Regions
from vbas_desktop.domain.solution import RunResult, Solution

from .choices import Choices
from .guess import guess_roles
from .results import ProblemKey, Run

if TYPE_CHECKING:
    from vbas_desktop.files.records import RecordTable


@dataclass(frozen=True)
class LoadOrder:
    """Load these two files with these choices."""

    records: Path
    regions: Path
    choices: Choices

    def execute(self, progress: Progress = Silent()) -> Loaded:  # noqa: B008 (Silent has no state)
        """Read both files. The region file comes first: it is small, so its mistakes show at once."""
        from vbas_desktop.files.records import RecordOptions, load_records
        from vbas_desktop.files.regions import RegionOptions, load_regions

        chosen = self.choices
        place = RegionOptions(
            id_column=chosen.id_column,
            x_column=chosen.x_column,
            y_column=chosen.y_column,
            coordinates=chosen.coordinates,
            delimiter=chosen.regions_delimiter,
            encoding=chosen.regions_encoding,
            layer=chosen.layer,
            decimal=chosen.regions_decimal,
        )
        regions = load_regions(self.regions, place, Span(progress, 0.0, 0.1))
        options = RecordOptions(
            delimiter=chosen.delimiter, encoding=chosen.encoding, category_counts=chosen.category_counts
        )
        table = load_records(self.records, options, Span(progress, 0.1, 1.0))
        return Loaded(self, table, regions, guess_roles(table, regions), region_ids_sha256(regions.ids))


@dataclass(frozen=True, eq=False)
class Loaded:
    """Both files in memory, with a guess of what the columns are."""

    order: LoadOrder
    table: RecordTable
    regions: Regions
    guessed_roles: Mapping[str, Role]
    region_ids_sha256: str = ""


def region_ids_sha256(ids: Iterable[str]) -> str:
    """Tells whether owners still belong to the same regions in the same order."""
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class CountOrder:
    """Count the records of a table by region and class."""

    table: RecordTable
    regions: Regions
    key: ProblemKey

    def execute(self, progress: Progress = Silent()) -> Problem:  # noqa: B008
        """Count; the file is not read again."""
        from vbas_desktop.files.generalise import from_plain
        from vbas_desktop.files.problem import build_problem

        return build_problem(
            self.table,
            self.regions,
            region_column=self.key.region_column,
            quasi_identifiers=self.key.quasi_identifiers,
            k=self.key.k,
            unknown_regions=self.key.unknown_regions,
            groupings=from_plain(self.key.groups),
            progress=progress,
        )


@dataclass(frozen=True, eq=False)
class RunOrder:
    """One run: what to count (``problem`` is None if that is still to be done) and which approaches to use."""

    run_id: int
    table: RecordTable
    regions: Regions
    choices: Choices
    key: ProblemKey
    problem: Problem | None
    pareto_measures: tuple[str, ...]
    region_ids_sha256: str = ""

    def as_run(self, title: str) -> Run:
        """The run as the session lists it while it is under way."""
        chosen = self.choices
        return Run(
            self.run_id,
            title,
            self.key,
            dict(chosen.approaches),
            chosen.global_suppression,
            chosen.random_seed,
            chosen.columns(Role.IDENTIFIER),
            self.problem,
            records_sha256=self.table.source.sha256,
            region_ids_sha256=self.region_ids_sha256,
            choices=chosen,
        )

    def count(self, progress: Progress = Silent()) -> Problem:  # noqa: B008
        """The problem, counted now unless it was at hand."""
        return self.problem or CountOrder(self.table, self.regions, self.key).execute(progress)

    def request(self, problem: Problem) -> Request:
        """The frozen request for the engine."""
        chosen = self.choices
        return Request(
            problem=problem,
            site_number=chosen.make("site_number"),
            site_location=chosen.make("site_location"),
            construction=chosen.make("construction"),
            tiers=chosen.make("tiers"),
            measures=tuple(make("rating", name) for name in approaches("rating")),
            pareto_measures=self.pareto_measures,
            global_suppression=chosen.global_suppression,
            range_step_percent=chosen.range_step_percent,
            range_reach=chosen.range_reach,
            random_seed=chosen.random_seed,
            allowed_loss_percent=chosen.allowed_loss_percent,
        )

    def execute(
        self,
        progress: Progress = Silent(),  # noqa: B008
        on_problem: Callable[[Problem], None] | None = None,
        on_solution: Callable[[Solution], None] | None = None,
    ) -> RunResult:
        """Count if necessary, then run; solutions are handed out as they come."""
        from vbas_desktop.engine.run import run

        steady = Steady(progress)
        problem = self.count(Span(steady, 0.0, 0.1))
        if on_problem is not None:
            on_problem(problem)
        start = 0.0 if self.problem is not None else 0.1
        return run(self.request(problem), Span(steady, start, 1.0), on_solution)
