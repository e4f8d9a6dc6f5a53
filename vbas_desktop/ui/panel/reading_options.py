"""How the two files are read: what the program would find out by itself can be said here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QGridLayout, QHBoxLayout, QLineEdit, QPushButton, QWidget

from vbas_desktop.session.choices import Choices
from vbas_desktop.session.session import Session
from vbas_desktop.settings.declaration import setting_of, settings_of
from vbas_desktop.settings.reading import FIND_OUT, Reading
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.fields import setting_field
from vbas_desktop.ui.widgets.file_dialogs import CODEBOOK_FILES, OBSTACLE_FILES, ask_to_open

_FILES = "obstacles"
_CODEBOOK = "codebook"
_PARTED = "; "


class ReadingOptions(QWidget):
    """The files are read again when "Read again" is pressed; those that could not be read have options of their own."""

    read_again_wanted = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._read_with: Choices | None = None
        declared = settings_of(Reading)
        self.combos = {each.name: _combo(each.titles) for each in declared if each.titles}
        self.edits = {each.name: QLineEdit() for each in declared if not each.titles}
        self.choose = QPushButton("Add obstacles…")
        self.choose.setToolTip("Add a file with lakes, coasts or rivers for the construction “Obstacles”")
        self.choose.clicked.connect(self._on_choose)
        self.choose_codebook = QPushButton("Codebook…")
        self.choose_codebook.setToolTip("Choose a file that says what codes mean: column, value, label")
        self.choose_codebook.clicked.connect(self._on_choose_codebook)
        self.again = QPushButton("Read again")
        self.again.setToolTip("Read both files with these options (F5)")
        self._build()
        for combo in self.combos.values():
            combo.activated.connect(self._on_changed)
        for edit in self.edits.values():
            edit.editingFinished.connect(self._on_changed)
        self.again.clicked.connect(self.read_again_wanted)

    def _build(self) -> None:
        widgets: dict[str, QWidget] = {**self.combos, **self.edits}
        fields = [setting_field(setting_of(Reading, name), widget) for name, widget in widgets.items()]
        for field in fields:
            field.caption.setWordWrap(True)
        grid = QGridLayout(self)
        grid.setContentsMargins(2 * GRID, 0, 0, 0)
        grid.setHorizontalSpacing(2 * GRID)
        for place, field in enumerate(fields):
            grid.addWidget(field, place // 2, place % 2, Qt.AlignmentFlag.AlignBottom)
        for name, edit in self.edits.items():
            edit.setPlaceholderText("None" if name in (_CODEBOOK, _FILES, "coarsen_from") else FIND_OUT)
        buttons = QHBoxLayout()
        buttons.addWidget(self.choose)
        buttons.addWidget(self.choose_codebook)
        buttons.addWidget(self.again)
        grid.addLayout(buttons, (len(fields) + 1) // 2, 0, 1, 2)

    def data_loaded(self) -> None:
        """These options are the ones in force now."""
        self._read_with = self._session.choices

    def refresh(self) -> None:
        """Show what is chosen."""
        chosen = self._session.read_with
        for name, combo in self.combos.items():
            combo.setCurrentIndex(max(0, combo.findData(getattr(chosen, name))))
        for name, edit in self.edits.items():
            value = getattr(chosen, name)
            edit.setText(_PARTED.join(value) if name == _FILES else value or "")
        self.again.setEnabled(self.changed or self._session.unread is not None)

    @property
    def changed(self) -> bool:
        """Whether the files were read with other options than those chosen."""
        return self._read_with is not None and self._read_with.reading != self._session.choices.reading

    @Slot()
    def _on_changed(self) -> None:
        values: dict[str, Any] = {name: combo.currentData() for name, combo in self.combos.items()}
        values |= {name: edit.text().strip() or None for name, edit in self.edits.items() if name != _FILES}
        values[_FILES] = self._files()
        self._session.change_reading(**values)

    def _files(self) -> tuple[str, ...]:
        texts = (text.strip() for text in self.edits[_FILES].text().split(_PARTED.strip()))
        return tuple(text for text in texts if text)

    @Slot()
    def _on_choose(self) -> None:
        def then(path: str) -> None:
            self.edits[_FILES].setText(_PARTED.join(dict.fromkeys([*self._files(), path])))
            self._on_changed()

        regions = self._session.regions_path
        ask_to_open(self, "Obstacle file", OBSTACLE_FILES, None if regions is None else regions.parent, then)

    @Slot()
    def _on_choose_codebook(self) -> None:
        def then(path: str) -> None:
            self.edits[_CODEBOOK].setText(path)
            self._on_changed()

        records = self._session.records_path
        ask_to_open(self, "Codebook", CODEBOOK_FILES, None if records is None else records.parent, then)


def _combo(titles: Mapping[str | None, str]) -> QComboBox:
    combo = QComboBox()
    combo.setMinimumContentsLength(8)
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    for value, text in titles.items():
        combo.addItem(text, value)
    return combo
