"""A field of names that are chosen from a list: the columns of a file, ticked in a menu, in place of typing them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QAction, QIcon, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QLineEdit

from vbas_desktop.domain.listing import parts_of, quoted, unquoted
from vbas_desktop.files.places import resource

from .ticking_menu import TickingMenu


class NamesEdit(QLineEdit):
    """Names separated by commas, or one (``single``), or names with something typed behind (``value``: "age=0.5").

    A name with a comma in it stands in double quotes.
    As long as no names are offered they can be typed; then plain names are chosen from the list only, which a click,
    the arrow key down or the arrow at the end opens.
    """

    def __init__(self, single: bool = False, value: bool = False) -> None:
        super().__init__()
        self._single, self._value = single, value
        self._offered: tuple[str, ...] = ()
        self.menu = TickingMenu(self)
        self._arrow = QAction(QIcon(str(resource("icons/down-light.svg"))), "Choose columns", self)
        self._arrow.triggered.connect(self.open_list)
        self.addAction(self._arrow, QLineEdit.ActionPosition.TrailingPosition)
        self._arrow.setVisible(False)

    def offer(self, names: Iterable[str]) -> None:
        """Offer these names."""
        self._offered = tuple(dict.fromkeys(names))
        self._arrow.setVisible(bool(self._offered))
        self.setReadOnly(bool(self._offered) and not self._value)

    @property
    def offered(self) -> tuple[str, ...]:
        """What can be chosen."""
        return self._offered

    def _parts(self) -> list[str]:
        parts = [self.text()] if self._single else parts_of(self.text(), ",")
        return [part.strip() for part in parts if part.strip()]

    def chosen(self) -> Sequence[str]:
        """The names in the field, without what is typed behind them."""
        if self._single:
            return self._parts()
        return [unquoted(part.partition("=")[0].strip() if self._value else part) for part in self._parts()]

    @Slot()
    def open_list(self) -> None:
        """Show the list below the field."""
        if not self._offered:
            return
        chosen = self.chosen()
        self.menu.clear()
        for name in self._offered:
            action = self.menu.addAction(name.replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(name in chosen)
            action.setData(name)
            action.triggered.connect(self._on_ticked)
        self.menu.popup(self.mapToGlobal(self.rect().bottomLeft()))

    @Slot()
    def _on_ticked(self) -> None:
        action = self.sender()
        assert isinstance(action, QAction)
        name, parts = action.data(), self._parts()
        kept = [part for part, each in zip(parts, self.chosen(), strict=True) if each != name]
        if action.isChecked():
            kept = [name] if self._single else [*kept, f"{name}=" if self._value else quoted(name)]
        self.setText(", ".join(kept))
        self.textEdited.emit(self.text())
        if self._single or self._value:
            self.menu.close()
            self.setFocus()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click opens the list where nothing can be typed."""
        super().mousePressEvent(event)
        if self.isReadOnly() and self.isEnabled():
            self.open_list()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """So do the arrow down, and the space bar where nothing can be typed."""
        opens = event.key() == Qt.Key.Key_Down or (self.isReadOnly() and event.key() == Qt.Key.Key_Space)
        if opens and self._offered:
            self.open_list()
        else:
            super().keyPressEvent(event)
