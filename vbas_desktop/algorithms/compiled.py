"""How inner loops are compiled: to machine code that is kept in a cache and runs without Python's lock."""

from __future__ import annotations

from typing import Any

from numba import njit

compiled: Any = njit(cache=True, nogil=True)
"""For functions that are called from Python too."""

inner: Any = njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""For functions that only compiled ones call: without their bridges to Python and C a quarter of the compiling goes."""
