"""Two folders change places: the new one gets the name, and what had it is looked at before it goes."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ASIDE = "-old"
NO_LINK = getattr(os, "O_NOFOLLOW", 0)
"""Added to the flags of `os.open`: fail if the path is a link (Windows has no such flag)."""
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


class ChangedMeanwhile(Exception):
    """Somebody has put something into the target since it was looked at; it is where it was."""


@dataclass(frozen=True)
class Snapshot:
    """What was at a target: which folder (None: none), and all that was in it, files with size and time."""

    folder: tuple[int, int] | None
    entries: frozenset[tuple[str, int, int]] = frozenset()

    @property
    def paths(self) -> frozenset[str]:
        """Every file and folder in it, as paths from it."""
        return frozenset(path for path, _, _ in self.entries)

    def allows_removal(self, now: Snapshot) -> bool:
        """Whether nothing has come since: the same folder with nothing new or changed in it, or an empty one."""
        return not now.entries or (now.folder == self.folder and now.entries <= self.entries)


def take_snapshot(target: Path) -> Snapshot:
    """Look at a target."""
    if not target.exists():
        return Snapshot(None)
    status, entries = target.stat(), set()
    for path in target.rglob("*"):
        own, is_folder = path.lstat(), path.is_dir() and not path.is_symlink()
        size, time = (0, 0) if is_folder else (own.st_size, own.st_mtime_ns)
        entries.add((path.relative_to(target).as_posix(), size, time))
    return Snapshot((status.st_dev, status.st_ino), frozenset(entries))


def replace_target(partial: Path, target: Path, before: Snapshot) -> Path | None:
    """Let the new folder take the target's place; where the old one is then, if there was one.

    What is replaced is looked at once more when it can no longer be reached by its name, so that nothing slips in.
    """
    if not target.exists():
        _take_free_place(partial, target)
        return None
    if not before.allows_removal(take_snapshot(target)):
        raise ChangedMeanwhile
    with lock_folder(target):
        if exchange(partial, target):
            if not before.allows_removal(take_snapshot(partial)):
                exchange(partial, target)
                raise ChangedMeanwhile
            return partial
        return _set_aside(partial, target, before)


def _take_free_place(partial: Path, target: Path) -> None:
    try:
        os.rename(partial, target)
    except OSError:
        if target.exists():
            raise ChangedMeanwhile from None
        raise


def _set_aside(partial: Path, target: Path, before: Snapshot) -> Path:
    old = partial.with_name(partial.name + ASIDE)
    os.rename(target, old)
    try:
        if not before.allows_removal(take_snapshot(old)):
            raise ChangedMeanwhile
        os.rename(partial, target)
    except BaseException:
        os.rename(old, target)
        raise
    return old


def exchange(one: Path, other: Path) -> bool:
    """Swap two folders in one step where the system can (Linux)."""
    if not sys.platform.startswith("linux"):
        return False
    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is None:
        return False
    arguments = (_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    return bool(function(*arguments) == 0)


@contextlib.contextmanager
def lock_folder(folder: Path) -> Iterator[bool]:
    """Hold the folder as long as the block or the process lasts; False if another process holds it, or none can.

    A link is never held: somebody else may have put it there, and it leads anywhere.
    """
    with contextlib.ExitStack() as stack:
        alone = False
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            handle = os.open(folder, os.O_RDONLY | NO_LINK)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            alone = True
        yield alone


def remove_folder(folder: Path) -> bool:
    """Remove a folder, write-protected or not; whether nothing of it is left.

    Links are not followed, and only the user's own folders get another mode.
    """
    shutil.rmtree(folder, ignore_errors=True)
    if is_own_folder(folder):
        _allow_writing(folder)
        for parent, names, _ in os.walk(folder):
            for name in names:
                _allow_writing(Path(parent, name))
        shutil.rmtree(folder, ignore_errors=True)
    return not os.path.lexists(folder)


def is_own_folder(path: Path) -> bool:
    """Tell whether a path is a folder, not a link to one, that belongs to the user of this process."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and (sys.platform == "win32" or status.st_uid == os.geteuid())


def _allow_writing(folder: Path) -> None:
    """Let the user change a folder; what a link leads to keeps its mode."""
    if not is_own_folder(folder):
        return
    with contextlib.suppress(OSError):
        try:
            os.chmod(folder, 0o700, follow_symlinks=False)
        except NotImplementedError:
            # Windows changes no link's target here, and Linux says this of links only.
            if sys.platform == "win32":
                os.chmod(folder, 0o700)
