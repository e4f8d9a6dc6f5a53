"""Where a release goes: the proposed folder, its field, and the ledger that knows earlier releases."""

from __future__ import annotations

import re
from datetime import date
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QLineEdit, QWidget

from vbas_desktop.app.handover import find_new_folder, usual_ledger
from vbas_desktop.io.databases.address import Address, containing_folder, parse_address
from vbas_desktop.releases.ledger import LEDGER_FILE

from ..core.worker import Worker
from ..state.app_state import AppState
from ..widgets.fields import Field
from ..widgets.file_dialogs import (
    ask_for_folder,
    documents_folder,
    is_sample,
    parse_typed_path,
    sibling_path,
)
from ..widgets.layouts import button, hbox


class TargetField(QWidget):
    """A field for the folder of a release, with a button to look for one; `changed` when its text did."""

    changed = Signal()

    def __init__(self, proposed: Path) -> None:
        super().__init__()
        self.edit = QLineEdit(str(proposed))
        field = Field(
            "Target f&older",
            self.edit,
            "A new folder; an earlier release is replaced only after a question",
        )
        browse = button("&Browse…", self._on_browse)
        hbox((field, 1), (browse, 0, Qt.AlignmentFlag.AlignBottom), within=self, margins=0)
        self.edit.textChanged.connect(self.changed)

    @property
    def path(self) -> Path | None:
        """The folder; None while the field is empty."""
        return parse_typed_path(self.edit.text()) if self.edit.text().strip() else None

    def propose_new(self, background: Worker) -> None:
        """Number the proposed folder if there is one of that name, unless another one was chosen meanwhile."""
        proposed = self.edit.text()

        def propose(folder: Path) -> None:
            if self.edit.text() == proposed:
                self.edit.setText(str(folder))

        background.start_latest(
            self, "Looking for a new folder", partial(find_new_folder, Path(proposed)), propose
        )

    @Slot()
    def _on_browse(self) -> None:
        start = Path(self.edit.text()).parent
        ask_for_folder(self, "Choose the folder for the release", start, self.edit.setText)


def with_date(name: str) -> str:
    """Add today's date to the name of a folder."""
    return f"{name} {date.today().isoformat()}"


def propose_target(state: AppState) -> Path:
    """Propose the folder of a release: beside project or records, named after them, with the date."""
    source = state.project_path or state.records_path or Path("records.csv")
    name = "sample" if is_sample(source) else source.name.partition(".")[0]
    address = parse_address(source)
    if isinstance(address, Address):
        # Of an address the folder is known that its records are in, or none.
        name = re.sub(r"[^\w.-]+", "_", address.name)
        return (containing_folder(source) or documents_folder()) / with_date(f"{name} release")
    return sibling_path(source, with_date(f"{name} release"))


def find_ledger(state: AppState) -> Path:
    """Return the ledger beside the records; that of the sample data is where its releases are."""
    records = state.records_path or Path("records.csv")
    return sibling_path(records, LEDGER_FILE) if is_sample(records) else usual_ledger(records)
