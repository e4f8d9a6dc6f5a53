"""Libraries load only what a job uses; for a process of our own, before any of them is imported."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

Parts = Mapping[str, tuple[str, ...]]

_LATER: dict[str, Parts] = {
    "numpy.f2py": {},
    "numpy.testing": {},
    "scipy.linalg": {"cython_blas": (), "cython_lapack": ()},
    "scipy.sparse": {},
    "scipy.spatial": {"_ckdtree": ("cKDTree",), "_qhull": ("ConvexHull", "Delaunay", "QhullError", "Voronoi")},
    "yaml": {},
}
"""Packages that are imported but hardly ever used, with the parts that need nothing of the rest and what these define.

`scipy` imports all of `numpy`, even a compiler of Fortran; searching points imports rotations, sparse matrices and
linear algebra; `numba`, where a search needs it, reads settings that nobody has made.
"""


def load_little() -> None:
    """Have libraries load and start only what is needed."""
    import_geometry_alone()
    import_later()
    # Nothing here multiplies large matrices. Threads for that would be started all the same, and wait busily at first.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Importing makes hundreds of thousands of objects and hardly any garbage.
    gc.set_threshold(200_000, 20, 100)


def import_geometry_alone() -> None:
    """For a process of our own: the library that reads geometry does not load pandas and pyarrow with it.

    It looks for them when it is imported, to make data frames that nothing here asks it for, and loading that takes
    longer than all of a small job. Whoever needs them imports them as usual.
    """
    sys.meta_path.insert(0, _NoDataFrames())


def import_later() -> None:
    """What is `_LATER` can be imported at once and is loaded when something in it is first used."""
    sys.meta_path.insert(0, _Later())


class _NoDataFrames(MetaPathFinder):
    """Says that there is no pandas and no pyarrow while, and only while, `pyogrio` asks for them."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Nothing of its own to find."""
        asking = sys.modules.get("pyogrio._compat")
        if fullname in ("pandas", "geopandas", "pyarrow") and asking is not None and not hasattr(asking, "GDAL_GE_37"):
            raise ModuleNotFoundError(f"{fullname} is not loaded with pyogrio", name=fullname)
        return None


class _Later(MetaPathFinder):
    def __init__(self) -> None:
        self._waiting: dict[str, _OnDemand] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, part = fullname.rpartition(".")
        waiting = self._waiting.get(package)
        if waiting is not None and not waiting.begun and part not in waiting.parts:
            return ModuleSpec(fullname, _AfterPackage(package, waiting))
        spec = PathFinder.find_spec(fullname, path) if fullname in _LATER else None
        if spec is not None and spec.loader is not None:
            spec.loader = self._waiting[fullname] = _OnDemand(spec.loader, _LATER[fullname])
        return spec


class _OnDemand(Loader):
    """Loads a package when it is asked for a name that none of its independent parts defines."""

    def __init__(self, real: Loader, parts: Parts) -> None:
        self.parts = parts
        self.begun = False
        self._real = real
        self._part_of = {name: part for part, names in parts.items() for name in names}
        self._loading = threading.RLock()

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._real.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        def missing(name: str) -> Any:
            if name in self._part_of:
                return getattr(import_module(f"{module.__name__}.{self._part_of[name]}"), name)
            with self._loading:
                if self.begun and vars(module).get("__getattr__") is missing:
                    # It asks for a name of its own while it is loaded.
                    raise AttributeError(name)
                self.load(module)
            return getattr(module, name)

        module.__getattr__ = missing  # type: ignore[method-assign]

    def load(self, module: ModuleType) -> None:
        """Load all of it, once."""
        with self._loading:
            if not self.begun:
                self.begun = True
                asked = module.__getattr__
                self._real.exec_module(module)
                if vars(module).get("__getattr__") is asked:
                    del module.__getattr__


class _AfterPackage(Loader):
    """Loads the package of a module first, as always when a part of a package is imported."""

    def __init__(self, package: str, waiting: _OnDemand) -> None:
        self._package = package
        self._waiting = waiting

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        self._waiting.load(sys.modules[self._package])
        module = import_module(spec.name)
        self._own = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._own
