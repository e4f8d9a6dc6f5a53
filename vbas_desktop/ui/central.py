"""The middle of the window: welcome, map, or one of the whole-page tools, with an obvious way back."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from .context import Context
from .hints import HintBar
from .pages import COMPARE, Page, create_part
from .panel import MAP_WIDGET
from .settings import Settings
from .theme import GRID
from .welcome import Welcome


class _PageFrame(QWidget):
    """A page under its title and its way back."""

    left = Signal()

    def __init__(self, page: Page, context: Context) -> None:
        super().__init__()
        back = QPushButton("&Back to the map")
        self._back, self._theme = back, context.theme
        self._on_theme_changed()
        context.theme.changed.connect(self._on_theme_changed)
        back.setProperty("look", "plain")
        # Not the button's own shortcut: that one is Alt with the underlined letter.
        QShortcut(QKeySequence("Escape"), self, back.click)
        back.setToolTip("Back to the map (Esc)")
        back.clicked.connect(self.left)
        title = QLabel(page.title)
        title.setProperty("look", "page")
        head = QFrame()
        row = QHBoxLayout(head)
        row.setContentsMargins(GRID, GRID, GRID, 0)
        row.addWidget(back)
        row.addSpacing(GRID)
        row.addWidget(title)
        row.addStretch(1)
        self.widget = page.create(context)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(head)
        layout.addWidget(self.widget, 1)

    @Slot()
    def _on_theme_changed(self) -> None:
        self._back.setIcon(self._theme.icon("back"))


class _Stack(QStackedWidget):
    """Asks for the room of what is shown, not for that of the widest page that was ever opened."""

    def minimumSizeHint(self) -> QSize:
        """That of what is shown."""
        current = self.currentWidget()
        return super().minimumSizeHint() if current is None else current.minimumSizeHint()


class MapArea(QWidget):
    """Shows the welcome until there are data, then the map; pages are created when first opened."""

    page_changed = Signal(str)
    wide_changed = Signal(bool)
    """Whether what is shown needs the width of the window."""

    def __init__(self, context: Context, settings: Settings) -> None:
        super().__init__()
        self._context = context
        self.welcome = Welcome(context.theme)
        self.map = create_part(MAP_WIDGET, context)
        self.hints = HintBar(context, settings)
        self._frames: dict[str, _PageFrame] = {}
        self.stack = _Stack()
        self.stack.currentChanged.connect(self.stack.updateGeometry)
        self.stack.addWidget(self.welcome)
        self.stack.addWidget(self.map)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.hints)
        layout.addWidget(self.stack, 1)
        context.model.data_loaded.connect(self.show_map)
        self.page_changed.connect(self.hints.make_way)
        self.page_changed.connect(self._tell_width)
        self.map.comparing_changed.connect(self._tell_width)  # type: ignore[attr-defined]

    @Slot()
    def _tell_width(self) -> None:
        alone = self.stack.currentWidget() in (self.welcome, self.map)
        self.wide_changed.emit(not alone or self.map.comparing)  # type: ignore[attr-defined]

    @Slot()
    def show_map(self) -> None:
        """Bring the map (or the welcome, if there are no data) to the front."""
        self.stack.setCurrentWidget(self.map if self._context.session.has_data else self.welcome)
        self.page_changed.emit("")

    @Slot()
    def compare_combinations(self) -> None:
        """Bring the page that compares to the front."""
        self.show_page(COMPARE)

    def show_page(self, page: Page) -> QWidget:
        """Bring a page to the front."""
        if page.title not in self._frames:
            frame = _PageFrame(page, self._context)
            frame.left.connect(self.show_map)
            self._frames[page.title] = frame
            self.stack.addWidget(frame)
        frame = self._frames[page.title]
        self.stack.setCurrentWidget(frame)
        frame.widget.setFocus()
        self.page_changed.emit(page.title)
        return frame.widget
