"""The left side of the page Representability: which two files are compared, and how."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from vbas_desktop.assessment.representability.vector import Choices
from vbas_desktop.domain.errors import InputError
from vbas_desktop.session.representing import OutlierOrder, PairOrder
from vbas_desktop.session.requirement_form import names_of, numbers_of
from vbas_desktop.ui.pages.file_row import FileRow
from vbas_desktop.ui.panel.fields import Field, set_look
from vbas_desktop.ui.theme import GRID, Theme

from .outlier_box import OutlierBox


class PairPanel(QScrollArea):
    """`compare_wanted(PairOrder)`: two files are to be compared; `handling_wanted(OutlierOrder)`: one is to be made."""

    compare_wanted = Signal(object)
    handling_wanted = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.original = FileRow("Original", "The file before anonymisation", theme)
        self.anonymised = FileRow("Anonymised", "The file after it", theme)
        self.key, self.columns, self.sensitive = QLineEdit(), QLineEdit(), QLineEdit()
        self.weights, self.level_weights = QLineEdit(), QLineEdit()
        self.k = QSpinBox()
        self.k.setRange(1, 1_000_000)
        self.k.setValue(5)
        self.hierarchies: Path | None = None
        self.folder = QLabel("none")
        self.choose_folder = QPushButton("Choose…")
        self.choose_folder.setAccessibleName("Choose the folder of hierarchies")
        self.compare = QPushButton("&Compare")
        set_look(self.compare, "primary")
        self.outliers = OutlierBox()
        self.message = QLabel()
        self.message.setProperty("look", "error")
        self.message.setWordWrap(True)
        self._build()
        for row in (self.original, self.anonymised):
            row.show_file(None)
            row.chosen.connect(row.show_file)
        self.choose_folder.clicked.connect(self._on_choose_folder)
        self.compare.clicked.connect(self._on_compare)
        self.outliers.handling_wanted.connect(self.handle)

    def _build(self) -> None:
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(GRID, 0, 2 * GRID, GRID)
        column.setSpacing(GRID)
        self.columns.setPlaceholderText("age, job")
        self.weights.setPlaceholderText("age=0.7, job=0.3")
        self.level_weights.setPlaceholderText("age=0.5/0.3/0.2")
        folder = QWidget()
        row = QHBoxLayout(folder)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.folder, 1)
        row.addWidget(self.choose_folder)
        for widget in (
            self.original,
            self.anonymised,
            Field("&Key", self.key, "The column that names a record in both files"),
            Field("&Quasi-identifiers", self.columns, "Columns, separated by commas"),
            Field("&Sensitive columns", self.sensitive, "Described class by class; separated by commas"),
            Field("k", self.k, "Nothing about fewer than k records is shown"),
            Field("Hierarchies", folder, "A folder with COLUMN.csv: value;level1;level2…"),
            Field("&Weights of the columns", self.weights, "Above 0, adding up to 1; empty: all alike"),
            Field("Weights of the &levels", self.level_weights, "From the lowest level up, adding up to 1"),
            self.compare,
            self.message,
            self.outliers,
        ):
            column.addWidget(widget)
        column.addStretch(1)
        self.setWidgetResizable(True)
        self.setWidget(inner)
        self.setMinimumWidth(280)

    def use_hierarchies(self, folder: Path | None) -> None:
        """Take the hierarchies of a folder."""
        self.hierarchies = folder
        self.folder.setText(folder.name if folder is not None else "none")
        self.folder.setToolTip(str(folder or ""))

    @Slot()
    def _on_choose_folder(self) -> None:
        dialog = QFileDialog(self, "Folder of hierarchies")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(lambda chosen: self.use_hierarchies(Path(chosen)))
        dialog.open()

    @Slot()
    def _on_compare(self) -> None:
        try:
            order = self.order()
        except InputError as error:
            self.message.setText("\n".join(str(finding) for finding in error.findings))
            return
        self.message.setText("" if order is not None else "Choose two files, the key and the quasi-identifiers.")
        if order is not None:
            self.compare_wanted.emit(order)

    @Slot(str, Path)
    def handle(self, how: str, target: Path) -> None:
        """Ask for the original without small classes."""
        columns, path = names_of(self.columns.text()), self.original.path
        if path is None or not columns:
            self.message.setText("Choose the original and its quasi-identifiers.")
            return
        self.message.clear()
        choices = Choices(self.k.value(), self.key.text().strip(), columns, names_of(self.sensitive.text()))
        self.handling_wanted.emit(OutlierOrder(path, choices, how, target, self.hierarchies))

    def order(self) -> PairOrder | None:
        """What is to be compared; None while something is missing. Weights that do not add up raise `InputError`."""
        columns, key = names_of(self.columns.text()), self.key.text().strip()
        if self.original.path is None or self.anonymised.path is None or not columns or not key:
            return None
        weights = {name: float(values[0]) for name, values in numbers_of(self.weights.text()).items()}
        choices = Choices(self.k.value(), key, columns, names_of(self.sensitive.text()), weights)
        levels = numbers_of(self.level_weights.text())
        return PairOrder(self.original.path, self.anonymised.path, choices, self.hierarchies, levels)
