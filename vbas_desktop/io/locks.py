"""Locks between programs, which the system frees when the program that holds them ends."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from vbas_desktop.model.findings import input_error
from vbas_desktop.model.progress import NO_PROGRESS, Progress

POLL_SECONDS = 0.05


class LockHeldError(Exception):
    """Another program, or another part of this one, holds the lock."""


@contextmanager
def exclusive_lock(
    path: Path,
    progress: Progress = NO_PROGRESS,
    *,
    wait: bool = True,
    stage: str = "Waiting for another program",
) -> Iterator[None]:
    """Hold the lock of ``path``, the file ``.NAME.lock`` beside it, while the block runs.

    While another program holds it, ``stage`` is reported, so that a stop is obeyed; with ``wait=False`` raises
    `LockHeldError`. Raises `InputError` if the file of the lock is a link, and `OSError` where it cannot be made.
    """
    file = _lock_file(path)
    if file.is_symlink():
        message = "The lock beside this file is a link, which may lead anywhere, so it is not used."
        raise input_error(
            "lock-is-link", message, f"Remove “{file.name}”, if you know whose it is.", file=path
        )
    lock = FileLock(file, mode=0o600, thread_local=False)
    while True:
        try:
            lock.acquire(blocking=False)
            break
        except Timeout:
            if not wait:
                raise LockHeldError(str(file)) from None
        progress.update(stage)
        time.sleep(POLL_SECONDS)
    try:
        yield
    finally:
        # Whoever has it open already notices that it has no name any more. Windows keeps a file that is open.
        with suppress(OSError):
            file.unlink()
        lock.release()


def is_locked(path: Path) -> bool:
    """Tell whether a living program holds the lock of ``path``."""
    if not _lock_file(path).exists():
        return False
    try:
        with exclusive_lock(path, wait=False):
            return False
    except LockHeldError:
        return True


def _lock_file(path: Path) -> Path:
    return path.with_name(f".{path.name}.lock")
