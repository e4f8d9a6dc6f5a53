"""Writing so that nothing half done is ever seen: beside the target first, then renamed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vbas_desktop.domain.errors import Finding, InputError

RUN_FILE = "run.json"
"""The file by which a folder is known as the result of an earlier run, which a new one may replace."""


def write_text(path: Path, text: str) -> None:
    """Write a text file (UTF-8, as given) so that it is either the old one or the new one, never a part."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def check_target_folder(target: Path, known_by: str = RUN_FILE) -> None:
    """Refuse a target that would have to be overwritten although it is not the result of an earlier run.

    ``known_by`` is the file that every such result holds.
    """
    if not target.exists():
        return
    if not target.is_dir():
        raise InputError(_taken(target, "is a file, not a folder"))
    if any(target.iterdir()) and not (target / known_by).is_file():
        raise InputError(_taken(target, "already holds something else than an earlier run"))


@contextmanager
def new_folder(target: Path, known_by: str = RUN_FILE) -> Iterator[Path]:
    """A temporary folder beside the target that becomes the target if all goes well and vanishes otherwise."""
    check_target_folder(target, known_by)
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
    try:
        unfinished.chmod(0o777 & ~_umask())
        yield unfinished
        _put_in_place(unfinished, target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


@contextmanager
def filled_folder(target: Path) -> Iterator[Path]:
    """As `new_folder`, but a target that is there keeps its other files: each new file replaces its namesake whole."""
    if target.exists() and not target.is_dir():
        raise InputError(_taken(target, "is a file, not a folder"))
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
    try:
        unfinished.chmod(0o777 & ~_umask())
        yield unfinished
        if target.exists():
            for file in sorted(unfinished.iterdir()):
                os.replace(file, target / file.name)
        else:
            unfinished.rename(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _put_in_place(folder: Path, target: Path) -> None:
    if not target.exists():
        folder.rename(target)
        return
    before = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".old", dir=target.parent))
    old = target.rename(before / target.name)
    try:
        folder.rename(target)
    except BaseException:
        old.rename(target)
        raise
    finally:
        shutil.rmtree(before, ignore_errors=True)


def _taken(target: Path, why: str) -> Finding:
    return Finding("target-exists", f"The target {why}.", "Choose a new folder.", file=str(target))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
