"""A folder that appears at its target complete or not at all.

Everything is written into a hidden folder beside the target. When it is complete it takes the target's place in one
step; until then what was there before stays. A hidden folder that a killed process left behind is removed by the next
one that writes beside it.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from vbas_desktop.domain.errors import Finding, InputError

MARK = ".vbas-partial-"
ASIDE = "-old"
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


@contextlib.contextmanager
def new_folder(target: Path, names: Sequence[str]) -> Iterator[Path]:
    """Hand out the hidden folder; put it in the target's place if the block ends well, else remove it.

    ``names`` are those that an earlier result may have in it, the first of them always: only such a target is replaced.
    """
    target = Path(os.path.realpath(target))
    check_target_folder(target, names)
    with _hidden_folder(target) as partial:
        yield partial
        _open_up(partial)
        _put_in_place(partial, target)


@contextlib.contextmanager
def filled_folder(target: Path) -> Iterator[Path]:
    """As `new_folder`, but a target that is there keeps its other files: each new file replaces its namesake whole."""
    target = Path(os.path.realpath(target))
    if target.exists() and not target.is_dir():
        raise InputError(_taken(target, "is a file, not a folder"))
    with _hidden_folder(target) as partial:
        yield partial
        if target.exists():
            for file in sorted(partial.iterdir()):
                os.replace(file, target / file.name)
        else:
            _open_up(partial)
            os.rename(partial, target)


@contextlib.contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """The same for a single large file: hand out where to write it; put it in place if the block ends well."""
    target = Path(os.path.realpath(target))
    if target.is_dir():
        raise InputError(_taken(target, "is a folder, not a file"))
    with _hidden_folder(target) as partial:
        yield partial / target.name
        os.replace(partial / target.name, target)


def check_target_folder(target: Path, names: Sequence[str]) -> None:
    """Refuse a target that holds anything but an earlier result: replacing it would lose what is not ours."""
    if not target.exists():
        return
    if not target.is_dir():
        raise InputError(_taken(target, "is a file, not a folder"))
    found = {entry.name for entry in target.iterdir()}
    if found and (names[0] not in found or found - set(names)):
        raise InputError(
            _taken(target, "holds something that is not an earlier result of this kind, so it is left alone")
        )


def remove_leftovers(parent: Path) -> None:
    """Remove the hidden folders in ``parent`` that no living process is writing.

    Where the swap takes two steps, a process that died between them has left the target empty: its old content, which
    was only set aside, comes back.
    """
    for leftover in sorted(parent.glob(f".*{MARK}*")):
        lock = _lock(leftover)
        if lock is None and sys.platform != "win32":
            continue
        target = parent / leftover.name[1:].rpartition(MARK)[0]
        if leftover.name.endswith(ASIDE) and not target.exists():
            os.rename(leftover, target)
        else:
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
                f"About {needed_bytes / 1e6:,.0f} MB are needed while the result is written; "
                f"{free / 1e6:,.0f} MB are free.",
                "Free some space or choose a folder on another disk.",
                file=str(folder),
            )
        )


@contextlib.contextmanager
def _hidden_folder(target: Path) -> Iterator[Path]:
    with _said_plainly(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(target.parent)
        number = f"{os.getpid()}-{secrets.token_hex(4)}"
        # Held before it gets the name by which others look for leftovers.
        made = target.parent / f".{target.name}.vbas-{number}"
        made.mkdir(0o700)
        lock = _lock(made)
        partial = made.with_name(f".{target.name}{MARK}{number}")
        os.rename(made, partial)
        try:
            yield partial
        finally:
            shutil.rmtree(partial, ignore_errors=True)
            if lock is not None:
                os.close(lock)


def _open_up(partial: Path) -> None:
    """Until it is complete nobody else sees into it; then it is a folder as the system makes them."""
    usual = partial / f".{secrets.token_hex(8)}"
    usual.mkdir()
    mode = stat.S_IMODE(usual.stat().st_mode)
    usual.rmdir()
    partial.chmod(mode)


def _taken(target: Path, why: str) -> Finding:
    return Finding("target-in-use", f"The target {why}.", "Choose another place.", file=str(target))


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
    if error.errno in (errno.ENOTDIR, errno.EEXIST):
        return _taken(target, "lies below a file, where no folder can be")
    return None


def _lock(folder: Path) -> int | None:
    """Hold the folder until the process ends, however it ends; None if another process holds it, or none can."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
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
        # The hidden name now holds the old content, which the caller removes.
        return
    else:
        old = partial.with_name(partial.name + ASIDE)
        os.rename(target, old)
        try:
            os.rename(partial, target)
        except BaseException:
            os.rename(old, target)
            raise
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
