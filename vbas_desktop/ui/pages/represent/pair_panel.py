"""The left side of the page Representability: which two files are compared, how, and being rid of small classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QScrollArea, QSpinBox, QWidget

from vbas_desktop.approaches.declaration import Parameter, parameters_of
from vbas_desktop.assessment.representability.first_step import BIJECTIVE, MODES, NON_SURJECTIVE, PARTIAL, FirstStep
from vbas_desktop.assessment.representability.handling import Fabricate, Handling, handlings
from vbas_desktop.assessment.representability.made_up import Filling
from vbas_desktop.assessment.representability.vector import Choices
from vbas_desktop.jobs.any_file import Coding, OutlierJob, PairJob
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.session.representing import PairOrder, levels_by_name, numbers_of, texts_by_name
from vbas_desktop.settings.forms import names_in, orders_in
from vbas_desktop.settings.writing import HandledColumns
from vbas_desktop.ui.dialogs.records_row import RecordsRow
from vbas_desktop.ui.dialogs.release_fields import ReleaseFields
from vbas_desktop.ui.theme import GRID, Theme
from vbas_desktop.ui.widgets.building import button, dress, in_column, offer
from vbas_desktop.ui.widgets.fields import Field, clear, muted, saying_wrong, title, told
from vbas_desktop.ui.widgets.file_dialogs import ask_to_save
from vbas_desktop.ui.widgets.file_row import FileRow, FolderRow
from vbas_desktop.ui.widgets.names_edit import NamesEdit
from vbas_desktop.ui.widgets.parameters import ParameterField, ReadingFields, WritingFields


class PairPanel(QScrollArea):
    """`compare_wanted(PairOrder)`: two files are to be compared; `handling_wanted(OutlierJob)`: one is to be made."""

    compare_wanted = Signal(object)
    handling_wanted = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.original = RecordsRow("&Original", "The file before anonymisation", theme)
        self.anonymised = RecordsRow("Anon&ymised", "The file after it", theme)
        self.key, self.columns, self.sensitive, self.region = (
            NamesEdit(single=True),
            dress(NamesEdit(), placeholderText="age, job"),
            NamesEdit(),
            NamesEdit(single=True),
        )
        self.weights, self.level_weights, self.reasons = (
            dress(NamesEdit(value=True), placeholderText=example)
            for example in ("age=0.7, job=0.3", "age=0.5/0.3/0.2", "phone=identifies, income=confidential")
        )
        self.aims, self.meanings, self.ordinal = (
            dress(NamesEdit(value=True), placeholderText=example)
            for example in ("age=risk factor", "age=completed years", "education=none/primary/secondary")
        )
        self.normalise_levels = QCheckBox("Levels of all columns on one scale")
        scale = "Davies–Bouldin and handling: |h − Gmin| / |Gmax − Gmin| instead of level / height"
        dress(self.normalise_levels, toolTip=scale)
        self.k = dress(QSpinBox(), minimum=1, maximum=1_000_000, value=5)
        levels = "A folder with COLUMN.csv: value;level1;level2…"
        self.hierarchies = FolderRow("Hierarchies", "Folder of hierarchies", levels, theme)
        square = "A folder with COLUMN.csv: a square table of the distances between values"
        self.distances = FolderRow("Distances", "Folder of tables of distances", square, theme)
        self.crosswalk = FileRow("Crosswalk", "crosswalk.csv of the release, if it has one", theme, True)
        worst = "The most distorted version; Davies–Bouldin is normalised by it"
        self.worst = RecordsRow("Worst case", worst, theme, clearable=True)
        self.reading, self.anonymised_reading = ReadingFields("the original"), ReadingFields("the anonymised file")
        self.compare = button("Co&mpare", self._on_compare, look="primary")
        self.outliers = OutlierBox(theme)
        self.message = told(look="error")
        self._build()
        in_box = (self.outliers.population, self.outliers.keep_records, self.outliers.drop_records)
        for row in (self.original, self.anonymised, self.crosswalk, self.worst, *in_box):
            row.chosen.connect(row.show_file)
        self.outliers.handling_wanted.connect(self.handle)

    def _build(self) -> None:
        inner = QWidget()
        in_column(
            self.original,
            self.anonymised,
            Field("Key", self.key, "The column that names a record in both files"),
            Field("&Quasi-identifiers", self.columns, "Columns, separated by commas"),
            Field("Sensitive columns", self.sensitive, "Described class by class; separated by commas"),
            Field("k", self.k, "Nothing about fewer than k records is shown"),
            title("If there are any"),
            self.hierarchies,
            self.distances,
            self.crosswalk,
            Field("Region column", self.region, "Its levels are the places of the crosswalk, of all tiers"),
            Field("Weights of the columns", self.weights, "Above 0, adding up to 1; equal if left empty"),
            Field("Weights of the levels", self.level_weights, "From the lowest level up, adding up to 1"),
            self.normalise_levels,
            Field("Ordered columns", self.ordinal, "column, or column=first/second/third; separated by commas"),
            Field("Left out or included, because", self.reasons, "column=why, separated by commas"),
            Field("Aim of collection", self.aims, "column=why it was collected, separated by commas"),
            Field("Meaning of the values", self.meanings, "column=your own words, separated by commas"),
            self.worst,
            title("How the files are read"),
            self.reading,
            self.anonymised_reading,
            self.compare,
            self.message,
            self.outliers,
            1,
            within=inner,
            margins=(GRID, 0, 2 * GRID, GRID),
            spacing=GRID,
        )
        dress(self, widgetResizable=True, focusPolicy=Qt.FocusPolicy.NoFocus, minimumWidth=280)
        self.setWidget(inner)

    def offer(self, columns: Sequence[str]) -> None:
        """Offer the columns of the original."""
        for edit in self.findChildren(NamesEdit):
            edit.offer(columns)

    @Slot()
    def _on_compare(self) -> None:
        with saying_wrong(self.message):
            order = self.order()
            if order is not None:
                self.compare_wanted.emit(order)
            else:
                self.message.setText("Choose two files, the key and the quasi-identifiers.")

    @Slot(object, Path)
    def handle(self, handling: Handling, target: Path) -> None:
        """Ask for the original without small classes."""
        columns, path = names_in(self.columns.text()), self.original.path
        if path is None or not columns:
            self.message.setText("Choose the original and its quasi-identifiers.")
            return
        with saying_wrong(self.message):
            coding = self._coding()
            choices = Choices(self.k.value(), self.key.text().strip(), columns, names_in(self.sensitive.text()))
            form = self.outliers.writing
            writing, reading = form.value(names_in(form.identifiers.text())), self.reading.value()
            box = self.outliers
            people = box.population.path if box.makes_up_records else None
            order = OutlierJob(path, choices, handling, target, coding, writing, reading, people)
            order = replace(order, keep_records=box.keep_records.path, drop_records=box.drop_records.path)
            order = replace(order, columns=HandledColumns(**box.columns.values()))
            self.handling_wanted.emit(replace(order, first_step=box.first_step(), filling=box.filling()))

    def _coding(self) -> Coding:
        region, crosswalk = self.region.text().strip(), self.crosswalk.path
        if bool(region) != (crosswalk is not None):
            words = "The crosswalk and the region column go together.", "Choose both, or neither."
            raise InputError(Finding("crosswalk", *words))
        places = None if crosswalk is None else (region, crosswalk)
        return Coding(
            self.hierarchies.path,
            numbers_of(self.level_weights.text()),
            self.distances.path,
            places,
            orders_in(names_in(self.ordinal.text())),
            self.normalise_levels.isChecked(),
        )

    def order(self) -> PairOrder | None:
        """What is to be compared; None while something is missing. Weights that do not add up raise `InputError`."""
        columns, key = names_in(self.columns.text()), self.key.text().strip()
        if self.original.path is None or self.anonymised.path is None or not columns or not key:
            return None
        weights = {name: float(values[0]) for name, values in numbers_of(self.weights.text()).items()}
        reasons, aims, meanings = (texts_by_name(edit.text()) for edit in (self.reasons, self.aims, self.meanings))
        choices = Choices(
            self.k.value(),
            key,
            columns,
            names_in(self.sensitive.text()),
            weights,
            reasons,
            aims=aims,
            meanings=meanings,
        )
        coding = self._coding()
        files = (self.original.path, self.anonymised.path)
        readings = (self.reading.value(), self.anonymised_reading.value())
        return PairOrder(PairJob(*files, choices, coding, self.worst.path, None, *readings))


class OutlierBox(QWidget):
    """`handling_wanted(Handling, Path)`: write the original without small classes to this file."""

    handling_wanted = Signal(object, Path)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        people = "Sensitive values of made-up records come from this record file; without it, from the whole original"
        self.population = FileRow("Population", people, theme, clearable=True)
        self.population.nothing = "the whole original"
        self.population.show_file(None)
        listed = "A table of combinations, with names of columns on line 1"
        self.keep_records = FileRow("Required records", f"{listed}: only records with one of them", theme, True)
        self.keep_records.nothing = "all records"
        self.drop_records = FileRow("Unwanted records", f"{listed}: no records with one of them", theme, True)
        self.drop_records.nothing = "no records"
        for row in (self.keep_records, self.drop_records):
            row.show_file(None)
        self.columns = ReleaseFields(settings=HandledColumns, is_narrow=True)
        self.how = QComboBox()
        offer(self.how, ((kind.card.title, name) for name, kind in handlings().items()))
        self.summary = muted()
        self.fields: dict[str, ParameterField] = {}
        self._form = in_column(spacing=GRID)
        self.mode, self.step_size = (_field_of(declared) for declared in parameters_of(FirstStep))
        self.first_summary = muted()
        self.start_levels = dress(NamesEdit(value=True), placeholderText="age=1, job=2")
        self._start_field = Field(
            "Start levels", self.start_levels, "column=level of its hierarchy that all records start from"
        )
        (self.method,) = (_field_of(declared) for declared in parameters_of(Filling))
        self.values = dress(NamesEdit(value=True), placeholderText="income=31000")
        self._values_field = Field(
            "Given sensitive values", self.values, "column=value that evidence has for the population"
        )
        self.problem = told(look="error")
        self.writing = WritingFields()
        write = "Write the original without classes below k; the new file becomes the anonymised one"
        self.write = button("Handle and e&xport…", self._on_write, write)
        self._build()
        self.how.currentIndexChanged.connect(self._on_how)
        self.mode.edited.connect(self._show_fields)
        self._on_how()

    def _build(self) -> None:
        in_column(
            title("Small classes of the original"),
            self.keep_records,
            self.drop_records,
            self.mode,
            self.first_summary,
            self._start_field,
            self.step_size,
            Field("How", self.how, "What becomes of classes with fewer than k records"),
            self.summary,
            self._form,
            self.method,
            self._values_field,
            self.population,
            self.columns,
            self.writing,
            self.problem,
            self.write,
            within=self,
            margins=(0, GRID, 0, 0),
            spacing=GRID,
        )

    @property
    def kind(self) -> type[Handling]:
        """The way that is chosen."""
        return handlings()[self.how.currentData()]

    @property
    def makes_up_records(self) -> bool:
        """Whether records may be made up."""
        return self.kind is Fabricate or self.mode.in_force == NON_SURJECTIVE

    @Slot()
    def _on_how(self) -> None:
        reasons = "\n".join(f"• {reason}" for reason in self.kind.reasons)
        self.summary.setText(f"{self.kind.card.summary} Choose it if:\n{reasons}")
        clear(self._form)
        self.fields = {}
        for declared in self.kind.parameters():
            field = ParameterField(declared, self.kind.component, self.kind.card.name)
            field.show_value(declared.default)
            field.edited.connect(self._show_fields)
            self.fields[declared.name] = field
            self._form.addWidget(field)
        self._show_fields()
        self.problem.hide()

    @Slot()
    def _show_fields(self) -> None:
        """Show the fields that have an effect beside the others."""
        values = {name: field.in_force for name, field in self.fields.items()}
        for declared in self.kind.parameters():
            self.fields[declared.name].setVisible(declared.has_effect(values))
        self.first_summary.setText(MODES[self.mode.in_force])
        self._start_field.setVisible(self.mode.in_force != BIJECTIVE)
        self.step_size.setVisible(self.mode.in_force in (PARTIAL, NON_SURJECTIVE))
        for field in (self.method, self._values_field, self.population):
            field.setVisible(self.makes_up_records)

    def handling(self) -> Handling | None:
        """Make the handling of the values in force; None, with what is wrong beside it, if they do not go together."""
        try:
            made = self.kind.from_texts({name: field.in_force for name, field in self.fields.items()})
        except InputError as error:
            self.problem.setText(str(error.findings[0]))
            self.problem.show()
            return None
        self.problem.hide()
        return made

    def first_step(self) -> FirstStep:
        """Make the first step of the values in force; those that have no effect are left out."""
        mode = self.mode.in_force
        levels = {} if mode == BIJECTIVE else levels_by_name(self.start_levels.text())
        return FirstStep(mode, self.step_size.in_force if mode in (PARTIAL, NON_SURJECTIVE) else 0, levels)

    def filling(self) -> Filling:
        """Make the filling of the values in force."""
        if not self.makes_up_records:
            return Filling()
        return Filling(self.method.in_force, texts_by_name(self.values.text()))

    @Slot()
    def _on_write(self) -> None:
        if self.handling() is not None:
            suggested = Path(f"{self.kind.card.name}.csv")
            kinds = "Records (*.csv);;Parquet (*.parquet)"
            ask_to_save(self, "Write without small classes", kinds, suggested, self._on_target)

    def _on_target(self, chosen: str) -> None:
        made = self.handling()
        if made is not None:
            self.handling_wanted.emit(made, Path(chosen))


def _field_of(declared: Parameter) -> ParameterField:
    field = ParameterField(declared, "", "")
    field.show_value(declared.default)
    return field
