"""A release that is handed over: what came of an export, recording who got it, and some of its columns once more."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QAbstractItemView, QLineEdit, QListWidget, QListWidgetItem, QWidget

from vbas_desktop.jobs.ledger import LEDGER_USED, NO_LEDGER, RecordJob
from vbas_desktop.jobs.release import ExportJob
from vbas_desktop.model.names import escape_controls
from vbas_desktop.model.words import capitalised, counted
from vbas_desktop.release import ReleaseReport
from vbas_desktop.release.column_coverage import WITHOUT_ROLE
from vbas_desktop.release.ledger import Entry, extract_columns
from vbas_desktop.settings.writing import HandingOver
from vbas_desktop.ui.theme import GRID, Theme
from vbas_desktop.ui.widgets.building import dress, in_column
from vbas_desktop.ui.widgets.dialog import CANCEL, CLOSE, Dialog
from vbas_desktop.ui.widgets.fields import Field, muted, set_look, title, told
from vbas_desktop.ui.widgets.file_dialogs import open_outside, typed_path
from vbas_desktop.ui.widgets.plain_text import Label, set_tool_tip
from vbas_desktop.ui.worker import in_window_words

_LONGEST = 9
"""Columns that are shown without scrolling."""


class ReleaseDone(Dialog):
    """What was released, how it was verified, and where it is; `record_wanted` if it was handed over."""

    record_wanted = Signal()

    def __init__(self, report: ReleaseReport, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent, "Release written", CLOSE, (560, 0))
        self._theme = theme
        place = told(str(report.target), "muted")
        place.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.checks = dress(QListWidget(), accessibleName="Checks", wordWrap=True)
        self.checks.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.checks.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for check in report.checks:
            line = f"{capitalised(check.name)}: {'passed' if check.passed else 'failed'}"
            self._add("shield" if check.passed else "error", line, check.detail)
        for finding in report.findings:
            if finding.code not in (LEDGER_USED, NO_LEDGER, WITHOUT_ROLE):
                self._add("warning", in_window_words(finding), "")
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        page = report.target / "internal" / "report.html"
        self.offering("Open &folder", lambda: open_outside(report.target))
        self.offering("Open &report", lambda: open_outside(page))
        self.record = self.offering("&Record as handed over…", self.record_wanted)
        parts = (title("Written and verified."), told(_in_words(report)), place, self.checks, self.buttons)
        in_column(*parts, within=self, margins=2 * GRID)

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


def _in_words(report: ReleaseReport) -> str:
    text = (
        f"{report.records_released:,} of {counted(report.records, 'record')} in "
        f"{report.regions_in_words}; {report.records_suppressed:,} suppressed. "
        f"The folder “release” may be handed on, “internal” stays with you."
    )
    columns = [] if report.columns is None else [report.columns.in_words]
    compared = [finding.message for finding in report.findings if finding.code == NO_LEDGER]
    return " ".join([text, *columns, *compared, *([] if report.policy is None else [report.policy.in_words])])


class RecordDialog(Dialog):
    """`order_made(RecordJob)` when the user confirms."""

    order_made = Signal(object)

    def __init__(self, folder: Path, ledger: Path, audience: str, parent: QWidget) -> None:
        super().__init__(parent, "Record as handed over", CANCEL, (480, 0))
        self._folder, self._ledger = folder, ledger
        self.audience, self.date, self.note = QLineEdit(audience), QLineEdit(date.today().isoformat()), QLineEdit()
        self.problem = dress(Label(), look="muted")
        self.record = self.confirmed_by("&Record")
        in_column(
            Field("A&udience", self.audience, "Who got it. “public” is everybody"),
            Field("&Date", self.date, "As 2026-05-31"),
            Field("&Note", self.note, "A note to remember it by"),
            muted(
                "Later exports from these records are compared with it. The ledger holds no value of any record: "
                f"{ledger}"
            ),
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
            return "Say who got it."
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
        set_look(self.problem, "error" if wrong and self.audience.text().strip() else "muted")
        self.record.setEnabled(not wrong)

    def _on_accepted(self) -> None:
        day, note = self.date.text().strip(), self.note.text().strip()
        self.order_made.emit(RecordJob(self._folder, self._ledger, self.audience.text(), day, note))


class ExtractDialog(Dialog):
    """Which columns of a release are written once more: `order_made(ExportJob)` when the user confirms."""

    order_made = Signal(object)

    def __init__(self, entry: Entry, ledger: Path, audience: str, parent: QWidget) -> None:
        super().__init__(parent, "Only columns of a release", CANCEL, (480, 0))
        self._entry, self._ledger = entry, ledger
        self.columns, self.problem = QListWidget(), muted()
        for name in entry.columns:
            item = QListWidgetItem(escape_controls(name), self.columns)
            item.setData(Qt.ItemDataRole.UserRole, name)
            item.setCheckState(Qt.CheckState.Checked)
            if name == entry.region_column:
                # Without its places it would be no part of that release.
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEnabled)
        row = max(self.columns.sizeHintForRow(0), GRID)
        self.columns.setFixedHeight(row * min(_LONGEST, self.columns.count()) + 2 * self.columns.frameWidth() + GRID)
        self.audience = dress(QLineEdit(audience or entry.audience), placeholderText="anybody")
        self.target = QLineEdit(dated(f"{entry.folder}-columns"))
        self.export = self.confirmed_by("&Export")
        in_column(
            told(
                f"What was handed over as {entry.title} is written once more with fewer columns. Whoever has it "
                "learns nothing new."
            ),
            Field("&Columns", self.columns, "Those that are ticked are released"),
            Field("A&udience", self.audience, "Who gets it. “public” is everybody"),
            Field("&Target folder", self.target, "A new folder for the release"),
            self.problem,
            self.buttons,
            within=self,
            margins=2 * GRID,
            spacing=GRID,
        )
        self.columns.itemChanged.connect(self._on_changed)
        self.target.textChanged.connect(self._on_changed)
        self._on_changed()

    @property
    def kept(self) -> list[str]:
        """The columns that are ticked."""
        items = map(self.columns.item, range(self.columns.count()))
        return [item.data(Qt.ItemDataRole.UserRole) for item in items if item.checkState() == Qt.CheckState.Checked]

    @Slot()
    def _on_changed(self) -> None:
        wrong = "" if self.target.text().strip() else "Choose a target folder."
        if len(self.kept) == len(self._entry.columns):
            wrong = "Untick what shall be left out; with all columns it would be the same release."
        self.problem.setText(wrong)
        self.export.setEnabled(not wrong)

    def _on_accepted(self) -> None:
        handing = HandingOver(str(self._ledger), self.audience.text().strip() or None)
        self.order_made.emit(extract_job(self._entry, self.target.text(), self.kept, handing))


def extract_job(entry: Entry, target: str, kept: Sequence[str], handing: HandingOver) -> ExportJob:
    """Write an earlier release once more, with those of its columns that are kept."""
    # Whoever has the release knows already what it lacks.
    changes = {"columns": list(extract_columns(entry, kept)), "exceed_loss": True}
    return ExportJob(Path(entry.folder), typed_path(target), changes=changes, handing=handing, replaces=False)


def dated(name: str) -> str:
    """Add the date of today to the name of a folder."""
    return f"{name}-{date.today().isoformat()}"
