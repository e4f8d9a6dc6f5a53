"""The offline user guide: its pages, a table of contents, and a search over all sections."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from PySide6.QtCore import QModelIndex, QSize, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QImageReader, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QPushButton,
    QTextBrowser,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from vbas_desktop.io.paths import documentation_folder

from ..core.theme import GRID, Theme
from ..widgets.layouts import hbox, splitter, vbox, with_properties

GUIDE = "user-guide.md"
_INDEX = "README.md"
"""The page that lists the others in the order of the contents."""

_MARGIN = 80
_HEADING = re.compile(r"^(#{1,2}) (.+)$")


@dataclass(frozen=True)
class GuideSection:
    """A page (level 1) or a section of one (level 2), with its text; ``address`` is "page.md#anchor"."""

    address: str
    title: str
    level: int
    text: str

    def matches(self, words: list[str]) -> bool:
        """Tell whether title and text hold all of these words in small letters."""
        text = f"{self.title}\n{self.text}".lower()
        return all(word in text for word in words)


def make_anchor(title: str) -> str:
    """Return the anchor of a heading, as links in the pages write it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")


def split_sections(page: str, markdown: str) -> Iterator[GuideSection]:
    """Split a page at its headings of the first two levels; lines of code are no headings."""
    title = ""
    level = 0
    lines: list[str] = []
    is_code = False
    for line in [*markdown.splitlines(), "# "]:
        is_code ^= line.startswith("```")
        heading = None if is_code else _HEADING.match(line)
        if heading is None and line != "# ":
            lines.append(line)
            continue
        if title:
            anchor = "" if level == 1 else f"#{make_anchor(title)}"
            yield GuideSection(f"{page}{anchor}", title, level, "\n".join(lines))
        if heading is not None:
            level = len(heading.group(1))
            title = heading.group(2).replace("`", "")
        lines = []


def read_sections(folder: Path) -> list[GuideSection]:
    """Read all pages: the guide first, then those that the index lists, in its order, then the others."""
    index = (folder / _INDEX).read_text(encoding="utf-8")
    listed = [GUIDE, *re.findall(r"\]\(([\w-]+\.md)\)", index)]
    others = sorted(path.name for path in folder.glob("*.md") if path.name != _INDEX)
    pages = [name for name in dict.fromkeys([*listed, *others]) if name in others]
    return [
        section
        for name in pages
        for section in split_sections(name, (folder / name).read_text(encoding="utf-8"))
    ]


def render_page(markdown: str) -> str:
    """Return Markdown as HTML that QTextBrowser understands, with an anchor for each heading."""
    parser = MarkdownIt("commonmark").enable("table")
    tokens = parser.parse(markdown)
    for token, content in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", make_anchor(content.content))
    return str(parser.renderer.render(tokens, parser.options, {}))


def fitting(html: str, folder: Path, width: int) -> str:
    """Return the page with pictures no wider than the window."""

    def add_width(match: re.Match[str]) -> str:
        own = QImageReader(str(folder / match.group(1))).size().width()
        return f'<img src="{match.group(1)}" width="{min(own, width)}"' if own > 0 else match.group()

    return re.sub(r'<img src="([^"]+)"', add_width, html)


class ContentsTree(QTreeWidget):
    """The pages and their sections; those that a search does not find are hidden."""

    def __init__(self, sections: list[GuideSection]) -> None:
        super().__init__()
        with_properties(self, headerHidden=True, accessibleName="Contents")
        self._items: list[tuple[GuideSection, QTreeWidgetItem]] = []
        for section in sections:
            page = self.topLevelItem(self.topLevelItemCount() - 1)
            item = QTreeWidgetItem(self) if section.level == 1 or page is None else QTreeWidgetItem(page)
            item.setText(0, section.title)
            item.setData(0, Qt.ItemDataRole.UserRole, section.address)
            self._items.append((section, item))

    def show_matching(self, text: str) -> None:
        """Show the sections that hold all words of a text, under their pages, and make the first one current."""
        words = text.lower().split()
        matching = [item for section, item in self._items if section.matches(words)]
        self.setCurrentIndex(QModelIndex())
        for _, item in self._items:
            item.setHidden(bool(words))
            item.setExpanded(bool(words))
        for item in matching:
            item.setHidden(False)
            page = item.parent()
            if page is not None:
                page.setHidden(False)
        if words and matching:
            self.setCurrentItem(matching[0])

    def listed_titles(self) -> list[str]:
        """Return the titles of the sections that are not hidden."""
        return [section.title for section, item in self._items if not item.isHidden()]


class GuideWindow(QDialog):
    """Shows the pages of the documentation; links between them work, nothing is fetched from a network."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("User guide")
        available = self.screen().availableGeometry().size() - QSize(2 * GRID, 5 * GRID)
        self.resize(QSize(1080, 720).boundedTo(available))
        self.text = with_properties(QTextBrowser(), openLinks=False, accessibleName="Page")
        self.text.anchorClicked.connect(self._on_link)
        self._back = with_properties(QPushButton("&Back"), autoDefault=False)
        self._back.clicked.connect(self._on_back)
        self._trail: list[str] = []
        self.search = with_properties(
            QLineEdit(),
            placeholderText="Search",
            accessibleName="Search the guide",
            toolTip="List the sections of the guide that contain all these words",
            clearButtonEnabled=True,
        )
        self.contents = ContentsTree(read_sections(documentation_folder()))
        self._build()
        self.show_page(GUIDE)
        theme.changed.connect(self._on_theme_changed)
        theme.set_icon(self._back, "back")

    def _build(self) -> None:
        side = QWidget()
        vbox(self.search, (self.contents, 1), within=side, margins=0)
        page = QWidget()
        vbox(hbox(self._back, 1), (self.text, 1), within=page, margins=0)
        width = self.width() // 4
        vbox(splitter(side, page, sizes=(width, self.width() - width), growing=1), within=self)
        QShortcut(QKeySequence("Alt+Left"), self, self._on_back)
        QShortcut(QKeySequence("Ctrl+F"), self, self.search.setFocus)
        self.search.textChanged.connect(self.contents.show_matching)
        self.search.returnPressed.connect(self._on_search)
        self.contents.itemClicked.connect(self._on_section_chosen)
        self.contents.itemActivated.connect(self._on_section_chosen)

    def show_page(self, address: str) -> None:
        """Show a page of the documentation by its file name, with an optional #anchor."""
        page, _, anchor = address.partition("#")
        path = documentation_folder() / (page or GUIDE)
        if not path.is_file():
            self.text.setPlainText(f"The page {page} is missing. Reinstall the program.")
            return
        self._trail.append(address)
        self._back.setEnabled(len(self._trail) > 1)
        self.text.setSearchPaths([str(path.parent)])
        self.text.document().setDefaultStyleSheet(_style(self._theme))
        self.text.document().setDocumentMargin(2 * GRID)
        width = 3 * self.width() // 4 - _MARGIN
        self.text.setHtml(fitting(render_page(path.read_text(encoding="utf-8")), path.parent, width))
        if anchor:
            self.text.scrollToAnchor(anchor)

    @property
    def address(self) -> str:
        """Return the page that is shown, with its anchor."""
        return self._trail[-1]

    @Slot()
    def _on_search(self) -> None:
        """Open the first section that was found."""
        item = self.contents.currentItem()
        if item is not None:
            self._on_section_chosen(item)

    @Slot(QTreeWidgetItem)
    def _on_section_chosen(self, item: QTreeWidgetItem) -> None:
        address = item.data(0, Qt.ItemDataRole.UserRole)
        if address != self.address:
            self.show_page(address)

    @Slot()
    def _on_back(self) -> None:
        if len(self._trail) > 1:
            self._trail.pop()
            self.show_page(self._trail.pop())

    @Slot()
    def _on_theme_changed(self) -> None:
        """Set the text anew, as the colours of headings and links are part of it, and stay where it was read."""
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
