"""Whether something can be written at a place, asked before anything is computed for it."""

from __future__ import annotations

import os
from pathlib import Path

from vbas_desktop.model.errors import refusal


def check_writable(target: Path) -> None:
    """Refuse a target at which nothing could be written: below a file, on a read-only disk, or without permission.

    Folders on the way that are not there yet are made later; the nearest one that is there decides.
    """
    try:
        if target.is_file() and not os.access(target, os.W_OK):
            message = "The target is write-protected, or its disk is read-only."
            raise refusal("not-writable", message, "Allow writing to it, or choose another place.", file=target)
        folder = next(parent for parent in target.absolute().parents if parent.exists())
    except (OSError, StopIteration):
        # What else is wrong with such a path is told by whoever writes to it.
        return
    if not folder.is_dir():
        message = "The target lies below a file, where no folder can be."
        raise refusal("target-in-use", message, "Choose another place.", file=target)
    if not os.access(folder, os.W_OK | os.X_OK):
        message = f"Writing is not allowed in the folder “{folder.name or folder}”, or its disk is read-only."
        raise refusal("not-writable", message, "Choose a folder that you may write to.", file=target)
