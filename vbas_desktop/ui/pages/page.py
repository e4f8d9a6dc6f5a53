"""What pages with a job of their own have in common: starting it, stopping it, and where its results go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget

from vbas_desktop.model.progress import Progress

from ..core.context import UiContext
from ..core.theme import GRID, with_tabular_figures
from ..widgets.fields import Field, message_label, with_button
from ..widgets.file_dialogs import ask_for_folder, open_outside, parse_typed_path
from ..widgets.layouts import Part, button, single_shot_timer, splitter, vbox
from ..widgets.notice_bar import NoticeBar
from ..widgets.plain_text import set_tool_tip
from .ways_on import list_ways_on

T = TypeVar("T")


class TaskPage(QWidget):
    """``stop`` says what remains of a job that is stopped."""

    def __init__(self, context: UiContext, stop: str) -> None:
        super().__init__()
        self._context = context
        self._state = context.state
        self.stop = button("Stop", context.worker.stop, f"{stop} (Ctrl+.)")
        context.worker.job_started.connect(self._refresh)
        context.worker.job_ended.connect(self._refresh)

    @Slot()
    def _refresh(self) -> None:
        """Enable what can be done now that a job was started or has ended."""
        raise NotImplementedError

    def allow(self, start: QPushButton, possible: bool) -> None:
        """Have the job started if that is possible and nothing runs, and what runs stopped."""
        busy = self._context.worker.busy
        start.setEnabled(possible and not busy)
        self.stop.setEnabled(busy)

    def load(self, path: Path, job: Callable[[Progress], T], then: Callable[[T], None]) -> None:
        """Read a file of the page's own in the background."""
        self._context.worker.start(f"Loading {path.name}", job, then)

    def save(self, title: str, job: Callable[[Progress], Path]) -> None:
        """Write a file in the background and say where it is."""
        self._context.worker.start(title, job, lambda path: self._context.show_message(f"Saved {path}."))

    def lay_out(self, panel: QWidget, *parts: Part, sizes: Sequence[int]) -> None:
        """Lay the page out: settings at the left, the other parts below each other at the right."""
        inset = QWidget()
        vbox(*parts, within=inset, margins=(GRID, 0, GRID, GRID))
        self.splitter = splitter(panel, inset, sizes=sizes, growing=1)
        vbox(self.splitter, within=self, margins=(0, GRID, 0, 0))


class FolderPage(TaskPage):
    """A page whose job writes into a folder, and whose results are shown as they come.

    `_on_flush` shows those that have arrived since, a few times a second.
    """

    start: QPushButton

    def __init__(self, context: UiContext, stop: str, live: str, flush_ms: int) -> None:
        super().__init__(context, stop)
        self.live = message_label(look="live", accessibleName=live)
        self.live.setFont(with_tabular_figures(self.live.font()))
        self.blocker = NoticeBar()
        self.target = QLineEdit()
        self._page: Path | None = None
        self._arrived: list[Any] = []
        self._flush = single_shot_timer(flush_ms, self._on_flush, self)

    def folder_field(self, label: str, help: str, tip: str) -> QWidget:
        """Make the field for the folder, with a button to choose another."""

        def browse() -> None:
            ask_for_folder(self, label, self._folder.parent, self.target.setText)

        self.browse = button("Br&owse…", browse, tip)
        return with_button(Field(label, self.target, help), self.browse)

    def opening(self, text: str, tip: str = "") -> QPushButton:
        """Make the button that opens the page that the job has written."""
        self.open = button(text, self._on_open, tip)
        return self.open

    @property
    def _folder(self) -> Path:
        return parse_typed_path(self.target.text())

    def arrive(self, result: Any) -> None:
        """Have a result shown soon."""
        self._arrived.append(result)
        if not self._flush.isActive():
            self._flush.start()

    @Slot()
    def _on_flush(self) -> None:
        """Show what has arrived."""
        raise NotImplementedError

    def flush(self) -> None:
        """Show at once what has arrived: nothing more will come."""
        self._flush.stop()
        self._on_flush()

    def show_blocker(self, reason: str | None, tip: str) -> None:
        """Enable the start button, or say why the job cannot be started; ``tip`` describes the button.

        What data or choices are to blame for comes with buttons, in place of the line about the job. The button that
        opens the results is enabled once there are any.
        """
        of_input = self._state.why_not_run()
        self.blocker.show_notice(
            of_input or "", list_ways_on(self._context) if of_input else (), "warning"
        )
        self.live.setVisible(of_input is None)
        self.allow(self.start, reason is None)
        set_tool_tip(self.start, reason or tip)
        self.open.setEnabled(self._page is not None)

    @Slot()
    def _on_open(self) -> None:
        if self._page is not None:
            open_outside(self._page)
