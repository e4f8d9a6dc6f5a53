"""A sentence about something that is in the way, with the buttons that do something about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QMargins, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QPushButton, QWidget

from ..core.theme import GRID
from .fields import clear_layout, message_label, set_variant
from .layouts import button, order_tabs, vbox


@dataclass(frozen=True)
class NoticeAction:
    """A button of a notice. ``disabled_because``: why it cannot be pressed now; empty if it can."""

    text: str
    run: Callable[[], object]
    tip: str = ""
    keys: str = ""
    disabled_because: str = ""


class NoticeBar(QWidget):
    """Shows one sentence and its buttons, which wrap where there is little room; hidden while there is no sentence."""

    def __init__(self, parent: QWidget | None = None, margin: int = 0) -> None:
        super().__init__(parent)
        self.label = message_label()
        self.buttons: list[QPushButton] = []
        self._row = FlowLayout()
        self._actions: tuple[NoticeAction, ...] = ()
        vbox(
            self.label,
            self._row,
            within=self,
            margins=(margin, GRID // 2, margin, GRID // 2),
            spacing=GRID // 2,
        )
        self.hide()

    def show_notice(self, text: str, actions: Sequence[NoticeAction] = (), variant: str = "") -> None:
        """Show a sentence with buttons; an empty sentence hides the bar. ``variant`` as in the style sheet."""
        self.label.setText(text)
        set_variant(self.label, variant)
        if tuple(actions) != self._actions:
            self._actions = tuple(actions)
            self._make_buttons()
        self.setVisible(bool(text))

    def button(self, text: str) -> QPushButton:
        """Return the button whose text begins so. Raises `StopIteration` if there is none."""
        return next(each for each in self.buttons if each.text().replace("&", "").startswith(text))

    def _make_buttons(self) -> None:
        clear_layout(self._row)
        self.buttons = []
        for action in self._actions:
            tip = action.disabled_because or action.tip
            made = button(action.text, action.run, tip, action.keys, accessibleDescription=tip)
            made.setEnabled(not action.disabled_because)
            self._row.addWidget(made)
            self.buttons.append(made)
        # Not after `self`: Qt goes on from the last widget within it.
        order_tabs(self.label, self.buttons)


class FlowLayout(QLayout):
    """Places widgets from left to right and goes on in the next row where there is no room."""

    def __init__(self, spacing: int = GRID) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)

    def addItem(self, item: QLayoutItem, /) -> None:
        """Add an item at the end."""
        self._items.append(item)

    def count(self) -> int:
        """Return the number of items."""
        return len(self._items)

    def itemAt(self, index: int, /) -> QLayoutItem | None:  # type: ignore[override]
        """Return an item; None if there is none of this number."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int, /) -> QLayoutItem | None:  # type: ignore[override]
        """Remove an item and return it."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """Take no more room than is needed."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """Report that the height depends on the width."""
        return True

    def heightForWidth(self, width: int, /) -> int:
        """Return the height of all rows at this width."""
        return self._place(QRect(0, 0, width, 0), is_trial=True)

    def setGeometry(self, area: QRect, /) -> None:
        """Place the widgets in this area."""
        super().setGeometry(area)
        self._place(area, is_trial=False)

    def sizeHint(self) -> QSize:
        """Return the size of the widest widget, which is enough."""
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        """Return the size of the widest and highest widgets."""
        size = QSize(0, 0)
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size.grownBy(QMargins(self.contentsMargins()))

    def _place(self, area: QRect, is_trial: bool) -> int:
        y = area.y()
        for row in self._break_rows(area.width()):
            height = max(size.height() for _, size in row)
            x = area.x()
            for item, size in row:
                if not is_trial:
                    item.setGeometry(
                        QRect(x, y + (height - size.height()) // 2, size.width(), size.height())
                    )
                x += size.width() + self.spacing()
            y += height + self.spacing()
        return max(y - self.spacing() - area.y(), 0)

    def _break_rows(self, width: int) -> list[list[tuple[QLayoutItem, QSize]]]:
        """Return the items of each row, with their sizes; those that are hidden take no room."""
        rows: list[list[tuple[QLayoutItem, QSize]]] = []
        end = width + 1
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint().boundedTo(QSize(max(width, 1), 1 << 20))
            if not rows or end + size.width() > width:
                rows.append([])
                end = 0
            rows[-1].append((item, size))
            end += size.width() + self.spacing()
        return rows
