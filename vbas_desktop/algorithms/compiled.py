"""How inner loops are compiled: to machine code that is kept in a cache and runs without Python's lock."""

from __future__ import annotations

from typing import Any

from numba import njit

_BARE: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

# Said of every function: else it would be compiled as its caller is.
compiled: Any = njit(cache=True, nogil=True, _nrt=True)
"""For functions that are called from Python too."""

inner: Any = njit(cache=True, nogil=True, _nrt=True, **_BARE)
"""For functions that only compiled ones call: without their bridges to Python and C a quarter of the compiling goes."""

lean: Any = njit(cache=True, nogil=True, _nrt=False)
lean_inner: Any = njit(cache=True, nogil=True, _nrt=False, **_BARE)
"""The same for functions that make no arrays: nobody counts who holds those they are given. Where tuples of arrays are
handed from function to function, counting takes more than half of the time."""
