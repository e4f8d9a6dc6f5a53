"""The middle of the window: welcome, map, or a whole-page tool with an obvious way back; above it, hints at first. In a
small window the panel steps aside for what needs the width.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtWidgets import QFrame, QPushButton, QSplitter, QStackedWidget, QWidget

from vbas_desktop.session.session import Session
from vbas_desktop.ui.widgets.building import dress, in_column, in_row
from vbas_desktop.ui.widgets.plain_text import Label

from .context import Context
from .map.view import MapView
from .pages import COMPARE, Page
from .settings import Settings
from .theme import GRID
from .welcome import Welcome

ROOMY = 1280
"""From this width on, a tool and the panel stand beside each other."""


class _PageFrame(QWidget):
    """A page under its title and its way back."""

    left = Signal()

    def __init__(self, page: Page, context: Context) -> None:
        super().__init__()
        back = dress(QPushButton("&Back to the map"), look="plain", toolTip="Back to the map (Esc)")
        context.theme.set_icon(back, "back")
        # Not the button's own shortcut: that one is Alt with the underlined letter.
        QShortcut(QKeySequence("Escape"), self, back.click)
        back.clicked.connect(self.left)
        title = dress(Label(page.title), look="page")
        head = QFrame()
        row = in_row(back, within=head, margins=(GRID, GRID, GRID, 0))
        row.addSpacing(GRID)
        row.addWidget(title)
        row.addStretch(1)
        self.widget = page.create(context)
        in_column(head, (self.widget, 1), within=self, margins=0)


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
        self.map = MapView(context)
        self.hints = HintBar(context, settings)
        self._frames: dict[str, _PageFrame] = {}
        self.stack = _Stack()
        self.stack.currentChanged.connect(self.stack.updateGeometry)
        self.stack.addWidget(self.welcome)
        self.stack.addWidget(self.map)
        in_column(self.hints, (self.stack, 1), within=self, margins=0, spacing=0)
        context.model.data_loaded.connect(self.show_map)
        self.page_changed.connect(self.hints.make_way)
        self.page_changed.connect(self._tell_width)
        self.map.comparing_changed.connect(self._tell_width)

    @Slot()
    def _tell_width(self) -> None:
        alone = self.stack.currentWidget() in (self.welcome, self.map)
        self.wide_changed.emit(not alone or self.map.comparing)

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


def hint_for(session: Session) -> str | None:
    """What a newcomer would do next in this state."""
    if not session.has_data or session.compared is not None:
        return None
    if not session.entries:
        return "Check the roles of the columns in Input, choose approaches in the menus above, then press Run."
    if session.selected is None:
        return "Click a solution in Results: the map shows it at once."
    return "A star marks solutions that no other one beats. Click a region on the map to see what it lost, and why."


class HintBar(QFrame):
    """The hint above the map."""

    def __init__(self, context: Context, settings: Settings) -> None:
        super().__init__()
        self._session, self._settings = context.session, settings
        self._on_page = False
        self.setProperty("look", "hint")
        self.text = dress(Label(), wordWrap=True)
        enough = dress(QPushButton("N&o more hints"), flat=True)
        enough.clicked.connect(self._on_enough)
        in_row((self.text, 1), enough, within=self, margins=(2 * GRID, GRID // 2, GRID, GRID // 2))
        model = context.model
        for signal in (model.data_loaded, model.solution_added, model.solutions_changed, model.selection_changed):
            signal.connect(self.refresh)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Show the hint of the present state."""
        silent = self._on_page or self._settings.flag("hints/off")
        hint = None if silent else hint_for(self._session)
        self.text.setText(hint or "")
        self.setVisible(hint is not None)

    @Slot(str)
    def make_way(self, page: str) -> None:
        """Hints speak of the map: none are shown above a page."""
        self._on_page = bool(page)
        self.refresh()

    @Slot()
    def show_hints(self) -> None:
        """Show hints from now on."""
        self._settings.put("hints/off", False)
        self.refresh()

    @Slot()
    def _on_enough(self) -> None:
        self._settings.put("hints/off", True)
        self.refresh()


class YieldingSplitter(QSplitter):
    """Of what stands beside each other, asks only for the room of the first while the rest ``yields``: a window can be
    made small in one step, since the rest steps aside then.
    """

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._yields = False

    def let_yield(self, yields: bool) -> None:
        """Whether the rest makes way when there is no room for it."""
        if yields != self._yields:
            self._yields = yields
            self.updateGeometry()

    def minimumSizeHint(self) -> QSize:
        """That of all, or of the first part."""
        usual, first = super().minimumSizeHint(), self.widget(0)
        if not self._yields or first is None:
            return usual
        return QSize(first.minimumSizeHint().width(), usual.height())


class MakingRoom(QObject):
    """Switches the panel (``action``) off and on again. Whoever switches it by hand has the last word until something
    else is shown.
    """

    def __init__(self, action: QAction, splitter: YieldingSplitter, parent: QObject) -> None:
        super().__init__(parent)
        self._action, self._splitter = action, splitter
        self._wide, self._small, self._by_hand = False, False, False
        self.aside = False
        """Whether the panel stepped aside and will come back by itself."""
        action.triggered.connect(self._on_triggered)

    def show_wide(self, wide: bool) -> None:
        """Something that needs the width is shown, or no longer."""
        if wide != self._wide:
            self._by_hand = False
        self._wide = wide
        self._arrange()

    def resize(self, width: int) -> None:
        """The window has another width."""
        self._small = width < ROOMY
        self._arrange()

    @Slot()
    def _on_triggered(self) -> None:
        self._by_hand, self.aside = True, False
        self._arrange()

    def _arrange(self) -> None:
        self._splitter.let_yield(self._wide and not self._by_hand)
        if self._wide and self._small and not self._by_hand and self._action.isChecked():
            self.aside = True
            self._action.setChecked(False)
        elif self.aside and not (self._wide and self._small):
            self.aside = False
            self._action.setChecked(True)
