"""Writing a release: the anonymised file with its papers, verified by reading it back, then put in place as a whole.

May use everything below it (``io``, ``engine``, ``assessment``, …) and is used by ``session``, ``cli`` and ``ui``.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from vbas_desktop.model.errors import Check, VerificationFailed
from vbas_desktop.settings.release import CLASS_SIZE, ReleaseOptions

from .folder import ReleaseReport, check_release_target

if TYPE_CHECKING:
    from .telltales import TELLTALE
    from .write import write_release

__all__ = [
    "CLASS_SIZE",
    "TELLTALE",
    "Check",
    "ReleaseOptions",
    "ReleaseReport",
    "VerificationFailed",
    "check_release_target",
    "write_release",
]


_LATER = {"TELLTALE": "telltales", "write_release": "write"}
"""What is imported when it is asked for: most runs release nothing, and writing needs many libraries."""


class _Room(ModuleType):
    """A room that is a verb of the Python interface too: ``vbas_desktop.release(solution, folder)``."""

    def __call__(self, *given: Any, **named: Any) -> Any:
        return import_module("vbas_desktop.api").release(*given, **named)

    def __getattr__(self, name: str) -> Any:
        if name not in _LATER:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{self.__name__}.{_LATER[name]}"), name)


sys.modules[__name__].__class__ = _Room
