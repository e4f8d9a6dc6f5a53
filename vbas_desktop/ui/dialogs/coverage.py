"""The lines of the export dialog about columns: for which k holds, and which are still undecided."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QLabel

from vbas_desktop.jobs.release import CoverageJob
from vbas_desktop.release.column_coverage import ColumnCoverage, names_in_words
from vbas_desktop.ui.widgets.fields import told
from vbas_desktop.ui.worker import JobRunner, Latest

_COUNTING = "Counting the records that are unique by all released columns together…"
_NOT_COUNTED = "The records that are unique by all released columns together could not be counted."


class CoverageLine(QObject):
    """Counts in the background and shows the result in ``label``; `changed` when its text did."""

    changed = Signal()

    def __init__(self, runner: JobRunner | None, parent: QObject) -> None:
        super().__init__(parent)
        self.label: QLabel = told(look="live")
        self._latest = None if runner is None else Latest(runner, "Counting unique records", self)
        self._asked: object = None

    def show_for(self, job: CoverageJob | None) -> None:
        """Count for a solution and its released columns; None: nothing can be said."""
        if self._latest is None or job is None:
            self.label.hide()
            return
        asked = id(job.solution), job.options.columns, job.options.identifiers
        if asked == self._asked:
            return
        self._asked = asked
        self.label.setText(_COUNTING)
        self.label.show()
        self._latest.want(job.execute, self._on_counted, self._on_aborted)

    def _on_counted(self, found: ColumnCoverage) -> None:
        self.label.setText(found.in_words)
        self.changed.emit()

    def _on_aborted(self) -> None:
        # The next change in the dialog counts again.
        self._asked = None
        self.label.setText(_NOT_COUNTED)
        self.changed.emit()

    def forget(self) -> None:
        """The dialog closes: nobody waits for the result."""
        if self._latest is not None:
            self._latest.forget()


def undecided_in_words(columns: Sequence[str]) -> str:
    """Say why columns without a decided role are not exported."""
    return (
        f"Undecided: {names_in_words(columns)}. Choose their roles in Input, leave them out, or confirm that they are "
        "plain and released as they are."
    )
