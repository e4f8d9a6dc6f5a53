"""How the two files are read: what the program would find out by itself can be said here."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QGridLayout, QPushButton, QWidget

from vbas_desktop.io.regions.reader import read_columns_and_layers
from vbas_desktop.model.progress import Progress
from vbas_desktop.settings.reading import ReadingSettings, RegionReading

from ..core.context import UiContext
from ..core.theme import GRID
from ..state.choices import Choices
from ..widgets.file_dialogs import CODEBOOK_FILES, OBSTACLE_FILES, ask_to_open
from ..widgets.layouts import vbox, with_properties
from ..widgets.option_form import OptionForm

_FILES = "obstacles"
_ASKED = {
    _FILES: (
        "Add obstacles…",
        "Add a file with lakes, coasts or rivers for the construction “Obstacles”",
    ),
    "codebook": ("Codebook…", "Choose a file that says what codes mean: column, value, label"),
    "keep_records": (
        "Required…",
        "Choose a table of combinations of values: only records with one are considered",
    ),
    "drop_records": (
        "Unwanted…",
        "Choose a table of combinations of values: records with one are not considered",
    ),
    "coarsen_from": (
        "Crosswalk…",
        "Choose the crosswalk.csv of an earlier release for the construction “Coarsen”",
    ),
    "region_map": (
        "Region map…",
        "Choose a file that says which regions the ids in the records stand for: from, to",
    ),
}
"""The settings for which a file can be asked for: the button and its tip."""

_Asked = tuple[Path, RegionReading]


class ReadingOptions(QWidget):
    """The files are read again when "Read again" is pressed; those that could not be read have options of their own.

    Columns and layers are chosen among those of the region file, whose names a thread looks up once these are in sight.
    """

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self._state = context.state
        self._read_with: Choices | None = None
        self._background = context.background
        self._asked: _Asked | None = None
        self._names: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        """Columns and layers of the region file."""
        self.form = OptionForm(ReadingSettings, self, alignment=Qt.AlignmentFlag.AlignBottom)
        self.form.edited.connect(self._on_edited)
        self.choose = {
            name: with_properties(QPushButton(text), toolTip=tip) for name, (text, tip) in _ASKED.items()
        }
        for name, button in self.choose.items():
            button.clicked.connect(partial(self.ask_for, name))
        self.again = with_properties(
            QPushButton("Read again"), toolTip="Read both files with these options (F5)"
        )
        self._build()

    def _build(self) -> None:
        buttons = QGridLayout()
        for position, button in enumerate((*self.choose.values(), self.again)):
            buttons.addWidget(button, position // 2, position % 2)
        vbox(self.form, buttons, within=self, margins=0, spacing=GRID)

    def data_loaded(self) -> None:
        """Take the options of newly loaded files, whose columns may have changed since they were last read."""
        self._read_with = self._state.choices
        self._asked = None

    def showEvent(self, event: QShowEvent) -> None:
        """From now on it matters what can be chosen."""
        super().showEvent(event)
        self._look_up()

    def refresh(self) -> None:
        """Show what is chosen."""
        columns, layers = self._names
        self.form.show_group(
            self._state.reading_choices, {"region columns": columns, "region layers": layers}
        )
        layer = self.form.editors["layer"]
        layer.setEnabled(len(layers) > 1 or self._state.reading_choices.layer is not None)
        self.again.setEnabled(self.changed or self._state.failed_load is not None)
        if self.isVisible():
            self._look_up()

    @property
    def changed(self) -> bool:
        """Say if the files were read with other options than those chosen now."""
        return self._read_with is not None and self._read_with.reading != self._state.choices.reading

    # What can be chosen

    def _look_up(self) -> None:
        """Have the names read if they are not those of this file, read in this way."""
        state = self._state
        path = state.regions_path if state.failed_load is None else state.failed_load.regions
        if path is None:
            return
        how = state.reading_choices.reading.of_regions
        query = path, RegionReading(delimiter=how.delimiter, encoding=how.encoding, layer=how.layer)
        if query != self._asked:
            self._asked = query
            work = partial(_names_of, query)
            self._background.start_latest(self, "Looking at the region file", work, self._on_names)

    def _on_names(self, names: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
        self._names = names
        self.refresh()

    # What is chosen

    @Slot(str, object)
    def _on_edited(self, name: str, value: object) -> None:
        self._state.change_reading(**{name: value})

    def ask_for(self, name: str, checked: bool = False) -> None:
        """Have a file chosen for one of the settings; obstacles are added to those that are there."""

        def then(path: str) -> None:
            files = self._state.reading_choices.obstacles
            self._on_edited(name, tuple(dict.fromkeys([*files, path])) if name == _FILES else path)

        neighbour = self._state.records_path
        kinds = CODEBOOK_FILES
        title = ReadingSettings.option(name).label
        if name == _FILES:
            neighbour = self._state.regions_path
            kinds = OBSTACLE_FILES
            title = "Obstacle file"
        ask_to_open(self, title, kinds, None if neighbour is None else neighbour.parent, then)


def _names_of(query: _Asked, progress: Progress) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Runs in the thread."""
    progress.update("Looking at the region file")
    return read_columns_and_layers(*query)
