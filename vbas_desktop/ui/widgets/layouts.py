"""Widgets put together in one expression: their properties, rows and columns of them, and panes that share room."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, TypeVar

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, SignalInstance
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLayout,
    QMenu,
    QPushButton,
    QScrollArea,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from vbas_desktop.model.text import escape_controls

from .plain_text import menu_text, tool_tip

Q = TypeVar("Q", bound=QObject)
B = TypeVar("B", bound=QBoxLayout)

Content = QWidget | QLayout
Part = Content | int | tuple[Content, int] | tuple[Content, int, Qt.AlignmentFlag]
"""A widget or layout, perhaps with its share of the free room and its side; a number alone is a share left empty."""

Margins = int | tuple[int, int, int, int]
"""All around, or left, above, right and below."""


def with_properties(widget: Q, **properties: object) -> Q:
    """Set properties of a widget by Qt's own names, perhaps with a ``look`` (see `stylesheet`), and return it.

    The look of a widget that may be in sight already is changed by `fields.set_variant`.
    """
    for name, value in properties.items():
        if name == "toolTip":
            value = tool_tip(str(value))
        if not widget.setProperty(name, value) and name != "look":
            raise AttributeError(f"{type(widget).__name__} has no property “{name}”")
    return widget


def button(
    text: str,
    clicked: Callable[[], object] | SignalInstance | None = None,
    tip: str = "",
    keys: str = "",
    **properties: object,
) -> QPushButton:
    """Make a button: what a click does, what its tip says, and the keys that press it, which the tip tells, too."""
    push_button = with_properties(
        QPushButton(text), toolTip=f"{tip} ({keys})" if keys else tip, **properties
    )
    if keys:
        push_button.setShortcut(keys)
    if clicked is not None:
        push_button.clicked.connect(clicked)
    return push_button


def order_tabs(previous: QWidget, widgets: Sequence[QWidget]) -> None:
    """Have the tab key go from ``previous``, which may take no focus itself, to these widgets, one after the other.

    Widgets that are made after the window would otherwise come last.
    """
    policy = previous.focusPolicy()
    # Qt puts nothing behind a widget that takes no focus.
    previous.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    for one, following in pairwise([previous, *widgets]):
        QWidget.setTabOrder(one, following)
    previous.setFocusPolicy(policy)


def popup_menu(parent: QWidget) -> QMenu:
    """Make a menu that is gone once it is closed."""
    menu = QMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return menu


def single_shot_timer(milliseconds: int, then: Callable[[], object], parent: QObject) -> QTimer:
    """Make a timer that waits once each time it is started, then calls."""
    timer = with_properties(QTimer(parent), singleShot=True, interval=milliseconds)
    timer.timeout.connect(then)
    return timer


def set_items(combo: QComboBox, entries: Iterable[tuple[Any, ...]]) -> None:
    """Have these entries (text, value, perhaps a tip) chosen from, unless they are in the list already."""
    rows = [(escape_controls(text), value, *tip) for text, value, *tip in entries]
    if [row[:2] for row in rows] != [
        (combo.itemText(i), combo.itemData(i)) for i in range(combo.count())
    ]:
        combo.clear()
        for index, (text, value, *tip) in enumerate(rows):
            combo.addItem(text, value)
            if tip:
                combo.setItemData(index, tool_tip(tip[0]), Qt.ItemDataRole.ToolTipRole)


def add_checkable_action(
    menu: QMenu, text: str, on: bool, data: object = None, tip: str = ""
) -> QAction:
    """Add a menu entry that can be ticked; no letter of its text is taken for a mnemonic if it has ``data``."""
    action = menu.addAction(text if data is None else menu_text(text))
    action.setData(data)
    return with_properties(action, checkable=True, checked=on, toolTip=tip)


def vbox(
    *parts: Part,
    within: QWidget | None = None,
    margins: Margins | None = None,
    spacing: int | None = None,
) -> QVBoxLayout:
    """Parts below each other; what is not said of margins and spacing is as usual."""
    return _fill_box(QVBoxLayout() if within is None else QVBoxLayout(within), parts, margins, spacing)


def hbox(
    *parts: Part,
    within: QWidget | None = None,
    margins: Margins | None = None,
    spacing: int | None = None,
) -> QHBoxLayout:
    """Parts beside each other."""
    return _fill_box(QHBoxLayout() if within is None else QHBoxLayout(within), parts, margins, spacing)


def _expand_margins(margins: Margins) -> tuple[int, int, int, int]:
    return (margins, margins, margins, margins) if isinstance(margins, int) else margins


def _fill_box(layout: B, parts: tuple[Part, ...], margins: Margins | None, spacing: int | None) -> B:
    if margins is not None:
        layout.setContentsMargins(*_expand_margins(margins))
    if spacing is not None:
        layout.setSpacing(spacing)
    for part in parts:
        if isinstance(part, int):
            layout.addStretch(part)
            continue
        content, *how = part if isinstance(part, tuple) else (part,)
        put: Any = layout.addWidget if isinstance(content, QWidget) else layout.addLayout
        put(content, *how)
    return layout


def grid_layout(
    *rows: Sequence[QWidget | None],
    within: QWidget | None = None,
    margins: Margins | None = None,
    across: int | None = None,
    down: int | None = None,
    shares: Sequence[int] = (),
) -> QGridLayout:
    """Rows below each other, ``across`` and ``down`` being the gaps between their widgets, ``shares`` what each column
    gets of the free room. The last widget of a short row reaches to the right end; None leaves a place empty.
    """
    grid = QGridLayout() if within is None else QGridLayout(within)
    if margins is not None:
        grid.setContentsMargins(*_expand_margins(margins))
    if across is not None:
        grid.setHorizontalSpacing(across)
    if down is not None:
        grid.setVerticalSpacing(down)
    for column, share in enumerate(shares):
        grid.setColumnStretch(column, share)
    columns = max(map(len, rows), default=0)
    for index, row in enumerate(rows):
        for column, widget in enumerate(row):
            if widget is not None:
                last = column == len(row) - 1
                grid.addWidget(widget, index, column, 1, columns - column if last else 1)
    return grid


def splitter(
    *panes: QWidget, sizes: Sequence[int] = (), upright: bool = False, growing: int | None = None
) -> QSplitter:
    """Panes beside each other (``upright``: below each other) that share the room; none of them can be folded away.

    ``sizes`` is how they share it at first; ``growing`` is the one that gets what is added.
    """
    splitter = QSplitter(Qt.Orientation.Vertical if upright else Qt.Orientation.Horizontal)
    for pane in panes:
        splitter.addWidget(pane)
    if growing is not None:
        splitter.setStretchFactor(growing, 1)
    if sizes:
        splitter.setSizes(list(sizes))
    splitter.setChildrenCollapsible(False)
    return splitter


class VerticalScrollArea(QScrollArea):
    """Scrolls up and down only; never narrower than what is in it."""

    def __init__(self, content: QWidget | None = None) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        # What is in it takes the focus, and comes into view with it.
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        if content is not None:
            self.setWidget(content)

    def minimumSizeHint(self) -> QSize:
        """Return the width of the content and the scroll bar."""
        hint = super().minimumSizeHint()
        content = self.widget()
        needed = (
            content.minimumSizeHint().width() + self.verticalScrollBar().sizeHint().width()
            if content
            else 0
        )
        return QSize(max(needed, hint.width()), hint.height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Tell the layout around it when the content needs more or less room."""
        if watched is self.widget() and event.type() is QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)


def scroll_area(content: QWidget, **properties: object) -> QScrollArea:
    """Make content scroll where there is too little room for it."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setWidget(content)
    return with_properties(area, **properties)
