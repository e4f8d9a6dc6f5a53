"""Says what a release will hold, what it is safe against and what it is not."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QWidget

from vbas_desktop.app.release import CoverageRequest, count_coverage
from vbas_desktop.releases.column_coverage import ColumnCoverage, sort_columns

from ..core.theme import GRID
from ..core.worker import Worker
from ..state.releasing import count_released_records, describe_release, explain_why_not_releasable
from ..state.scenario import ResultRow
from ..widgets.fields import message_label
from ..widgets.layouts import vbox

_COUNTING = "Counting the records that are unique with all released columns…"
_NOT_COUNTED = "The records that are unique with all released columns were not counted."


def describe_coverage(coverage: ColumnCoverage) -> list[QLabel]:
    """Say of a written release what k holds for and, as a warning, what it does not, as before the export."""
    protected, unprotected, safety = _list_sentences(coverage)
    if unprotected and coverage.unique is None:
        unprotected = f"{unprotected} {_NOT_COUNTED}"
    labels = [
        message_label(protected),
        message_label(unprotected, look="warning"),
        message_label(safety),
    ]
    return [label for label in labels if label.text()]


def _list_sentences(coverage: ColumnCoverage) -> tuple[str, str, str]:
    """Say what is protected, what is not (empty if nothing), and what the release is safe against and what not."""
    return (
        coverage.counted_in_words,
        coverage.others_in_words,
        f"{coverage.safe_in_words} {coverage.unsafe_in_words}",
    )


class ReleaseSummary(QWidget):
    """Shows sentences on a solution and its released columns; `changed` when they did.

    Unique records are counted in the background. Without a ``background`` they are not counted.
    """

    changed = Signal()

    def __init__(self, background: Worker | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._background = background
        self._asked: object = None
        self.records = message_label(look="live")
        self.protected = message_label()
        self.unprotected = message_label(look="warning")
        self.counting = message_label(look="muted")
        self.safety = message_label()
        parts = (self.records, self.protected, self.unprotected, self.counting, self.safety)
        vbox(*parts, within=self, margins=0, spacing=GRID // 2)

    def show_release(self, entry: ResultRow | None, request: CoverageRequest | None) -> None:
        """Show what a release of a solution will be; without a request nothing is said of its columns."""
        is_releasable = entry is not None and explain_why_not_releasable(entry) is None
        self.records.setVisible(is_releasable)
        if entry is not None and is_releasable:
            self.records.setText(describe_release(entry))
        if entry is None or request is None or not is_releasable:
            self._asked = None
            self._show_coverage(None)
            return
        key = id(request.solution), request.options.columns, request.options.identifiers
        if key == self._asked:
            return
        self._asked = key
        released = request.options.columns or ()
        self._show_coverage(sort_columns(request.problem, released, count_released_records(entry)))
        if self._background is not None:
            self.counting.setText(_COUNTING)
            self.counting.show()
            count = partial(count_coverage, request)
            self._background.start_latest(
                self, "Counting unique records", count, self._on_counted, self._on_aborted
            )

    def forget(self) -> None:
        """Stop counting: nobody waits for the result."""
        if self._background is not None:
            self._background.forget(self)

    def _show_coverage(self, coverage: ColumnCoverage | None) -> None:
        self.counting.hide()
        texts = ("", "", "") if coverage is None else _list_sentences(coverage)
        for label, text in zip((self.protected, self.unprotected, self.safety), texts, strict=True):
            label.setText(text)
            label.setVisible(bool(text))
        self.changed.emit()

    def _on_counted(self, coverage: ColumnCoverage) -> None:
        self._show_coverage(coverage)
        if coverage.others and coverage.unique is None:
            self.counting.setText(_NOT_COUNTED)
            self.counting.show()

    def _on_aborted(self) -> None:
        # The next change in the dialog counts again.
        self._asked = None
        self.counting.setText(_NOT_COUNTED)
        self.changed.emit()
