"""What came of an export: what was released, how it was verified, and where it is."""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from vbas_desktop.domain.words import counted
from vbas_desktop.release import ReleaseReport
from vbas_desktop.ui.theme import GRID, Theme
from vbas_desktop.ui.widgets.fields import title
from vbas_desktop.ui.worker import in_window_words


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
        text = QLabel(_in_words(report))
        text.setWordWrap(True)
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
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        for widget in (heading, text, place, self.checks, buttons):
            layout.addWidget(widget)

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
