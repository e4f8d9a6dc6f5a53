"""Compile kernels, cache their machine code, and wait for the compiler before a first call.

numba checks only the source file of a function itself before it takes machine code from its cache, not the files of the
functions that this one calls. So the cache folder is named by a hash of all kernel sources: after a change in any of
them everything is compiled anew.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba

from vbas_desktop.background import run_cancellable
from vbas_desktop.model.progress import Progress

_PREFIX = "vbas-"
_UNUSED_DAYS = 60
"""Folders of older kernels are removed when nobody has used them for so long."""


def _cache_folder() -> Path | None:
    """Return the folder for machine code of these kernels, or None if it cannot be written to."""
    try:
        top = Path(numba.config.CACHE_DIR) if numba.config.CACHE_DIR else _users_cache()
        folder = top / _digest()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            os.utime(folder)
        _remove_unused(top)
    except (OSError, RuntimeError):
        # RuntimeError: the user has no home folder.
        return None
    return folder


def _users_cache() -> Path:
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "vbas-desktop" / "kernels"


def _digest() -> str:
    """Hash what the machine code depends on: the kernel sources, numba, and the program that runs them.

    Of a frozen program numba compares the executable instead of the source: two programs need two folders.
    """
    digest = hashlib.sha256(f"{numba.__version__} {sys.executable}".encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return _PREFIX + digest.hexdigest()[:16]


def _remove_unused(top: Path) -> None:
    oldest = time.time() - _UNUSED_DAYS * 86_400
    for folder in top.glob(f"{_PREFIX}*"):
        if folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)


_FOLDER = _cache_folder()


_options: dict[str, Any] = {"nogil": True, "_nrt": False}
# `_nrt` is private to numba, whose version is therefore bounded in pyproject.toml. Without it every call counts who
# holds each array that it is given, which costs more than most calls do: ADC takes 1.4 to 5.9 times as long, moved
# boundaries 1.9 to 3.7 times, moved sites 1.2 to 4.8 times. Functions inherit the option from their caller unless it is
# set, so it is set everywhere.


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls; its machine code is cached if there is a folder for it.

    It must not make arrays, nor must the subkernels that it calls, unless they are marked as allocating.
    """
    # The setting decides where the cache of this function is; other users of numba keep their own.
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_FOLDER or "")
    try:
        return numba.njit(function, cache=_FOLDER is not None, **_options)
    finally:
        numba.config.CACHE_DIR = before


subkernel: Any = numba.njit(**_options)
"""For functions that only kernels call: their machine code is part of the callers'."""

allocating_subkernel: Any = numba.njit(**{**_options, "_nrt": True})
"""The same for functions that make arrays."""


_PREPARING = "Preparing the search (the first time takes longer)"


def prepare(progress: Progress, compiled: Any, *arguments: Any) -> None:
    """Compile a kernel for arguments of these types, or load it from the cache, while a stop is obeyed.

    Compiling takes up to half a minute. It happens in a thread of its own, which goes on after a stop, for next time.
    """
    types = tuple(numba.typeof(argument) for argument in arguments)
    if types in compiled.signatures:
        return
    run_cancellable(lambda: _compile(compiled, types), progress, _PREPARING)


def _compile(compiled: Any, types: tuple[Any, ...]) -> None:
    # The disk may be full: then the machine code stays in memory only.
    with suppress(OSError):
        compiled.compile(types)
