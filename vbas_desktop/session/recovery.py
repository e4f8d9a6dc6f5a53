"""What survives a crash: a copy of the project, written now and then, removed when the program ends properly."""

from __future__ import annotations

import os
from pathlib import Path

from vbas_desktop.domain.progress import Progress, Silent

from .project import SUFFIX, ProjectState

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
