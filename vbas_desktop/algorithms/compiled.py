"""How inner loops are compiled: to machine code that is kept on the disk and runs without Python's lock."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache
from numba.core.runtime import rtsys

_BARE: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_loops: list[Any] = []


class _KeptCode(FunctionCache):
    """Loads kept code without what only compiling needs.

    numba first has its compiler learn all functions it could translate, which takes longer than everything else at the
    start of a job. The compiler does that again by itself when something is not kept.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kept code for these types, or None."""
        rtsys.initialize(target_context)
        return self._load_overload(sig, target_context)


def _keeping(**how: Any) -> Any:
    compile_it = njit(nogil=True, **how)

    def decorate(function: Callable[..., Any]) -> Any:
        loop = compile_it(function)
        loop._cache = _KeptCode(function)
        _loops.append(loop)
        return loop

    return decorate


# Said of every function: else it would be compiled as its caller is.
compiled: Any = _keeping(_nrt=True)
"""For functions that are called from Python too."""

inner: Any = _keeping(_nrt=True, **_BARE)
"""For functions that only compiled ones call: without their bridges to Python and C a quarter of the compiling goes."""

lean: Any = _keeping(_nrt=False)
lean_inner: Any = _keeping(_nrt=False, **_BARE)
"""The same for functions that make no arrays: nobody counts who holds those they are given. Where tuples of arrays are
handed from function to function, counting takes more than half of the time."""

inlined: Any = njit(inline="always")
"""For small functions that become part of every loop that calls them."""


def all_kept() -> bool:
    """Whether code is kept for every loop that was imported so far, so that none has to be compiled."""
    return all(_is_kept(loop) for loop in tuple(_loops))


@cache
def _is_kept(loop: Any) -> bool:
    return bool(loop._cache._cache_file._load_index())
