"""How the two files are read: what the program would find out by itself can be said here."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QGridLayout, QLineEdit, QPushButton, QWidget

from vbas_desktop.session.choices import READING_FIELDS, Choices
from vbas_desktop.session.session import Session
from vbas_desktop.ui.theme import GRID

from .fields import Field

_FIND_OUT = "Find out"
_SEPARATORS: dict[str, str | None] = {_FIND_OUT: None, "Comma": ",", "Semicolon": ";", "Tab": "\t", "Pipe |": "|"}
_ENCODINGS: dict[str, str | None] = {
    _FIND_OUT: None,
    "UTF-8": "utf-8",
    "Windows (Western)": "cp1252",
    "Latin-1": "latin-1",
    "UTF-16": "utf-16",
}
_CHOICES: dict[str, tuple[str, str, dict[str, str | None]]] = {
    "delimiter": ("Separator of the records", "What separates the fields of the record file", _SEPARATORS),
    "encoding": ("Encoding of the records", "How the letters of the record file are stored", _ENCODINGS),
    "category_counts": (
        "Second line has category numbers",
        "Whether line 2 of the records holds the number of response categories of each column",
        {_FIND_OUT: "auto", "Yes": "yes", "No": "no"},
    ),
    "coordinates": (
        "Coordinates",
        "Geographic coordinates are projected to metres; planar ones are taken as they are; raw degrees computes with "
        "x = latitude",
        {_FIND_OUT: "auto", "Geographic": "geographic", "Planar": "planar", "Raw degrees": "degrees"},
    ),
    "regions_delimiter": ("Separator of the regions", "What separates the fields of the region file", _SEPARATORS),
    "regions_encoding": ("Encoding of the regions", "How the letters of the region file are stored", _ENCODINGS),
    "regions_decimal": (
        "Decimal sign of the regions",
        "What parts the decimals of coordinates in a region file that is text",
        {_FIND_OUT: "auto", "Point": "point", "Comma": "comma"},
    ),
}
_NAMES = {
    "id_column": ("Region id column", "Column of the region file that names the region"),
    "x_column": ("x or longitude column", "Column of the region file"),
    "y_column": ("y or latitude column", "Column of the region file"),
    "layer": ("Layer", "Layer of a GeoPackage"),
}


class ReadingOptions(QWidget):
    """The files are read again when "Read again" is pressed. ``unread``: they could not be read so far."""

    read_again_wanted = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._read_with: Choices | None = None
        self.unread = False
        self.combos = {name: _combo(values) for name, (_, _, values) in _CHOICES.items()}
        self.edits = {name: QLineEdit() for name in _NAMES}
        self.again = QPushButton("Read again")
        self.again.setToolTip("Read both files with these options (F5)")
        self._build()
        for combo in self.combos.values():
            combo.activated.connect(self._on_changed)
        for edit in self.edits.values():
            edit.editingFinished.connect(self._on_changed)
        self.again.clicked.connect(self.read_again_wanted)

    def _build(self) -> None:
        fields = [Field(label, self.combos[name], help) for name, (label, help, _) in _CHOICES.items()]
        fields += [Field(label, self.edits[name], help) for name, (label, help) in _NAMES.items()]
        for field in fields:
            field.caption.setWordWrap(True)
        grid = QGridLayout(self)
        grid.setContentsMargins(2 * GRID, 0, 0, 0)
        grid.setHorizontalSpacing(2 * GRID)
        for place, field in enumerate(fields):
            grid.addWidget(field, place // 2, place % 2, Qt.AlignmentFlag.AlignBottom)
        for edit in self.edits.values():
            edit.setPlaceholderText(_FIND_OUT)
        grid.addWidget(self.again, len(fields) // 2, 1, Qt.AlignmentFlag.AlignBottom)

    def data_loaded(self) -> None:
        """These options are the ones in force now."""
        self._read_with, self.unread = self._session.choices, False

    def refresh(self) -> None:
        """Show what is chosen."""
        chosen = self._session.choices
        for name, combo in self.combos.items():
            combo.setCurrentIndex(max(0, combo.findData(getattr(chosen, name))))
        for name, edit in self.edits.items():
            edit.setText(getattr(chosen, name) or "")
        self.again.setEnabled(self.changed or self.unread)

    @property
    def changed(self) -> bool:
        """Whether the files were read with other options than those chosen."""
        return self._read_with is not None and self._read_with.reading() != self._session.choices.reading()

    @Slot()
    def _on_changed(self) -> None:
        values = {name: combo.currentData() for name, combo in self.combos.items()}
        values |= {name: edit.text().strip() or None for name, edit in self.edits.items()}
        assert set(values) == set(READING_FIELDS)
        self._session.change_fields(**values)


def _combo(values: dict[str, str | None]) -> QComboBox:
    combo = QComboBox()
    combo.setMinimumContentsLength(8)
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    for text, value in values.items():
        combo.addItem(text, value)
    return combo
