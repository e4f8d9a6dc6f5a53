"""Starts the application."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from vbas_desktop import __version__
from vbas_desktop.files.places import resource

from .dialogs.messages import show_failure
from .main_window import MainWindow
from .snapshot import Snapshot
from .warm_up import WarmUp
from .worker import failure_of


def main(project: Path | None = None, demo: bool = False, picture: Path | None = None) -> int:
    """Open the window, with a project or the sample data if asked for; returns when it is closed.

    With ``picture`` it closes by itself, as soon as a picture of it is written.
    """
    app = QApplication(sys.argv[:1])
    app.setApplicationName("vbas-desktop")
    app.setApplicationDisplayName("VBAS Desktop")
    app.setApplicationVersion(__version__)
    app.setWindowIcon(QIcon(str(resource("icons/vbas.svg"))))
    window = MainWindow()
    window.show()
    sys.excepthook = partial(_on_unforeseen, window)
    warm_up = WarmUp(window)
    app.aboutToQuit.connect(warm_up.runner.shut_down)
    if project is not None:
        window.projects.open_project_file(project.absolute())
    elif demo:
        window.controller.load_sample(run=True)
    elif picture is None:
        window.projects.offer_recovery()
    if picture is not None:
        Snapshot(window, picture).finished.connect(_end_after_picture)
    return app.exec()


def _on_unforeseen(window: MainWindow, kind: type[BaseException], error: BaseException, trace: Any) -> None:
    """An error in the window itself is told like that of a job, and the window goes on."""
    sys.__excepthook__(kind, error, trace)
    show_failure(window, failure_of("The last action", error))


def _end_after_picture(reason: str) -> None:
    if reason:
        sys.stderr.write(f"vbas-desktop: {reason}\n")
    QApplication.exit(1 if reason else 0)
