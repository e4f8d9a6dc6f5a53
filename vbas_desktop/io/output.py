"""Files and folders that appear at their targets complete or not at all.

A result is written into a staging folder beside its target, ``.NAME.vbas-…``. When it is complete it takes the place
of the target in one step; until then what was there before stays. It replaces only what was there when the block was
entered: what somebody else has put there meanwhile is never lost. The staging folder of a killed process is removed
by the next one that writes beside it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from vbas_desktop.model.findings import InputError, input_error
from vbas_desktop.model.text import shorten

from .exchange import (
    NEW,
    OLD,
    TargetChangedError,
    is_own_folder,
    remove_folder,
    replace_target,
    take_snapshot,
)
from .locks import LockHeldError, exclusive_lock, is_locked
from .signals import defer_stop_signals, record_output

_STAGING_NAME = re.compile(r"\.(.+)\.vbas-[0-9a-f]{16}")
_PART = ".part"
_LOCKED = "folder"
"""The file in a folder under whose name the folder is locked."""
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
_TEMPORARY = re.compile(rf"\.[0-9a-f]{{16}}\{_PART}")
"""What `write_text` leaves behind if the process is killed."""
MAX_NAME_BYTES = 210
"""Longest name of a target: the names of staging folders are longer, and file systems allow 255 bytes."""


def write_text(path: Path, text: str, private: bool = False) -> None:
    """Write a text file (UTF-8, line ends as they are) so that it is the old one or the new one, never a part.

    private: only the user may read it.
    """
    name = path.with_name(f".{secrets.token_hex(8)}{_PART}")
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(name, path)
    except BaseException as error:
        name.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno and error.filename is None:
            # A full disk is noticed while writing, when the system does not name the file.
            error.filename = str(path)
        raise


def make_private(path: Path) -> None:
    """Let nobody but the user open a file, or a folder and all that is in it."""
    if path.is_symlink():
        return
    if not path.is_dir():
        path.chmod(0o600)
        return
    path.chmod(0o700)
    for entry in path.iterdir():
        make_private(entry)


def make_own_folder(folder: Path) -> None:
    """Make a folder that nobody but the user may open; an existing one must be the user's, and no link."""
    folder.mkdir(0o700, parents=True, exist_ok=True)
    if not is_own_folder(folder):
        raise _target_in_use(folder, "is a link, or belongs to another user")
    folder.chmod(0o700)


@contextlib.contextmanager
def staged_folder(target: Path, owned: Sequence[str]) -> Iterator[Path]:
    """Yield a new folder. If the block ends well, exchange it with ``target``; otherwise remove it.

    Everything in it is on the disk before the exchange, and the exchange is before the old folder is removed, so that
    not even a power failure leaves half a result. See `check_target` for ``owned``. Raises `InputError` if the target
    changed meanwhile, or if the disk refuses; the target then keeps its earlier content.
    """
    target = Path(os.path.realpath(target))
    check_target(target, owned)
    before = take_snapshot(target)
    with _staging_folder(target) as staging:
        folder = staging / NEW
        # The staging folder is private; this one gets the mode of every new folder of the user.
        folder.mkdir()
        yield folder
        synchronise_tree(folder)
        with defer_stop_signals():
            try:
                old = replace_target(staging, target, before)
            except TargetChangedError:
                raise target_changed(target) from None
            synchronise_folder(target.parent)
            record_output(target)
            if old is not None and not remove_folder(old):
                raise input_error(
                    "old-result-kept",
                    "The new result is complete, but the earlier one could not be removed: "
                    f"it lies in the hidden folder “{staging.name}”.",
                    "Remove that folder.",
                    file=target,
                )


@contextlib.contextmanager
def staged_file(target: Path) -> Iterator[Path]:
    """Yield the path of a new file; if the block ends well, let it replace ``target``, else remove it.

    Callers have called `check_target` before: what is at the target now is replaced.
    """
    target = Path(os.path.realpath(target))
    _refuse_other_kinds(target)
    with _staging_folder(target) as staging:
        file = staging / target.name
        yield file
        synchronise_tree(staging)
        with defer_stop_signals():
            os.replace(file, target)
            synchronise_folder(target.parent)
            record_output(target)


@contextlib.contextmanager
def _staging_folder(target: Path) -> Iterator[Path]:
    """Yield a new private folder beside a target, which is locked; remove it after the block."""
    with _explain_disk_errors(target), contextlib.ExitStack() as stack:
        _check_length(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(target.parent)
        staging = make_locked_folder(target.parent, f".{target.name}.vbas-", stack)
        try:
            yield staging
        finally:
            with defer_stop_signals():
                remove_folder(staging)


def make_locked_folder(parent: Path, prefix: str, stack: contextlib.ExitStack) -> Path:
    """Make a folder that only the user may open, and lock it until ``stack`` is closed.

    The lock tells `remove_unlocked_folder` of other programs that it is in use. Where the disk has no locks it stays
    unlocked, and others cannot remove it either.
    """
    while True:
        folder = parent / f"{prefix}{secrets.token_hex(8)}"
        folder.mkdir(0o700)
        try:
            stack.enter_context(exclusive_lock(folder / _LOCKED, wait=False))
        except (LockHeldError, FileNotFoundError):
            # In the instant before it was locked another program has taken it for a leftover, and removes it.
            continue
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
        return folder


def is_folder_locked(folder: Path) -> bool:
    """Tell whether a living program has locked a folder of `make_locked_folder`."""
    return is_locked(folder / _LOCKED)


def remove_unlocked_folder(folder: Path) -> None:
    """Remove a folder of the user that `make_locked_folder` made and that no living program has locked.

    In a shared folder others can make entries with such names: theirs, and links, are left alone.
    """
    if not is_own_folder(folder):
        return
    try:
        with exclusive_lock(folder / _LOCKED, wait=False):
            _restore_old_folder(folder)
            remove_folder(folder)
    except (LockHeldError, OSError):
        return
    # Windows keeps the file of the lock until it is free.
    remove_folder(folder)


def remove_leftovers(parent: Path) -> None:
    """Remove the staging folders in ``parent`` that killed processes of the user left behind."""
    for leftover in sorted(parent.glob(".*.vbas-*")):
        if _STAGING_NAME.fullmatch(leftover.name):
            remove_unlocked_folder(leftover)


def _restore_old_folder(staging: Path) -> None:
    """Give an old folder its name back that was only set aside: where an exchange takes two steps, its process died
    between them and left nothing at the target.
    """
    named = _STAGING_NAME.fullmatch(staging.name)
    old = staging / OLD
    if named is None or not old.exists():
        return
    target = staging.parent / named[1]
    if not os.path.lexists(target):
        os.rename(old, target)


def synchronise_tree(folder: Path) -> None:
    """Have the disk take every file in a folder, and then the folders themselves, the innermost first."""
    for parent, _, files in os.walk(folder, topdown=False):
        for name in files:
            synchronise_file(Path(parent, name))
        synchronise_folder(Path(parent))


def synchronise_file(path: Path) -> None:
    """Have the disk take all of a file."""
    # Windows synchronises only what is open for writing.
    with open(path, "r+b") as stream:
        os.fsync(stream.fileno())


def synchronise_folder(folder: Path) -> None:
    """Have the disk take the names in a folder, where the system can do that (not on Windows)."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        # Some network file systems cannot; what they were given is theirs to keep.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


def check_target(
    target: Path, owned: Sequence[str] = (), inputs: Iterable[Path] = (), *, replace: bool = False
) -> None:
    """Refuse a target that is an input, or that holds anything which may not be replaced.

    Every command calls it before it computes anything; it is the one place that decides. With ``owned`` the target is
    a folder, which is replaced only if all that it holds is an earlier result: these are the paths in such a result,
    in which ``*`` stands for any name, and the first of them is in every result. Without ``owned`` the target is a
    file, which is replaced only with ``replace``. Neither may be one of the ``inputs``, whatever it is called there,
    nor may it hold one or lie in a folder that is one.
    """
    _check_length(target)
    refuse_inputs(target, inputs)
    if owned:
        _check_folder(target, owned)
    else:
        _check_file(target, replace)


def refuse_inputs(target: Path, inputs: Iterable[Path]) -> None:
    """Refuse a target that is an input, holds one, or lies in a folder that is one."""
    for path in inputs:
        _refuse_input(target, path)


def _refuse_input(target: Path, path: Path) -> None:
    inside = target.is_dir() and any(
        _is_same(target, folder) for folder in Path(os.path.realpath(path)).parents
    )
    around = path.is_dir() and any(
        _is_same(path, folder) for folder in Path(os.path.realpath(target)).parents
    )
    if not (inside or around or _is_same(target, path)):
        return
    relation = "is"
    if inside:
        relation = "holds"
    elif around:
        relation = "lies in a folder that is"
    raise input_error(
        "target-is-input",
        f"The target {relation} an input (“{shorten(path.name)}”), so nothing is written there.",
        "Choose another place.",
        file=target,
    )


def _is_same(path: Path, other: Path) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False


def _check_file(target: Path, replace: bool) -> None:
    _refuse_other_kinds(target)
    if target.exists() and not replace:
        message = "There is a file with this name already, so nothing was written."
        remedy = "Choose another name, or allow it to be replaced (--replace)."
        raise input_error("target-in-use", message, remedy, file=target)


def _refuse_other_kinds(target: Path) -> None:
    """Refuse what no file can replace: a folder, a device, a pipe."""
    if target.is_dir():
        raise _target_in_use(target, "is a folder, not a file")
    if target.exists() and not target.is_file():
        raise _target_in_use(target, "is a device or a pipe, not a file")


def _check_folder(target: Path, owned: Sequence[str]) -> None:
    """Refuse a folder with anything else than an earlier result in it, or that cannot be removed."""
    if not target.exists():
        return
    if not target.is_dir():
        raise _target_in_use(target, "is a file, not a folder")
    folders = [target]
    is_empty = True
    has_first = False
    for entry in _list_entries(target):
        if _TEMPORARY.fullmatch(entry.name):
            continue
        is_empty = False
        path = entry.relative_to(target).as_posix()
        if not any(_matches_name(path, name) for name in owned):
            raise _holds_foreign_file(target, path)
        has_first |= _matches_name(path, owned[0]) and path.count("/") == owned[0].count("/")
        if entry.is_dir() and not entry.is_symlink():
            folders.append(entry)
    if not is_empty and not has_first:
        raise _holds_foreign_file(target)
    for folder in folders if has_first else ():
        if not os.access(folder, os.W_OK | os.X_OK):
            raise input_error(
                "write-protected",
                f"The earlier result is write-protected (folder “{folder.name}”), so it is not replaced.",
                "Allow writing to it, move it away, or choose another place.",
                file=target,
            )


def _list_entries(folder: Path) -> Iterator[Path]:
    """Yield all that is in a folder one by one, so that the caller can stop at the first foreign file."""
    for parent, folders, files in os.walk(folder):
        for name in (*files, *folders):
            yield Path(parent, name)


def _matches_name(path: str, name: str) -> bool:
    """Tell whether a path below a folder matches a name, or is a folder on the way to it."""
    parts = path.split("/")
    names = name.split("/")
    return len(parts) <= len(names) and all(map(fnmatchcase, parts, names))


def _holds_foreign_file(target: Path, path: str = "") -> InputError:
    where = f" (“{shorten(path)}”)" if path else ""
    return _target_in_use(
        target, f"holds something that is not an earlier result of this kind{where}, so it is left alone"
    )


def check_writable(target: Path) -> None:
    """Refuse a target at which nothing could be written: below a file, on a read-only disk, or without permission.

    Folders on the way that are not there yet are made later; the nearest one that is there decides.
    """
    try:
        if target.is_file() and not os.access(target, os.W_OK):
            message = "The target is write-protected, or its disk is read-only."
            raise input_error(
                "not-writable", message, "Allow writing to it, or choose another place.", file=target
            )
        folder = next(parent for parent in target.absolute().parents if parent.exists())
    except (OSError, StopIteration):
        # Whatever else is wrong with such a path shows when it is written to.
        return
    if not folder.is_dir():
        message = "The target lies below a file, where no folder can be."
        raise input_error("target-in-use", message, "Choose another place.", file=target)
    if not os.access(folder, os.W_OK | os.X_OK):
        message = (
            f"Writing is not allowed in the folder “{folder.name or folder}”, or its disk is read-only."
        )
        raise input_error("not-writable", message, "Choose a folder that you may write to.", file=target)


def require_space(folder: Path, needed_bytes: int) -> None:
    """Refuse to begin what cannot end: the disk must have room for all that will be written."""
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    free = shutil.disk_usage(existing).free
    if free < needed_bytes:
        raise input_error(
            "disk-space",
            f"About {_format_size(needed_bytes)} are needed while the result is written; "
            f"{_format_size(free)} are free.",
            "Free some space or choose a folder on another disk.",
            file=folder,
        )


def _format_size(size_bytes: int) -> str:
    """Write a size in MB, or in GB where that would be many."""
    return f"{size_bytes / 1e6:,.0f} MB" if size_bytes < 10e9 else f"{size_bytes / 1e9:,.0f} GB"


def _check_length(target: Path) -> None:
    """Refuse a name so long that the staging folder could have none beside it."""
    length = len(os.fsencode(target.name))
    if length > MAX_NAME_BYTES:
        raise input_error(
            "name-too-long",
            f"The name of the target is too long: {length:,} bytes, at most {MAX_NAME_BYTES:,} can be used.",
            "Choose a shorter name.",
            file=target.parent,
        )


def target_changed(target: object) -> InputError:
    """Make the refusal to replace what somebody else has put at the target: the first of two wins."""
    return input_error(
        "target-changed",
        "Something appeared at the target while the result was written. It was left alone, and nothing was replaced.",
        "Look at what it is, then write to another place or remove it.",
        file=target,
    )


def _target_in_use(target: Path, reason: str) -> InputError:
    return input_error("target-in-use", f"The target {reason}.", "Choose another place.", file=target)


@contextlib.contextmanager
def _explain_disk_errors(target: Path) -> Iterator[None]:
    """Turn what the disk refuses into an `InputError` that says what to do."""
    try:
        yield
    except OSError as error:
        explained = _explain_disk_error(error, target)
        if explained is None:
            raise
        raise explained from error


def _explain_disk_error(error: OSError, target: Path) -> InputError | None:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return input_error(
            "disk-full",
            "The disk is full (or a limit was reached). What was there before is unchanged.",
            "Free some space or choose a folder on another disk.",
            file=target,
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        name = Path(error.filename).name if isinstance(error.filename, str) else target.name
        return input_error(
            "not-writable",
            f"Writing is not allowed here (“{name}”). What was there before is unchanged.",
            "Choose a folder that you may write to.",
            file=target,
        )
    if error.errno == errno.ENAMETOOLONG:
        return input_error(
            "name-too-long", "The path of the target is too long.", "Choose a shorter one."
        )
    if error.errno in (errno.ENOTDIR, errno.EEXIST):
        return _target_in_use(target, "lies below a file, where no folder can be")
    return None
