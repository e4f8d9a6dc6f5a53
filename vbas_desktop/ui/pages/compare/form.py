"""What to compare: ticks for approaches and seedings, fields for k and the sets of quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QPlainTextEdit, QWidget

from vbas_desktop.approaches.registry import list_approaches

from ...core.theme import GRID
from ...state.app_state import AppState
from ...state.choices import Choices
from ...state.comparing import ComparisonForm
from ...widgets.column_picker import CheckableMenu
from ...widgets.fields import Field, heading_label
from ...widgets.file_dialogs import documents_folder, is_sample, sibling_path
from ...widgets.layouts import button, hbox, set_items, vbox, with_properties

_TITLES = {
    "site_number": "Number of sites",
    "site_location": "Site locations",
    "construction": "Construction",
    "refinement": "Refinement",
    "tiers": "Fallback to larger areas",
}
_MOST_K = 1_000_000
_GENERALISED = {"no": "As they are", "yes": "Grouped", "both": "Both, grouped and not"}


class Ticks(QWidget):
    """A titled list of check boxes by name."""

    changed = Signal()

    def __init__(self, heading: str, names: Iterable[str], component: str) -> None:
        super().__init__()
        self.boxes: dict[str, QCheckBox] = {}
        layout = vbox(heading_label(heading), within=self, margins=0, spacing=GRID // 2)
        for name in names:
            metadata = list_approaches(component)[name].metadata
            box = with_properties(QCheckBox(metadata.title), toolTip=metadata.summary)
            box.toggled.connect(self.changed)
            self.boxes[name] = box
            layout.addWidget(box)
        layout.addStretch(1)

    @property
    def ticked(self) -> tuple[str, ...]:
        """The names that are ticked."""
        return tuple(name for name, box in self.boxes.items() if box.isChecked())

    def tick(self, names: Iterable[str]) -> None:
        """Tick exactly these."""
        chosen = set(names)
        for name, box in self.boxes.items():
            box.setChecked(name in chosen)


class CompareForm(QWidget):
    """Tells `changed` whenever something else is ticked or entered."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.components = {
            name: Ticks(text, list_approaches(name), name) for name, text in _TITLES.items()
        }
        self.seedings = Ticks("ADC starts from", _list_unseeded(), "site_location")
        self.ks = QLineEdit()
        self.sets = QPlainTextEdit()
        self.generalised = QComboBox()
        columns = "Tick the columns of the set in the line with the cursor"
        self.choose = button("Choose columns", self._on_choose, columns, "Ctrl+Shift+Space")
        another = "Begin another set on a line of its own"
        self.another = button("Add a set", self._on_another, another, "Ctrl+Shift+Return")
        self.column_menu = CheckableMenu(self)
        self._columns: tuple[str, ...] = ()
        self._own_sets = False
        self._ks: tuple[int, ...] = ()
        """The values of k that are in force: the last valid ones."""
        set_items(self.generalised, ((text, value) for value, text in _GENERALISED.items()))
        self.generalised.setEnabled(False)
        self.sets.setFixedHeight(4 * self.sets.fontMetrics().lineSpacing() + 2 * GRID)
        self.sets.setTabChangesFocus(True)
        self._build()
        for ticks in (*self.components.values(), self.seedings):
            ticks.changed.connect(self.changed)
        self.components["site_location"].changed.connect(self._on_locations)
        self.ks.textChanged.connect(self._on_ks)
        self.sets.textChanged.connect(self._on_sets)
        self.generalised.activated.connect(self.changed)
        self.offer(())

    def offer(self, columns: Iterable[str]) -> None:
        """Offer these columns for sets; without any they are typed."""
        self._columns = tuple(columns)
        for push_button in (self.choose, self.another):
            push_button.setEnabled(bool(self._columns))

    @Slot()
    def _on_choose(self) -> None:
        chosen = [
            name.strip() for name in self.sets.textCursor().block().text().split(",") if name.strip()
        ]
        self.column_menu.offer(self._columns, chosen, self._on_ticked)
        self.column_menu.popup(self.choose.mapToGlobal(self.choose.rect().bottomLeft()))

    @Slot()
    def _on_ticked(self) -> None:
        """Make the line with the cursor what is ticked, in the order of the file."""
        ticked = [action.data() for action in self.column_menu.actions() if action.isChecked()]
        cursor = self.sets.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.StartOfBlock)
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(", ".join(ticked))

    @Slot()
    def _on_another(self) -> None:
        cursor = self.sets.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText("\n" if self.sets.toPlainText().strip() else "")
        self.sets.setTextCursor(cursor)
        self._on_choose()

    def _build(self) -> None:
        ticks = self.components
        columns = hbox(
            (vbox(ticks["site_location"], ticks["refinement"], 1, spacing=2 * GRID), 1),
            (vbox(self.seedings, ticks["site_number"], 1, spacing=2 * GRID), 1),
            (vbox(ticks["construction"], ticks["tiers"], 1, spacing=2 * GRID), 1),
            spacing=2 * GRID,
        )
        sets = Field("&Quasi-identifiers", self.sets, "One set per line, such as age, sex")
        left = vbox(sets, hbox(self.choose, self.another, 1), spacing=GRID // 2)
        self.ks_field = Field("k", self.ks, "One or several, such as 5, 10")
        categories = Field("Categories", self.generalised, "Whether the groups made in Input are used")
        right = vbox(self.ks_field, categories, 1, spacing=GRID)
        fields = hbox((left, 2), (right, 1), spacing=2 * GRID)
        vbox(columns, fields, within=self, margins=0, spacing=2 * GRID)

    def start_from(self, choices: Choices) -> None:
        """Begin with the choices of the Input tab, and all locations that are quick."""
        self.components["site_number"].tick([choices.approaches["site_number"]])
        self.components["site_location"].tick([*_list_unseeded(), choices.approaches["site_location"]])
        for component in ("construction", "refinement", "tiers"):
            self.components[component].tick([choices.approaches[component]])
        self.seedings.tick(["balanced-density"])
        self.ks.setText(str(choices.k))
        self.follow(choices)
        self._on_locations()

    def follow(self, choices: Choices) -> None:
        """Follow the quasi-identifiers of the Input tab, unless another set was entered."""
        if not self._own_sets:
            with QSignalBlocker(self.sets):
                self.sets.setPlainText(", ".join(choices.quasi_identifiers))
        grouped = bool(choices.groupings)
        if grouped is not self.generalised.isEnabled():
            # As in Input: who made groups wants them counted.
            self.generalised.setCurrentIndex(self.generalised.findData("yes" if grouped else "no"))
        self.generalised.setEnabled(grouped)

    def ticked(self) -> ComparisonForm:
        """Return the entries of the form; unreadable ones are left out."""
        lines = (line.split(",") for line in self.sets.toPlainText().splitlines())
        sets = (tuple(dict.fromkeys(name.strip() for name in line if name.strip())) for line in lines)
        return ComparisonForm(
            {name: ticks.ticked for name, ticks in self.components.items()},
            self.seedings.ticked,
            self._ks,
            tuple(dict.fromkeys(set_ for set_ in sets if set_)),
            str(self.generalised.currentData()),
        )

    @Slot()
    def _on_locations(self) -> None:
        seeded = set(self.components["site_location"].ticked) - set(_list_unseeded())
        self.seedings.setEnabled(bool(seeded))

    @Slot()
    def _on_ks(self) -> None:
        try:
            self._ks = _ks_in(self.ks.text())
        except ValueError as error:
            self.ks_field.show_rejected(str(error), ", ".join(map(str, self._ks)))
        else:
            self.ks_field.show_error("")
        self.changed.emit()

    @Slot()
    def _on_sets(self) -> None:
        self._own_sets = bool(self.sets.toPlainText().strip())
        self.changed.emit()


def _ks_in(text: str) -> tuple[int, ...]:
    """Read values of k between commas; ValueError says what would be allowed."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    numbers = [int(part) for part in parts if part.isdecimal() and len(part) <= len(str(_MOST_K))]
    if not parts or len(numbers) < len(parts) or not all(1 <= number <= _MOST_K for number in numbers):
        raise ValueError(f"Enter whole numbers from 1 to {_MOST_K:,}, with commas between them.")
    return tuple(dict.fromkeys(numbers))


def _list_unseeded() -> list[str]:
    """List the location approaches that start from no other one."""
    return [
        name
        for name, kind in list_approaches("site_location").items()
        if not any(declared.is_nested for declared in kind.options())
    ]


def suggested_target(state: AppState) -> Path:
    """Suggest a folder beside the project or the records, never among the files that come with the program."""
    path = state.project_path or state.records_path
    if path is None or is_sample(path):
        return documents_folder() / "vbas comparison"
    return sibling_path(path, f"{path.stem.partition('.')[0]} comparison")
