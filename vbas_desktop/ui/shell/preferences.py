"""Preferences that are kept between sessions: geometry, recent files, theme, level. Never anything about records."""

from __future__ import annotations

import contextlib
import os
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSettings, QStandardPaths

from vbas_desktop.model.progress import NO_PROGRESS, Progress

from ..core.worker import Worker

_MOST_RECENT = 10


def data_folder() -> Path:
    """Return the folder for what survives a crash, created on first use."""
    return Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppDataLocation))


class Preferences:
    """Typed access to the settings file, which is read once. Changes are written in the background: a busy disk can
    take seconds over the smallest file, and the window would stand still so long.
    """

    def __init__(self, path: Path | None = None) -> None:
        folder = Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppConfigLocation))
        self._path = str(path or folder / "window.ini")
        store = _open_store(self._path)
        self._values: dict[str, Any] = {name: store.value(name) for name in store.allKeys()}
        self._unwritten: dict[str, Any] = {}
        self._worker = Worker()

    def get(self, name: str, default: Any = None) -> Any:
        """Return a value, or the default if none is kept."""
        return self._values.get(name, default)

    def put(self, name: str, value: Any) -> None:
        """Keep a value."""
        self._values[name] = value
        self._unwritten[name] = value
        job = partial(write_values, self._path, dict(self._unwritten))
        self._worker.start_latest(self._worker, "Saving preferences", job, self._on_written)

    def flag(self, name: str) -> bool:
        """Return whether a value is true; False if none is kept."""
        return str(self.get(name)).lower() == "true"

    def sync(self) -> None:
        """Write at once what is not written yet, and end the background work."""
        self._worker.shut_down()
        if self._unwritten:
            self._on_written(write_values(self._path, self._unwritten))

    def _on_written(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            if self._unwritten.get(name) is value:
                del self._unwritten[name]

    @property
    def recent_projects(self) -> list[Path]:
        """Return the projects that were opened or saved recently, newest first."""
        return [Path(text) for text in self._list("recent/projects")]

    @property
    def recent_data(self) -> list[tuple[Path, Path]]:
        """Return the pairs of record and region files that were opened recently, newest first."""
        pairs = [text.split("\n") for text in self._list("recent/data")]
        return [(Path(pair[0]), Path(pair[1])) for pair in pairs if len(pair) == 2]

    def remember_project(self, path: Path) -> None:
        """Put a project at the top of the recent ones."""
        self._push("recent/projects", str(path))

    def remember_data(self, records: Path, regions: Path) -> None:
        """Put a pair of files at the top of the recent ones."""
        self._push("recent/data", f"{records}\n{regions}")

    def forget_recent(self) -> None:
        """Clear the lists of recent files."""
        for name in ("recent/projects", "recent/data"):
            self.put(name, [])

    def _list(self, name: str) -> list[str]:
        value: Any = self.get(name, [])
        return [value] if isinstance(value, str) else list(value or [])

    def _push(self, name: str, text: str) -> None:
        self.put(name, [text, *(item for item in self._list(name) if item != text)][:_MOST_RECENT])


def _open_store(path: str) -> QSettings:
    return QSettings(path, QSettings.Format.IniFormat)


def write_values(path: str, values: dict[str, Any], progress: Progress = NO_PROGRESS) -> dict[str, Any]:
    """Write changed values into the file and return them."""
    progress.update("Saving preferences")
    _make_owner_only(Path(path))
    store = _open_store(path)
    for name, value in values.items():
        store.setValue(name, value)
    store.sync()
    return dict(values)


def _make_owner_only(path: Path) -> None:
    """Make the file, or let nobody but the user read it: names of files may tell. Qt keeps the mode of a file."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        path.chmod(0o600)
