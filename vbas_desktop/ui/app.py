"""Starts the application."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from vbas_desktop import __version__
from vbas_desktop.files.places import resource

from .main_window import MainWindow


def main(project: Path | None = None, demo: bool = False) -> int:
    """Open the window, with a project or the sample data if asked for; returns when it is closed."""
    app = QApplication(sys.argv[:1])
    app.setApplicationName("vbas-desktop")
    app.setApplicationDisplayName("VBAS Desktop")
    app.setApplicationVersion(__version__)
    app.setWindowIcon(QIcon(str(resource("icons/vbas.svg"))))
    window = MainWindow()
    window.show()
    if demo:
        window.controller.load_sample(run=True)
    return app.exec()
