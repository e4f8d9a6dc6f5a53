"""How callers wait for the compiler before they call a kernel for the first time."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

import numba

from vbas_desktop.model.progress import Progress

_PREPARING = "Preparing the search (the first time takes longer)"
_POLL_SECONDS = 0.05


def prepare(progress: Progress, compiled: Any, *arguments: Any) -> None:
    """Compile a kernel for arguments of these types, or load it from the cache, while a stop is obeyed.

    Compiling takes up to half a minute. It happens in a thread of its own, which goes on after a stop, for next time.
    """
    types = tuple(numba.typeof(argument) for argument in arguments)
    if types in compiled.signatures:
        return
    # A daemon: the program may end meanwhile.
    thread = threading.Thread(target=_compile, args=(compiled, types), name="compiling", daemon=True)
    thread.start()
    while thread.is_alive():
        progress.update(_PREPARING)
        thread.join(_POLL_SECONDS)


def _compile(compiled: Any, types: tuple[Any, ...]) -> None:
    # The disk may be full: then the machine code stays in memory only.
    with suppress(OSError):
        compiled.compile(types)
