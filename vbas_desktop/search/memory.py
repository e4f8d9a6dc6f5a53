"""Memory that one node no longer uses goes back to the system before the next one needs its own."""

from __future__ import annotations

import ctypes
import sys


def give_back() -> None:
    """Hand freed memory back. O(freed pages).

    The C library of Linux keeps what a thread freed for that thread, in pieces that the next node's counts may not fit
    into: without this the process grows to several times what is in use. Elsewhere nothing is done.
    """
    if sys.platform.startswith("linux"):
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
