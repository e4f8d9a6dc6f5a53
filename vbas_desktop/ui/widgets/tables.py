"""What all tables of the panel have in common: dense and quiet looks, copying as TSV, saving as CSV."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractItemView, QTableView, QWidget

from vbas_desktop.domain.progress import Progress
from vbas_desktop.files.atomic import write_text
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.theme import GRID, tabular
from vbas_desktop.ui.widgets.file_dialogs import ask_to_save

_SAMPLED_ROWS = 60
_WIDEST = 170


def set_up_table(table: QTableView, name: str) -> None:
    """Rows are chosen as a whole, figures have equal width, rows are low."""
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setAlternatingRowColors(True)
    table.setShowGrid(False)
    table.setWordWrap(False)
    # The arrows walk through the cells; the tab key goes on to what comes after the table.
    table.setTabKeyNavigation(False)
    table.setFont(tabular(table.font()))
    table.setAccessibleName(name)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(table.fontMetrics().height() + GRID)
    table.horizontalHeader().setHighlightSections(False)


def fit_columns(table: QTableView) -> None:
    """Make each column as wide as its title and its first rows need."""
    model, metrics = table.model(), table.fontMetrics()
    rows = min(_SAMPLED_ROWS, model.rowCount())
    for column in range(model.columnCount()):
        lines = str(model.headerData(column, Qt.Orientation.Horizontal) or "").split("\n")
        texts = lines + [str(model.index(row, column).data() or "") for row in range(rows)]
        width = max((metrics.horizontalAdvance(text) for text in texts), default=0)
        table.setColumnWidth(column, min(_WIDEST, width + 3 * GRID - 2))


def copy_rows(rows: list[list[str]]) -> None:
    """Put rows on the clipboard the way spreadsheets take them."""
    QGuiApplication.clipboard().setText("\n".join("\t".join(row) for row in rows) + "\n")


def offer_to_save_rows(context: Context, parent: QWidget, rows: list[list[str]], name: str) -> None:
    """Ask where rows are to go and write them there as CSV in the background."""

    def save(chosen: str) -> None:
        def job(progress: Progress) -> Path:
            progress.update("Saving the table")
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows(rows)
            write_text(Path(chosen), text.getvalue())
            return Path(chosen)

        context.runner.start("Saving the table", job, lambda path: context.say(f"Saved {path}."))

    ask_to_save(parent, "Save table", "CSV table (*.csv)", Path(name), save)
