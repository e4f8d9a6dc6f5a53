"""A folder that appears at its target complete or not at all.

Everything is written into a hidden folder beside the target. When it is complete it takes the target's place in one
step; until then what was there before stays. A hidden folder that a killed process left behind is removed by the next.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from vbas_desktop.domain.errors import Finding, InputError

MARK = ".vbas-partial-"
ASIDE = "-old"
OWN_NAMES = frozenset({"release", "internal", "run.json"})
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


@contextlib.contextmanager
def complete_folder(target: Path) -> Iterator[Path]:
    """Hand out the hidden folder; put it in the target's place if the block ends well, else remove it."""
    target = Path(os.path.abspath(target))
    check_target(target)
    with _said_plainly(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(target)
        partial = target.parent / f".{target.name}{MARK}{os.getpid()}-{secrets.token_hex(4)}"
        partial.mkdir()
        lock = _lock(partial)
        try:
            yield partial
            _put_in_place(partial, target)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
            if lock is not None:
                os.close(lock)


def remove_leftovers(target: Path) -> None:
    """Remove the hidden folders of this target that no living process is writing.

    Where the swap takes two steps, a process that died between them has left the target empty: its old release, which
    was only set aside, comes back.
    """
    for leftover in sorted(target.parent.glob(f".{_literal(target.name)}{MARK}*")):
        if leftover.name.endswith(ASIDE) and not target.exists():
            os.rename(leftover, target)
            continue
        lock = _lock(leftover)
        if lock is not None or sys.platform == "win32":
            shutil.rmtree(leftover, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def require_space(folder: Path, needed_bytes: int) -> None:
    """Refuse to begin what cannot end: the disk must have room for all that will be written."""
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    free = shutil.disk_usage(existing).free
    if free < needed_bytes:
        raise InputError(
            Finding(
                "disk-space",
                f"The release needs about {needed_bytes / 1e6:,.0f} MB while it is written; "
                f"{free / 1e6:,.0f} MB are free.",
                "Free some space or choose a folder on another disk.",
                file=str(folder),
            )
        )


def _literal(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def check_target(target: Path) -> None:
    """Refuse a target that holds anything but an earlier release: replacing it would lose what is not ours."""
    if not target.exists():
        return
    foreign = not target.is_dir() or any(entry.name not in OWN_NAMES for entry in target.iterdir())
    if foreign:
        raise InputError(
            Finding(
                "target-in-use",
                "The target exists and is not an earlier release, so it is left alone.",
                "Choose a new folder, or one that holds an earlier release and nothing else.",
                file=str(target),
            )
        )


@contextlib.contextmanager
def _said_plainly(target: Path) -> Iterator[None]:
    """Turn what the disk refuses into a message that says what to do."""
    try:
        yield
    except OSError as error:
        finding = _finding(error, target)
        if finding is None:
            raise
        raise InputError(finding) from error


def _finding(error: OSError, target: Path) -> Finding | None:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return Finding(
            "disk-full",
            "The disk is full (or a limit was reached). What was there before is unchanged.",
            "Free some space or choose a folder on another disk.",
            file=str(target),
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        place = Path(error.filename).name if isinstance(error.filename, str) else target.name
        return Finding(
            "not-writable",
            f"Writing is not allowed here (“{place}”). What was there before is unchanged.",
            "Choose a folder that you may write to.",
            file=str(target),
        )
    return None


def _lock(folder: Path) -> int | None:
    """Hold the folder until the process ends, however it ends; None if another process holds it."""
    try:
        import fcntl
    except ImportError:
        return None
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def _put_in_place(partial: Path, target: Path) -> None:
    if not target.exists():
        os.rename(partial, target)
    elif _exchange(partial, target):
        # The hidden name now holds the old release, which the caller removes.
        return
    else:
        old = partial.with_name(partial.name + ASIDE)
        os.rename(target, old)
        os.rename(partial, target)
        shutil.rmtree(old, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two folders in one step where the system can (Linux)."""
    if not sys.platform.startswith("linux"):
        return False
    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is None:
        return False
    arguments = (_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    return bool(function(*arguments) == 0)
