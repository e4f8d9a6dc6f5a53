"""What all dialogs have in common: a title, buttons below, and that they are gone once they are closed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, SignalInstance
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPushButton, QWidget

from vbas_desktop.model.text import escape_controls

from .layouts import button

CANCEL = QDialogButtonBox.StandardButton.Cancel
CLOSE = QDialogButtonBox.StandardButton.Close
OK = QDialogButtonBox.StandardButton.Ok
OPEN = QDialogButtonBox.StandardButton.Open
_AROUND = QSize(16, 48)
"""Room for the frame and the title of a dialog, in pixels."""


class Dialog(QDialog):
    """`_on_accepted` follows once the user has confirmed.

    ``least`` is the smallest width and height, as far as the screen has room for them.

    The subclass puts ``buttons`` where they belong.
    """

    def __init__(
        self,
        parent: QWidget,
        title: str,
        buttons: QDialogButtonBox.StandardButton,
        least: tuple[int, int] = (0, 0),
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(escape_controls(title))
        # Strongly enlarged, the screen has fewer of these pixels.
        self.setMinimumSize(QSize(*least).boundedTo(self.screen().availableGeometry().size() - _AROUND))
        self.buttons = QDialogButtonBox(buttons)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self.accepted.connect(self._on_accepted)

    def _on_accepted(self) -> None:
        """Hand on what was entered."""

    def confirmed_by(self, text: str) -> QPushButton:
        """Make a button that confirms, under a name of its own."""
        return self.buttons.addButton(text, QDialogButtonBox.ButtonRole.AcceptRole)

    def offering(
        self, text: str, clicked: Callable[[], object] | SignalInstance, tip: str = ""
    ) -> QPushButton:
        """Make a button for something else that can be done."""
        offered = button(text, clicked, tip)
        self.buttons.addButton(offered, QDialogButtonBox.ButtonRole.ActionRole)
        return offered
