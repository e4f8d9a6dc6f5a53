"""Opening a project: read it, load its files, see what changed since, count again what its results need.

And what survives a crash: a copy of the project, written now and then, removed when the program ends properly.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from vbas_desktop.io.access import is_elsewhere
from vbas_desktop.io.databases.address import Address, record_place
from vbas_desktop.io.policies import bundled
from vbas_desktop.model.errors import InputError
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Progress, Silent, Span

from .orders import Loaded, LoadOrder, count
from .project import SUFFIX, ProjectState, read_project
from .results import Entry, ProblemKey


@dataclass(frozen=True, eq=False)
class OpenedProject:
    """A project with its files in memory. ``loaded`` is None if files are ``missing``: ask where they are now.

    ``changed`` names the files whose content is not what it was when the project was saved; ``left_out`` counts
    solutions that do not fit the region file any more.
    """

    path: Path
    state: ProjectState
    loaded: Loaded | None = None
    entries: tuple[Entry, ...] = ()
    missing: tuple[Path, ...] = ()
    changed: tuple[str, ...] = ()
    left_out: int = 0


@dataclass(frozen=True)
class OpenProjectOrder:
    """Open a project; ``records`` and ``regions`` say where files are that are no longer where they were."""

    path: Path
    records: Path | None = None
    regions: Path | None = None

    def execute(self, progress: Progress = Silent()) -> OpenedProject:  # noqa: B008
        """Read, load, compare, count."""
        progress.update("Reading the project")
        state = read_project(self.path)
        records = self.records or Path(state.records.path)
        regions = self.regions or Path(state.regions.path)
        given = {self.records, self.regions, None}
        missing = tuple(
            path
            for path in (records, regions)
            # Looking for a file on another computer already tells that one who asks: only the user may name it.
            if (path not in given and is_elsewhere(str(path), str(self.path.absolute()))) or not _is_there(path)
        )
        if missing:
            return OpenedProject(self.path, state, missing=missing)
        state, gone = self._with_files_there(state)
        loaded = LoadOrder(records, regions, state.choices).execute(Span(progress, 0.0, 0.8))
        changed = tuple(
            Path(now.path).name
            for before, now in ((state.records, loaded.table.source), (state.regions, loaded.regions.source))
            if now is not None and (bool(before.sha256) and before.sha256 != now.sha256)
        )
        fitting = [entry for entry in state.entries if entry.run.region_ids_sha256 == loaded.region_ids_sha256]
        entries = _with_problems(fitting, loaded, Span(progress, 0.8, 1.0))
        left_out = len(state.entries) - len(fitting)
        return OpenedProject(self.path, state, loaded, tuple(entries), (), (*changed, *gone), left_out)

    def _with_files_there(self, state: ProjectState) -> tuple[ProjectState, tuple[str, ...]]:
        """The project without further files that are gone or on another computer, and their names."""
        chosen, here = state.choices, str(self.path.absolute())
        gone: list[str] = []

        def there(path: str | None, what: str) -> str | None:
            if path is None or (not is_elsewhere(path, here) and Path(path).exists()):
                return path
            gone.append(f"{Path(path).name} ({what}, not found)")
            return None

        kept = replace(
            chosen,
            obstacles=tuple(each for each in chosen.obstacles if there(each, "obstacles")),
            codebook=there(chosen.codebook, "codebook"),
            keep_records=there(chosen.keep_records, "required combinations"),
            drop_records=there(chosen.drop_records, "unwanted combinations"),
            coarsen_from=there(chosen.coarsen_from, "earlier release"),
            region_map=there(chosen.region_map, "region map"),
        )
        # A missing layer stays in the menu; looking for one on another computer would tell that one who asks.
        layers = tuple(each for each in state.look.context if not is_elsewhere(each.path, here))
        gone += [f"{each.title} (layer on another computer)" for each in state.look.context if each not in layers]
        words = {"policy": "policy", "population": "table of the population"}
        policy = {
            name: value
            for name, value in state.policy.items()
            if name not in words or not value or (name == "policy" and value in bundled()) or there(value, words[name])
        }
        return replace(state, choices=kept, look=replace(state.look, context=layers), policy=policy), tuple(gone)


def _with_problems(entries: list[Entry], loaded: Loaded, progress: Progress) -> list[Entry]:
    """Every run with its problem counted again; equal problems are counted once."""
    runs = {entry.run.id: entry.run for entry in entries}
    counted: dict[ProblemKey, Problem | None] = {}
    for place, run in enumerate(runs.values()):
        progress.update("Counting what the results need", place / len(runs))
        if run.key not in counted:
            counted[run.key] = _count(run.key, loaded, counted)
        problem, same_records = counted[run.key], run.records_sha256 == loaded.table.source.identity
        runs[run.id] = replace(run, problem=problem, outdated=not same_records or problem is None)
    return [replace(entry, run=runs[entry.run.id]) for entry in entries]


def _count(key: ProblemKey, loaded: Loaded, counted: dict[ProblemKey, Problem | None]) -> Problem | None:
    for known, problem in counted.items():
        if problem is not None and known.same_counts(key):
            return replace(problem, k=key.k)
    try:
        return count(loaded.data, key).execute()
    except InputError:
        # The record file changed so much that the run's columns are gone: its results stay in the list, undrawn.
        return None


_PREFIX = "recovery-"


class Recovery:
    """One program's recovery file; its name carries the process number, so that windows do not disturb each other."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.path = folder / f"{_PREFIX}{os.getpid()}{SUFFIX}"

    def write(self, state: ProjectState, progress: Progress = Silent()) -> None:  # noqa: B008
        """Write the newest state."""
        self._folder.mkdir(0o700, parents=True, exist_ok=True)
        state.write(self.path, progress)

    def remove(self) -> None:
        """Forget the copy: nothing would be lost."""
        self.path.unlink(missing_ok=True)

    def left_behind(self) -> list[Path]:
        """Copies of programs that no longer run, newest first."""
        if not self._folder.is_dir():
            return []
        found = [path for path in self._folder.glob(f"{_PREFIX}*{SUFFIX}") if not _alive(path)]
        return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)

    def discard(self, paths: list[Path]) -> None:
        """Remove copies that nobody wants."""
        for path in paths:
            path.unlink(missing_ok=True)


def _alive(path: Path) -> bool:
    number = path.name.removeprefix(_PREFIX).removesuffix(SUFFIX)
    if not number.isdigit():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OSError):
        return True
    return True


def _is_there(path: Path) -> bool:
    """Whether a file is where it was, or the path is an address that can be asked."""
    return path.is_file() or isinstance(record_place(path), Address)
