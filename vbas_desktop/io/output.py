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
from collections.abc import Iterator, Sequence
from pathlib import Path

from vbas_desktop.domain.errors import InputError, refusal

from .exchange import ASIDE, ChangedMeanwhile, lock_folder, remove_folder, replace_target, take_snapshot
from .signals import defer_stop_signals, record_output

MARK = ".vbas-partial-"
LONGEST_NAME = 210
"""Bytes of a name that leave room for what the hidden folder's name has besides (file systems allow 255)."""


def write_text(path: Path, text: str, private: bool = False) -> None:
    """Write a text file (UTF-8, as given) so that it is either the old one or the new one, never a part.

    ``private``: nobody but the user may read it, whatever the system's habit is.
    """
    name = path.with_name(f".{secrets.token_hex(8)}.part")
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(name, path)
    except BaseException as error:
        name.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            # A full disk is noticed while writing, when the system does not say which file it was.
            error.filename = str(path)
        raise


def make_private(path: Path) -> None:
    """Let nobody but the user into a folder and all that is in it (or at a file), whatever the system's habit is."""
    if not path.is_dir():
        path.chmod(0o600)
        return
    path.chmod(0o700)
    for inside in path.iterdir():
        make_private(inside)


@contextlib.contextmanager
def staged_folder(target: Path, names: Sequence[str]) -> Iterator[Path]:
    """Hand out the hidden folder; put it in the target's place if the block ends well, else remove it.

    ``names`` are those that an earlier result may have in it, the first of them always: only such a target is replaced.
    """
    target = Path(os.path.realpath(target))
    check_target(target, names)
    before = take_snapshot(target)
    with _hidden_folder(target) as partial:
        yield partial
        _open_up(partial)
        with defer_stop_signals():
            try:
                old = replace_target(partial, target, before)
            except ChangedMeanwhile:
                raise _meanwhile(target) from None
            record_output(target)
            if old is not None and not remove_folder(old):
                raise _kept(target, old)


@contextlib.contextmanager
def filled_folder(target: Path) -> Iterator[Path]:
    """As `staged_folder`, but a folder that exists keeps its other files: each new file replaces its namesake."""
    target = Path(os.path.realpath(target))
    if target.exists() and not target.is_dir():
        raise _taken(target, "is a file, not a folder")
    with _hidden_folder(target) as partial:
        yield partial
        with defer_stop_signals():
            if target.exists():
                for file in sorted(partial.iterdir()):
                    os.replace(file, target / file.name)
            else:
                _open_up(partial)
                os.rename(partial, target)
            record_output(target)


@contextlib.contextmanager
def staged_file(target: Path) -> Iterator[Path]:
    """The same for a single large file: hand out where to write it; put it in place if the block ends well."""
    target = Path(os.path.realpath(target))
    if target.is_dir():
        raise _taken(target, "is a folder, not a file")
    with _hidden_folder(target) as partial:
        yield partial / target.name
        with defer_stop_signals():
            os.replace(partial / target.name, target)
            record_output(target)


def check_target(target: Path, names: Sequence[str]) -> None:
    """Refuse a target that holds anything but an earlier result: replacing it would lose what is not ours.

    A name may be that of a file, that of a folder with all in it, or a path below the target. A target that is
    write-protected is refused, too: somebody wants it to stay, and it could not be removed.
    """
    _check_length(target)
    if not target.exists():
        return
    if not target.is_dir():
        raise _taken(target, "is a file, not a folder")
    found = take_snapshot(target).paths
    if found and (names[0] not in found or not all(_is_ours(path, names) for path in found)):
        raise _taken(target, "holds something that is not an earlier result of this kind, so it is left alone")
    for place in (target, *(target / path for path in sorted(found))) if found else ():
        if place.is_dir() and not place.is_symlink() and not os.access(place, os.W_OK | os.X_OK):
            raise refusal(
                "write-protected",
                f"The earlier result is write-protected (folder “{place.name}”), so it is not replaced.",
                "Allow writing to it, move it away, or choose another place.",
                file=target,
            )


def _is_ours(path: str, names: Sequence[str]) -> bool:
    return any(path == name or path.startswith(f"{name}/") or name.startswith(f"{path}/") for name in names)


_LEFTOVER = re.compile(rf"\.(.+)\.vbas-(partial-)?(\d+)-[0-9a-f]+({ASIDE})?")


def remove_leftovers(parent: Path) -> None:
    """Remove the hidden folders in ``parent`` that no living process is writing.

    Where the swap takes two steps, a process that died between them has left the target empty: its old content, which
    was only set aside, comes back.
    """
    for leftover in sorted(parent.glob(".*.vbas-*")):
        named = _LEFTOVER.fullmatch(leftover.name)
        # One that is not marked yet is not locked yet either: its process is about to lock it.
        if named is None or (named[2] is None and lives(int(named[3]))):
            continue
        with lock_folder(leftover) as alone:
            if not alone and sys.platform != "win32":
                continue
            target = parent / named[1]
            if leftover.name.endswith(ASIDE) and not target.exists():
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
            f"About {needed_bytes / 1e6:,.0f} MB are needed while the result is written; "
            f"{free / 1e6:,.0f} MB are free.",
            "Free some space or choose a folder on another disk.",
            file=folder,
        )


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


def _meanwhile(target: Path) -> InputError:
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
