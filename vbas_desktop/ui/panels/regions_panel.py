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

from vbas_desktop.model.text import format_count

from ..core.context import UiContext
from ..core.theme import GRID
from ..map.map_cache import map_cache_of
from ..presentation.scene import Match, matches
from ..widgets.fields import Placeholder
from ..widgets.layouts import hbox, splitter, vbox, with_properties
from ..widgets.plain_text import Label
from ..widgets.table_actions import add_sort_menu, copy_rows, offer_to_save_rows
from ..widgets.tables import fit_columns, select_row, set_up_sorted
from .regions_model import RegionsModel, exact_rows
from .suppressed_classes import SuppressedClassesView


class RegionsPanel(QWidget):
    """Follows the shown solution; a row and the region on the map are chosen together."""

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self._context = context
        self._map_cache = map_cache_of(context)
        self.table_model = RegionsModel(self)
        self.table = QTableView()
        set_up_sorted(self.table, self.table_model, 0, "Aggregated regions")
        self.title = with_properties(Label(), look="muted")
        self.only_losses = with_properties(
            QCheckBox("&With losses only"),
            toolTip="Show only aggregated regions in which records were suppressed",
        )
        self.search_field = with_properties(
            QLineEdit(),
            placeholderText="Find a region by code, id or name (Ctrl+F)",
            accessibleName="Find a region",
            toolTip="Type and press Enter: the region is chosen and shown on the map; Enter again, the next one",
            clearButtonEnabled=True,
        )
        self._found: tuple[str, list[Match], int] = ("", [], 0)
        self.why = SuppressedClassesView(context)
        self._build()
        self._connect()
        self._on_prepared()

    def _build(self) -> None:
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.copy = with_properties(QAction("&Copy table", self), shortcut="Ctrl+C")
        self.copy.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self.copy.triggered.connect(self._on_copy)
        self.addAction(self.copy)
        bar = hbox((self.title, 1), self.only_losses, margins=(GRID, GRID // 2, GRID, GRID // 2))
        search = hbox(self.search_field, margins=(GRID, 0, GRID, GRID // 2))
        upper = QWidget()
        vbox(bar, search, (self.table, 1), within=upper, margins=0, spacing=0)
        self._content = splitter(upper, self.why, upright=True, sizes=(460, 260))
        self._layers = QStackedLayout(self)
        self._empty = Placeholder("Choose a solution in Results to see its aggregated regions.")
        self._layers.addWidget(self._empty)
        self._layers.addWidget(self._content)

    def _connect(self) -> None:
        self._map_cache.changed.connect(self._on_prepared)
        self._context.model.region_chosen.connect(self._on_region_chosen)
        self.table.selectionModel().currentRowChanged.connect(self._on_current_changed)
        self.table.customContextMenuRequested.connect(self._on_table_menu)
        self.table.horizontalHeader().customContextMenuRequested.connect(self._on_header_menu)
        self.only_losses.toggled.connect(self._on_only_losses)
        self.search_field.returnPressed.connect(self._on_find)
        shortcut = QShortcut(QKeySequence("Ctrl+F"), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(self.search_field.setFocus)

    # What the state says

    @Slot()
    def _on_prepared(self) -> None:
        scene = self._map_cache.shown
        if scene is None and self._context.state.selected is not None:
            return
        if scene is self.table_model.shown:
            return
        self.table.selectionModel().blockSignals(True)
        columns_before = self.table_model.columnCount()
        self.table_model.show_solution(scene)
        self.table.selectionModel().blockSignals(False)
        if self.table_model.columnCount() != columns_before:
            fit_columns(self.table)
        self._layers.setCurrentWidget(self._empty if scene is None else self._content)
        self._found = ("", [], 0)
        if scene is not None:
            self.title.setText(
                f"Solution #{scene.number:,}: {format_count(len(scene.geometry.shapes), 'aggregated region')}"
            )
        self._on_region_chosen()

    @Slot()
    def _on_region_chosen(self) -> None:
        region = self._context.state.chosen_region
        scene = self.table_model.shown
        self.why.show_region(scene, region if scene is self._map_cache.shown else None)
        row = -1 if region is None else self.table_model.position_of(region)
        select_row(self.table, self.table_model.index(row, 0))

    # What the user does

    @Slot(bool)
    def _on_only_losses(self, on: bool) -> None:
        self.table_model.show_only_losses(on)
        self._on_region_chosen()

    @Slot(QModelIndex, QModelIndex)
    def _on_current_changed(self, current: QModelIndex, previous: QModelIndex) -> None:
        if current.isValid():
            self._context.state.choose_region(self.table_model.row_at(current.row()))

    @Slot()
    def _on_find(self) -> None:
        """Choose what the text means; with the same text again, the next of several."""
        scene = self.table_model.shown
        text = self.search_field.text().strip()
        if scene is None or not text:
            return
        previous = self._found
        again = previous[0] == text and bool(previous[1])
        results = previous[1] if again else matches(scene, text)
        position = (previous[2] + 1) % len(results) if again else 0
        self._found = (text, results, position)
        if not results:
            self._context.show_message(f"No region has “{text}” in its code, id or name.")
            return
        match = results[position]
        more = f" ({position + 1:,} of {len(results):,})" if len(results) > 1 else ""
        self._context.state.choose_region(match.region)
        self._context.show_message(f"{match.words}{more}.")

    @Slot()
    def _on_copy(self) -> None:
        head = [self.table_model.title(column) for column in range(self.table_model.columnCount())]
        rows = [
            [column.text(region) for column in self.table_model.columns]
            for region in self.table_model.listed_rows()
        ]
        copy_rows([head, *rows])
        self._context.show_message(f"Copied {len(rows):,} aggregated regions.")

    @Slot()
    def _on_save(self) -> None:
        scene = self.table_model.shown
        if scene is not None:
            offer_to_save_rows(
                self._context, self, exact_rows(scene), f"regions of solution {scene.number}.csv"
            )

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
        figure = self.table_model.measure(column)
        if figure is not None:
            menu.addAction(
                f"Colour the &map by “{figure.title}”",
                lambda: self._context.state.colour_by(figure.name),
            )
        menu.addAction("Colour the map by &regions", lambda: self._context.state.colour_by(None))
        menu.addSeparator()
        menu.addAction(self.copy)
        menu.addAction("&Save table as CSV…", self._on_save)
        add_sort_menu(menu, self.table)
        menu.popup(position)
