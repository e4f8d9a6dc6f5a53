"""`vbas-desktop --picture FILE`: a picture of the window as soon as nothing is going on in it any more.

Where there is no screen this shows what the window would look like; with a screen it makes pictures for reports.
"""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QImage

from vbas_desktop.domain.progress import Progress

from .main_window import MainWindow
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
        image, target = self._window.grab().toImage(), self._target

        def job(progress: Progress) -> None:
            progress.update("Saving the picture")
            save_image(image, target)

        self._window.runner.start("Saving the picture", job, self._on_saved)

    def _on_saved(self, _: None) -> None:
        self.finished.emit("")

    @Slot(object)
    def _on_failed(self, failure: Failure) -> None:
        self._timer.stop()
        self.finished.emit(f"{failure.title} did not succeed. {failure.message}")


def save_image(image: QImage, target: Path) -> None:
    """Write a PNG beside the target and give it its name when it is complete."""
    unfinished = target.with_name(f".{target.name}.part")
    try:
        if not image.save(str(unfinished), "PNG"):  # type: ignore[call-overload]
            raise OSError(0, "could not be written", str(target))
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)
