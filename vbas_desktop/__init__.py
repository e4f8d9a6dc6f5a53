"""VBAS Desktop: k-anonymous record files by merging small regions, guided by a Voronoi diagram.

For Python users: ``import vbas_desktop as vbas``, then ``vbas.read``, ``vbas.run``, ``vbas.compare``, ``vbas.release``,
``vbas.export`` and ``vbas.verify`` (docs/python.md). Everything else is private.

Rooms, from the inside out: ``model`` (plain data), ``algorithms`` (array functions), ``approaches`` (the strategies),
``settings`` (what people can set), ``engine`` (runs approaches) and ``io`` (reads the outside world),
``assessment``, ``comparison`` and ``screening`` (what is built on both), ``release`` (writes what leaves the
organisation), ``jobs`` (one frozen job for each use), ``session`` (application state without Qt), and on top ``cli``,
``api`` and ``ui``. Imports only ever point inwards; Qt lives in ``ui`` alone.
"""

from importlib import import_module

from .io.regions.gdal import restrict_gdal

__version__ = "0.1.0"

restrict_gdal()

_PUBLIC = ("Comparison", "Data", "Run", "Solution", "compare", "export", "read", "release", "run", "verify")
__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> object:
    """The public names are loaded when they are first used: whoever wants the version alone does not wait for them."""
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "release":
        # A room and a verb have this name: the room can be called.
        return import_module(f"{__name__}.release")
    return getattr(import_module(f"{__name__}.api"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
