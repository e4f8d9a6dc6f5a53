"""Makes ready what the first load and the first run need while the user looks at the welcome page."""

from __future__ import annotations

import gc
from importlib import import_module

from PySide6.QtCore import QObject

from vbas_desktop.algorithms.ahead import make_ready
from vbas_desktop.domain.progress import Progress

from .worker import JobRunner

_NEEDED = (
    "vbas_desktop.files.records.table",
    "vbas_desktop.files.regions.read",
    "vbas_desktop.files.counting.problem",
    "vbas_desktop.engine.run",
    "vbas_desktop.engine.region_table",
    "vbas_desktop.release",
)

_REHEARSED = (
    "vbas_desktop.files.records.rehearsal:rehearse",
    "vbas_desktop.algorithms.adc.search:rehearse",
    "vbas_desktop.algorithms.boundaries_rehearsal:rehearse",
    "vbas_desktop.algorithms.geodesic.rehearsal:rehearse",
)


class WarmUp(QObject):
    """One quiet job; whoever needs a module or a compiled loop earlier simply waits for the same one."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.runner = JobRunner(self)
        gc.disable()
        self.runner.start("Warming up", prepare_needed, on_abort=gc.enable)
        self.runner.job_ended.connect(_leave_modules_alone)


def prepare_needed(progress: Progress) -> None:
    """Import one module after the other, then make the compiled loops ready; a stop is heard in between."""
    for name in _NEEDED:
        progress.update("Warming up")
        import_module(name)
    for rehearsal in _REHEARSED:
        make_ready(rehearsal, progress)


def _leave_modules_alone() -> None:
    """Looking for garbage among hundreds of thousands of objects of modules takes a tenth of a second, in which the
    window stands still, and finds none: they live as long as the program.
    """
    gc.freeze()
    gc.enable()
