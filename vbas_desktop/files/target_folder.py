"""Writing several files so that either all of them are there or none."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def filled_folder(target: Path) -> Iterator[Path]:
    """A temporary folder beside ``target``; when the block ends well its files move to ``target``, else they vanish.

    A target that is not there yet appears at once by renaming; in one that is, each file is replaced whole.
    """
    target = target.absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        yield work
        if target.exists():
            for file in sorted(work.iterdir()):
                os.replace(file, target / file.name)
        else:
            work.chmod(0o777 & ~_umask())
            os.rename(work, target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _umask() -> int:
    """The mask for new files. It can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
