"""What the window remembers between sessions: its shape, recent files, looks. Never anything about records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QSettings, QStandardPaths

_MOST_RECENT = 10


def data_folder() -> Path:
    """Where the program keeps what survives a crash (created on use)."""
    return Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppDataLocation))


class Settings:
    """Typed access to the settings file."""

    def __init__(self, path: Path | None = None) -> None:
        folder = Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppConfigLocation))
        self._store = QSettings(str(path or folder / "window.ini"), QSettings.Format.IniFormat)

    def get(self, name: str, default: Any = None) -> Any:
        """A remembered value."""
        return self._store.value(name, default)

    def put(self, name: str, value: Any) -> None:
        """Remember a value."""
        self._store.setValue(name, value)

    def flag(self, name: str, default: bool = False) -> bool:
        """A remembered yes or no."""
        return str(self._store.value(name, default)).lower() == "true"

    def sync(self) -> None:
        """Write now."""
        self._store.sync()

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
        self._store.remove("recent")

    def _list(self, name: str) -> list[str]:
        value: Any = self._store.value(name, [])
        return [value] if isinstance(value, str) else list(value or [])

    def _push(self, name: str, text: str) -> None:
        self._store.setValue(name, [text, *(item for item in self._list(name) if item != text)][:_MOST_RECENT])
