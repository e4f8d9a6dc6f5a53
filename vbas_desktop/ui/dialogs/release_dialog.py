"""The dialogs that write a release: they stay open, with all entries, until it is written."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QDialogButtonBox, QProgressBar, QWidget

from vbas_desktop.app.release import ReleaseRefusal

from ..presentation.messages import describe_finding
from ..widgets.dialog import CANCEL, Dialog
from ..widgets.fields import hint_label, message_label
from ..widgets.layouts import with_properties

_STEPS = 1000


class ReleaseDialog(Dialog):
    """Emits `order_made(request)` on confirmation and then shows progress, until `close_written` or `end_writing`.

    `stop_requested`: the user pressed Stop while the release was being written. Subclasses make the request and put
    ``content`` together; ``problem``, ``progress`` and ``stage`` belong near the buttons.
    """

    order_made = Signal(object)
    stop_requested = Signal()

    def __init__(self, parent: QWidget, title: str, least: tuple[int, int]) -> None:
        super().__init__(parent, title, CANCEL, least)
        self.content = QWidget()
        self.problem = message_label(look="error")
        self.problem.hide()
        self.stage = hint_label()
        self.progress = with_properties(
            QProgressBar(), maximum=_STEPS, textVisible=False, accessibleName="Progress"
        )
        self.export = self.confirmed_by("&Export")
        self.is_writing = False
        self._show_writing(False)

    def make_request(self) -> object:
        """Return the request for what is entered. Raises `InputError` if it is not understood."""
        raise NotImplementedError

    def show_refusal(self, refusal: ReleaseRefusal) -> None:
        """Show why nothing was written; all entries stay."""
        self.end_writing(" ".join(describe_finding(finding) for finding in refusal.findings))

    def accept(self) -> None:
        """Ask for the release; the dialog stays open while it is written."""
        if self.export.isEnabled():
            request = self.make_request()
            self.begin_writing()
            self.order_made.emit(request)

    def reject(self) -> None:
        """Close the dialog; while the release is being written, stop that instead."""
        if self.is_writing:
            self.stop_requested.emit()
        else:
            super().reject()

    def begin_writing(self) -> None:
        """Show progress; the entries cannot be changed until `end_writing`."""
        self.problem.hide()
        self._show_writing(True)

    @Slot(str, object)
    def show_progress(self, stage: str, fraction: float | None) -> None:
        """Show how far the writing is, from 0 to 1; None if that is unknown."""
        if self.is_writing:
            self.stage.setText(stage)
            self.progress.setMaximum(0 if fraction is None else _STEPS)
            self.progress.setValue(round((fraction or 0.0) * _STEPS))

    def end_writing(self, message: str = "") -> None:
        """Let the entries be changed again: nothing was written. ``message`` says why."""
        self._show_writing(False)
        self.problem.setText(message)
        self.problem.setVisible(bool(message))

    def close_written(self) -> None:
        """Close the dialog: the release is written."""
        self._show_writing(False)
        super().accept()

    def _show_writing(self, is_writing: bool) -> None:
        self.is_writing = is_writing
        self.content.setEnabled(not is_writing)
        self.export.setEnabled(not is_writing)
        self.stage.setText("")
        self.buttons.button(QDialogButtonBox.StandardButton.Cancel).setText(
            "Stop" if is_writing else "Cancel"
        )
        for widget in (self.progress, self.stage):
            widget.setVisible(is_writing)
