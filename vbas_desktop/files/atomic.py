"""Writing a file so that nothing half done is ever seen: beside the target first, then renamed. See also `folders`."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

RUN_FILE = "run.json"
"""The file by which a folder is known as the result of an earlier run, which a new one may replace."""


def write_text(path: Path, text: str) -> None:
    """Write a text file (UTF-8, as given) so that it is either the old one or the new one, never a part."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
