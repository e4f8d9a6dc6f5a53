"""The middle of the window: the start page, the map under a hint, or a page under its title and its way back."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFrame, QPushButton, QScrollArea, QStackedWidget, QWidget

from ..core.context import UiContext
from ..core.theme import GRID
from ..map.map_view import MapView
from ..pages import Page
from ..state.app_state import AppState
from ..widgets.layouts import hbox, scroll_area, vbox, with_properties
from ..widgets.plain_text import Label
from .help import set_guide_section
from .preferences import Preferences
from .start_page import StartPage


class CentralArea(QWidget):
    """Shows the start page until there are data, then the map; pages are created when first opened.

    `page_changed(title)`: another page is shown, or the map or the start page, whose title is empty.
    """

    page_changed = Signal(str)

    def __init__(self, context: UiContext, settings: Preferences) -> None:
        super().__init__()
        self._context = context
        self.start_page = StartPage(context.theme)
        self.map = MapView(context)
        self.hints = HintBar(context, settings)
        self._pages: dict[str, tuple[QScrollArea, QWidget]] = {}
        self._title = with_properties(Label(), look="page")
        self._back = QPushButton("&Back")
        self._back.clicked.connect(self.show_map)
        context.theme.set_icon(self._back, "back")
        self._head = self._build_head()
        self.stack = QStackedWidget()
        self._start = _scrolled(self.start_page)
        self._map = with_properties(_scrolled(self.map), minimumWidth=45 * GRID)
        self.stack.addWidget(self._start)
        self.stack.addWidget(self._map)
        vbox(self.hints, self._head, (self.stack, 1), within=self, margins=0, spacing=0)
        context.model.data_loaded.connect(self.show_map)
        self.show_map()

    def _build_head(self) -> QFrame:
        """Build the line above a page: the way back and the title."""
        with_properties(self._back, look="plain")
        head = QFrame()
        row = hbox(self._back, within=head, margins=(GRID, GRID, GRID, 0))
        row.addSpacing(GRID)
        row.addWidget(self._title)
        row.addStretch(1)
        return head

    @property
    def page(self) -> QWidget | None:
        """Return the page that is shown; None while the map or the start page is."""
        current = self.stack.currentWidget()
        if not isinstance(current, QScrollArea) or current in (self._start, self._map):
            return None
        return current.widget()

    def page_widget(self, page: Page) -> QWidget | None:
        """Return the widget of a page that was opened before."""
        return self._pages[page.id][1] if page.id in self._pages else None

    @Slot()
    def show_map(self) -> None:
        """Bring the map to the front, or the start page if there are no data."""
        has_data = self._context.state.has_data
        way_back = "Back to the map" if has_data else "Back to the start page"
        with_properties(self._back, text=f"&{way_back}", toolTip=f"{way_back} (Esc)")
        self.stack.setCurrentWidget(self._map if has_data else self._start)
        self._show_head("")

    def show_page(self, page: Page) -> QWidget:
        """Bring a page to the front and return its widget."""
        if page.id not in self._pages:
            widget = page.create(self._context)
            area = with_properties(QScrollArea(), widgetResizable=True, frameShape=QFrame.Shape.NoFrame)
            set_guide_section(area, page.guide)
            self._pages[page.id] = (area, widget)
            self.stack.addWidget(area)
            # Last, since Qt styles all of the page anew for each parent that it or its area gets.
            area.setWidget(widget)
        area, widget = self._pages[page.id]
        self.stack.setCurrentWidget(area)
        self._show_head(page.title)
        widget.setFocus()
        return widget

    def _show_head(self, title: str) -> None:
        self._title.setText(title)
        self._head.setVisible(bool(title))
        self.hints.set_page_shown(bool(title))
        self.page_changed.emit(title)


def _scrolled(content: QWidget) -> QScrollArea:
    """Have content scrolled where the window is too small for it, or the font too large."""
    return scroll_area(content, frameShape=QFrame.Shape.NoFrame)


def hint_for(state: AppState) -> str | None:
    """Return the next step for a newcomer in this state."""
    if not state.has_data or state.compared is not None:
        return None
    if state.edit is not None:
        return "Drag from one region over initial regions of its neighbours to move them; Undo takes a stroke back."
    if not state.entries:
        return "Check the roles of the columns in Input, choose approaches in the menus above, then press Run."
    if state.selected is None:
        return "Click a solution in Results: the map shows it at once."
    return "A star marks Pareto-optimal solutions. Click a region on the map to see which records it lost, and why."


class HintBar(QFrame):
    """The hint above the map."""

    def __init__(self, context: UiContext, settings: Preferences) -> None:
        super().__init__()
        self._state = context.state
        self._settings = settings
        self._is_page_shown = False
        self.setProperty("look", "hint")
        self.text = with_properties(Label(), wordWrap=True)
        hide = with_properties(QPushButton("N&o more hints"), flat=True)
        hide.clicked.connect(self._on_hide)
        hbox((self.text, 1), hide, within=self, margins=(2 * GRID, GRID // 2, GRID, GRID // 2))
        model = context.model
        for signal in (
            model.data_loaded,
            model.solution_added,
            model.solutions_changed,
            model.selection_changed,
        ):
            signal.connect(self.refresh)
        model.edited.connect(self.refresh)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Show the hint of the present state."""
        is_silent = self._is_page_shown or self._settings.flag("hints/off")
        hint = None if is_silent else hint_for(self._state)
        self.text.setText(hint or "")
        self.setVisible(hint is not None)

    def set_page_shown(self, is_shown: bool) -> None:
        """Hints are about the map: none is shown above a page."""
        self._is_page_shown = is_shown
        self.refresh()

    @Slot()
    def show_hints(self) -> None:
        """Show hints from now on."""
        self._settings.put("hints/off", False)
        self.refresh()

    @Slot()
    def _on_hide(self) -> None:
        self._settings.put("hints/off", True)
        self.refresh()
