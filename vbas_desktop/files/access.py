"""May this path be read at all?"""

from __future__ import annotations

from pathlib import Path

from vbas_desktop.domain.errors import Finding, InputError


def check_readable(path: Path) -> None:
    """Refuse a path that is no readable file, and say what to do."""
    file = str(path)
    if path.is_dir():
        raise InputError(Finding("is-directory", "This is a folder, not a file.", "Choose a file in it.", file=file))
    try:
        with path.open("rb"):
            return
    except FileNotFoundError:
        raise InputError(Finding("no-such-file", "There is no such file.", "Check the path.", file=file)) from None
    except OSError as error:
        message = f"The file cannot be opened ({error.strerror or 'unknown reason'})."
        raise InputError(Finding("unreadable", message, "Check its permissions.", file=file)) from None
