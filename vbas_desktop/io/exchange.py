"""The exchange of a new folder with an old one, in which nothing is lost that is not part of the old result."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

NEW = "new"
OLD = "old"
"""The folders in a staging folder: the new result, and the old one that was set aside."""

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
"""Constants of Linux for ``renameat2``."""


class TargetChangedError(Exception):
    """Somebody has put something into the target since the snapshot; it stays there."""


@dataclass(frozen=True)
class TargetSnapshot:
    """The content of a target at one time.

    folder: device and inode, None if there was no folder. entries: path, size and time of change of all that was in it.
    """

    folder: tuple[int, int] | None
    entries: frozenset[tuple[str, int, int]] = frozenset()

    @property
    def paths(self) -> frozenset[str]:
        """Return the paths of all files and folders in it."""
        return frozenset(path for path, _, _ in self.entries)

    def allows_removal(self, now: TargetSnapshot) -> bool:
        """Tell whether ``now`` may be removed: the same folder with nothing new or changed in it, or an empty one."""
        return not now.entries or (now.folder == self.folder and now.entries <= self.entries)


def take_snapshot(target: Path) -> TargetSnapshot:
    """Note the content of a target, for a comparison later."""
    if not target.exists():
        return TargetSnapshot(None)
    status = target.stat()
    entries = set()
    for path in target.rglob("*"):
        size = 0
        modified = 0
        if path.is_symlink() or not path.is_dir():
            size = path.lstat().st_size
            modified = path.lstat().st_mtime_ns
        entries.add((path.relative_to(target).as_posix(), size, modified))
    return TargetSnapshot((status.st_dev, status.st_ino), frozenset(entries))


def replace_target(staging: Path, target: Path, before: TargetSnapshot) -> Path | None:
    """Give the new folder in ``staging`` the name of the target, and return where the old one is, if there was one.

    What is replaced is compared with ``before`` once more when it has lost its name, so that nothing slips in. Raises
    `TargetChangedError` if it differs; then the target has its name again.
    """
    new = staging / NEW
    if not target.exists():
        _rename_to_free_name(new, target)
        return None
    if not before.allows_removal(take_snapshot(target)):
        raise TargetChangedError
    if not exchange(new, target):
        return _set_aside(staging, target, before)
    if not before.allows_removal(take_snapshot(new)):
        exchange(new, target)
        raise TargetChangedError
    return new


def _rename_to_free_name(new: Path, target: Path) -> None:
    try:
        os.rename(new, target)
    except OSError:
        if target.exists():
            raise TargetChangedError from None
        raise


def _set_aside(staging: Path, target: Path, before: TargetSnapshot) -> Path:
    """Replace the target in two steps, and return where the old folder is."""
    old = staging / OLD
    os.rename(target, old)
    try:
        if not before.allows_removal(take_snapshot(old)):
            raise TargetChangedError
        os.rename(staging / NEW, target)
    except BaseException:
        os.rename(old, target)
        raise
    return old


def exchange(path: Path, other: Path) -> bool:
    """Exchange two folders in one step; return False where the system cannot (it can on Linux)."""
    if not sys.platform.startswith("linux"):
        return False
    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is None:
        return False
    result = function(_AT_FDCWD, os.fsencode(path), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    return bool(result == 0)


def remove_folder(folder: Path) -> bool:
    """Remove a folder, write-protected or not; return whether nothing of it is left.

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
