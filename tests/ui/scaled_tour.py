"""Go through all stops of the window and print what does not fit the screen, one violation and its stop a line.

Run by test_scaled.py in a process of its own: Qt takes the scale factor when the application starts.
"""

from __future__ import annotations

import sys
from pathlib import Path

import accessibility_checks
from PySide6.QtWidgets import QApplication
from tour import Tour

from vbas_desktop.ui.shell.main_window import MainWindow

ROUNDS = 6
"""Texts that wrap are laid out in several rounds of events."""


def main(folder: Path) -> None:
    app = QApplication([])
    accessibility_checks.SCREEN = app.primaryScreen().availableGeometry().size()
    window = MainWindow()
    window.resize(accessibility_checks.SCREEN)
    window.show()
    violations: dict[str, str] = {}
    for stop, widget in Tour(window, folder).stops():
        for _ in range(ROUNDS):
            app.processEvents()
        checks = accessibility_checks.check_menu(widget) if stop.startswith("menu") else fit(widget)
        for violation in checks:
            violations.setdefault(violation, stop)
    for violation, stop in violations.items():
        sys.stdout.write(f"{violation} ({stop})\n")
    window.worker.shut_down()
    window.state.modified = False
    window.close()


def fit(widget):
    yield from accessibility_checks.check_fit(widget)
    yield from accessibility_checks.check_targets(widget)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
