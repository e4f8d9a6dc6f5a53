"""Opening a project: read it, load its files, see what changed since, count again what its results need.

And what survives a crash: a copy of the project, written now and then, removed when the program ends properly.
"""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from vbas_desktop.app.data import count_records
from vbas_desktop.io.databases.address import Address, parse_address
from vbas_desktop.io.documents.policies import load_bundled_policies
from vbas_desktop.io.input_checks import is_on_other_computer
from vbas_desktop.io.locks import exclusive_lock, is_locked
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import NO_PROGRESS, Progress, SubProgress

from .project import SUFFIX, ProjectState, read_project
from .requests import OpenedFiles, OpenFilesRequest, build_count_request, open_files
from .scenario import ResultRow, Scenario


@dataclass(frozen=True, eq=False)
class OpenedProject:
    """A project with its files in memory. ``loaded`` is None if files are ``missing``: ask where they are now.

    ``changed`` names the files whose content is not what it was when the project was saved; ``left_out`` counts
    solutions that do not fit the region file any more.
    """

    path: Path
    state: ProjectState
    loaded: OpenedFiles | None = None
    entries: tuple[ResultRow, ...] = ()
    missing: tuple[Path, ...] = ()
    changed: tuple[str, ...] = ()
    left_out: int = 0


@dataclass(frozen=True)
class OpenProjectRequest:
    """Open a project; ``records`` and ``regions`` say where files are that are no longer where they were."""

    path: Path
    records: Path | None = None
    regions: Path | None = None


def open_project(request: OpenProjectRequest, progress: Progress = NO_PROGRESS) -> OpenedProject:
    """Read the project, load its files, note what changed since, and count what its results need."""
    progress.update("Reading the project")
    state = read_project(request.path)
    records = request.records or Path(state.records.path)
    regions = request.regions or Path(state.regions.path)
    chosen_paths = {request.records, request.regions, None}
    missing = tuple(
        path
        for path in (records, regions)
        # Looking for a file on another computer already tells that one who asks: only the user may name it.
        if (path not in chosen_paths and is_on_other_computer(str(path), str(request.path.absolute())))
        or not _is_there(path)
    )
    if missing:
        return OpenedProject(request.path, state, missing=missing)
    state, gone = _drop_missing_files(state, request.path)
    loaded = open_files(
        OpenFilesRequest(records, regions, state.choices), SubProgress(progress, 0.0, 0.8)
    )
    changed = tuple(
        Path(now.path).name
        for before, now in ((state.records, loaded.table.source), (state.regions, loaded.regions.source))
        if now is not None and (bool(before.sha256) and before.sha256 != now.sha256)
    )
    fitting = [
        entry for entry in state.entries if entry.run.region_ids_sha256 == loaded.region_ids_sha256
    ]
    entries = _with_problems(fitting, loaded, SubProgress(progress, 0.8, 1.0))
    left_out = len(state.entries) - len(fitting)
    return OpenedProject(request.path, state, loaded, tuple(entries), (), (*changed, *gone), left_out)


def _drop_missing_files(state: ProjectState, project: Path) -> tuple[ProjectState, tuple[str, ...]]:
    """Drop further files that are gone or on another computer; return the project and the names of these files."""
    chosen = state.choices
    here = str(project.absolute())
    gone: list[str] = []

    def there(path: str | None, what: str) -> str | None:
        if path is None or (not is_on_other_computer(path, here) and Path(path).exists()):
            return path
        gone.append(f"{Path(path).name} ({what}, not found)")
        return None

    choices = chosen.replaced(
        obstacles=tuple(layer for layer in chosen.obstacles if there(layer, "obstacles")),
        codebook=there(chosen.codebook, "codebook"),
        keep_records=there(chosen.keep_records, "required combinations"),
        drop_records=there(chosen.drop_records, "unwanted combinations"),
        coarsen_from=there(chosen.coarsen_from, "earlier release"),
        region_map=there(chosen.region_map, "region map"),
    )
    # A missing layer stays in the menu; looking for one on another computer would tell that one who asks.
    layers = tuple(
        layer for layer in state.map_style.context if not is_on_other_computer(layer.path, here)
    )
    gone += [
        f"{layer.title} (layer on another computer)"
        for layer in state.map_style.context
        if layer not in layers
    ]
    words = {"policy": "policy", "population": "table of the population"}
    policy = {
        name: value
        for name, value in state.policy.items()
        if name not in words
        or not value
        or (name == "policy" and value in load_bundled_policies())
        or there(value, words[name])
    }
    return replace(
        state, choices=choices, map_style=replace(state.map_style, context=layers), policy=policy
    ), tuple(gone)


def _with_problems(entries: list[ResultRow], loaded: OpenedFiles, progress: Progress) -> list[ResultRow]:
    """Count the problem of every run again; equal problems are counted once."""
    runs = {entry.run.id: entry.run for entry in entries}
    counted: dict[Scenario, Problem | None] = {}
    for index, run in enumerate(runs.values()):
        progress.update("Counting what the results need", index / len(runs))
        if run.key not in counted:
            counted[run.key] = _count(run.key, loaded, counted)
        problem = counted[run.key]
        same_records = run.records_sha256 == loaded.table.source.identity
        runs[run.id] = replace(run, problem=problem, outdated=not same_records or problem is None)
    return [replace(entry, run=runs[entry.run.id]) for entry in entries]


def _count(
    key: Scenario, loaded: OpenedFiles, counted: dict[Scenario, Problem | None]
) -> Problem | None:
    for scenario, problem in counted.items():
        if problem is not None and scenario.same_counts(key):
            return replace(problem, k=key.k)
    try:
        return count_records(build_count_request(loaded.data, key))
    except InputError:
        # The record file changed so much that the run's columns are gone: its results stay in the list, undrawn.
        return None


_PREFIX = "recovery-"


class Recovery:
    """The recovery file of one program, which is locked while the program lives, so that others leave it alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock: ExitStack | None = None
        self.path = folder / f"{_PREFIX}{secrets.token_hex(8)}{SUFFIX}"

    def write(self, state: ProjectState, progress: Progress = NO_PROGRESS) -> None:
        """Write the newest state."""
        self._folder.mkdir(0o700, parents=True, exist_ok=True)
        if self._lock is None:
            self._lock = ExitStack()
            self._lock.enter_context(exclusive_lock(self.path, progress))
        state.write(self.path, progress)

    def remove(self) -> None:
        """Remove the file: nothing would be lost."""
        self.path.unlink(missing_ok=True)
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def left_behind(self) -> list[Path]:
        """List the files of programs that no longer run, newest first."""
        if not self._folder.is_dir():
            return []
        copies = [path for path in self._folder.glob(f"{_PREFIX}*{SUFFIX}") if not is_locked(path)]
        return sorted(copies, key=lambda path: path.stat().st_mtime, reverse=True)

    def discard(self, paths: list[Path]) -> None:
        """Remove copies that nobody wants."""
        for path in paths:
            path.unlink(missing_ok=True)


def _is_there(path: Path) -> bool:
    """Say if a file is where it was, or the path is an address that can be queried."""
    return path.is_file() or isinstance(parse_address(path), Address)
