"""Cells of a grid that are chosen from a list and shown in words; what is kept is the short form that files have."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QLocale, QObject, Qt
from PySide6.QtWidgets import QComboBox, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from .tables import Index

Choices = Callable[[], Sequence[tuple[str, str]]]
"""What can be chosen now: short form and words."""


class ChoiceCells(QStyledItemDelegate):
    """``typed``: something that is not in the list may be typed as well; ``words`` says it in words."""

    def __init__(
        self, choices: Choices, parent: QObject, typed: bool = False, words: Callable[[str], str] | None = None
    ) -> None:
        super().__init__(parent)
        self._choices, self._typed, self._words = choices, typed, words

    def displayText(self, value: object, locale: QLocale | QLocale.Language) -> str:
        """The words of what is chosen."""
        text = str(value)
        return dict(self._choices()).get(text) or (self._words(text) if self._words is not None else "") or text

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """The list."""
        combo = QComboBox(parent)
        combo.setEditable(self._typed)
        for short, words in self._choices():
            combo.addItem(words, short)
        combo.activated.connect(lambda: self._chosen(combo))
        return combo

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Begin with what is chosen."""
        assert isinstance(editor, QComboBox)
        text = str(index.data(Qt.ItemDataRole.EditRole) or "")
        place = editor.findData(text)
        editor.setCurrentIndex(place)
        if place < 0 and self._typed:
            editor.setEditText(text)

    def setModelData(self, editor: QWidget, model: object, index: Index) -> None:
        """Keep the short form."""
        assert isinstance(editor, QComboBox)
        place = editor.currentIndex()
        typed = self._typed and editor.currentText() != editor.itemText(place)
        if typed or place >= 0:
            text = editor.currentText().strip() if typed else editor.itemData(place)
            model.setData(index, text)  # type: ignore[attr-defined]

    def _chosen(self, combo: QComboBox) -> None:
        self.commitData.emit(combo)
        self.closeEditor.emit(combo)
