"""Choosing columns of a file: lists that stay narrow, a field of names, and the menu in which they are ticked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QAction, QIcon, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QComboBox, QLineEdit, QMenu, QWidget

from vbas_desktop.io.paths import resource_path
from vbas_desktop.model.text import escape_controls, quote_name, split_quoted, unquote_name

from .layouts import add_checkable_action, set_items

_TICKING_KEYS = (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)


class CheckableMenu(QMenu):
    """Choosing an entry with a tick box sets it and leaves the menu open; Escape or a click beside it closes it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setToolTipsVisible(True)

    def offer(self, names: Iterable[str], chosen: Collection[str], then: Callable[[], None]) -> None:
        """Have these names ticked; each time one is, or is no longer, something follows."""
        self.clear()
        for name in names:
            add_checkable_action(self, name, name in chosen, name).triggered.connect(then)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Set a tick without closing."""
        action = self.actionAt(event.position().toPoint())
        if action is None or not self._tick(action):
            super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Set a tick without closing."""
        action = self.activeAction()
        if event.key() not in _TICKING_KEYS or action is None or not self._tick(action):
            super().keyPressEvent(event)

    @staticmethod
    def _tick(action: QAction) -> bool:
        if not (action.isCheckable() and action.isEnabled()):
            return False
        action.trigger()
        return True


class ColumnPicker(QLineEdit):
    """Names separated by commas, or one (``single``), or names with something typed behind (``value``: "age=0.5").

    A name with a comma in it stands in double quotes.
    As long as no names are offered they can be typed; then plain names are chosen from the list only, which a click,
    the arrow key down or the arrow at the end opens.
    """

    def __init__(self, single: bool = False, value: bool = False) -> None:
        super().__init__()
        self._single = single
        self._value = value
        self.offered: tuple[str, ...] = ()
        """What can be chosen."""
        self.menu = CheckableMenu(self)
        self._arrow = QAction(QIcon(str(resource_path("icons/down-light.svg"))), "Choose columns", self)
        self._arrow.triggered.connect(self.open_list)
        self.addAction(self._arrow, QLineEdit.ActionPosition.TrailingPosition)
        self._arrow.setVisible(False)

    def offer(self, names: Iterable[str]) -> None:
        """Offer these names."""
        self.offered = tuple(dict.fromkeys(names))
        self._arrow.setVisible(bool(self.offered))
        self.setReadOnly(bool(self.offered) and not self._value)

    def _parts(self) -> list[str]:
        parts = [self.text()] if self._single else split_quoted(self.text(), ",")
        return [part.strip() for part in parts if part.strip()]

    def chosen(self) -> Sequence[str]:
        """Return the names in the field, without what is typed behind them."""
        if self._single:
            return self._parts()
        return [
            unquote_name(part.partition("=")[0].strip() if self._value else part)
            for part in self._parts()
        ]

    @Slot()
    def open_list(self) -> None:
        """Show the list below the field."""
        if not self.offered:
            return
        chosen = self.chosen()
        # What the file lacks can be unticked.
        names = dict.fromkeys((*self.offered, *chosen))
        self.menu.offer(names, chosen, self._on_ticked)
        self.menu.popup(self.mapToGlobal(self.rect().bottomLeft()))

    @Slot()
    def _on_ticked(self) -> None:
        action = self.sender()
        assert isinstance(action, QAction)
        name = action.data()
        parts = self._parts()
        entries = [
            part for part, chosen_name in zip(parts, self.chosen(), strict=True) if chosen_name != name
        ]
        if action.isChecked():
            entries = (
                [name] if self._single else [*entries, f"{name}=" if self._value else quote_name(name)]
            )
        self.setText(", ".join(entries))
        self.textEdited.emit(self.text())
        if self._single or self._value:
            self.menu.close()
            self.setFocus()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Open the list at a click where nothing can be typed."""
        super().mousePressEvent(event)
        if self.isReadOnly() and self.isEnabled():
            self.open_list()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open the list with the arrow down, and with the space bar where nothing can be typed."""
        opens = event.key() == Qt.Key.Key_Down or (self.isReadOnly() and event.key() == Qt.Key.Key_Space)
        if opens and self.offered:
            self.open_list()
        else:
            super().keyPressEvent(event)


def narrow_combo_box(titles: Mapping[str | None, str] | None = None) -> QComboBox:
    """Make a list that need not show its longest entry in full while it is closed."""
    combo = QComboBox()
    make_narrow(combo)
    set_items(combo, ((text, value) for value, text in (titles or {}).items()))
    return combo


def make_narrow(combo: QComboBox, letters: int = 8) -> None:
    """Let a combo box be narrow, with this many letters in sight."""
    combo.setMinimumContentsLength(letters)
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)


class ColumnComboBox(QComboBox):
    """One name of a file, or none of them, which ``nothing`` says in words. A name that the file lacks stays chosen
    until somebody chooses another: it is told as missing.
    """

    def __init__(self, nothing: str) -> None:
        super().__init__()
        make_narrow(self)
        self._nothing = nothing
        self.offer(())

    def offer(self, names: Iterable[str]) -> None:
        """Offer these names; what is chosen stays."""
        chosen = self.chosen
        set_items(self, [(self._nothing, None), *((name, name) for name in dict.fromkeys(names))])
        self.choose(chosen)

    @property
    def chosen(self) -> str | None:
        """The chosen name."""
        name: str | None = self.currentData()
        return name

    def choose(self, name: str | None) -> None:
        """Show a name as chosen."""
        if name is not None and self.findData(name) < 0:
            text = escape_controls(name)
            self.addItem(f"{text} (not in the file)" if self.count() > 1 else text, name)
        self.setCurrentIndex(max(0, self.findData(name)))
