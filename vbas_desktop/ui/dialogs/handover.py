"""A release that is handed over: what came of an export, recording who got it, and some of its columns once more."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QWidget,
)

from vbas_desktop.app.ledger import LEDGER_USED, NO_LEDGER, RecordRequest
from vbas_desktop.app.release import ExportRequest
from vbas_desktop.model.text import capitalise, escape_controls, format_count
from vbas_desktop.releases.column_coverage import WITHOUT_ROLE
from vbas_desktop.releases.folder import ReleaseReport
from vbas_desktop.releases.ledger import LedgerEntry, columns_of_extract
from vbas_desktop.settings.writing import RecipientOptions

from ..core.theme import GRID, Theme
from ..presentation.messages import describe_finding
from ..widgets.dialog import CANCEL, CLOSE, Dialog
from ..widgets.fields import Field, heading_label, hint_label, message_label, set_variant
from ..widgets.file_dialogs import open_outside
from ..widgets.layouts import scroll_area, vbox, with_properties
from ..widgets.plain_text import Label, set_tool_tip
from .release_dialog import ReleaseDialog
from .release_summary import describe_coverage
from .release_target import TargetField, with_date

_LONGEST = 9
"""Columns that are shown without scrolling."""


class ReleaseDone(Dialog):
    """Shows what was released, how it was verified and where it is; emits `record_requested` if it was handed over."""

    record_requested = Signal()

    def __init__(self, report: ReleaseReport, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent, "Release written", CLOSE, (560, 0))
        self._theme = theme
        folder = QLineEdit(str(report.target))
        with_properties(
            folder, readOnly=True, accessibleName="Folder", toolTip="The folder of the release, to copy"
        )
        self.checks = with_properties(QListWidget(), accessibleName="Checks", wordWrap=True)
        self.checks.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.checks.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for check in report.checks:
            line = f"{capitalise(check.name)}: {'passed' if check.passed else 'failed'}"
            self._add("shield" if check.passed else "error", line, check.detail)
        for finding in report.findings:
            if finding.code not in (LEDGER_USED, NO_LEDGER, WITHOUT_ROLE):
                self._add("warning", describe_finding(finding), "")
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        page = report.target / "internal" / "report.html"
        self.offering("Open &folder", partial(self._open, report.target))
        self.report = self.offering("Open &report", partial(self._open, page))
        self.record = self.offering("&Record as handed over…", self.record_requested)
        self.note = message_label(look="muted")
        self.note.hide()
        content = QWidget()
        parts = (
            heading_label("Written and verified."),
            *_describe_report(report),
            folder,
            self.checks,
            self.note,
        )
        vbox(*parts, within=content, margins=0)
        scroll = scroll_area(
            content, frameShape=QFrame.Shape.NoFrame, focusPolicy=Qt.FocusPolicy.NoFocus
        )
        vbox((scroll, 1), self.buttons, within=self, margins=2 * GRID)
        # A scroll area asks for less room than its content, which is scrolled only where the screen is too low.
        room = self.screen().availableGeometry().height() - 6 * GRID
        width = max(self.minimumWidth(), self.buttons.sizeHint().width() + 4 * GRID)
        needed = content.heightForWidth(width) + self.buttons.sizeHint().height() + 8 * GRID
        self.resize(width, min(needed, room))

    def show_recorded(self, title: str) -> None:
        """Confirm that the release was recorded, beside the button that asked for it."""
        self._show_note(f"Recorded in the ledger as {title}.", "good")
        self.record.setEnabled(False)

    def _open(self, path: Path) -> None:
        """Open a file or folder; say where it is if the system has no program for it."""
        if not open_outside(path):
            self._show_note(f"No program is set up to open this. It is at {path}", "warning")

    def _show_note(self, text: str, variant: str) -> None:
        self.note.setText(text)
        set_variant(self.note, variant)
        self.note.show()

    def _add(self, icon: str, line: str, tip: str) -> None:
        item = QListWidgetItem(escape_controls(line))
        set_tool_tip(item, tip)
        item.setData(Qt.ItemDataRole.UserRole, icon)
        self.checks.addItem(item)

    @Slot()
    def _on_theme_changed(self) -> None:
        for row in range(self.checks.count()):
            item = self.checks.item(row)
            item.setIcon(self._theme.icon(item.data(Qt.ItemDataRole.UserRole)))


def _describe_report(report: ReleaseReport) -> list[QLabel]:
    """Say what was released, for which columns k holds and for which not, and what it was compared with."""
    labels = [
        message_label(
            f"{report.records_released:,} of {format_count(report.records, 'record')} in "
            f"{report.regions_in_words}; {report.records_suppressed:,} suppressed. "
            f"The folder “release” may be handed on, “internal” stays with you."
        )
    ]
    if report.columns is not None:
        labels += describe_coverage(report.columns)
    labels += [
        message_label(finding.message) for finding in report.findings if finding.code == NO_LEDGER
    ]
    if report.policy is not None:
        labels.append(message_label(report.policy.in_words))
    return labels


class RecordDialog(Dialog):
    """Asks who got a release, and when; emits `record_requested(RecordRequest)` when the user confirms."""

    record_requested = Signal(object)

    def __init__(self, folder: Path, ledger: Path, audience: str, parent: QWidget) -> None:
        super().__init__(parent, "Record as handed over", CANCEL, (480, 0))
        self._folder = folder
        self._ledger = ledger
        self.audience = QLineEdit(audience)
        self.date = QLineEdit(date.today().isoformat())
        self.note = QLineEdit()
        self.problem = with_properties(Label(), look="muted")
        ledger_path = QLineEdit(str(ledger))
        with_properties(
            ledger_path, readOnly=True, accessibleName="Ledger", toolTip="The file of the ledger"
        )
        self.record = self.confirmed_by("&Record")
        vbox(
            Field("R&ecipient", self.audience, "Who got it; “public” means everyone"),
            Field("&Date", self.date, "As 2026-05-31"),
            Field("&Note", self.note, "A note to remember it by"),
            hint_label(
                "Later exports from these records are compared with it. The ledger holds no value of any record."
            ),
            ledger_path,
            self.problem,
            self.buttons,
            within=self,
            margins=2 * GRID,
            spacing=GRID,
        )
        for field in (self.audience, self.date):
            field.textChanged.connect(self._on_changed)
        self._on_changed()

    def _what_is_wrong(self) -> str:
        if not self.audience.text().strip():
            return "Enter who got it."
        try:
            date.fromisoformat(self.date.text().strip())
        except ValueError:
            return "Write the date as 2026-05-31."
        return ""

    @Slot()
    def _on_changed(self) -> None:
        wrong = self._what_is_wrong()
        self.problem.setText(wrong)
        # Nobody has done anything wrong who has not yet said anything.
        set_variant(self.problem, "error" if wrong and self.audience.text().strip() else "muted")
        self.record.setEnabled(not wrong)

    def _on_accepted(self) -> None:
        day = self.date.text().strip()
        note = self.note.text().strip()
        self.record_requested.emit(
            RecordRequest(self._folder, self._ledger, self.audience.text(), day, note)
        )


class ExtractDialog(ReleaseDialog):
    """Asks which columns of a release to write again."""

    def __init__(self, entry: LedgerEntry, ledger: Path, audience: str, parent: QWidget) -> None:
        super().__init__(parent, "Only columns of a release", (480, 0))
        self._entry = entry
        self._ledger = ledger
        self.columns = QListWidget()
        for name in entry.columns:
            item = QListWidgetItem(escape_controls(name), self.columns)
            item.setData(Qt.ItemDataRole.UserRole, name)
            item.setCheckState(Qt.CheckState.Checked)
            if name == entry.region_column:
                # Without its regions it would be no part of that release.
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEnabled)
        row = max(self.columns.sizeHintForRow(0), GRID)
        self.columns.setFixedHeight(
            row * min(_LONGEST, self.columns.count()) + 2 * self.columns.frameWidth() + GRID
        )
        self.audience = with_properties(QLineEdit(audience or entry.audience), placeholderText="anyone")
        self.target = TargetField(Path(with_date(f"{entry.folder} columns")))
        set_variant(self.problem, "muted")
        vbox(
            message_label(
                f"What was handed over as {entry.title} is written once more with fewer columns. Whoever has it "
                "learns nothing new."
            ),
            Field("&Columns", self.columns, "Those that are ticked are released"),
            Field("Reci&pient", self.audience, "Who gets it; “public” means everyone"),
            self.target,
            within=self.content,
            margins=0,
            spacing=GRID,
        )
        parts = (self.content, self.problem, self.stage, self.progress, self.buttons)
        vbox(*parts, within=self, margins=2 * GRID, spacing=GRID)
        self.columns.itemChanged.connect(self._on_changed)
        self.target.changed.connect(self._on_changed)
        self._on_changed()

    @property
    def kept(self) -> list[str]:
        """The columns that are ticked."""
        items = map(self.columns.item, range(self.columns.count()))
        return [
            item.data(Qt.ItemDataRole.UserRole)
            for item in items
            if item.checkState() == Qt.CheckState.Checked
        ]

    def make_request(self) -> ExportRequest:
        """Return the request for the ticked columns."""
        target = self.target.path
        assert target is not None
        handing = RecipientOptions(
            ledger=str(self._ledger), audience=self.audience.text().strip() or None
        )
        return make_extract_request(self._entry, target, self.kept, handing)

    @Slot()
    def _on_changed(self) -> None:
        wrong = "" if self.target.path is not None else "Choose a target folder."
        if len(self.kept) == len(self._entry.columns):
            wrong = "Untick what shall be left out; with all columns it would be the same release."
        self.problem.setText(wrong)
        self.problem.setVisible(bool(wrong))
        self.export.setEnabled(not wrong and not self.is_writing)


def make_extract_request(
    entry: LedgerEntry, target: Path, columns: Sequence[str], handing: RecipientOptions
) -> ExportRequest:
    """Make the request that writes an earlier release once more, with those of its columns that are kept."""
    # Whoever has the release knows already what it lacks.
    changes = {"columns": list(columns_of_extract(entry, columns)), "exceed_loss": True}
    return ExportRequest(Path(entry.folder), target, changes=changes, handing=handing, replaces=False)
