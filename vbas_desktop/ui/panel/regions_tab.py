"""The regions tab: the aggregated regions of the shown solution one by one, and why they lost records."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPoint, Qt, Slot
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QLineEdit,
    QMenu,
    QStackedLayout,
    QTableView,
    QWidget,
)

from vbas_desktop.model.words import counted
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.map.preparer import preparer_of
from vbas_desktop.ui.map.shown import Match, matches
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import dress, in_column, in_row, split
from vbas_desktop.ui.widgets.fields import EmptyState
from vbas_desktop.ui.widgets.plain_text import Label
from vbas_desktop.ui.widgets.tables import choose_row, copy_rows, fit_columns, offer_to_save_rows, set_up_sorted

from .regions_model import REGION_ROLE, RegionsModel, exact_rows
from .why import WhyView


class RegionsTab(QWidget):
    """Follows the shown solution; a row and the region on the map are chosen together."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._preparer = preparer_of(context)
        self.table_model = RegionsModel(self)
        self.table = QTableView()
        set_up_sorted(self.table, self.table_model, 0, "Aggregated regions")
        self.title = dress(Label(), look="muted")
        self.only_losses = dress(
            QCheckBox("&With losses only"), toolTip="Show only aggregated regions in which records were suppressed"
        )
        self.search_field = dress(
            QLineEdit(),
            placeholderText="Find a region by code, id or name (Ctrl+F)",
            accessibleName="Find a region",
            toolTip="Type and press Enter: the region is chosen and shown on the map; Enter again, the next one",
            clearButtonEnabled=True,
        )
        self._found: tuple[str, list[Match], int] = ("", [], 0)
        self.why = WhyView(context)
        self._build()
        self._connect()
        self._on_prepared()

    def _build(self) -> None:
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.copy = dress(QAction("&Copy table", self), shortcut="Ctrl+C")
        self.copy.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self.copy.triggered.connect(self._on_copy)
        self.addAction(self.copy)
        bar = in_row((self.title, 1), self.only_losses, margins=(GRID, GRID // 2, GRID, GRID // 2))
        search = in_row(self.search_field, margins=(GRID, 0, GRID, GRID // 2))
        upper = QWidget()
        in_column(bar, search, (self.table, 1), within=upper, margins=0, spacing=0)
        self._content = split(upper, self.why, upright=True, sizes=(460, 260))
        self._layers = QStackedLayout(self)
        self._empty = EmptyState("Choose a solution in Results to see its aggregated regions.")
        self._layers.addWidget(self._empty)
        self._layers.addWidget(self._content)

    def _connect(self) -> None:
        self._preparer.changed.connect(self._on_prepared)
        self._context.model.region_chosen.connect(self._on_region_chosen)
        self.table.selectionModel().currentRowChanged.connect(self._on_current_changed)
        self.table.customContextMenuRequested.connect(self._on_table_menu)
        self.table.horizontalHeader().customContextMenuRequested.connect(self._on_header_menu)
        self.only_losses.toggled.connect(self._on_only_losses)
        self.search_field.returnPressed.connect(self._on_find)
        shortcut = QShortcut(QKeySequence("Ctrl+F"), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(self.search_field.setFocus)

    # What the session says

    @Slot()
    def _on_prepared(self) -> None:
        shown = self._preparer.shown
        if shown is None and self._context.session.selected is not None:
            return
        if shown is self.table_model.shown:
            return
        self.table.selectionModel().blockSignals(True)
        columns_before = self.table_model.columnCount()
        self.table_model.show_solution(shown)
        self.table.selectionModel().blockSignals(False)
        if self.table_model.columnCount() != columns_before:
            fit_columns(self.table)
        self._layers.setCurrentWidget(self._empty if shown is None else self._content)
        self._found = ("", [], 0)
        if shown is not None:
            self.title.setText(f"Solution {shown.number:,}: {counted(len(shown.geometry.shapes), 'aggregated region')}")
        self._on_region_chosen()

    @Slot()
    def _on_region_chosen(self) -> None:
        region, shown = self._context.session.chosen_region, self.table_model.shown
        self.why.show_region(shown, region if shown is self._preparer.shown else None)
        row = -1 if region is None else self.table_model.row_of(region)
        choose_row(self.table, self.table_model.index(row, 0))

    # What the user does

    @Slot(bool)
    def _on_only_losses(self, on: bool) -> None:
        self.table_model.show_only_losses(on)
        self._on_region_chosen()

    @Slot(QModelIndex, QModelIndex)
    def _on_current_changed(self, current: QModelIndex, previous: QModelIndex) -> None:
        if current.isValid():
            self._context.session.choose_region(current.data(REGION_ROLE))

    @Slot()
    def _on_find(self) -> None:
        """Choose what the text means; with the same text again, the next of several."""
        shown, text = self.table_model.shown, self.search_field.text().strip()
        if shown is None or not text:
            return
        known = self._found
        again = known[0] == text and bool(known[1])
        found = known[1] if again else matches(shown, text)
        place = (known[2] + 1) % len(found) if again else 0
        self._found = (text, found, place)
        if not found:
            self._context.say(f"No region has “{text}” in its code, id or name.")
            return
        match = found[place]
        more = f" ({place + 1:,} of {len(found):,})" if len(found) > 1 else ""
        self._context.session.choose_region(match.region)
        self._context.say(f"{match.words}{more}.")

    @Slot()
    def _on_copy(self) -> None:
        head = [self.table_model.title(column) for column in range(self.table_model.columnCount())]
        rows = [
            [self.table_model.text(row, column) for column in range(len(head))]
            for row in range(self.table_model.rowCount())
        ]
        copy_rows([head, *rows])
        self._context.say(f"Copied {len(rows):,} aggregated regions.")

    @Slot()
    def _on_save(self) -> None:
        shown = self.table_model.shown
        if shown is not None:
            offer_to_save_rows(self._context, self, exact_rows(shown), f"regions of solution {shown.number}.csv")

    @Slot(QPoint)
    def _on_header_menu(self, position: QPoint) -> None:
        header = self.table.horizontalHeader()
        self._open_menu(header.logicalIndexAt(position), header.mapToGlobal(position))

    @Slot(QPoint)
    def _on_table_menu(self, position: QPoint) -> None:
        self._open_menu(self.table.columnAt(position.x()), self.table.viewport().mapToGlobal(position))

    def _open_menu(self, column: int, position: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        figure = self.table_model.figure(column)
        if figure is not None:
            menu.addAction(f"Colour the &map by “{figure.title}”", lambda: self._context.session.colour_by(figure.name))
        menu.addAction("&Distinct colours on the map", lambda: self._context.session.colour_by(None))
        menu.addSeparator()
        menu.addAction(self.copy)
        menu.addAction("&Save table as CSV…", self._on_save)
        menu.popup(position)
