"""The status line: what is going on, how far it is, how long it will take, and the size of the problem. The log: what
happened in this session, with times. Never the content of a record.
"""

from __future__ import annotations

import time
from datetime import datetime

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QPlainTextEdit, QProgressBar, QStatusBar, QWidget

from vbas_desktop.model.names import escape_controls
from vbas_desktop.model.words import counted
from vbas_desktop.session.session import Session
from vbas_desktop.session.words import time_left_in_words
from vbas_desktop.ui.widgets.plain_text import Label, set_tool_tip

from .context import Context, SessionModel
from .theme import GRID, tabular
from .widgets.building import dress, in_column
from .widgets.fields import ElidedLabel
from .worker import Failure, JobRunner

_QUIET_SECONDS = 1.5
"""The time left is not shown earlier: the first seconds say little."""


class StatusLine(QStatusBar):
    """Listens to the runner and to the session."""

    def __init__(self, model: SessionModel, runner: JobRunner, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session: Session = model.session
        self._runner = runner
        self._began = 0.0
        self._page = ""
        self.what = ElidedLabel("Ready")
        self.bar = QProgressBar()
        self.bar.setFixedWidth(160)
        # Letters over a bar that grows below them are hard to read: they stand beside it.
        self.bar.setTextVisible(False)
        self.left = Label()
        self.facts = Label()
        for label in (self.left, self.facts):
            label.setFont(tabular(label.font()))
            label.setProperty("look", "muted")
        self.addWidget(self.what, 1)
        for widget in (self.left, self.bar, self.facts):
            self.addPermanentWidget(widget)
        self.setContentsMargins(GRID, 0, 0, 0)
        self._show_bar(False)
        runner.job_started.connect(self._on_job_started)
        runner.progressed.connect(self._on_progressed)
        runner.job_ended.connect(self._on_job_ended)
        runner.job_failed.connect(self._on_job_failed)
        for signal in (model.data_loaded, model.choices_changed, model.problem_counted, model.selection_changed):
            signal.connect(self._on_facts_changed)
        self._on_facts_changed()

    def say(self, text: str) -> None:
        """Show a sentence until something else happens."""
        self.what.setText(text)
        set_tool_tip(self.what, text)

    @Slot(str)
    def turn_to(self, page: str) -> None:
        """Another page is shown: what was said on the one before goes with it, but for what a job is doing."""
        if page != self._page and not self._runner.busy:
            self.say("Ready")
        self._page = page

    def _show_bar(self, shown: bool) -> None:
        self.bar.setVisible(shown)
        self.left.setVisible(shown)

    @Slot(str)
    def _on_job_started(self, title: str) -> None:
        self._began = time.monotonic()
        self.say(f"{title}…")
        self.left.clear()
        self.bar.setRange(0, 0)
        self._show_bar(True)

    @Slot(str, object)
    def _on_progressed(self, stage: str, fraction: float | None) -> None:
        title = self._runner.title
        self.say(stage if stage == title else f"{title}: {stage}")
        if fraction is None:
            self.left.clear()
            self.bar.setRange(0, 0)
            return
        self.bar.setRange(0, 1000)
        self.bar.setValue(round(1000 * min(max(fraction, 0.0), 1.0)))
        elapsed, percent = time.monotonic() - self._began, f"{100 * min(max(fraction, 0.0), 1.0):.0f} %"
        told = elapsed > _QUIET_SECONDS and fraction > 0.02
        left = f" · {time_left_in_words(elapsed * (1 - fraction) / fraction)}" if told else ""
        self.left.setText(percent + left)

    @Slot(str)
    def _on_job_ended(self, title: str) -> None:
        self._show_bar(False)
        # A sentence that somebody said at the end of the job stays; a stage of the job does not.
        if self.what.text().startswith(title):
            self.say("Ready")

    @Slot(object)
    def _on_job_failed(self, failure: Failure) -> None:
        self.say(f"Failed: {failure.title}.")

    @Slot()
    def _on_facts_changed(self) -> None:
        session, parts = self._session, []
        if session.table is not None:
            parts.append(counted(session.table.rows, "record"))
        if session.regions is not None:
            parts.append(counted(len(session.regions), "region"))
        if session.problem is not None:
            parts.append(counted(session.problem.counts.max_combinations, "class"))
        if session.has_data:
            parts.append(f"k = {session.choices.k}")
            if session.selected is not None and session.selected.run.key.k != session.choices.k:
                parts.append(f"shown: k = {session.selected.run.key.k}")
        self.facts.setText(" · ".join(parts))


_MOST_LINES = 2000


class LogTab(QWidget):
    """A read-only list of lines, newest at the bottom."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.text = dress(
            QPlainTextEdit(), readOnly=True, placeholderText="Nothing happened yet.", accessibleName="Log"
        )
        self.text.setMaximumBlockCount(_MOST_LINES)
        in_column(self.text, within=self, margins=GRID)
        context.runner.job_started.connect(self._on_job_started)
        context.runner.job_failed.connect(self._on_job_failed)

    @Slot(str)
    def add(self, line: str) -> None:
        """Add a line with the time of day."""
        self.text.appendPlainText(f"{datetime.now():%H:%M:%S}  {escape_controls(line)}")

    @Slot(str)
    def _on_job_started(self, title: str) -> None:
        self.add(f"{title}…")

    @Slot(object)
    def _on_job_failed(self, failure: Failure) -> None:
        self.add(f"{failure.title} failed. {failure.message}")
