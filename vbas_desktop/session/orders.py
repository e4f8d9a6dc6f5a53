"""Frozen descriptions of long work. Threads get an order and never see the session."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter as clock
from typing import TYPE_CHECKING

from vbas_desktop.jobs.data import CountJob, Data, LoadJob
from vbas_desktop.jobs.run import RunJob
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Progress, Silent
from vbas_desktop.model.records import Role
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.solution import RunResult, Solution

from .choices import Choices, guess_roles
from .results import ProblemKey, Run

if TYPE_CHECKING:
    from vbas_desktop.model.records import RecordTable


@dataclass(frozen=True)
class LoadOrder:
    """Load these two files with these choices."""

    records: Path
    regions: Path
    choices: Choices

    def execute(self, progress: Progress = Silent()) -> Loaded:  # noqa: B008 (Silent has no state)
        """Read both files and guess what the columns are."""
        started = clock()
        data = LoadJob(self.records, self.regions, self.choices.reading).execute(progress)
        pace = pace_of(data.table, clock() - started)
        return Loaded(self, data, guess_roles(data.table, data.regions), regions_sha256(data.regions), pace)


@dataclass(frozen=True, eq=False)
class Loaded:
    """Both files in memory, with a guess of what the columns are, and the `pace_of` reading them."""

    order: LoadOrder
    data: Data
    guessed_roles: Mapping[str, Role]
    region_ids_sha256: str = ""
    pace: float = 1.0

    @property
    def table(self) -> RecordTable:
        """The records."""
        return self.data.table

    @property
    def regions(self) -> Regions:
        """The regions."""
        return self.data.regions


_USUAL_SECONDS = 2.5e-9
"""What reading a byte of text takes where the first guesses at times were measured."""
_TELLING_BYTES = 4_000_000
"""Of smaller files, getting ready takes longer than reading."""
_PACES = (0.25, 20.0)
"""Slower than that is the disk, or what is compiled once; faster is a mistake."""


def pace_of(table: RecordTable, seconds: float) -> float:
    """How many times longer than usual this computer takes, by what it took to read these records."""
    dialect, size = table.dialect, table.source.size_bytes
    if dialect.format != "csv" or dialect.compressed or size < _TELLING_BYTES:
        return 1.0
    return min(max(seconds / (size * _USUAL_SECONDS), _PACES[0]), _PACES[1])


def regions_sha256(regions: Regions) -> str:
    """Hash what results depend on: the regions in their order, and the map from ids of the records to them."""
    mapping = () if regions.mapping is None else (regions.mapping.source.sha256,)
    return region_ids_sha256((*regions.ids, *mapping))


def region_ids_sha256(ids: Iterable[str]) -> str:
    """Tells whether owners still belong to the same regions in the same order."""
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()


def count(data: Data, key: ProblemKey) -> CountJob:
    """The job that counts what a key says."""
    columns = key.region_column, key.quasi_identifiers
    return CountJob(data, *columns, key.k, key.unknown_regions, key.groups, key.sensitive)


@dataclass(frozen=True, eq=False)
class RunOrder:
    """One run under its number in the session; ``pace`` is that of the computer, by the loading of the files."""

    run_id: int
    job: RunJob
    choices: Choices
    key: ProblemKey
    region_ids_sha256: str = ""
    pace: float = 1.0

    def as_run(self, title: str) -> Run:
        """The run as the session lists it while it is under way."""
        return Run(
            self.run_id,
            title,
            self.key,
            self.choices,
            self.job.problem,
            records_sha256=self.job.data.table.source.identity,
            region_ids_sha256=self.region_ids_sha256,
        )

    def execute(
        self,
        progress: Progress = Silent(),  # noqa: B008
        on_problem: Callable[[Problem], None] | None = None,
        on_solution: Callable[[Solution], None] | None = None,
    ) -> RunResult:
        """Count if necessary, then run; solutions are handed out as they come."""
        return self.job.execute(progress, on_problem, on_solution).result
