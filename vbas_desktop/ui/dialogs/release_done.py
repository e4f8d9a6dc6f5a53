"""What came of an export: what was released, how it was verified, where it is; and recording it as handed over."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QWidget,
)

from vbas_desktop.domain.words import counted
from vbas_desktop.jobs.ledger import RecordJob
from vbas_desktop.release import ReleaseReport
from vbas_desktop.ui.theme import GRID, Theme
from vbas_desktop.ui.widgets.building import dress, in_column
from vbas_desktop.ui.widgets.fields import Field, muted, set_look, title
from vbas_desktop.ui.worker import in_window_words


class RecordDialog(QDialog):
    """`order_made(RecordJob)` when the user confirms."""

    order_made = Signal(object)

    def __init__(self, folder: Path, ledger: Path, audience: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Record as handed over")
        self.setMinimumWidth(480)
        self._folder, self._ledger = folder, ledger
        self.audience, self.date, self.note = QLineEdit(audience), QLineEdit(date.today().isoformat()), QLineEdit()
        self.problem = dress(QLabel(), look="muted")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.record = buttons.addButton("&Record", QDialogButtonBox.ButtonRole.AcceptRole)
        layout = in_column(
            Field("A&udience", self.audience, "Who got it. “public” is everybody"),
            Field("&Date", self.date, "As 2026-05-31"),
            Field("&Note", self.note, "A note to remember it by"),
            within=self,
            margins=2 * GRID,
            spacing=GRID,
        )
        told = "Later exports from these records are compared with it. The ledger holds no value of any record:"
        layout.addWidget(muted(f"{told} {ledger}"))
        layout.addWidget(self.problem)
        layout.addWidget(buttons)
        buttons.accepted.connect(self._on_accepted)
        buttons.rejected.connect(self.reject)
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

    @Slot()
    def _on_accepted(self) -> None:
        self.order_made.emit(
            RecordJob(
                self._folder, self._ledger, self.audience.text(), self.date.text().strip(), self.note.text().strip()
            )
        )
        self.accept()


class ReleaseDone(QDialog):
    """What was released, how it was verified, and where it is; `record_wanted` if it was handed over."""

    record_wanted = Signal()

    def __init__(self, report: ReleaseReport, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Release written")
        self.setMinimumWidth(560)
        self._report, self._theme = report, theme
        heading = title("Written and verified.")
        text = dress(QLabel(_in_words(report)), wordWrap=True)
        place = QLabel(str(report.target))
        place.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        place.setWordWrap(True)
        place.setProperty("look", "muted")
        self.checks = QListWidget()
        self.checks.setAccessibleName("Checks")
        self.checks.setWordWrap(True)
        self.checks.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.checks.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for check in report.checks:
            line = f"{check.name[:1].upper()}{check.name[1:]}: {'passed' if check.passed else 'failed'}"
            self._add("shield" if check.passed else "error", line, check.detail)
        for finding in report.findings:
            self._add("warning", in_window_words(finding), "")
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        folder = buttons.addButton("Open &folder", QDialogButtonBox.ButtonRole.ActionRole)
        papers = buttons.addButton("Open &report", QDialogButtonBox.ButtonRole.ActionRole)
        self.record = buttons.addButton("&Record as handed over…", QDialogButtonBox.ButtonRole.ActionRole)
        self.record.clicked.connect(self.record_wanted)
        folder.clicked.connect(self._on_folder)
        papers.clicked.connect(self._on_report)
        buttons.rejected.connect(self.reject)
        in_column(heading, text, place, self.checks, buttons, within=self, margins=2 * GRID)

    def _add(self, icon: str, line: str, tip: str) -> None:
        item = QListWidgetItem(line)
        item.setToolTip(tip)
        item.setData(Qt.ItemDataRole.UserRole, icon)
        self.checks.addItem(item)

    @Slot()
    def _on_theme_changed(self) -> None:
        for row in range(self.checks.count()):
            item = self.checks.item(row)
            item.setIcon(self._theme.icon(item.data(Qt.ItemDataRole.UserRole)))

    @Slot()
    def _on_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._report.target)))

    @Slot()
    def _on_report(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._report.target / "internal" / "report.html")))


def _in_words(report: ReleaseReport) -> str:
    text = (
        f"{report.records_released:,} of {counted(report.records, 'record')} in "
        f"{counted(report.aggregated_regions, 'aggregated region')}; {report.records_suppressed:,} suppressed. "
        f"The folder “release” may be handed on, “internal” stays with you."
    )
    return text if report.policy is None else f"{text} {report.policy.in_words}"
