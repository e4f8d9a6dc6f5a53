"""The offline user guide, and About."""

from __future__ import annotations

import importlib.metadata
import platform
import re
from pathlib import Path

from markdown_it import MarkdownIt
from PySide6.QtCore import QObject, QSize, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QImageReader, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QPushButton,
    QTextBrowser,
    QWidget,
)

from vbas_desktop import __version__
from vbas_desktop.io.places import documentation
from vbas_desktop.ui.widgets.building import dress, in_column, in_row
from vbas_desktop.ui.widgets.plain_text import Label

from .context import Context
from .theme import GRID, Theme

GUIDE = "user-guide.md"
_MARGIN = 80
_LIBRARIES = ("PySide6-Essentials", "pyqtgraph", "numpy", "scipy", "shapely", "pandas", "pyarrow", "numba", "pyproj")


def rendered(markdown: str) -> str:
    """Markdown as HTML that QTextBrowser understands."""
    return str(MarkdownIt("commonmark").enable("table").render(markdown))


def fitting(html: str, folder: Path, width: int) -> str:
    """The same with pictures no wider than the page."""

    def sized(found: re.Match[str]) -> str:
        own = QImageReader(str(folder / found.group(1))).size().width()
        return f'<img src="{found.group(1)}" width="{min(own, width)}"' if own > 0 else found.group()

    return re.sub(r'<img src="([^"]+)"', sized, html)


class GuideWindow(QDialog):
    """Shows the pages of the documentation; links between them work, nothing is fetched from a network."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("User guide")
        room = self.screen().availableGeometry().size() - QSize(2 * GRID, 5 * GRID)
        self.resize(QSize(860, 720).boundedTo(room))
        self.text = QTextBrowser()
        self.text.setOpenLinks(False)
        self.text.anchorClicked.connect(self._on_link)
        self._back = QPushButton("&Back")
        self._back.clicked.connect(self._on_back)
        self._trail: list[str] = []
        row = in_row(self._back, 1)
        in_column(row, self.text, within=self)
        QShortcut(QKeySequence("Alt+Left"), self, self._on_back)
        self.show_page(GUIDE)
        theme.changed.connect(self._on_theme_changed)
        theme.set_icon(self._back, "back")

    def show_page(self, name: str) -> None:
        """Show a page of the documentation by its file name, with an optional #place."""
        page, _, place = name.partition("#")
        path = documentation() / (page or GUIDE)
        if not path.is_file():
            self.text.setPlainText(f"The page {page} is missing. Reinstall the program.")
            return
        self._trail.append(name)
        self._back.setEnabled(len(self._trail) > 1)
        self.text.setSearchPaths([str(path.parent)])
        self.text.document().setDefaultStyleSheet(_style(self._theme))
        self.text.document().setDocumentMargin(2 * GRID)
        self.text.setHtml(fitting(rendered(path.read_text(encoding="utf-8")), path.parent, self.width() - _MARGIN))
        if place:
            self.text.scrollToAnchor(place)

    @Slot()
    def _on_back(self) -> None:
        if len(self._trail) > 1:
            self._trail.pop()
            self.show_page(self._trail.pop())

    @Slot()
    def _on_theme_changed(self) -> None:
        """The colours of headings and links are part of the text: set it anew and stay where it was read."""
        if self._trail:
            read_up_to = self.text.verticalScrollBar().value()
            self.show_page(self._trail.pop())
            self.text.verticalScrollBar().setValue(read_up_to)

    @Slot(QUrl)
    def _on_link(self, url: QUrl) -> None:
        target = url.toString()
        if url.scheme() in ("http", "https"):
            QDesktopServices.openUrl(url)
        elif target.startswith("#"):
            self.text.scrollToAnchor(target[1:])
        else:
            self.show_page(Path(target).name)


def _style(theme: Theme) -> str:
    colours = theme.colours
    return (
        f"h1, h2, h3 {{ color: {colours.text}; }} a {{ color: {colours.accent}; }}"
        f"code {{ background: {colours.window}; }} td, th {{ padding: 3px 8px; border: 1px solid {colours.line}; }}"
    )


def versions() -> list[tuple[str, str]]:
    """The versions of the program and of what it is built on."""
    found = [("VBAS Desktop", __version__), ("Python", platform.python_version())]
    for name in _LIBRARIES:
        try:
            found.append((name.removesuffix("-Essentials"), importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


class AboutDialog(QDialog):
    """Versions and licence; can be selected and copied for a message to whoever helps."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("About VBAS Desktop")
        heading = dress(Label("VBAS Desktop"), look="heading")
        what = Label("Makes record files k-anonymous by merging small regions. Works without any network.")
        text = Label("\n".join(f"{name} {version}" for name, version in versions()))
        dress(what, wordWrap=True)
        dress(text, look="muted", textInteractionFlags=Qt.TextInteractionFlag.TextSelectableByMouse)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        in_column(
            heading,
            what,
            text,
            Label("MIT licence."),
            buttons,
            within=self,
            margins=(3 * GRID, 2 * GRID, 3 * GRID, 2 * GRID),
            spacing=2 * GRID,
        )


class Help(QObject):
    """The commands of the menu Help."""

    def __init__(self, context: Context, window: QWidget) -> None:
        super().__init__(window)
        self._context, self._window = context, window
        self._guide: GuideWindow | None = None

    @Slot()
    def show_guide(self) -> None:
        """Open the user guide, or bring it to the front."""
        if self._guide is None:
            self._guide = GuideWindow(self._context.theme, self._window)
            self._guide.destroyed.connect(self._on_guide_destroyed)
        self._guide.show()
        self._guide.raise_()

    @Slot()
    def _on_guide_destroyed(self) -> None:
        self._guide = None

    @Slot()
    def show_about(self) -> None:
        """Open About."""
        AboutDialog(self._window).open()
