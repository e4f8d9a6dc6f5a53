"""Files and folders that appear at their targets complete or not at all.

Everything is written into a hidden folder beside the target. When it is complete it takes the target's place in one
step; until then what was there before stays. It replaces only what was there when it was begun: what somebody else has
put there meanwhile is never lost. A hidden folder that a killed process left behind is removed by the next one that
writes beside it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from vbas_desktop.model.errors import InputError, refusal
from vbas_desktop.model.names import shorten

from .exchange import (
    ASIDE,
    ChangedMeanwhile,
    is_own_folder,
    lock_folder,
    remove_folder,
    replace_target,
    take_snapshot,
)
from .signals import defer_stop_signals, record_output

MARK = ".vbas-partial-"
_PART = ".part"
_TEMPORARY = re.compile(rf"\.[0-9a-f]{{16}}\{_PART}")
"""What `write_text` leaves behind if the process is killed."""
LONGEST_NAME = 210
"""Bytes of a name that leave room for what the hidden folder's name has besides (file systems allow 255)."""


def write_text(path: Path, text: str, private: bool = False) -> None:
    """Write a text file (UTF-8, as given) so that it is either the old one or the new one, never a part.

    ``private``: nobody but the user may read it, whatever the system's habit is.
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
            # A full disk is noticed while writing, when the system does not say which file it was.
            error.filename = str(path)
        raise


def make_private(path: Path) -> None:
    """Let nobody but the user into a folder and all that is in it (or at a file), whatever the system's habit is."""
    if path.is_symlink():
        return
    if not path.is_dir():
        path.chmod(0o600)
        return
    path.chmod(0o700)
    for inside in path.iterdir():
        make_private(inside)


def make_own_folder(folder: Path) -> None:
    """Make a folder that nobody but the user may open; one that is there must be the user's, and no link."""
    folder.mkdir(0o700, parents=True, exist_ok=True)
    if not is_own_folder(folder):
        raise _taken(folder, "is a link, or belongs to another user")
    folder.chmod(0o700)


@contextlib.contextmanager
def staged_folder(target: Path, owned: Sequence[str]) -> Iterator[Path]:
    """Yield a new folder beside the target; if the block ends well, let it take the target's place, else remove it.

    Everything in it is on the disk before it gets its name, and its name is on the disk before the old folder is
    removed, so that not even a power failure leaves half a result. See `check_target` for ``owned``.
    """
    target = Path(os.path.realpath(target))
    check_target(target, owned)
    before = take_snapshot(target)
    with _hidden_folder(target) as partial:
        yield partial
        _open_up(partial)
        sync_tree(partial)
        with defer_stop_signals():
            try:
                old = replace_target(partial, target, before)
            except ChangedMeanwhile:
                raise target_changed(target) from None
            sync_folder(target.parent)
            record_output(target)
            if old is not None and not remove_folder(old):
                raise _kept(target, old)


@contextlib.contextmanager
def staged_file(target: Path) -> Iterator[Path]:
    """Yield the path of a new file; if the block ends well, let it take the target's place.

    Whoever asks for the path has called `check_target` before: what is at the target now is replaced.
    """
    target = Path(os.path.realpath(target))
    _refuse_other_kinds(target)
    with _hidden_folder(target) as partial:
        made = partial / target.name
        yield made
        sync_tree(partial)
        with defer_stop_signals():
            os.replace(made, target)
            sync_folder(target.parent)
            record_output(target)


def sync_tree(folder: Path) -> None:
    """Have the disk take every file in a folder, and then the folders themselves, the innermost first."""
    for place, _, files in os.walk(folder, topdown=False):
        for name in files:
            with open(os.path.join(place, name), "rb") as stream:
                os.fsync(stream.fileno())
        sync_folder(Path(place))


def sync_folder(folder: Path) -> None:
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
    inside = target.is_dir() and any(_is_same(target, folder) for folder in Path(os.path.realpath(path)).parents)
    around = path.is_dir() and any(_is_same(path, folder) for folder in Path(os.path.realpath(target)).parents)
    if not (inside or around or _is_same(target, path)):
        return
    what = "holds" if inside else "lies in a folder that is" if around else "is"
    raise refusal(
        "target-is-input",
        f"The target {what} an input (“{shorten(path.name)}”), so nothing is written there.",
        "Choose another place.",
        file=target,
    )


def _is_same(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _check_file(target: Path, replace: bool) -> None:
    _refuse_other_kinds(target)
    if target.exists() and not replace:
        message = "There is a file with this name already, so nothing was written."
        remedy = "Choose another name, or allow it to be replaced (--replace)."
        raise refusal("target-in-use", message, remedy, file=target)


def _refuse_other_kinds(target: Path) -> None:
    """Refuse what no file can be put in the place of: a folder, a device, a pipe."""
    if target.is_dir():
        raise _taken(target, "is a folder, not a file")
    if target.exists() and not target.is_file():
        raise _taken(target, "is a device or a pipe, not a file")


def _check_folder(target: Path, owned: Sequence[str]) -> None:
    """Refuse a folder with anything else than an earlier result in it, or that cannot be removed."""
    if not target.exists():
        return
    if not target.is_dir():
        raise _taken(target, "is a file, not a folder")
    places = [target]
    is_empty = True
    found_first = False
    for entry in _entries(target):
        if _TEMPORARY.fullmatch(entry.name):
            continue
        is_empty = False
        path = entry.relative_to(target).as_posix()
        if not any(_is_part(path, name) for name in owned):
            raise _foreign(target, path)
        found_first |= _is_part(path, owned[0]) and path.count("/") == owned[0].count("/")
        places += [entry] if entry.is_dir() and not entry.is_symlink() else []
    if not is_empty and not found_first:
        raise _foreign(target)
    for place in places if found_first else ():
        if not os.access(place, os.W_OK | os.X_OK):
            raise refusal(
                "write-protected",
                f"The earlier result is write-protected (folder “{place.name}”), so it is not replaced.",
                "Allow writing to it, move it away, or choose another place.",
                file=target,
            )


def _entries(folder: Path) -> Iterator[Path]:
    """All that is in a folder, one by one, so that whoever looks can stop at the first thing that is not theirs."""
    for place, folders, files in os.walk(folder):
        for name in (*files, *folders):
            yield Path(place, name)


def _is_part(path: str, name: str) -> bool:
    """Tell whether a path below a folder is what a name means, or a folder on the way to it."""
    parts = path.split("/")
    names = name.split("/")
    return len(parts) <= len(names) and all(map(fnmatchcase, parts, names))


def _foreign(target: Path, path: str = "") -> InputError:
    where = f" (“{shorten(path)}”)" if path else ""
    return _taken(target, f"holds something that is not an earlier result of this kind{where}, so it is left alone")


_LEFTOVER = re.compile(rf"\.(.+)\.vbas-(partial-)?(\d+)-[0-9a-f]+({ASIDE})?")


def remove_leftovers(parent: Path) -> None:
    """Remove the user's own hidden folders in ``parent`` that no living process is writing.

    Where the swap takes two steps, a process that died between them has left the target empty: its old content, which
    was only set aside, comes back.
    """
    for leftover in sorted(parent.glob(".*.vbas-*")):
        named = _LEFTOVER.fullmatch(leftover.name)
        # One that is not marked yet is not locked yet either: its process is about to lock it.
        if named is None or (named[2] is None and lives(int(named[3]))):
            continue
        # In a shared folder others can make entries with such names; theirs, and links, are none of our business.
        if not is_own_folder(leftover):
            continue
        with lock_folder(leftover) as alone:
            if not alone and sys.platform != "win32":
                continue
            target = parent / named[1]
            if leftover.name.endswith(ASIDE) and not os.path.lexists(target):
                os.rename(leftover, target)
            else:
                remove_folder(leftover)


def lives(process: int) -> bool:
    """Whether there is a process of this number; another user's counts."""
    try:
        os.kill(process, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True


def require_space(folder: Path, needed_bytes: int) -> None:
    """Refuse to begin what cannot end: the disk must have room for all that will be written."""
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    free = shutil.disk_usage(existing).free
    if free < needed_bytes:
        raise refusal(
            "disk-space",
            f"About {_size_in_words(needed_bytes)} are needed while the result is written; "
            f"{_size_in_words(free)} are free.",
            "Free some space or choose a folder on another disk.",
            file=folder,
        )


def _size_in_words(size_bytes: int) -> str:
    """Write a size in MB, or in GB where that would be many."""
    return f"{size_bytes / 1e6:,.0f} MB" if size_bytes < 10e9 else f"{size_bytes / 1e9:,.0f} GB"


@contextlib.contextmanager
def _hidden_folder(target: Path) -> Iterator[Path]:
    with _said_plainly(target), contextlib.ExitStack() as stack:
        _check_length(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(target.parent)
        number = f"{os.getpid()}-{secrets.token_hex(4)}"
        made = target.parent / f".{target.name}.vbas-{number}"
        partial = made.with_name(f".{target.name}{MARK}{number}")
        try:
            # Held before it gets the name by which others look for leftovers.
            made.mkdir(0o700)
            stack.enter_context(lock_folder(made))
            os.rename(made, partial)
            yield partial
        finally:
            with defer_stop_signals():
                remove_folder(made)
                remove_folder(partial)


def _check_length(target: Path) -> None:
    """Refuse a name so long that the hidden folder could have none beside it."""
    length = len(os.fsencode(target.name))
    if length > LONGEST_NAME:
        raise refusal(
            "name-too-long",
            f"The name of the target is too long: {length:,} bytes, at most {LONGEST_NAME:,} can be used.",
            "Choose a shorter name.",
            file=target.parent,
        )


def target_changed(target: object) -> InputError:
    """Make the refusal to replace what somebody else has put at the target: the first of two wins."""
    return refusal(
        "target-changed",
        "Something appeared at the target while the result was written. It was left alone, and nothing was replaced.",
        "Look at what it is, then write to another place or remove it.",
        file=target,
    )


def _kept(target: Path, old: Path) -> InputError:
    return refusal(
        "old-result-kept",
        "The new result is complete, but the earlier one could not be removed: "
        f"it lies in the hidden folder “{old.name}”.",
        "Remove that folder.",
        file=target,
    )


def _open_up(partial: Path) -> None:
    """Until it is complete nobody else sees into it; then it is a folder as the system makes them."""
    inherited = stat.S_IMODE(partial.stat().st_mode) & 0o7000
    partial.chmod(inherited | (0o777 & ~_umask()))


def _umask() -> int:
    """What new files and folders of this process lack, without leaving anything behind if it is killed meanwhile."""
    try:
        told = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return next(int(line.split()[1], 8) for line in told.splitlines() if line.startswith("Umask:"))
    except (OSError, StopIteration, ValueError):
        # Elsewhere it is told only by setting it, which threads that make files just now would notice.
        mask = os.umask(0o077)
        os.umask(mask)
        return mask


def _taken(target: Path, why: str) -> InputError:
    return refusal("target-in-use", f"The target {why}.", "Choose another place.", file=target)


@contextlib.contextmanager
def _said_plainly(target: Path) -> Iterator[None]:
    """Turn what the disk refuses into a message that says what to do."""
    try:
        yield
    except OSError as error:
        told = _told(error, target)
        if told is None:
            raise
        raise told from error


def _told(error: OSError, target: Path) -> InputError | None:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return refusal(
            "disk-full",
            "The disk is full (or a limit was reached). What was there before is unchanged.",
            "Free some space or choose a folder on another disk.",
            file=target,
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        place = Path(error.filename).name if isinstance(error.filename, str) else target.name
        return refusal(
            "not-writable",
            f"Writing is not allowed here (“{place}”). What was there before is unchanged.",
            "Choose a folder that you may write to.",
            file=target,
        )
    if error.errno == errno.ENAMETOOLONG:
        return refusal("name-too-long", "The path of the target is too long.", "Choose a shorter one.")
    if error.errno in (errno.ENOTDIR, errno.EEXIST):
        return _taken(target, "lies below a file, where no folder can be")
    return None
