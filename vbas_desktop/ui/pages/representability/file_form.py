"""The left side of the page Representability: which two files are compared, how, and being rid of small classes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QSpinBox, QWidget

from vbas_desktop.analysis.outliers.first_step import (
    BIJECTIVE,
    MODES,
    NON_SURJECTIVE,
    PARTIAL,
    FirstStep,
)
from vbas_desktop.analysis.outliers.synthetic_rows import SensitiveFilling
from vbas_desktop.analysis.outliers.treatments import FabricateRecords, OutlierTreatment, list_treatments
from vbas_desktop.analysis.representability.report import RepresentabilityOptions
from vbas_desktop.app.outliers import OutlierRequest
from vbas_desktop.app.representability import Generalisation, RepresentabilityRequest
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.settings.codecs import parse_names, parse_orders
from vbas_desktop.settings.option import Option
from vbas_desktop.settings.reading import RecordReading
from vbas_desktop.settings.writing import AddedColumns, RecordWriting

from ...core.theme import GRID, Theme
from ...dialogs.records_row import RecordsRow
from ...state.representing import levels_by_name, numbers_of, texts_by_name
from ...widgets.column_picker import ColumnPicker
from ...widgets.fields import (
    Field,
    clear_layout,
    heading_label,
    hint_label,
    message_label,
    show_input_errors,
)
from ...widgets.file_dialogs import ask_to_save
from ...widgets.file_field import FileField, FolderField, SidePanel
from ...widgets.layouts import button, set_items, vbox, with_properties
from ...widgets.option_form import GroupForm
from ...widgets.parameters import ParameterField


class FilePairForm(SidePanel):
    """Form for two files.

    `compare_requested(RepresentabilityRequest)`: compare them. `handling_requested(OutlierRequest)`: write the second.
    """

    compare_requested = Signal(object)
    handling_requested = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.original = RecordsRow("&Original", "The file before anonymisation", theme)
        self.anonymised = RecordsRow("Anon&ymised", "The file after it", theme)
        self.key = ColumnPicker(single=True)
        self.columns = with_properties(ColumnPicker(), placeholderText="age, job")
        self.sensitive = ColumnPicker()
        self.region = ColumnPicker(single=True)
        self.weights, self.level_weights, self.reasons = (
            with_properties(ColumnPicker(value=True), placeholderText=example)
            for example in (
                "age=0.7, job=0.3",
                "age=0.5/0.3/0.2",
                "phone=identifies, income=confidential",
            )
        )
        self.aims, self.meanings, self.ordinal = (
            with_properties(ColumnPicker(value=True), placeholderText=example)
            for example in ("age=risk factor", "age=completed years", "education=none/primary/secondary")
        )
        self.normalise_levels = QCheckBox("Levels of all columns on one scale")
        scale = "Davies–Bouldin and handling: |h − Gmin| / |Gmax − Gmin| instead of level / height"
        with_properties(self.normalise_levels, toolTip=scale)
        self.k = with_properties(QSpinBox(), minimum=1, maximum=1_000_000, value=5)
        levels = "A folder with COLUMN.csv: value;level1;level2…"
        self.hierarchies = FolderField("Hierarchies", "Folder of hierarchies", levels, theme)
        square = "A folder with COLUMN.csv: a square table of the distances between values"
        self.distances = FolderField("Distances", "Folder of tables of distances", square, theme)
        self.crosswalk = FileField(
            "Crosswalk", "crosswalk.csv of the release, if it has one", theme, True
        )
        worst = "The most distorted version; Davies–Bouldin is normalised by it"
        self.worst = RecordsRow("Worst case", worst, theme, clearable=True)
        self.reading = GroupForm(RecordReading, subject="the original")
        self.anonymised_reading = GroupForm(RecordReading, subject="the anonymised file")
        self.compare = button("Co&mpare", self._on_compare, look="primary")
        self.outliers = OutlierBox(theme)
        self.message = message_label(look="error")
        self._build()
        in_box = (self.outliers.population, self.outliers.keep_records, self.outliers.drop_records)
        for row in (self.original, self.anonymised, self.crosswalk, self.worst, *in_box):
            row.chosen.connect(row.show_file)
        self.outliers.handling_requested.connect(self.handle)

    def _build(self) -> None:
        self.hold(
            self.original,
            self.anonymised,
            Field("Key", self.key, "The column that names a record in both files"),
            Field("&Quasi-identifiers", self.columns, "Columns, separated by commas"),
            Field("k", self.k, "Nothing about fewer than k records is shown"),
            self.compare,
            self.message,
            heading_label("Optional"),
            Field("Sensitive columns", self.sensitive, "Described class by class; separated by commas"),
            self.hierarchies,
            self.distances,
            self.crosswalk,
            Field(
                "Region column", self.region, "Its levels are the places of the crosswalk, of all tiers"
            ),
            Field(
                "Weights of the columns", self.weights, "Above 0, adding up to 1; equal if left empty"
            ),
            Field(
                "Weights of the levels", self.level_weights, "From the lowest level up, adding up to 1"
            ),
            self.normalise_levels,
            Field(
                "Ordered columns",
                self.ordinal,
                "column, or column=first/second/third; separated by commas",
            ),
            Field("Left out or included, because", self.reasons, "column=why, separated by commas"),
            Field("Aim of collection", self.aims, "column=why it was collected, separated by commas"),
            Field("Meaning of the values", self.meanings, "column=your own words, separated by commas"),
            self.worst,
            heading_label("How the files are read"),
            self.reading,
            self.anonymised_reading,
            self.outliers,
        )

    def offer(self, columns: Sequence[str]) -> None:
        """Offer the columns of the original."""
        for edit in self.findChildren(ColumnPicker):
            edit.offer(columns)

    @Slot()
    def _on_compare(self) -> None:
        with show_input_errors(self.message):
            request = self.build_request()
            if request is not None:
                self.compare_requested.emit(request)
            else:
                self.message.setText("Choose two files, the key and the quasi-identifiers.")

    @Slot(object, Path)
    def handle(self, handling: OutlierTreatment, target: Path) -> None:
        """Ask for the original without small classes."""
        columns = parse_names(self.columns.text())
        path = self.original.path
        if path is None or not columns:
            self.outliers.problem.setText("Choose the original and its quasi-identifiers, at the top.")
            return
        with show_input_errors(self.outliers.problem):
            options = RepresentabilityOptions(
                self.k.value(), self.key.text().strip(), columns, parse_names(self.sensitive.text())
            )
            box = self.outliers
            request = OutlierRequest(
                path,
                options,
                handling,
                target,
                self._build_generalisation(),
                box.writing.values(),
                self.reading.values(),
                box.population.path if box.makes_up_records else None,
                first_step=box.first_step(),
                filling=box.filling(),
                keep_records=box.keep_records.path,
                drop_records=box.drop_records.path,
                columns=box.columns.values(),
            )
            self.handling_requested.emit(request)

    def _build_generalisation(self) -> Generalisation:
        region = self.region.text().strip()
        crosswalk = self.crosswalk.path
        if bool(region) != (crosswalk is not None):
            words = "The crosswalk and the region column go together.", "Choose both, or neither."
            raise InputError(Finding("crosswalk", *words))
        source = None if crosswalk is None else (region, crosswalk)
        return Generalisation(
            self.hierarchies.path,
            numbers_of(self.level_weights.text()),
            self.distances.path,
            source,
            parse_orders(parse_names(self.ordinal.text())),
            self.normalise_levels.isChecked(),
        )

    def build_request(self) -> RepresentabilityRequest | None:
        """Build the request, or None while something is missing. Raises `InputError` for weights that do not add up."""
        columns = parse_names(self.columns.text())
        key = self.key.text().strip()
        if self.original.path is None or self.anonymised.path is None or not columns or not key:
            return None
        weights = {name: float(values[0]) for name, values in numbers_of(self.weights.text()).items()}
        reasons, aims, meanings = (
            texts_by_name(edit.text()) for edit in (self.reasons, self.aims, self.meanings)
        )
        options = RepresentabilityOptions(
            self.k.value(),
            key,
            columns,
            parse_names(self.sensitive.text()),
            weights,
            reasons,
            aims=aims,
            meanings=meanings,
        )
        files = (self.original.path, self.anonymised.path)
        readings = (self.reading.values(), self.anonymised_reading.values())
        generalisation = self._build_generalisation()
        return RepresentabilityRequest(*files, options, generalisation, self.worst.path, None, *readings)


class OutlierBox(QWidget):
    """`handling_requested(OutlierTreatment, Path)`: write the original without small classes to this file."""

    handling_requested = Signal(object, Path)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        people = "Sensitive values of made-up records come from this record file; without it, from the whole original"
        self.population = FileField("Population", people, theme, clearable=True)
        self.population.nothing = "the whole original"
        self.population.show_file(None)
        listed = "A table of combinations, with names of columns on line 1"
        self.keep_records = FileField(
            "Required records", f"{listed}: only records with one of them", theme, True
        )
        self.keep_records.nothing = "all records"
        self.drop_records = FileField(
            "Unwanted records", f"{listed}: no records with one of them", theme, True
        )
        self.drop_records.nothing = "no records"
        for row in (self.keep_records, self.drop_records):
            row.show_file(None)
        self.columns = GroupForm(AddedColumns)
        self.how = QComboBox()
        set_items(self.how, ((kind.metadata.title, name) for name, kind in list_treatments().items()))
        self.summary = hint_label()
        self.fields: dict[str, ParameterField] = {}
        self._form = vbox(spacing=GRID)
        self.mode, self.step_size = (_field_of(declared) for declared in FirstStep.options())
        self.first_summary = hint_label()
        self.start_levels = with_properties(ColumnPicker(value=True), placeholderText="age=1, job=2")
        self._start_field = Field(
            "Start levels",
            self.start_levels,
            "column=level of its hierarchy that all records start from",
        )
        (self.method,) = (_field_of(declared) for declared in SensitiveFilling.options())
        self.values = with_properties(ColumnPicker(value=True), placeholderText="income=31000")
        self._values_field = Field(
            "Given sensitive values", self.values, "column=value that evidence has for the population"
        )
        self.problem = message_label(look="error")
        self.writing = GroupForm(RecordWriting)
        write = "Write the original without classes below k; the new file becomes the anonymised one"
        self.write = button("Handle and e&xport…", self._on_write, write)
        self._build()
        self.how.currentIndexChanged.connect(self._on_how)
        self.mode.edited.connect(self._show_fields)
        self._on_how()

    def _build(self) -> None:
        vbox(
            heading_label("Small classes of the original"),
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
    def kind(self) -> type[OutlierTreatment]:
        """The way that is chosen."""
        return list_treatments()[self.how.currentData()]

    @property
    def makes_up_records(self) -> bool:
        """Say if records may be fabricated."""
        return self.kind is FabricateRecords or self.mode.in_force == NON_SURJECTIVE

    @Slot()
    def _on_how(self) -> None:
        reasons = "\n".join(f"• {reason}" for reason in self.kind.reasons)
        self.summary.setText(f"{self.kind.metadata.summary} Choose it if:\n{reasons}")
        clear_layout(self._form)
        self.fields = {}
        previous: QWidget = self.how
        for declared in self.kind.options():
            field = ParameterField(declared, self.kind.component, self.kind.metadata.name)
            field.show_value(declared.default)
            field.edited.connect(self._show_fields)
            self.fields[declared.name] = field
            self._form.addWidget(field)
            self.setTabOrder(previous, field.widget)
            previous = field.widget
        self._show_fields()
        self.problem.clear()

    @Slot()
    def _show_fields(self) -> None:
        """Show the fields that have an effect beside the others."""
        values = {name: field.in_force for name, field in self.fields.items()}
        for declared in self.kind.options():
            self.fields[declared.name].setVisible(declared.is_effective(values))
        self.first_summary.setText(MODES[self.mode.in_force])
        self._start_field.setVisible(self.mode.in_force != BIJECTIVE)
        self.step_size.setVisible(self.mode.in_force in (PARTIAL, NON_SURJECTIVE))
        for field in (self.method, self._values_field, self.population):
            field.setVisible(self.makes_up_records)

    def handling(self) -> OutlierTreatment | None:
        """Make the handling of the values in force; None, with what is wrong beside it, if they do not go together."""
        try:
            treatment = self.kind.from_texts(
                {name: field.in_force for name, field in self.fields.items()}
            )
        except InputError as error:
            self.problem.setText(str(error.findings[0]))
            return None
        self.problem.clear()
        return treatment

    def first_step(self) -> FirstStep:
        """Make the first step of the values in force; those that have no effect are left out."""
        mode = self.mode.in_force
        levels = {} if mode == BIJECTIVE else levels_by_name(self.start_levels.text())
        return FirstStep(
            mode=mode,
            size=self.step_size.in_force if mode in (PARTIAL, NON_SURJECTIVE) else 0,
            start_levels=levels,
        )

    def filling(self) -> SensitiveFilling:
        """Make the filling of the values in force."""
        if not self.makes_up_records:
            return SensitiveFilling()
        return SensitiveFilling(method=self.method.in_force, values=texts_by_name(self.values.text()))

    @Slot()
    def _on_write(self) -> None:
        if self.handling() is not None:
            suggested = Path(f"{self.kind.metadata.name}.csv")
            kinds = "Records (*.csv);;Parquet (*.parquet)"
            ask_to_save(self, "Write without small classes", kinds, suggested, self._on_target)

    def _on_target(self, chosen: str) -> None:
        treatment = self.handling()
        if treatment is not None:
            self.handling_requested.emit(treatment, Path(chosen))


def _field_of(declared: Option) -> ParameterField:
    field = ParameterField(declared, "", "")
    field.show_value(declared.default)
    return field
