"""What the window remembers between sessions: its shape, recent files, looks. Never anything about records."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSettings, QStandardPaths

_MOST_RECENT = 10


def data_folder() -> Path:
    """Where the program keeps what survives a crash (created on use)."""
    return Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppDataLocation))


class Settings:
    """Typed access to the settings file, which is read once. Changes are written by a thread of their own: a busy disk
    can take seconds over the smallest file, and the window would stand still so long.
    """

    def __init__(self, path: Path | None = None) -> None:
        folder = Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppConfigLocation))
        self._path = str(path or folder / "window.ini")
        store = self._open()
        self._values: dict[str, Any] = {name: store.value(name) for name in store.allKeys()}
        self._unwritten: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._writer: threading.Thread | None = None

    def _open(self) -> QSettings:
        return QSettings(self._path, QSettings.Format.IniFormat)

    def get(self, name: str, default: Any = None) -> Any:
        """A remembered value."""
        return self._values.get(name, default)

    def put(self, name: str, value: Any) -> None:
        """Remember a value."""
        self._values[name] = value
        with self._lock:
            self._unwritten[name] = value
            if self._writer is None:
                self._writer = threading.Thread(target=self._write, name="vbas-settings")
                self._writer.start()

    def flag(self, name: str) -> bool:
        """A remembered yes or no."""
        return str(self.get(name)).lower() == "true"

    def sync(self) -> None:
        """Wait until everything is written."""
        writer = self._writer
        if writer is not None:
            writer.join()

    def _write(self) -> None:
        """Write what changed, and what changes meanwhile; runs in the thread."""
        while True:
            with self._lock:
                changes, self._unwritten = self._unwritten, {}
                if not changes:
                    self._writer = None
                    return
            _make_owner_only(Path(self._path))
            store = self._open()
            for name, value in changes.items():
                store.setValue(name, value)
            store.sync()

    @property
    def recent_projects(self) -> list[Path]:
        """Projects opened or saved lately, newest first."""
        return [Path(text) for text in self._list("recent/projects")]

    @property
    def recent_data(self) -> list[tuple[Path, Path]]:
        """Pairs of record and region files opened lately, newest first."""
        pairs = [text.split("\n") for text in self._list("recent/data")]
        return [(Path(pair[0]), Path(pair[1])) for pair in pairs if len(pair) == 2]

    def remember_project(self, path: Path) -> None:
        """Put a project at the top of the recent ones."""
        self._push("recent/projects", str(path))

    def remember_data(self, records: Path, regions: Path) -> None:
        """Put a pair of files at the top of the recent ones."""
        self._push("recent/data", f"{records}\n{regions}")

    def forget_recent(self) -> None:
        """Empty the lists of recent files."""
        for name in ("recent/projects", "recent/data"):
            self.put(name, [])

    def _list(self, name: str) -> list[str]:
        value: Any = self.get(name, [])
        return [value] if isinstance(value, str) else list(value or [])

    def _push(self, name: str, text: str) -> None:
        self.put(name, [text, *(item for item in self._list(name) if item != text)][:_MOST_RECENT])


def _make_owner_only(path: Path) -> None:
    """Make the file, or let nobody but the user read it: names of files may tell. Qt keeps the mode of a file."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        path.chmod(0o600)
