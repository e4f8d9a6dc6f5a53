"""The line under the results that says what tiers would save, whenever the shown solution loses records."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from vbas_desktop.engine.savings import USUAL_TIERS, in_tiers_in_words
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.map.preparer import preparer_of
from vbas_desktop.ui.theme import GRID


class TiersLine(QWidget):
    """Hidden unless tiers save something; the button chooses them and asks for a run (`run_wanted`)."""

    run_wanted = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context, self._preparer = context, preparer_of(context)
        self.words, self.apply = QLabel(), QPushButton("Run in tiers")
        self.apply.setShortcut("Ctrl+T")
        self.apply.setToolTip(
            "Records whose class is too small in their region are released in a larger place, not lost (Ctrl+T)"
        )
        self.words.setWordWrap(True)
        row = QHBoxLayout(self)
        row.setContentsMargins(GRID, GRID // 2, GRID, GRID // 2)
        row.addWidget(self.words, 1)
        row.addWidget(self.apply)
        self.apply.clicked.connect(self._on_apply)
        self._preparer.changed.connect(self._on_prepared)
        self._on_prepared()

    @Slot()
    def _on_prepared(self) -> None:
        shown = self._preparer.shown
        saved = None if shown is None else shown.lost_in_tiers
        self.setVisible(saved is not None)
        if shown is not None and shown.problem is not None and saved is not None:
            told = in_tiers_in_words(shown.solution.suppressed_records, saved, shown.problem.records)
            self.words.setText(f"Solution {shown.number:,}: {told}")

    @Slot()
    def _on_apply(self) -> None:
        apply_tiers(self._context)
        self.run_wanted.emit()


def apply_tiers(context: Context) -> None:
    """Take the settings of the shown solution, with tiers."""
    session = context.session
    selected = session.selected
    choices = session.choices if selected is None else selected.run.choices
    session.change(choices.with_approach("tiers", USUAL_TIERS))
