"""What happened in this session, with times: jobs, messages, warnings. Never the content of a record."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from vbas_desktop.ui.context import Context
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import in_column
from vbas_desktop.ui.worker import Failure

_MOST_LINES = 2000


class LogTab(QWidget):
    """A read-only list of lines, newest at the bottom."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setMaximumBlockCount(_MOST_LINES)
        self.text.setPlaceholderText("Nothing happened yet.")
        self.text.setAccessibleName("Log")
        in_column(self.text, within=self, margins=GRID)
        context.runner.job_started.connect(self._on_job_started)
        context.runner.job_failed.connect(self._on_job_failed)

    @Slot(str)
    def add(self, line: str) -> None:
        """Add a line with the time of day."""
        self.text.appendPlainText(f"{datetime.now():%H:%M:%S}  {line}")

    @Slot(str)
    def _on_job_started(self, title: str) -> None:
        self.add(f"{title}…")

    @Slot(object)
    def _on_job_failed(self, failure: Failure) -> None:
        self.add(f"{failure.title} failed. {failure.message}")
