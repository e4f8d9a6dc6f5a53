"""A table whose first columns never scroll away, with headings of groups and badges."""

from __future__ import annotations

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    Qt,
    Slot,
)
from PySide6.QtGui import QPainter, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from ..core.theme import GRID
from .elastic_table import ElasticTableView
from .tables import BADGE, HEADING, TableModel, set_up_table

_MOST_SHARE = 0.62
"""Frozen columns take at most this share of the width: the others must stay in reach."""

_LINE = 1
"""Pixels of the line between the frozen columns and the others."""

Index = QModelIndex | QPersistentModelIndex


class FrozenTableView(ElasticTableView):
    """Shows its first columns in a second view over the first one, which shares model, selection and sorting."""

    def __init__(self) -> None:
        super().__init__()
        self._n_frozen = 0
        self._frozen = QTableView(self)
        self._frozen.setFrameShape(QFrame.Shape.NoFrame)
        self._frozen.setProperty("look", "frozen")
        self._frozen.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._frozen.setFocusProxy(self)
        for policy in (
            self._frozen.setHorizontalScrollBarPolicy,
            self._frozen.setVerticalScrollBarPolicy,
        ):
            policy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for view in (self, self._frozen):
            view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
            view.setItemDelegate(RowDelegate(view))
        self._frozen.hide()
        self._frozen.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._frozen.customContextMenuRequested.connect(self.customContextMenuRequested)
        header = self._frozen.horizontalHeader()
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self.horizontalHeader().customContextMenuRequested)
        header.sectionResized.connect(self._on_frozen_section_resized)
        self.horizontalHeader().sectionResized.connect(self._on_own_section_resized)
        self.horizontalHeader().sectionMoved.connect(self._on_section_moved)
        self.horizontalHeader().geometriesChanged.connect(self._place_frozen)
        self.horizontalHeader().sortIndicatorChanged.connect(self._on_sorted)
        header.sortIndicatorChanged.connect(self._on_frozen_sorted)
        self.verticalScrollBar().valueChanged.connect(self._frozen.verticalScrollBar().setValue)
        self._frozen.verticalScrollBar().valueChanged.connect(self.verticalScrollBar().setValue)

    def set_up(self, name: str) -> None:
        """Set up both views, which are sorted by the headers of either."""
        set_up_table(self, name)
        set_up_table(self._frozen, f"{name}: columns that stay in view")
        header = self._frozen.horizontalHeader()
        header.setSectionsClickable(True)
        header.setSortIndicatorShown(True)

    def setModel(self, model: QAbstractItemModel | None) -> None:
        """Show another model in both views."""
        super().setModel(model)
        self._frozen.setModel(model)
        self._frozen.setSelectionModel(self.selectionModel())
        if model is not None:
            for signal in (model.modelReset, model.layoutChanged, model.rowsInserted, model.rowsRemoved):
                signal.connect(self._span_headings)

    def freeze(self, n_columns: int) -> None:
        """Keep the first columns in view, as many of them as leave room for others."""
        self._n_frozen = n_columns
        self._place_frozen()
        self._span_headings()

    @property
    def frozen_columns(self) -> list[int]:
        """Return the numbers of the columns that stay in view."""
        room = _MOST_SHARE * self.viewport().width()
        columns: list[int] = []
        for column in range(self._n_frozen):
            if self.isColumnHidden(column):
                continue
            room -= self.columnWidth(column)
            if room < 0:
                break
            columns.append(column)
        return columns

    @property
    def frozen_width(self) -> int:
        """Return the width of the columns that stay in view."""
        return sum(map(self.columnWidth, self.frozen_columns))

    @Slot()
    def _place_frozen(self) -> None:
        frozen = self.frozen_columns
        model = self.model()
        for column in range(0 if model is None else model.columnCount()):
            self._frozen.setColumnHidden(column, column not in frozen)
            if column in frozen and self._frozen.columnWidth(column) != self.columnWidth(column):
                self._frozen.setColumnWidth(column, self.columnWidth(column))
        header = self.horizontalHeader().height()
        self._frozen.horizontalHeader().setFixedHeight(header)
        edge = self.frameWidth()
        self._frozen.setGeometry(
            QRect(edge, edge, self.frozen_width + _LINE, self.viewport().height() + header)
        )
        self._frozen.setVisible(bool(frozen))

    @Slot()
    def _span_headings(self) -> None:
        model = self.model()
        if not isinstance(model, TableModel):
            return
        positions = model.heading_positions()
        for view in (self, self._frozen):
            view.clearSpans()
            if model.columnCount() > 1:
                for position in positions:
                    view.setSpan(position, 0, 1, model.columnCount())

    @Slot(int, int, int)
    def _on_own_section_resized(self, column: int, before: int, now: int) -> None:
        if column < self._n_frozen:
            self._place_frozen()

    @Slot(int, int, int)
    def _on_frozen_section_resized(self, column: int, before: int, now: int) -> None:
        if now and column in self.frozen_columns and self.columnWidth(column) != now:
            self.setColumnWidth(column, now)

    @Slot(int, Qt.SortOrder)
    def _on_sorted(self, column: int, order: Qt.SortOrder) -> None:
        self._frozen.horizontalHeader().setSortIndicator(column, order)

    @Slot(int, Qt.SortOrder)
    def _on_frozen_sorted(self, column: int, order: Qt.SortOrder) -> None:
        self.horizontalHeader().setSortIndicator(column, order)

    @Slot(int, int, int)
    def _on_section_moved(self, column: int, before: int, now: int) -> None:
        """Columns that stay in view stay where they are, and others do not come before them."""
        if min(before, now) < self._n_frozen:
            self.horizontalHeader().moveSection(now, before)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the frozen columns as high as the table, and the current row in view."""
        super().resizeEvent(event)
        self._place_frozen()
        if event.oldSize().height() != event.size().height() and self.currentIndex().isValid():
            self.scrollTo(self.currentIndex())

    def event(self, event: QEvent) -> bool:
        """Use other fonts and colours in both views."""
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._place_frozen()
        return super().event(event)

    def scrollTo(
        self, index: Index, hint: QAbstractItemView.ScrollHint = QTableView.ScrollHint.EnsureVisible
    ) -> None:
        """Bring a cell into view, not below the columns that are always in view."""
        # Rows that came a moment ago are not in the ranges of the scroll bars yet, and either bar follows the other.
        for view in (self, self._frozen):
            view.updateGeometries()
        bar = self.horizontalScrollBar()
        before = bar.value()
        super().scrollTo(index, hint)
        if index.column() in self.frozen_columns:
            bar.setValue(before)
            return
        left = self.visualRect(index).left()
        if left < self.frozen_width:
            bar.setValue(bar.value() - self.frozen_width + left)

    def indexAt(self, position: QPoint) -> QModelIndex:
        """Return the cell at a position: that of the frozen columns where they are."""
        if position.x() < self.frozen_width:
            return self._frozen.indexAt(position)
        return super().indexAt(position)


class RowDelegate(QStyledItemDelegate):
    """Paints headings of groups over all columns, and badges after the text of a cell."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint a cell."""
        heading = index.data(HEADING)
        if heading:
            _paint_heading(painter, option, heading)
            return
        super().paint(painter, option, index)
        badge = index.data(BADGE)
        if badge:
            _paint_badge(painter, option, str(index.data() or ""), badge)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> object:  # type: ignore[override]
        """Return the size of a cell with its badge."""
        hint = super().sizeHint(option, index)
        badge = index.data(BADGE)
        if index.data(HEADING):
            hint.setWidth(0)
        elif badge:
            hint.setWidth(hint.width() + option.fontMetrics.horizontalAdvance(badge) + 3 * GRID)  # type: ignore[attr-defined]
        return hint


def _paint_heading(painter: QPainter, option: QStyleOptionViewItem, text: str) -> None:
    """Paint a heading from the left edge of the view on, wherever its columns are scrolled to."""
    palette: QPalette = option.palette  # type: ignore[attr-defined]
    rect: QRect = option.rect  # type: ignore[attr-defined]
    widget: QWidget | None = option.widget  # type: ignore[attr-defined]
    painter.save()
    painter.fillRect(rect, palette.window())
    font = painter.font()
    font.setBold(True)
    painter.setFont(font)
    painter.setPen(palette.text().color())
    width = max(rect.right(), 0 if widget is None else widget.width())
    area = QRect(GRID, rect.top(), width, rect.height())
    painter.setClipRect(area.united(rect))
    painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
    painter.restore()


def _paint_badge(painter: QPainter, option: QStyleOptionViewItem, text: str, badge: str) -> None:
    palette: QPalette = option.palette  # type: ignore[attr-defined]
    rect: QRect = option.rect  # type: ignore[attr-defined]
    metrics = option.fontMetrics  # type: ignore[attr-defined]
    is_selected = bool(option.state & option.state.State_Selected)  # type: ignore[attr-defined]
    ground = palette.highlightedText() if is_selected else palette.highlight()
    ink = palette.highlight() if is_selected else palette.highlightedText()
    left = rect.left() + GRID + (metrics.horizontalAdvance(text) + GRID // 2 if text else 0)
    width = min(metrics.horizontalAdvance(badge) + GRID, rect.right() - left - 2)
    area = QRect(left, rect.top() + 3, width, rect.height() - 6)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ground)
    painter.drawRoundedRect(area, 4, 4)
    painter.setPen(ink.color())
    painter.drawText(area, Qt.AlignmentFlag.AlignCenter, badge)
    painter.restore()
