"""Words on the columns of a release for its recipient: reasons, aims, meaning of the values."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from vbas_desktop.settings.release import ReleaseOptions

from ..core.theme import GRID
from ..state.representing import texts_by_name, texts_of_names
from ..widgets.column_picker import ColumnPicker
from ..widgets.fields import setting_field
from ..widgets.layouts import vbox, with_properties

_EXAMPLES = {
    "reasons": "phone=identifies, age=possible confounder",
    "aims": "age=risk factor",
    "meanings": "age=completed years",
}


class ColumnWords(QWidget):
    """`changed` when something else is written."""

    changed = Signal()

    def __init__(self, columns: Sequence[str]) -> None:
        super().__init__()
        self.edits = {
            name: with_properties(ColumnPicker(value=True), placeholderText=example)
            for name, example in _EXAMPLES.items()
        }
        fields = [setting_field(ReleaseOptions.option(name), edit) for name, edit in self.edits.items()]
        vbox(*fields, within=self, margins=0, spacing=GRID)
        for edit in self.edits.values():
            edit.offer(columns)
            edit.textChanged.connect(self.changed)

    def values(self) -> dict[str, dict[str, str]]:
        """Return the words by the names of the options of a release; `InputError` if they are not understood."""
        return {name: texts_by_name(edit.text()) for name, edit in self.edits.items()}

    def restore(self, options: ReleaseOptions) -> None:
        """Show the words of an earlier order."""
        for name, edit in self.edits.items():
            edit.setText(texts_of_names(getattr(options, name)))
