"""Cells of tables that are more than text: drop-down lists and bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import (
    QLocale,
    QObject,
    QPoint,
    QRect,
    QSize,
    Qt,
)
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import (
    QComboBox,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from ..core.theme import GRID
from .layouts import set_items, with_properties
from .tables import SHARE, Index

Choices = Callable[[], Sequence[tuple[str, ...]]]
"""What can be chosen now: short form, words, and perhaps a tip."""


ARROW_WIDTH = 2 * GRID
"""Room at the right of a cell for the arrow of a list."""


def draw_arrow(
    delegate: QStyledItemDelegate,
    painter: QPainter,
    option: QStyleOptionViewItem,
    index: Index,
    is_visible: bool,
) -> None:
    """Draw a cell and, right of its text, the arrow that says that a click opens something."""
    whole = QRect(option.rect)  # type: ignore[attr-defined]
    option.rect = whole.adjusted(0, 0, -ARROW_WIDTH, 0)  # type: ignore[attr-defined]
    QStyledItemDelegate.paint(delegate, painter, option, index)
    arrow = QStyleOptionViewItem(option)
    arrow.rect = QRect(whole.right() - ARROW_WIDTH + 1, whole.top(), ARROW_WIDTH, whole.height())  # type: ignore[attr-defined]
    is_selected = bool(option.state & QStyle.StateFlag.State_Selected)  # type: ignore[attr-defined]
    palette = option.palette  # type: ignore[attr-defined]
    if is_selected:
        painter.fillRect(arrow.rect, palette.highlight())  # type: ignore[attr-defined]
    if is_visible:
        colour = palette.highlightedText().color() if is_selected else palette.text().color()
        _draw_chevron(painter, arrow.rect, colour)  # type: ignore[attr-defined]


def _draw_chevron(painter: QPainter, area: QRect, colour: QColor) -> None:
    centre = area.center()
    half = GRID // 2
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(colour, 1.5))
    left = QPoint(centre.x() - half, centre.y() - half // 2)
    bottom = QPoint(centre.x(), centre.y() + half // 2)
    right = QPoint(centre.x() + half, centre.y() - half // 2)
    painter.drawPolyline([left, bottom, right])
    painter.restore()


class ComboBoxDelegate(QStyledItemDelegate):
    """``typed``: something that is not in the list may be typed as well; ``words`` says it in words. ``unfolded``: the
    list is open at once.
    """

    def __init__(
        self,
        choices: Choices,
        parent: QObject,
        typed: bool = False,
        words: Callable[[str], str] | None = None,
        unfolded: bool = False,
    ) -> None:
        super().__init__(parent)
        self._choices = choices
        self._typed = typed
        self._words = words
        self._unfolded = unfolded

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw what is chosen, with the arrow of a list."""
        draw_arrow(self, painter, option, index, bool(index.flags() & Qt.ItemFlag.ItemIsEditable))

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the size of the text with its arrow."""
        return super().sizeHint(option, index) + QSize(ARROW_WIDTH, 0)

    def displayText(self, value: object, locale: QLocale | QLocale.Language) -> str:
        """Return the words of what is chosen."""
        text = str(value)
        titles = {short: words for short, words, *_ in self._choices()}
        return titles.get(text) or (self._words(text) if self._words is not None else "") or text

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """Make the list to choose from."""
        combo = with_properties(QComboBox(parent), editable=self._typed)
        set_items(combo, ((words, short, *tip) for short, words, *tip in self._choices()))
        combo.activated.connect(lambda: self._commit(combo))
        return combo

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Begin with what is chosen."""
        assert isinstance(editor, QComboBox)
        text = str(index.data(Qt.ItemDataRole.EditRole) or "")
        position = editor.findData(text)
        editor.setCurrentIndex(position)
        if position < 0 and self._typed:
            editor.setEditText(text)
        if self._unfolded:
            editor.showPopup()

    def setModelData(self, editor: QWidget, model: object, index: Index) -> None:
        """Keep the short form."""
        assert isinstance(editor, QComboBox)
        position = editor.currentIndex()
        typed = self._typed and editor.currentText() != editor.itemText(position)
        if typed or position >= 0:
            text = editor.currentText().strip() if typed else editor.itemData(position)
            model.setData(index, text)  # type: ignore[attr-defined]

    def _commit(self, combo: QComboBox) -> None:
        self.commitData.emit(combo)
        self.closeEditor.emit(combo)


class BarDelegate(QStyledItemDelegate):
    """Draws the share of the largest category as a bar."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one bar."""
        super().paint(painter, option, index)
        bar: QRect = option.rect.adjusted(4, 6, -8, -6)  # type: ignore[attr-defined]
        colour = QColor(option.palette.highlight().color())  # type: ignore[attr-defined]
        colour.setAlpha(140)
        bar.setWidth(max(1, round(bar.width() * float(index.data(SHARE) or 0))))
        painter.fillRect(bar, colour)
