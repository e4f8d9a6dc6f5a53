"""Which scenario's solutions are listed, where there are several."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox

from vbas_desktop.session.results import Entry, ProblemKey


class ScenarioChoice(QComboBox):
    """All scenarios, or one of them; out of sight while there is only one."""

    scenario_chosen = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._known: tuple[ProblemKey, ...] = ()
        self.setAccessibleName("Scenario")
        self.setToolTip("List the solutions of one k and one set of quasi-identifiers")
        self.setMinimumContentsLength(10)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.activated.connect(self._on_activated)
        self.hide()

    @property
    def scenario(self) -> ProblemKey | None:
        """The scenario that is listed; None: all."""
        index = self.currentIndex() - 1
        return self._known[index] if 0 <= index < len(self._known) else None

    def offer(self, entries: Sequence[Entry]) -> None:
        """Offer the scenarios of these solutions; the chosen one stays chosen while it is among them."""
        known, chosen = tuple(dict.fromkeys(entry.run.key for entry in entries)), self.scenario
        if known == self._known:
            return
        self._known = known
        self.clear()
        self.addItem("All scenarios")
        for key in known:
            self.addItem(key.in_words)
        self.setCurrentIndex(1 + known.index(chosen) if chosen in known else 0)
        self.setVisible(len(known) > 1)

    @Slot()
    def _on_activated(self) -> None:
        self.scenario_chosen.emit()
