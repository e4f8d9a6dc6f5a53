"""One version: gauges above, cards below, and its classes in a table."""

from __future__ import annotations

from PySide6.QtCore import QSortFilterProxyModel, Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QScrollArea, QSplitter, QTableView, QVBoxLayout, QWidget

from vbas_desktop.session.representing import Description
from vbas_desktop.ui.panel.fields import muted, title
from vbas_desktop.ui.panel.tables import fit_columns, set_up_table
from vbas_desktop.ui.theme import GRID, Theme

from .classes_model import SORT_ROLE, ClassesModel
from .gauge import Gauge


class VersionView(QWidget):
    """Shows a `Description`; None: nothing yet."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.heading = title("")
        self.heading.setWordWrap(True)
        self.model, self.sorted = ClassesModel(self), QSortFilterProxyModel(self)
        self.sorted.setSourceModel(self.model)
        self.sorted.setSortRole(SORT_ROLE)
        self.table = QTableView()
        self.table.setModel(self.sorted)
        self.table.setSortingEnabled(True)
        set_up_table(self.table, "Classes")
        self.gauges: list[Gauge] = []
        self._columns = 2
        self._description: Description | None = None
        self._scroll = scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.addWidget(scroll)
        splitter.addWidget(self.table)
        splitter.setSizes([440, 300])
        splitter.setChildrenCollapsible(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 0, 2 * GRID, GRID)
        layout.addWidget(self.heading)
        layout.addWidget(splitter, 1)

    @property
    def described(self) -> Description | None:
        """What is shown."""
        return self._description

    def show_description(self, description: Description | None, columns: int = 2) -> None:
        """Show another version in so many columns of cards."""
        if description is self._description and columns == self._columns:
            return
        self._description, self._columns = description, columns
        self.gauges = []
        self.heading.setText(description.title if description is not None else "")
        headings, rows = (description.headings, description.rows) if description is not None else ((), ())
        self.model.show_rows(headings, rows)
        self.table.setVisible(bool(rows))
        self.table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        fit_columns(self.table)
        if description is None:
            return
        inner = QWidget()
        grid = QGridLayout(inner)
        grid.setContentsMargins(0, 0, GRID, GRID)
        grid.setHorizontalSpacing(3 * GRID)
        grid.setVerticalSpacing(GRID)
        self.gauges = [Gauge(shown, self._theme) for shown in description.measures]
        cards = [_card(name, lines) for name, lines in description.cards]
        for widgets in ([*self.gauges], cards):
            first = grid.rowCount()
            for place, widget in enumerate(widgets):
                grid.addWidget(widget, first + place // columns, place % columns)
        grid.setRowStretch(grid.rowCount(), 1)
        self._scroll.setWidget(inner)


def _card(name: str, lines: tuple[str, ...]) -> QWidget:
    card = QFrame()
    column = QVBoxLayout(card)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(GRID // 4)
    column.addWidget(title(name))
    for line in lines:
        label: QLabel = muted(line)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column.addWidget(label)
    column.addStretch(1)
    return card
