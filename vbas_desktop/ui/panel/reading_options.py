"""How the two files are read: what the program would find out by itself can be said here."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QGridLayout, QLineEdit, QPushButton, QWidget

from vbas_desktop.io.regions.read import region_names
from vbas_desktop.model.progress import Progress
from vbas_desktop.session.choices import Choices
from vbas_desktop.settings.declaration import setting_of, settings_of
from vbas_desktop.settings.reading import FIND_OUT, Reading, RegionOptions
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import dress
from vbas_desktop.ui.widgets.fields import setting_field
from vbas_desktop.ui.widgets.file_dialogs import CODEBOOK_FILES, OBSTACLE_FILES, ask_to_open
from vbas_desktop.ui.widgets.names_edit import ColumnList, narrow_list
from vbas_desktop.ui.worker import Latest

_FILES = "obstacles"
_LAYER = "layer"
_COLUMNS = ("id_column", "x_column", "y_column")
_PARTED = "; "
_ASKED = {
    _FILES: ("Add obstacles…", "Add a file with lakes, coasts or rivers for the construction “Obstacles”"),
    "codebook": ("Codebook…", "Choose a file that says what codes mean: column, value, label"),
    "keep_records": ("Required…", "Choose a table of combinations of values: only records with one are considered"),
    "drop_records": ("Unwanted…", "Choose a table of combinations of values: records with one are not considered"),
    "coarsen_from": ("Crosswalk…", "Choose the crosswalk.csv of an earlier release for the construction “Coarsen”"),
    "region_map": ("Region map…", "Choose a file that says which regions the ids in the records stand for: from, to"),
}
"""The settings for which a file can be asked for: the button and its tip."""

_Asked = tuple[Path, RegionOptions]


class ReadingOptions(QWidget):
    """The files are read again when "Read again" is pressed; those that could not be read have options of their own.

    Columns and layers are chosen among those of the region file, whose names a thread looks up once these are in sight.
    """

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._session = context.session
        self._read_with: Choices | None = None
        self._names = Latest(context.quiet_runner, "Looking at the region file", self)
        self._asked: _Asked | None = None
        declared = settings_of(Reading)
        self.combos = {each.name: narrow_list(each.titles) for each in declared if each.titles}
        self.lists = {name: ColumnList(FIND_OUT) for name in (*_COLUMNS, _LAYER)}
        others = [each.name for each in declared if not each.titles and each.name not in self.lists]
        self.edits = {name: QLineEdit() for name in others}
        self.choose = {name: dress(QPushButton(text), toolTip=tip) for name, (text, tip) in _ASKED.items()}
        for name, button in self.choose.items():
            button.clicked.connect(partial(self._ask_for, name))
        self.again = dress(QPushButton("Read again"), toolTip="Read both files with these options (F5)")
        self._build()
        for combo in (*self.combos.values(), *self.lists.values()):
            combo.activated.connect(self._on_changed)
        for edit in self.edits.values():
            edit.editingFinished.connect(self._on_changed)

    def _build(self) -> None:
        widgets: dict[str, QWidget] = {**self.combos, **self.lists, **self.edits}
        fields = [setting_field(setting_of(Reading, name), widget) for name, widget in widgets.items()]
        for field in fields:
            field.caption.setWordWrap(True)
        grid = QGridLayout(self)
        grid.setContentsMargins(2 * GRID, 0, 0, 0)
        grid.setHorizontalSpacing(2 * GRID)
        for column in (0, 1):
            grid.setColumnStretch(column, 1)
        for place, field in enumerate(fields):
            grid.addWidget(field, place // 2, place % 2, Qt.AlignmentFlag.AlignBottom)
        for edit in self.edits.values():
            edit.setPlaceholderText("None")
        buttons = QGridLayout()
        for place, button in enumerate((*self.choose.values(), self.again)):
            buttons.addWidget(button, place // 2, place % 2)
        grid.addLayout(buttons, (len(fields) + 1) // 2, 0, 1, 2)

    def data_loaded(self) -> None:
        """These options are the ones in force now; the files may have other columns than when they were last seen."""
        self._read_with, self._asked = self._session.choices, None

    def showEvent(self, event: QShowEvent) -> None:
        """From now on it matters what can be chosen."""
        super().showEvent(event)
        self._look_up()

    def refresh(self) -> None:
        """Show what is chosen."""
        chosen = self._session.read_with
        for name, combo in self.combos.items():
            combo.setCurrentIndex(max(0, combo.findData(getattr(chosen, name))))
        for name, listed in self.lists.items():
            listed.choose(getattr(chosen, name))
        for name, edit in self.edits.items():
            value = getattr(chosen, name)
            edit.setText(_PARTED.join(value) if name == _FILES else value or "")
        self.again.setEnabled(self.changed or self._session.unread is not None)
        if self.isVisible():
            self._look_up()

    @property
    def changed(self) -> bool:
        """Whether the files were read with other options than those chosen."""
        return self._read_with is not None and self._read_with.reading != self._session.choices.reading

    # What can be chosen

    def _look_up(self) -> None:
        """Have the names read if they are not those of this file, read in this way."""
        session = self._session
        path = session.regions_path if session.unread is None else session.unread.regions
        if path is None:
            return
        how = session.read_with.reading.of_regions
        asked = path, RegionOptions(delimiter=how.delimiter, encoding=how.encoding, layer=how.layer)
        if asked != self._asked:
            self._asked = asked
            self._names.want(partial(_names_of, asked), self._on_names)

    def _on_names(self, names: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
        columns, layers = names
        for name in _COLUMNS:
            self.lists[name].offer(columns)
        self.lists[_LAYER].offer(layers)
        self.lists[_LAYER].setEnabled(len(layers) > 1 or self.lists[_LAYER].chosen is not None)

    # What is chosen

    @Slot()
    def _on_changed(self) -> None:
        values: dict[str, Any] = {name: combo.currentData() for name, combo in self.combos.items()}
        values |= {name: listed.chosen for name, listed in self.lists.items()}
        values |= {name: edit.text().strip() or None for name, edit in self.edits.items() if name != _FILES}
        values[_FILES] = self._files()
        self._session.change_reading(**values)

    def _files(self) -> tuple[str, ...]:
        texts = (text.strip() for text in self.edits[_FILES].text().split(_PARTED.strip()))
        return tuple(text for text in texts if text)

    def _ask_for(self, name: str, checked: bool = False) -> None:
        """Have a file chosen for one of the settings; obstacles are added to those that are there."""

        def then(path: str) -> None:
            self.edits[name].setText(_PARTED.join(dict.fromkeys([*self._files(), path])) if name == _FILES else path)
            self._on_changed()

        beside, kinds, title = self._session.records_path, CODEBOOK_FILES, setting_of(Reading, name).label
        if name == _FILES:
            beside, kinds, title = self._session.regions_path, OBSTACLE_FILES, "Obstacle file"
        ask_to_open(self, title, kinds, None if beside is None else beside.parent, then)


def _names_of(asked: _Asked, progress: Progress) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Runs in the thread."""
    progress.update("Looking at the region file")
    return region_names(*asked)
