"""Compiled loops made ready beside the work that waits for them, so that waiting can be stopped.

A *rehearsal* is a function, named ``module:function``, that calls every compiled loop of a part of the program once
with the types of real use. Importing the compiler and compiling take from a second to half a minute. They happen in a
thread of their own, once in a process, while whoever needs the loops looks at progress. Where compiled code is kept
nothing is rehearsed: each loop is loaded when it is first called.
"""

from __future__ import annotations

import math
import threading
import time
from contextlib import suppress
from importlib import import_module

from vbas_desktop.model.progress import Progress

_POLL_SECONDS = 0.05
_STAGE = "Preparing the program's inner loops (the first time takes longer)"

_starting = threading.Lock()
# Per process, not per run: what is compiled once serves every run, and two threads must not compile the same.
_started: dict[str, threading.Event] = {}
# A rehearsal calls what waits for rehearsals; it must not wait for itself.
_here = threading.local()


def make_ready(rehearsal: str, progress: Progress, at_most: float = math.inf) -> None:
    """Return when the loops of the rehearsal are ready, or after so many seconds.

    A stop is obeyed at once, and preparing goes on for next time.
    If preparing fails this returns too: the work itself then meets what is wrong and says so.
    """
    if getattr(_here, "rehearsing", False):
        return
    with _starting:
        ready = _started.get(rehearsal)
        if ready is None:
            ready = _started[rehearsal] = threading.Event()
            # A daemon: the program may end meanwhile.
            threading.Thread(target=_prepare, args=(rehearsal, ready), name="preparing", daemon=True).start()
    end = time.monotonic() + at_most
    while not ready.wait(_POLL_SECONDS) and time.monotonic() < end:
        progress.update(_STAGE)


def _prepare(rehearsal: str, ready: threading.Event) -> None:
    _here.rehearsing = True
    with suppress(Exception):
        name, function = rehearsal.split(":")
        module = import_module(name)
        # Not before: it imports the compiler.
        from .compiled import all_kept

        if not all_kept():
            getattr(module, function)()
    ready.set()
