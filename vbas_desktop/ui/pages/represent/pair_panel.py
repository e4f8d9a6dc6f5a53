"""The left side of the page Representability: which two files are compared, and how."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QLabel,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from vbas_desktop.assessment.representability.handling import Handling
from vbas_desktop.assessment.representability.vector import Choices
from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.jobs.any_file import Coding, OutlierJob, PairJob
from vbas_desktop.session.representing import PairOrder
from vbas_desktop.session.requirement_form import names_of, numbers_of, texts_by_name
from vbas_desktop.ui.theme import GRID, Theme
from vbas_desktop.ui.widgets.fields import Field, set_look, title
from vbas_desktop.ui.widgets.file_row import FileRow, FolderRow
from vbas_desktop.ui.widgets.names_edit import NamesEdit
from vbas_desktop.ui.widgets.record_options import ReadingFields

from .outlier_box import OutlierBox


class PairPanel(QScrollArea):
    """`compare_wanted(PairOrder)`: two files are to be compared; `handling_wanted(OutlierJob)`: one is to be made."""

    compare_wanted = Signal(object)
    handling_wanted = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.original = FileRow("&Original", "The file before anonymisation", theme)
        self.anonymised = FileRow("Anon&ymised", "The file after it", theme)
        self.key, self.columns, self.sensitive = NamesEdit(single=True), NamesEdit(), NamesEdit()
        self.weights, self.level_weights, self.reasons = (NamesEdit(value=True) for _ in range(3))
        self.k = QSpinBox()
        self.k.setRange(1, 1_000_000)
        self.k.setValue(5)
        self.hierarchies = FolderRow("Folder of hierarchies", theme)
        self.distances = FolderRow("Folder of tables of distances", theme)
        self.crosswalk = FileRow("Crosswalk", "crosswalk.csv of the release, if it has one", theme, True)
        self.region = NamesEdit(single=True)
        self.worst = FileRow(
            "Worst case", "The most distorted version; Davies–Bouldin is normalised by it", theme, True
        )
        self.reading, self.anonymised_reading = ReadingFields("the original"), ReadingFields("the anonymised file")
        self.compare = QPushButton("Co&mpare")
        set_look(self.compare, "primary")
        self.outliers = OutlierBox()
        self.message = QLabel()
        self.message.setProperty("look", "error")
        self.message.setWordWrap(True)
        self._build()
        for row in (self.original, self.anonymised, self.crosswalk, self.worst):
            row.show_file(None)
            row.chosen.connect(row.show_file)
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
        self.reasons.setPlaceholderText("phone=identifies, income=confidential")
        for widget in (
            self.original,
            self.anonymised,
            Field("Key", self.key, "The column that names a record in both files"),
            Field("&Quasi-identifiers", self.columns, "Columns, separated by commas"),
            Field("Sensitive columns", self.sensitive, "Described class by class; separated by commas"),
            Field("k", self.k, "Nothing about fewer than k records is shown"),
            title("If there are any"),
            Field("Hierarchies", self.hierarchies, "A folder with COLUMN.csv: value;level1;level2…"),
            Field(
                "Distances", self.distances, "A folder with COLUMN.csv: a square table of the distances between values"
            ),
            self.crosswalk,
            Field("Region column", self.region, "Its levels are the places of the crosswalk, of all tiers"),
            Field("Weights of the columns", self.weights, "Above 0, adding up to 1; equal if left empty"),
            Field("Weights of the levels", self.level_weights, "From the lowest level up, adding up to 1"),
            Field("Columns left out, because", self.reasons, "column=why, separated by commas"),
            self.worst,
            title("How the files are read"),
            self.reading,
            self.anonymised_reading,
            self.compare,
            self.message,
            self.outliers,
        ):
            column.addWidget(widget)
        column.addStretch(1)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(inner)
        self.setMinimumWidth(280)

    def offer(self, columns: Sequence[str]) -> None:
        """Offer the columns of the original."""
        identifiers = self.outliers.writing.identifiers
        for edit in (
            self.key,
            self.columns,
            self.sensitive,
            self.region,
            self.weights,
            self.level_weights,
            self.reasons,
            identifiers,
        ):
            edit.offer(columns)

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

    @Slot(object, Path)
    def handle(self, handling: Handling, target: Path) -> None:
        """Ask for the original without small classes."""
        columns, path = names_of(self.columns.text()), self.original.path
        if path is None or not columns:
            self.message.setText("Choose the original and its quasi-identifiers.")
            return
        try:
            coding = self._coding()
        except InputError as error:
            self.message.setText("\n".join(str(finding) for finding in error.findings))
            return
        self.message.clear()
        choices = Choices(self.k.value(), self.key.text().strip(), columns, names_of(self.sensitive.text()))
        form = self.outliers.writing
        writing = form.value(names_of(form.identifiers.text()))
        self.handling_wanted.emit(OutlierJob(path, choices, handling, target, coding, writing, self.reading.value()))

    def _coding(self) -> Coding:
        region, crosswalk = self.region.text().strip(), self.crosswalk.path
        if bool(region) != (crosswalk is not None):
            words = "The crosswalk and the region column go together.", "Choose both, or neither."
            raise InputError(Finding("crosswalk", *words))
        places = None if crosswalk is None else (region, crosswalk)
        return Coding(self.hierarchies.path, numbers_of(self.level_weights.text()), self.distances.path, places)

    def order(self) -> PairOrder | None:
        """What is to be compared; None while something is missing. Weights that do not add up raise `InputError`."""
        columns, key = names_of(self.columns.text()), self.key.text().strip()
        if self.original.path is None or self.anonymised.path is None or not columns or not key:
            return None
        weights = {name: float(values[0]) for name, values in numbers_of(self.weights.text()).items()}
        reasons = texts_by_name(self.reasons.text())
        choices = Choices(self.k.value(), key, columns, names_of(self.sensitive.text()), weights, reasons)
        coding = self._coding()
        files = (self.original.path, self.anonymised.path)
        readings = (self.reading.value(), self.anonymised_reading.value())
        return PairOrder(PairJob(*files, choices, coding, self.worst.path, None, *readings))
