"""The two files: where they are, what was understood of them, how they are read, and what is odd about them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QWidget,
)

from vbas_desktop.io.databases.address import record_place
from vbas_desktop.model.errors import Finding, Severity
from vbas_desktop.model.names import escape_lines
from vbas_desktop.session.words import data_in_words, regions_in_words
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import dress, in_column, in_row
from vbas_desktop.ui.widgets.fields import ElidedLabel, Unfold, muted, short_name, title
from vbas_desktop.ui.widgets.plain_text import Label, set_tool_tip
from vbas_desktop.ui.worker import in_window_words, is_about_reading

from .reading_options import ReadingOptions

_LISTED = 200
"""How many problems are listed; a file can have one in every column, and nobody reads more."""


_IN_SIGHT = 4
_HIGHEST_LINES = 12
_BESIDE_TEXT = 6 * GRID
"""Icon, margins and scroll bar of a line."""

_OPEN, _CHANGE = "Open files…", "Change files…"


class FilesSection(QWidget):
    """Paths, facts, reading options, findings."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._session, self._theme = context.session, context.theme
        self.records, self.regions = _Path("Record file"), _Path("Region file")
        self.findings = dress(QListWidget(), wordWrap=True, accessibleName="Problems of the files")
        self.findings.hide()
        self.findings_of = dress(Label(), wordWrap=True, look="error")
        self.findings_of.hide()
        self.blanks = dress(Label(), wordWrap=True, look="warning")
        self.join = QPushButton("&Join them")
        set_tool_tip(self.join, "Take these categories together, in counting and in the release; Undo separates them")
        self.join.clicked.connect(self._on_join_clicked)
        self._blanks_row = in_row((self.blanks, 1), self.join)
        self.choose = dress(QPushButton(_OPEN), toolTip="Open a record file and a region file (Ctrl+O)")
        self.options = ReadingOptions(context)
        self.unfold = Unfold("Reading options", self.options)
        head = in_row((title("Files"), 1), self.choose)
        in_column(
            head,
            self.records,
            self.regions,
            self.findings_of,
            self.findings,
            self._blanks_row,
            self.unfold,
            self.options,
            within=self,
            margins=0,
            spacing=GRID // 2,
        )

    def reload(self) -> None:
        """Other data are loaded."""
        session = self._session
        self._refresh_blanks()
        self.options.data_loaded()
        if not self.options.changed:
            self.unfold.setChecked(False)
        if session.table is not None and session.regions is not None:
            dress(self.choose, text=_CHANGE, toolTip="Open other files (Ctrl+O)")
            self.records.show_file(str(record_place(session.records_path or "")), data_in_words(session.table))
            self.regions.show_file(str(session.regions_path), regions_in_words(session.regions))

    def refresh(self) -> None:
        """Choices changed."""
        self._refresh_blanks()
        self.options.refresh()
        self.unfold.setVisible(self._session.has_data or self._session.unread is not None)
        if self.options.changed and not self.unfold.isChecked():
            self.unfold.setChecked(True)

    def _refresh_blanks(self) -> None:
        """Name the quasi-identifiers with categories that differ from others only by blanks."""
        table = self._session.table
        found = {} if table is None else self._session.choices.joinable(table)
        columns = ", ".join(f"“{short_name(name)}” ({number:,})" for name, number in found.items())
        self.blanks.setText(f"Categories that differ from others only by blanks count separately: {columns}.")
        self.blanks.setVisible(bool(found))
        self.join.setVisible(bool(found))

    @Slot()
    def _on_join_clicked(self) -> None:
        if self._session.table is not None:
            self._session.change(self._session.choices.with_joined_blanks(self._session.table))

    def show_findings(self, findings: Sequence[Finding], of: str = "") -> None:
        """List what is wrong or odd about the files, errors first; ``of`` says what else they belong to."""
        self.findings_of.setText(of)
        self.findings_of.setVisible(bool(of))
        self.findings.clear()
        if any(finding.severity is Severity.ERROR and is_about_reading(finding) for finding in findings):
            self.unfold.setChecked(True)
        order = [Severity.ERROR, Severity.WARNING, Severity.HINT]
        icons = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "info"}
        for finding in sorted(findings, key=lambda item: order.index(item.severity))[:_LISTED]:
            text = in_window_words(finding)
            item = QListWidgetItem(self._theme.icon(icons[finding.severity]), escape_lines(text))
            set_tool_tip(item, text)
            self.findings.addItem(item)
        if len(findings) > _LISTED:
            self.findings.addItem(f"… and {len(findings) - _LISTED:,} more of this kind.")
        self.findings.setVisible(self.findings.count() > 0)
        self._fit_findings()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lines break elsewhere."""
        super().resizeEvent(event)
        self._fit_findings()

    def _fit_findings(self) -> None:
        """Show the first few problems in full; the others are scrolled to."""
        metrics, width = self.findings.fontMetrics(), self.width() - _BESIDE_TEXT
        texts = [self.findings.item(row).text() for row in range(min(self.findings.count(), _IN_SIGHT))]
        wrapped = (metrics.boundingRect(0, 0, width, 0, Qt.TextFlag.TextWordWrap, text) for text in texts)
        height = sum(box.height() + GRID // 2 for box in wrapped)
        self.findings.setFixedHeight(min(height, _HIGHEST_LINES * metrics.height()) + GRID)


class _Path(QWidget):
    """One file's name, with its facts below."""

    def __init__(self, label: str) -> None:
        super().__init__()
        self._label = label
        self.name = ElidedLabel(f"{label}: none yet", Qt.TextElideMode.ElideMiddle)
        self.facts = muted()
        self.facts.hide()
        in_column(self.name, self.facts, within=self, margins=0, spacing=0)

    def show_file(self, path: str, facts: str) -> None:
        """Show a file."""
        self.name.setText(path.replace("\\", "/").rpartition("/")[2])
        set_tool_tip(self.name, path)
        self.facts.setText(facts)
        self.facts.show()
