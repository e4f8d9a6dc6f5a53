"""Frozen requests of the window: a worker's thread gets one of them and never sees the state."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from vbas_desktop.app.data import CountRequest, LoadedData, LoadRequest, load_data
from vbas_desktop.app.run import RunRequest
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.records import RecordTable, Role, SourceFile
from vbas_desktop.model.regions import Regions

from .choices import Choices, find_region_columns, guess_roles
from .scenario import RunEntry, Scenario


@dataclass(frozen=True)
class OpenFilesRequest:
    """Ask for two files, read as the choices say."""

    records: Path
    regions: Path
    choices: Choices


@dataclass(frozen=True, eq=False)
class OpenedFiles:
    """Both files in memory, with guessed roles of the columns; ``pace`` is that of `measure_pace`."""

    request: OpenFilesRequest
    data: LoadedData
    guessed_roles: Mapping[str, Role]
    region_columns: tuple[str, ...] = ()
    """The columns of the records most of whose values are ids of the region file, the best first."""
    region_ids_sha256: str = ""
    pace: float = 1.0

    @property
    def table(self) -> RecordTable:
        """Return the records."""
        return self.data.table

    @property
    def regions(self) -> Regions:
        """Return the regions."""
        return self.data.regions


def open_files(request: OpenFilesRequest, progress: Progress = NO_PROGRESS) -> OpenedFiles:
    """Load both files, guess the roles of the columns, and measure how fast this computer reads."""
    started = perf_counter()
    data = load_data(LoadRequest(request.records, request.regions, request.choices.reading), progress)
    pace = measure_pace(data.table, perf_counter() - started)
    roles = guess_roles(data.table, data.regions)
    columns = find_region_columns(data.table, data.regions)
    return OpenedFiles(request, data, roles, columns, hash_regions(data.regions), pace)


_SECONDS_PER_BYTE = 2.5e-9
"""Time of reading a byte of text on the computer on which durations were first measured."""
_SMALLEST_BYTES = 4_000_000
"""Smaller files say nothing about the computer: starting takes longer than reading."""
_PACE_RANGE = (0.25, 20.0)
"""Beyond this range it is the disk that is slow, or the clock that is wrong."""


def measure_pace(table: RecordTable, seconds: float) -> float:
    """Return how many times longer than expected this computer took to read the records; 1 if that is unknown."""
    file_format = table.file_format
    n_bytes = table.source.size_bytes
    if file_format.format != "csv" or file_format.compressed or n_bytes < _SMALLEST_BYTES:
        return 1.0
    fastest, slowest = _PACE_RANGE
    return min(max(seconds / (n_bytes * _SECONDS_PER_BYTE), fastest), slowest)


def hash_regions(regions: Regions) -> str:
    """Hash what results depend on: the regions in their order, and the map from ids of the records to them."""
    mapping_hash = () if regions.mapping is None else (regions.mapping.source.sha256,)
    return hash_region_ids((*regions.ids, *mapping_hash))


def hash_region_ids(ids: Iterable[str]) -> str:
    """Hash ids in their order, to see later whether a membership still belongs to the same regions."""
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()


def build_count_request(data: LoadedData, key: Scenario) -> CountRequest:
    """Build the request that counts the problem of a key."""
    return CountRequest(
        data,
        key.region_column,
        key.quasi_identifiers,
        key.k,
        key.unknown_regions,
        key.groups,
        key.sensitive,
    )


@dataclass(frozen=True, eq=False)
class RunTask:
    """A request for a run under its number in the session; ``pace`` is that of `measure_pace`."""

    run_id: int
    request: RunRequest
    choices: Choices
    key: Scenario
    region_ids_sha256: str = ""
    pace: float = 1.0

    def as_run(self, title: str) -> RunEntry:
        """Return the run as the session lists it while it is under way."""
        return RunEntry(
            self.run_id,
            title,
            self.key,
            self.choices,
            self.request.problem,
            records_sha256=self.request.data.table.source.identity,
            region_ids_sha256=self.region_ids_sha256,
        )


def is_same_region_file(before: Regions | None, now: Regions) -> bool:
    """Say if a region file was read again unchanged, so that everything derived from it stays valid."""
    return (
        before is not None
        and before.source == now.source
        and before.system == now.system
        and before.ids == now.ids
        and _list_sources(before) == _list_sources(now)
        and np.array_equal(before.points, now.points)
    )


def _list_sources(regions: Regions) -> tuple[SourceFile, ...]:
    """List the files that were read with the region file."""
    earlier = () if regions.earlier is None else (regions.earlier.source,)
    mapping = () if regions.mapping is None else (regions.mapping.source,)
    obstacles = () if regions.obstacles is None else regions.obstacles.sources
    return (*obstacles, *earlier, *mapping)
