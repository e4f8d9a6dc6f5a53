"""Advice on the run that is shown: what would be finer, or lose less, and a button that does it."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from vbas_desktop.domain.solution import Advice
from vbas_desktop.domain.words import counted
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.theme import GRID


class AdviceLine(QWidget):
    """Hidden while there is nothing to advise. The button changes the number of sites, which Undo takes back."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context, self._session = context, context.session
        self.text, self.use = QLabel(), QPushButton()
        self.text.setWordWrap(True)
        self.use.setShortcut(QKeySequence("Ctrl+Shift+L"))
        self.use.setToolTip("Use as many sites as the allowed loss permits, and run; Undo takes it back (Ctrl+Shift+L)")
        row = QHBoxLayout(self)
        row.setContentsMargins(GRID, 0, GRID, GRID // 2)
        row.addWidget(self.text, 1)
        row.addWidget(self.use)
        self.use.clicked.connect(self._on_use)
        model = context.model
        for signal in (model.selection_changed, model.solutions_changed, model.choices_changed, model.run_finished):
            signal.connect(self.refresh)
        for signal in (context.runner.job_started, context.runner.job_ended):
            signal.connect(self.refresh)
        self.refresh()

    @property
    def advice(self) -> Advice | None:
        """The advice on the run of the shown solution, while the choices still ask for the same records."""
        shown = self._session.selected
        if shown is None or shown.run.result is None or shown.run.key != self._session.problem_key:
            return None
        return shown.run.result.advice

    @Slot()
    def refresh(self) -> None:
        """Show the advice, if there is one."""
        advice = self.advice
        self.setVisible(advice is not None)
        if advice is not None:
            self.text.setText(advice.text)
            self.use.setVisible(advice.sites is not None)
            self.use.setEnabled(not self._context.runner.busy)
            self.use.setText(f"Use {counted(advice.sites or 0, 'site')}")

    @Slot()
    def _on_use(self) -> None:
        shown = self._session.selected
        if self.advice is None or shown is None or shown.run.result is None:
            return
        choices = self._session.choices.with_approach("site_number", "limit")
        self._session.change(choices.with_allowed_loss(shown.run.result.allowed_loss_percent))
        self._context.run(None)
