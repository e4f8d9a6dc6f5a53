"""`vbas-desktop --picture FILE`: a picture of the window as soon as nothing is going on in it any more.

Where there is no screen this shows what the window would look like; with a screen it makes pictures for reports.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QPoint, QRectF, QTimer, Signal, Slot
from PySide6.QtGui import QPainter

from vbas_desktop.domain.progress import Progress

from .main_window import MainWindow
from .pictures import record, save_drawing
from .worker import Failure, JobRunner

_LOOK_EVERY_MS = 100
_CALM_LOOKS = 8
"""One job starts the next with a pause in between: calm means that several looks in a row found nothing going on."""


class Snapshot(QObject):
    """Waits for the window's jobs, takes the picture, saves it in the background."""

    finished = Signal(str)
    """The picture is written (empty), or why it could not be."""

    def __init__(self, window: MainWindow, target: Path) -> None:
        super().__init__(window)
        self._window, self._target = window, target
        self._calm = 0
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_EVERY_MS)
        self._timer.timeout.connect(self._on_look)
        window.runner.job_failed.connect(self._on_failed)
        self._timer.start()

    @Slot()
    def _on_look(self) -> None:
        busy = any(runner.busy for runner in self._window.findChildren(JobRunner))
        self._calm = 0 if busy else self._calm + 1
        if self._calm < _CALM_LOOKS:
            return
        self._timer.stop()
        drawing, target = record(self._window.size(), self._paint), self._target

        def job(progress: Progress) -> Path:
            progress.update("Saving the picture")
            return save_drawing(drawing, target)

        self._window.runner.start("Saving the picture", job, self._on_saved)

    def _paint(self, painter: QPainter, _: QRectF) -> None:
        self._window.render(painter, QPoint(0, 0))

    def _on_saved(self, _: Path) -> None:
        self.finished.emit("")

    @Slot(object)
    def _on_failed(self, failure: Failure) -> None:
        self._timer.stop()
        self.finished.emit(f"{failure.title} did not succeed. {failure.message}")
