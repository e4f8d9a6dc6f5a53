"""The status line (running job, progress, time left, size of the problem), and the log of the session with times.

Neither shows the content of a record.
"""

from __future__ import annotations

import time
from datetime import datetime

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QPlainTextEdit, QProgressBar, QStatusBar, QWidget

from vbas_desktop.model.text import escape_controls, format_count

from ..core.announcements import announce
from ..core.context import StateSignals, UiContext
from ..core.theme import GRID, with_tabular_figures
from ..core.worker import Worker
from ..presentation.messages import TaskFailure
from ..state.app_state import AppState
from ..state.words import time_left_in_words
from ..widgets.fields import ElidedLabel
from ..widgets.layouts import vbox, with_properties
from ..widgets.plain_text import Label, set_tool_tip

_QUIET_SECONDS = 1.5
"""Time before the time left is shown: the first seconds say little."""


class StatusLine(QStatusBar):
    """Listens to the worker and to the state."""

    def __init__(self, model: StateSignals, worker: Worker, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state: AppState = model.state
        self._worker = worker
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
            label.setFont(with_tabular_figures(label.font()))
            label.setProperty("look", "muted")
        self.addWidget(self.what, 1)
        for widget in (self.left, self.bar, self.facts):
            self.addPermanentWidget(widget)
        self.setContentsMargins(GRID, 0, 0, 0)
        self._show_bar(False)
        worker.job_started.connect(self._on_job_started)
        worker.progressed.connect(self._on_progressed)
        worker.job_ended.connect(self._on_job_ended)
        worker.job_failed.connect(self._on_job_failed)
        for signal in (
            model.data_loaded,
            model.choices_changed,
            model.problem_counted,
            model.selection_changed,
        ):
            signal.connect(self._on_facts_changed)
        self._on_facts_changed()

    def show_message(self, text: str) -> None:
        """Show a sentence until something else happens, and have it announced."""
        self._set_text(text)
        announce(self, text)

    def _set_text(self, text: str) -> None:
        """Show what nobody needs to hear: what a running job is doing, and that it is over."""
        self.what.setText(text)
        set_tool_tip(self.what, text)

    @Slot(str)
    def turn_to(self, page: str) -> None:
        """Drop the message of the page before, unless it is about a running job."""
        if page != self._page and not self._worker.busy:
            self._set_text("Ready")
        self._page = page

    def _show_bar(self, visible: bool) -> None:
        self.bar.setVisible(visible)
        self.left.setVisible(visible)

    @Slot(str)
    def _on_job_started(self, title: str) -> None:
        self._began = time.monotonic()
        self.show_message(f"{title}…")
        self.left.clear()
        self.bar.setRange(0, 0)
        self._show_bar(True)

    @Slot(str, object)
    def _on_progressed(self, stage: str, fraction: float | None) -> None:
        title = self._worker.title
        self._set_text(stage if stage == title else f"{title}: {stage}")
        if fraction is None:
            self.left.clear()
            self.bar.setRange(0, 0)
            return
        self.bar.setRange(0, 1000)
        self.bar.setValue(round(1000 * min(max(fraction, 0.0), 1.0)))
        elapsed = time.monotonic() - self._began
        percent = f"{100 * min(max(fraction, 0.0), 1.0):.0f} %"
        is_predictable = elapsed > _QUIET_SECONDS and fraction > 0.02
        left = f" · {time_left_in_words(elapsed * (1 - fraction) / fraction)}" if is_predictable else ""
        self.left.setText(percent + left)

    @Slot(str)
    def _on_job_ended(self, title: str) -> None:
        self._show_bar(False)
        # A sentence that somebody said at the end of the job stays; a stage of the job does not.
        if self.what.text().startswith(title):
            self._set_text("Ready")

    @Slot(object)
    def _on_job_failed(self, failure: TaskFailure) -> None:
        text = f"Failed: {failure.title}."
        self._set_text(text)
        announce(self, f"{text} {failure.message}", is_urgent=True)

    @Slot()
    def _on_facts_changed(self) -> None:
        state = self._state
        parts = []
        if state.table is not None:
            parts.append(format_count(state.table.rows, "record"))
        if state.regions is not None:
            parts.append(format_count(len(state.regions), "region"))
        if state.problem is not None:
            parts.append(format_count(state.problem.counts.max_combinations, "class"))
        if state.has_data:
            parts.append(f"k = {state.choices.k}")
            if state.selected is not None and state.selected.run.key.k != state.choices.k:
                parts.append(f"shown: k = {state.selected.run.key.k}")
        self.facts.setText(" · ".join(parts))


_MOST_LINES = 2000


class LogPanel(QWidget):
    """A read-only list of lines, newest at the bottom."""

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self.text = with_properties(
            QPlainTextEdit(),
            readOnly=True,
            placeholderText="Nothing has happened yet.",
            accessibleName="Log",
        )
        self.text.setMaximumBlockCount(_MOST_LINES)
        vbox(self.text, within=self, margins=GRID)
        context.worker.job_started.connect(self._on_job_started)
        context.worker.job_failed.connect(self._on_job_failed)

    @Slot(str)
    def add(self, line: str) -> None:
        """Add a line with the time of day."""
        self.text.appendPlainText(f"{datetime.now():%H:%M:%S}  {escape_controls(line)}")

    @Slot(str)
    def _on_job_started(self, title: str) -> None:
        self.add(f"{title}…")

    @Slot(object)
    def _on_job_failed(self, failure: TaskFailure) -> None:
        self.add(f"{failure.title} failed. {failure.message}")
