"""VBAS Desktop: k-anonymous record files by merging small regions, guided by a Voronoi diagram.

For Python users: ``import vbas_desktop as vbas``, then ``vbas.read``, ``vbas.run``, ``vbas.release`` and the other
names in `__all__` (docs/python.md). Everything else is private.

Packages, from the inside out: ``model`` (plain data), ``settings`` (options), ``algorithms`` (array functions),
``approaches`` (the strategies), ``engine`` (runs approaches), ``io`` (files and databases), ``audit`` (reads back what
was written), ``analysis`` and ``appointments``, ``releases`` (what leaves the organisation), ``app`` (use cases), and
on top ``cli``, ``api`` and ``ui``. Imports only ever point inwards; Qt lives in ``ui`` alone.
"""

from importlib import import_module

from vbas_desktop.io.regions.gdal import restrict_gdal

__version__ = "0.1.0"

restrict_gdal()

__all__ = [
    "Appointments",
    "Comparison",
    "Data",
    "FindingWarning",
    "InputError",
    "Outliers",
    "Release",
    "Representability",
    "RiskyCombinations",
    "Run",
    "Search",
    "Solution",
    "UsageError",
    "VerificationFailed",
    "__version__",
    "compare",
    "export",
    "outliers",
    "plan_appointments",
    "read",
    "release",
    "representability",
    "risky",
    "run",
    "search",
    "verify",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: the version alone costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.api"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
