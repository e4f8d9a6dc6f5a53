"""Parts of libraries that a command hardly ever uses are loaded when they are, not before."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

_LATER = ("numpy.f2py", "numpy.testing", "scipy.spatial.transform", "yaml")
"""`scipy` imports everything that `numpy` has, even a compiler of Fortran, and rotations where points are searched;
`numba` reads settings that nobody has made."""


def import_later() -> None:
    """For a process of our own: what is `_LATER` is there, but loaded at the first use of it."""
    sys.meta_path.insert(0, _Later())


class _Later(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path) if fullname in _LATER else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec
