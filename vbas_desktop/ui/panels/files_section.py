"""The two files: where they are, what was understood of them, how they are read, and what is odd about them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QWidget,
)

from vbas_desktop.io.databases.address import parse_address
from vbas_desktop.model.findings import Finding, Severity
from vbas_desktop.model.text import escape_lines

from ..core.context import UiContext
from ..core.theme import GRID
from ..presentation.messages import describe_finding, is_about_reading
from ..state.words import data_in_words, regions_in_words
from ..widgets.fields import (
    CollapsibleSection,
    ElidedLabel,
    heading_label,
    hint_label,
    message_label,
    shorten_name,
)
from ..widgets.layouts import button, hbox, vbox, with_properties
from ..widgets.plain_text import Label, set_tool_tip
from .reading_options import ReadingOptions

_LISTED = 200
"""How many problems are listed; a file can have one in every column, and nobody reads more."""


_IN_SIGHT = 4
_HIGHEST_LINES = 12
_BESIDE_TEXT = 6 * GRID
"""Icon, margins and scroll bar of a line."""

_OPEN = "Open files…"
_CHANGE = "Change files…"


class FilesSection(QWidget):
    """Paths, facts, reading options, findings. `reload_requested()`: read both files again."""

    reload_requested = Signal()

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self._state = context.state
        self._theme = context.theme
        self.records = _Path("Record file")
        self.regions = _Path("Region file")
        self.findings = with_properties(
            QListWidget(), wordWrap=True, accessibleName="Problems of the files"
        )
        self.findings.hide()
        self.findings_of = with_properties(Label(), wordWrap=True, look="error")
        self.findings_of.hide()
        self.blanks = with_properties(Label(), wordWrap=True, look="warning")
        self.join = QPushButton("&Join them")
        set_tool_tip(
            self.join,
            "Take these categories together, in counting and in the release; Undo separates them",
        )
        self.join.clicked.connect(self._on_join_blanks)
        self.question = message_label(
            "Line 2 of the records looks like numbers of categories.", "warning"
        )
        is_line = "Line 2 is no record: it says how many categories each column has"
        self.is_category_line = button("It is", partial(self._on_answered, "yes"), is_line)
        self.is_record = button(
            "It is a record", partial(self._on_answered, "no"), "Line 2 is counted like all records"
        )
        self._question_row = QWidget()
        answers = ((self.question, 1), self.is_category_line, self.is_record)
        hbox(*answers, within=self._question_row, margins=0)
        self._question_row.hide()
        self._blanks_row = hbox((self.blanks, 1), self.join)
        self.choose = with_properties(
            QPushButton(_OPEN), toolTip="Open a record file and a region file (Ctrl+O)"
        )
        self.options = ReadingOptions(context)
        self.more = QWidget()
        vbox(
            hbox(self.choose, 1),
            self.options,
            within=self.more,
            margins=(2 * GRID, 0, 0, 0),
            spacing=GRID,
        )
        self.unfold = CollapsibleSection("Files and reading options", self.more)
        vbox(
            heading_label("Files"),
            self.records,
            self.regions,
            self.findings_of,
            self.findings,
            self._question_row,
            self._blanks_row,
            self.unfold,
            self.more,
            within=self,
            margins=0,
            spacing=GRID // 2,
        )

    def reload(self) -> None:
        """Show newly loaded files."""
        state = self._state
        self._refresh_blanks()
        self.options.data_loaded()
        if not self.options.changed:
            self.unfold.setChecked(False)
        if state.table is not None and state.regions is not None:
            with_properties(self.choose, text=_CHANGE, toolTip="Open other files (Ctrl+O)")
            self.records.show_file(
                str(parse_address(state.records_path or "")), data_in_words(state.table)
            )
            self.regions.show_file(str(state.regions_path), regions_in_words(state.regions))

    def refresh(self) -> None:
        """Choices changed."""
        self._refresh_blanks()
        self.options.refresh()
        self.unfold.setVisible(self._state.has_data or self._state.failed_load is not None)
        if self.options.changed and not self.unfold.isChecked():
            self.unfold.setChecked(True)

    def _refresh_blanks(self) -> None:
        """Name the quasi-identifiers with categories that differ from others only by blanks."""
        table = self._state.table
        joinable = {} if table is None else self._state.choices.joinable(table)
        columns = ", ".join(f"“{shorten_name(name)}” ({number:,})" for name, number in joinable.items())
        self.blanks.setText(
            f"Categories that differ from others only by blanks count separately: {columns}."
        )
        self.blanks.setVisible(bool(joinable))
        self.join.setVisible(bool(joinable))

    def _on_answered(self, answer: str) -> None:
        self._state.change_reading(category_counts=answer)
        self._question_row.hide()
        self.reload_requested.emit()

    @Slot()
    def _on_join_blanks(self) -> None:
        if self._state.table is not None:
            self._state.change(self._state.choices.with_joined_blanks(self._state.table))

    def show_findings(self, findings: Sequence[Finding], of: str = "") -> None:
        """List what is wrong or odd about the files, errors first; ``of`` says what else they belong to."""
        self.findings_of.setText(of)
        self.findings_of.setVisible(bool(of))
        self.findings.clear()
        is_asked = (
            not of
            and self._state.choices.category_counts == "auto"
            and any(map(_asks_for_line_2, findings))
        )
        self._question_row.setVisible(is_asked)
        if is_asked:
            findings = [finding for finding in findings if not _asks_for_line_2(finding)]
        if any(finding.severity is Severity.ERROR and is_about_reading(finding) for finding in findings):
            self.unfold.setChecked(True)
        order = [Severity.ERROR, Severity.WARNING, Severity.HINT]
        icons = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "info"}
        for finding in sorted(findings, key=lambda item: order.index(item.severity))[:_LISTED]:
            text = describe_finding(finding)
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
        metrics = self.findings.fontMetrics()
        width = self.width() - _BESIDE_TEXT
        texts = [self.findings.item(row).text() for row in range(min(self.findings.count(), _IN_SIGHT))]
        wrapped = (
            metrics.boundingRect(0, 0, width, 0, Qt.TextFlag.TextWordWrap, text) for text in texts
        )
        height = sum(box.height() + GRID // 2 for box in wrapped)
        self.findings.setFixedHeight(min(height, _HIGHEST_LINES * metrics.height()) + GRID)


def _asks_for_line_2(finding: Finding) -> bool:
    """Tell whether a finding leaves open whether line 2 of the records is a record."""
    return finding.code == "category-line" and finding.severity is not Severity.ERROR


class _Path(QWidget):
    """One file's name, with its facts below."""

    def __init__(self, label: str) -> None:
        super().__init__()
        self._label = label
        self.name = ElidedLabel(f"{label}: none yet", Qt.TextElideMode.ElideMiddle)
        self.facts = hint_label()
        self.facts.hide()
        vbox(self.name, self.facts, within=self, margins=0, spacing=0)

    def show_file(self, path: str, facts: str) -> None:
        """Show a file."""
        self.name.setText(path.replace("\\", "/").rpartition("/")[2])
        set_tool_tip(self.name, path)
        self.facts.setText(facts)
        self.facts.show()
