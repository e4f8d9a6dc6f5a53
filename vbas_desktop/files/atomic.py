"""Writing a file so that nothing half done is ever seen: beside the target first, then renamed. See also `folders`."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

RUN_FILE = "run.json"
"""The file by which a folder is known as the result of an earlier run, which a new one may replace."""


def write_text(path: Path, text: str, private: bool = False) -> None:
    """Write a text file (UTF-8, as given) so that it is either the old one or the new one, never a part.

    ``private``: nobody but the user may read it, whatever the system's habit is.
    """
    name = path.with_name(f".{secrets.token_hex(8)}.part")
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(name, path)
    except BaseException:
        name.unlink(missing_ok=True)
        raise


def make_private(path: Path) -> None:
    """Let nobody but the user into a folder and all that is in it (or at a file), whatever the system's habit is."""
    if not path.is_dir():
        path.chmod(0o600)
        return
    path.chmod(0o700)
    for inside in path.iterdir():
        make_private(inside)
