"""Starts the application, imports what the first load and run need while the user looks at the start page, and takes
the picture of `vbas-desktop --picture FILE` as soon as nothing is going on in the window any more.
"""

from __future__ import annotations

import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from PySide6.QtCore import QLocale, QObject, QPoint, QRectF, QTimer, Signal, Slot
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QApplication

from vbas_desktop import __version__
from vbas_desktop.io.paths import resource_path
from vbas_desktop.model.progress import Progress

from .core.worker import Worker
from .dialogs.messages import show_failure
from .presentation.messages import TaskFailure, describe_failure
from .shell.main_window import MainWindow
from .widgets.image_export import SAVING, record, save_drawing

_LOOK_EVERY_MS = 100
_FINENESS = 2
"""Pixels of the picture for one of the window."""
_CALM_LOOKS = 8
"""One job starts the next with a pause in between: calm means that several looks in a row found nothing going on."""

_MODULES_OF_FIRST_RUN = (
    "vbas_desktop.io.records.loading",
    "vbas_desktop.io.regions.reader",
    "vbas_desktop.engine.problem",
    "vbas_desktop.engine.run",
    "vbas_desktop.engine.region_table",
    "vbas_desktop.releases",
)


def main(project: Path | None = None, demo: bool = False, picture: Path | None = None) -> int:
    """Open the window, with a project or the sample data if asked for; returns when it is closed.

    With ``picture`` it closes by itself, as soon as a picture of it is written.
    """
    # The words of the window are English, so are its numbers and dates.
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedKingdom))
    app = QApplication(sys.argv[:1])
    app.setApplicationName("vbas-desktop")
    app.setApplicationDisplayName("VBAS Desktop")
    app.setApplicationVersion(__version__)
    app.setWindowIcon(QIcon(str(resource_path("icons/vbas.svg"))))
    window = MainWindow()
    window.show()
    sys.excepthook = partial(_on_unforeseen, window)
    window.background.start("Importing modules", import_modules)
    if project is not None:
        window.projects.open_project_file(project.absolute())
    elif demo:
        window.data_commands.load_sample(run=True)
    elif picture is None:
        window.projects.offer_recovery()
    if picture is not None:
        Snapshot(window, picture).finished.connect(_end_after_picture)
    return app.exec()


def _on_unforeseen(
    window: MainWindow, kind: type[BaseException], error: BaseException, trace: Any
) -> None:
    """Show an error in the window itself like that of a job; the window goes on."""
    sys.__excepthook__(kind, error, trace)
    show_failure(window, describe_failure("The last action", error))


def _end_after_picture(reason: str) -> None:
    if reason:
        sys.stderr.write(f"vbas-desktop: {reason}\n")
    QApplication.exit(1 if reason else 0)


def import_modules(progress: Progress) -> None:
    """Import what the first load and run need, one module after the other, so that a stop takes effect in between."""
    for name in _MODULES_OF_FIRST_RUN:
        progress.update("Importing modules")
        import_module(name)


class Snapshot(QObject):
    """Waits for the window's jobs, takes the picture, saves it in the background."""

    finished = Signal(str)
    """The picture is written (empty), or why it could not be."""

    def __init__(self, window: MainWindow, target: Path) -> None:
        super().__init__(window)
        self._window = window
        self._target = target
        self._calm = 0
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_EVERY_MS)
        self._timer.timeout.connect(self._on_look)
        window.worker.job_failed.connect(self._on_failed)
        self._timer.start()

    @Slot()
    def _on_look(self) -> None:
        busy = any(worker.busy for worker in self._window.findChildren(Worker))
        self._calm = 0 if busy else self._calm + 1
        if self._calm < _CALM_LOOKS:
            return
        self._timer.stop()
        job = partial(save_drawing, record(self._window.size(), self._paint), self._target, None)
        self._window.worker.start(SAVING, job, self._on_saved)

    def _paint(self, painter: QPainter, _: QRectF) -> None:
        # A recording knows no borders of widgets: what is scrolled would be painted over its neighbours.
        pixmap = QPixmap(self._window.size() * _FINENESS)
        pixmap.setDevicePixelRatio(_FINENESS)
        self._window.render(pixmap)
        painter.drawPixmap(QPoint(0, 0), pixmap)

    def _on_saved(self, _: Path) -> None:
        self.finished.emit("")

    @Slot(object)
    def _on_failed(self, failure: TaskFailure) -> None:
        self._timer.stop()
        self.finished.emit(f"{failure.title} failed. {failure.message}")
