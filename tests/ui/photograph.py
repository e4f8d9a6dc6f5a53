"""Takes pictures of everything that the window shows, light and dark, large and small, and puts six on a sheet:

    xvfb-run -s "-screen 0 1600x1000x24" python tests/ui/photograph.py FOLDER [FROM|PART-OF-A-NAME]

Says of dialogs that do not fit the small size, and of a window that does not reach it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]
# The pictures must not depend on the settings of whoever takes them.
for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
    os.environ[name] = tempfile.mkdtemp()

from PySide6.QtCore import QSize, Qt, QTimer  # noqa: E402
from PySide6.QtGui import QColor, QImage, QPainter  # noqa: E402
from PySide6.QtWidgets import QApplication, QMenu, QWidget  # noqa: E402
from tour import Tour  # noqa: E402

from vbas_desktop.ui.core.theme import ALWAYS_DARK, ALWAYS_LIGHT  # noqa: E402
from vbas_desktop.ui.shell.main_window import MainWindow  # noqa: E402

SIZES = (QSize(1440, 900), QSize(1024, 680))
_SETTLE_ROUNDS = 6
_ON_A_SHEET, _COLUMNS, _CELL = 6, 2, QSize(960, 640)


def say(line: str) -> None:
    """Tell whoever waits."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def settle() -> None:
    """Let what changed be laid out and drawn."""
    for _ in range(_SETTLE_ROUNDS):
        QApplication.processEvents()


def looks(window: MainWindow) -> Iterator[str]:
    """The window in each size and each theme."""
    for size in SIZES:
        window.resize(size)
        settle()
        if window.size() != size:
            say(
                f"  window is {window.width()} × {window.height()} in place of {size.width()} × {size.height()}"
            )
        for theme in (ALWAYS_LIGHT, ALWAYS_DARK):
            window.theme.choose(theme)
            settle()
            yield f"{size.width()} {theme}"


def photograph(window: MainWindow, folder: Path, only: str) -> None:
    """Every stop of the tour."""
    with tempfile.TemporaryDirectory() as scratch:
        for number, (name, widget) in enumerate(Tour(window, Path(scratch)).stops()):
            say(f"{number:02d} {name}")
            if number < int(only) if only.isdigit() else only not in name:
                continue
            shown = widget if widget.isWindow() else window
            for look in looks(window):
                small = look.startswith("1024")
                if small and shown is not window and not _fits(shown):
                    say(f"  {name} is {shown.width()} × {shown.height()}")
                shown.grab().save(str(folder / f"{number:02d} {name} {look}.png"))
                if isinstance(shown, QMenu):
                    settle()
            window.theme.choose(ALWAYS_LIGHT)
            window.resize(SIZES[0])
            settle()


def _fits(dialog: QWidget) -> bool:
    return dialog.width() <= SIZES[1].width() and dialog.height() <= SIZES[1].height() - 32


def sheets(folder: Path) -> None:
    """Six pictures on a sheet, in the order of their names."""
    pictures = sorted(folder.glob("[0-9]*.png"))
    for number, start in enumerate(range(0, len(pictures), _ON_A_SHEET)):
        rows = _ON_A_SHEET // _COLUMNS
        sheet = QImage(_CELL.width() * _COLUMNS, _CELL.height() * rows, QImage.Format.Format_RGB32)
        sheet.fill(QColor("#888888"))
        painter = QPainter(sheet)
        for place, path in enumerate(pictures[start : start + _ON_A_SHEET]):
            image = QImage(str(path))
            room = _CELL - QSize(8, 28)
            if image.width() > room.width() or image.height() > room.height():
                image = image.scaled(
                    room, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
                )
            x, y = (place % _COLUMNS) * _CELL.width(), (place // _COLUMNS) * _CELL.height()
            painter.drawText(x + 4, y + 16, path.stem)
            painter.drawImage(x + 4, y + 24, image)
        painter.end()
        sheet.save(str(folder / f"sheet {number:02d}.png"))


def main() -> int:
    """Open the window, go round, close it."""
    folder, only = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    folder.mkdir(parents=True, exist_ok=True)
    app = QApplication(sys.argv[:1])
    app.setApplicationName("vbas-photographs")
    window = MainWindow()
    window.resize(SIZES[0])
    window.show()

    def go() -> None:
        photograph(window, folder, only)
        sheets(folder)
        window.state.modified = False
        window.close()
        app.quit()

    QTimer.singleShot(0, go)
    return app.exec()


if __name__ == "__main__":
    sys.exit(main())
