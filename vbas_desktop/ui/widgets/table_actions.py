"""What people do with any table: sort it by the name of a column, copy its rows, save them as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QTableView, QWidget

from vbas_desktop.app.inputs import check_saved_file
from vbas_desktop.io.output import write_text
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.text import escape_formulas

from ..core.context import UiContext
from .file_dialogs import ask_to_save
from .plain_text import menu_text


def add_sort_menu(menu: QMenu, table: QTableView) -> QMenu:
    """Add a menu that sorts a table by the name of a column; a column that it is sorted by is turned round."""
    sort_menu = menu.addMenu("Sort b&y")
    header = table.horizontalHeader()
    model = table.model()
    for column in range(model.columnCount()):
        if table.isColumnHidden(column):
            continue
        title = str(model.headerData(column, Qt.Orientation.Horizontal) or "").replace("\n", " ")
        action = sort_menu.addAction(menu_text(title))
        is_sorted = header.sortIndicatorSection() == column
        action.setCheckable(True)
        action.setChecked(is_sorted)
        turned = is_sorted and header.sortIndicatorOrder() is Qt.SortOrder.AscendingOrder
        order = Qt.SortOrder.DescendingOrder if turned else Qt.SortOrder.AscendingOrder
        action.triggered.connect(partial(table.sortByColumn, column, order))
    return sort_menu


def copy_rows(rows: list[list[str]]) -> None:
    """Put rows on the clipboard the way spreadsheets take them."""
    QGuiApplication.clipboard().setText("\n".join("\t".join(row) for row in rows) + "\n")


def offer_to_save_rows(context: UiContext, parent: QWidget, rows: list[list[str]], name: str) -> None:
    """Ask where rows are to go and write them there as CSV in the background."""

    def save(chosen: str) -> None:
        save_rows(context, "Saving the table", rows, Path(chosen))

    ask_to_save(parent, "Save table", "CSV table (*.csv)", Path(name), save)


def save_rows(context: UiContext, title: str, rows: Sequence[Sequence[str]], path: Path) -> None:
    """Write rows as CSV in the background, and say where they are; no file that is read is written over.

    Cells that a spreadsheet might run get an apostrophe.
    """
    inputs = context.state.named_inputs()

    def job(progress: Progress) -> None:
        progress.update(title)
        check_saved_file(path, inputs)
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(map(escape_formulas, rows))
        write_text(path, text.getvalue())

    context.worker.start(title, job, lambda _: context.show_message(f"Saved {path}."))
