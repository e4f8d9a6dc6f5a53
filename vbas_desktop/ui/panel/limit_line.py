"""The line above the results: how much may be suppressed, and which solutions are recommended and at the knee."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QDoubleSpinBox, QHBoxLayout, QLabel, QToolButton, QWidget

from vbas_desktop.domain.words import counted, share_in_words
from vbas_desktop.session.results import Entry, by_scenario
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.fields import without_wheel

from .results_columns import KNEE, RECOMMENDED


class LimitLine(QWidget):
    """Changes the allowed loss, which is one choice with that of the site number; a click selects a marked solution."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context, self._session = context, context.session
        self.percent = QDoubleSpinBox()
        self.percent.setRange(0.0, 100.0)
        self.percent.setDecimals(2)
        self.percent.setSingleStep(0.5)
        self.percent.setSuffix(" %")
        self.percent.setKeyboardTracking(False)
        self.percent.setToolTip("Recommended is the finest solution that loses no more of the records (Ctrl+L)")
        without_wheel(self.percent)
        self.percent.setAccessibleName("Largest share suppressed, in percent")
        shortcut = QShortcut(QKeySequence("Ctrl+L"), self)
        shortcut.activated.connect(self.percent.setFocus)
        shortcut.activated.connect(self.percent.selectAll)
        self.recommended, self.knee = self._button(), self._button()
        row = QHBoxLayout(self)
        row.setContentsMargins(GRID, 0, GRID, GRID // 2)
        row.setSpacing(GRID // 2)
        for widget in (QLabel("At most"), self.percent, QLabel("suppressed:"), self.recommended, self.knee):
            row.addWidget(widget)
        row.addStretch(1)
        self.percent.valueChanged.connect(self._on_percent)
        self.recommended.clicked.connect(self._on_recommended)
        self.knee.clicked.connect(self._on_knee)
        for signal in (context.model.choices_changed, context.model.solutions_changed, context.model.solution_added):
            signal.connect(self.refresh)
        context.model.selection_changed.connect(self.refresh)
        self.refresh()

    def _button(self) -> QToolButton:
        button = QToolButton()
        button.setAutoRaise(True)
        return button

    @Slot()
    def refresh(self) -> None:
        """Show the limit and the marked solutions of the scenario that is looked at."""
        self.percent.blockSignals(True)
        self.percent.setValue(self._session.choices.allowed_loss_percent)
        self.percent.blockSignals(False)
        recommended, knee = self._marked("recommended"), self._marked("knee")
        self.recommended.setEnabled(recommended is not None)
        self.recommended.setText("none is within" if recommended is None else f"{RECOMMENDED} № {recommended.number:,}")
        self.recommended.setToolTip(
            "Every solution loses more: allow a larger loss, or run with fewer sites"
            if recommended is None
            else f"Recommended, the finest within the limit: {_told(recommended)}"
        )
        self.knee.setVisible(knee is not None)
        if knee is not None:
            self.knee.setText(f"{KNEE} № {knee.number:,}")
            words = "Knee, where losing fewer records begins to cost much more of the place"
            self.knee.setToolTip(f"{words}: {_told(knee)}")

    def _marked(self, mark: str) -> Entry | None:
        """The solution with a mark in the scenario of the shown solution, or of the latest one."""
        entries, marks = self._session.entries, self._session.marks
        shown = self._session.selected or (entries[-1] if entries else None)
        group = next((group for group in by_scenario(entries) if shown in group), [])
        return next((each for each in group if getattr(marks[each.number], mark)), None)

    @Slot(float)
    def _on_percent(self, value: float) -> None:
        self._session.change(self._session.choices.with_allowed_loss(round(value, 2)), "allowed loss")

    @Slot()
    def _on_recommended(self) -> None:
        self._select("recommended")

    @Slot()
    def _on_knee(self) -> None:
        self._select("knee")

    def _select(self, mark: str) -> None:
        entry = self._marked(mark)
        if entry is not None:
            self._session.select(entry.number)


def _told(entry: Entry) -> str:
    solution = entry.solution
    lost = share_in_words(solution.suppressed_records, solution.suppressed_records + solution.released_records)
    return f"{counted(solution.aggregated_regions, 'region')}, {lost} suppressed"
