"""The two files: where they are, what was understood of them, how they are read, and what is odd about them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from vbas_desktop.domain.errors import Finding, Severity
from vbas_desktop.session.choices import READING_FIELDS, Choices
from vbas_desktop.session.session import Session
from vbas_desktop.session.words import data_in_words, regions_in_words
from vbas_desktop.ui.finding_words import in_window_words
from vbas_desktop.ui.theme import GRID, Theme

from .fields import Field, muted, title

_OPTIONS: dict[str, tuple[str, str, dict[str, str | None]]] = {
    "category_counts": (
        "Second line has category numbers",
        "Whether line 2 of the records holds the number of response categories of each column",
        {"Find out": "auto", "Yes": "yes", "No": "no"},
    ),
    "delimiter": (
        "Separator",
        "What separates the fields of the records",
        {"Find out": None, "Comma": ",", "Semicolon": ";", "Tab": "\t", "Bar |": "|"},
    ),
    "encoding": (
        "Encoding",
        "How the letters of the records are stored",
        {"Find out": None, "UTF-8": "utf-8", "Windows (Western)": "cp1252", "Latin-1": "latin-1", "UTF-16": "utf-16"},
    ),
    "coordinates": (
        "Coordinates",
        "Geographic coordinates are projected to metres; planar ones are taken as they are; degrees computes in raw "
        "degrees with x = latitude",
        {"Find out": "auto", "Geographic": "geographic", "Planar": "planar", "Raw degrees": "degrees"},
    ),
}
_NAMES = {"id_column": "Region id column", "x_column": "x or longitude column", "y_column": "y or latitude column"}


class ReadingOptions(QWidget):
    """How the files are read; the files are read again when "Read again" is pressed."""

    read_again_wanted = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._read_with: Choices | None = None
        self.combos: dict[str, QComboBox] = {}
        self.edits: dict[str, QLineEdit] = {}
        grid = QGridLayout(self)
        grid.setContentsMargins(2 * GRID, 0, 0, 0)
        grid.setHorizontalSpacing(2 * GRID)
        for place, (name, (label, help, values)) in enumerate(_OPTIONS.items()):
            combo = QComboBox()
            for text, value in values.items():
                combo.addItem(text, value)
            combo.activated.connect(self._on_changed)
            self.combos[name] = combo
            grid.addWidget(Field(label, combo, help), place // 2, place % 2)
        for place, (name, label) in enumerate(_NAMES.items()):
            edit = QLineEdit()
            edit.setPlaceholderText("Find out")
            edit.editingFinished.connect(self._on_changed)
            self.edits[name] = edit
            grid.addWidget(Field(label, edit, "Name of the column in the region file"), 2 + place // 2, place % 2)
        self.again = QPushButton("Read a&gain")
        self.again.clicked.connect(self.read_again_wanted)
        grid.addWidget(self.again, 3, 1, Qt.AlignmentFlag.AlignBottom)

    def data_loaded(self) -> None:
        """These options are the ones in force now."""
        self._read_with = self._session.choices

    def refresh(self) -> None:
        """Show what is chosen."""
        chosen = self._session.choices
        for name, combo in self.combos.items():
            combo.setCurrentIndex(max(0, combo.findData(getattr(chosen, name))))
        for name, edit in self.edits.items():
            edit.setText(getattr(chosen, name) or "")
        self.again.setEnabled(self.changed)

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


class FilesSection(QWidget):
    """Paths, facts, reading options, findings."""

    files_wanted = Signal()
    read_again_wanted = Signal()

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self._session, self._theme = session, theme
        self.records, self.regions = _Path("Record file"), _Path("Region file")
        self.findings = QListWidget()
        self.findings.setWordWrap(True)
        self.findings.setAccessibleName("Problems of the files")
        self.findings.hide()
        choose = QPushButton("Choose &files…")
        choose.clicked.connect(self.files_wanted)
        self.unfold = QToolButton()
        self.unfold.setText("Reading options")
        self.unfold.setCheckable(True)
        self.unfold.setAutoRaise(True)
        self.unfold.setProperty("look", "unfold")
        self.unfold.setArrowType(Qt.ArrowType.RightArrow)
        self.unfold.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.unfold.toggled.connect(self._on_unfolded)
        self.options = ReadingOptions(session)
        self.options.hide()
        self.options.read_again_wanted.connect(self.read_again_wanted)
        head = QHBoxLayout()
        head.addWidget(title("Files"), 1)
        head.addWidget(choose)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID // 2)
        layout.addLayout(head)
        for widget in (self.records, self.regions, self.findings, self.unfold, self.options):
            layout.addWidget(widget)

    def reload(self) -> None:
        """Other data are loaded."""
        session = self._session
        self.options.data_loaded()
        if session.table is not None and session.regions is not None:
            self.records.show_file(str(session.records_path), data_in_words(session.table))
            self.regions.show_file(str(session.regions_path), regions_in_words(session.regions))

    def refresh(self) -> None:
        """Choices changed."""
        self.options.refresh()
        self.unfold.setVisible(self._session.has_data)
        if self.options.changed and not self.unfold.isChecked():
            self.unfold.setChecked(True)

    def show_findings(self, findings: Sequence[Finding]) -> None:
        """List what is wrong or odd about the files, errors first."""
        self.findings.clear()
        order = [Severity.ERROR, Severity.WARNING, Severity.HINT]
        icons = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "info"}
        for finding in sorted(findings, key=lambda item: order.index(item.severity)):
            text = in_window_words(finding)
            item = QListWidgetItem(self._theme.icon(icons[finding.severity]), text)
            item.setToolTip(text)
            self.findings.addItem(item)
        rows = min(max(self.findings.count(), 1), 4)
        self.findings.setFixedHeight(rows * (2 * self.fontMetrics().height() + GRID) + 4)
        self.findings.setVisible(self.findings.count() > 0)

    @Slot(bool)
    def _on_unfolded(self, unfolded: bool) -> None:
        self.unfold.setArrowType(Qt.ArrowType.DownArrow if unfolded else Qt.ArrowType.RightArrow)
        self.options.setVisible(unfolded)


class _Path(QWidget):
    """One file's name, with its facts below."""

    def __init__(self, label: str) -> None:
        super().__init__()
        self._label = label
        self.name = QLabel(f"{label}: none yet")
        self.facts = muted()
        self.facts.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.name)
        layout.addWidget(self.facts)

    def show_file(self, path: str, facts: str) -> None:
        """Show a file."""
        self.name.setText(path.replace("\\", "/").rpartition("/")[2])
        self.name.setToolTip(path)
        self.facts.setText(facts)
        self.facts.show()
