"""The less used choices of an export: form of the file, order, reports, map, and words on columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QWidget

from vbas_desktop.io.documents.policies import load_bundled_policies
from vbas_desktop.model.text import escape_controls
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.writing import RecipientOptions

from ..core.theme import GRID
from ..widgets.column_picker import make_narrow
from ..widgets.fields import Field, heading_label
from ..widgets.layouts import set_items, vbox
from ..widgets.option_form import OptionForm
from ..widgets.plain_text import set_tool_tip
from .column_words import ColumnWords

_FILE = (
    "format",
    "release_delimiter",
    "escape_formulas",
    "shuffle",
    "shuffle_seed",
    "class_size",
    "record_key",
)
_SENSITIVE_VALUES = ("aggregate", "aggregate_classes")
_FIRST_DOCUMENTS = ("shapes", "name_column", "pdf", "pair_tests")
"""All other options follow these, so that a new one has a field."""
_ELSEWHERE = (
    *("columns", "identifiers", "allow_columns", "renames"),
    *("reasons", "aims", "meanings"),
    *("policy", "population", "geometry"),
    *("exceed_loss", "confirm_sites"),
)
"""Options with fields of their own, or that are asked for when they are needed."""
_GEOMETRY = ReleaseOptions.option("geometry")
_POLICY = ReleaseOptions.option("policy")


class ReleaseForm(QWidget):
    """Edits the options of a release that are not about single columns; `changed` when one of them did.

    ``errors`` says by option what is wrong with the text in its field.
    """

    changed = Signal()

    def __init__(
        self, options: ReleaseOptions, record_columns: Sequence[str], region_columns: Sequence[str]
    ) -> None:
        super().__init__()
        self._options = options
        self.errors: dict[str, str] = {}
        self._sources = {"record columns": record_columns, "region columns": region_columns}
        self.forms = [
            OptionForm(ReleaseOptions, names=_FILE, is_live=True),
            OptionForm(ReleaseOptions, names=_SENSITIVE_VALUES, is_live=True),
            OptionForm(
                ReleaseOptions,
                first=_FIRST_DOCUMENTS,
                without=(*_FILE, *_SENSITIVE_VALUES, *_ELSEWHERE),
                is_live=True,
            ),
        ]
        self.policy = QComboBox()
        self._fill_policies(options.policy)
        self.geopackage = QCheckBox(_GEOMETRY.label)
        set_tool_tip(self.geopackage, "The regions as a GeoPackage file beside the GeoJSON file")
        self.words = ColumnWords(record_columns)
        file, sensitive_values, documents = self.forms
        vbox(
            heading_label("File"),
            file,
            heading_label("Sensitive values"),
            sensitive_values,
            heading_label("Reports and map"),
            Field(_POLICY.label, self.policy, _POLICY.help.removesuffix(".")),
            documents,
            self.geopackage,
            heading_label("For the recipient"),
            self.words,
            within=self,
            margins=(2 * GRID, 0, 0, 0),
            spacing=GRID,
        )
        for form in self.forms:
            form.edited.connect(self._on_edited)
            form.rejected.connect(self._on_rejected)
        self.policy.activated.connect(lambda: self._on_edited("policy", self.policy.currentData()))
        self.geopackage.clicked.connect(self._on_geopackage)
        self.words.changed.connect(self.changed)
        self._show_options()

    def _fill_policies(self, chosen: str | None) -> None:
        policies = load_bundled_policies().values()
        set_items(
            self.policy,
            [("None", None), *((policy.name, policy.id, policy.origin) for policy in policies)],
        )
        if chosen and self.policy.findData(chosen) < 0:
            self.policy.addItem(escape_controls(Path(chosen).name), chosen)
        # Names of policies are long; the list shows them whole.
        make_narrow(self.policy, 24)

    @property
    def editors(self) -> dict[str, QWidget]:
        """The editors by the names of their options."""
        return {name: editor for form in self.forms for name, editor in form.editors.items()}

    def values(self) -> dict[str, Any]:
        """Return the options by name. Raises `InputError` if the words on columns are not understood."""
        values = {name: self._options.value_of(name) for name in (*self.editors, "policy", "geometry")}
        if values["format"] != "csv":
            values["release_delimiter"] = None
        if not self._options.uses_secret:
            values["shuffle_seed"] = None
        return {**values, **self.words.values()}

    def _show_options(self) -> None:
        for form in self.forms:
            form.show_group(self._options, self._sources)
        self.editors["release_delimiter"].setEnabled(self._options.format == "csv")
        self.editors["shuffle_seed"].setEnabled(self._options.uses_secret)
        self.policy.setCurrentIndex(max(0, self.policy.findData(self._options.policy)))
        self.geopackage.setChecked("gpkg" in self._options.geometry)

    @Slot(str, object)
    def _on_edited(self, name: str, value: object) -> None:
        self.errors.pop(name, None)
        # Checked when all are put together: a name can be empty while it is typed.
        self._options = self._options.model_copy(update={name: value})
        self._show_options()
        self.changed.emit()

    @Slot(str, str)
    def _on_rejected(self, name: str, message: str) -> None:
        self.errors[name] = f"{ReleaseOptions.option(name).title}: {message}."
        self.changed.emit()

    @Slot(bool)
    def _on_geopackage(self, is_wanted: bool) -> None:
        self._on_edited("geometry", ("geojson", "gpkg") if is_wanted else ("geojson",))


_LEDGER = ("despite", "compared_k", "k_reason")


class RecipientForm(QWidget):
    """Asks who gets the release and, after a refusal by the ledger, why it is released all the same."""

    changed = Signal()

    def __init__(self, has_other_targets: bool) -> None:
        super().__init__()
        self._values = RecipientOptions()
        self._errors: dict[str, str] = {}
        names = ("audience", "also") if has_other_targets else ("audience",)
        self.recipient = OptionForm(RecipientOptions, names=names, is_live=True)
        self.overrule = OptionForm(RecipientOptions, names=_LEDGER, is_live=True)
        vbox(self.recipient, self.overrule, within=self, margins=0, spacing=GRID)
        self.overrule.hide()
        for form in (self.recipient, self.overrule):
            form.show_group(self._values)
            form.edited.connect(self._on_edited)
            form.rejected.connect(self._on_rejected)

    @property
    def editors(self) -> dict[str, QWidget]:
        """The editors by the names of their options."""
        return {**self.recipient.editors, **self.overrule.editors}

    def handing(self, ledger: Path) -> RecipientOptions:
        """Return who gets the release, and the ledger that knows what they have."""
        return self._values.replaced(ledger=str(ledger))

    @property
    def error(self) -> str:
        """Return the message about the entries that are wrong; empty if none is."""
        if self._errors:
            return next(iter(self._errors.values()))
        if (self._values.compared_k is None) != (self._values.k_reason is None):
            return "Give another k beside earlier releases together with its reason."
        return ""

    @Slot(str, object)
    def _on_edited(self, name: str, value: object) -> None:
        self._errors.pop(name, None)
        text = value.strip() or None if isinstance(value, str) else value
        self._values = self._values.replaced(**{name: text})
        self.changed.emit()

    @Slot(str, str)
    def _on_rejected(self, name: str, message: str) -> None:
        self._errors[name] = f"{RecipientOptions.option(name).title}: {message}."
        self.changed.emit()
