"""The bar above the results: which solutions and columns are listed, which measures count, what is done with rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QCheckBox, QComboBox, QMenu, QTableView, QToolButton, QWidget

from vbas_desktop.session.results import Entry, ProblemKey, why_not_comparable
from vbas_desktop.session.session import Session
from vbas_desktop.ui.actions import MeasureTicks
from vbas_desktop.ui.theme import GRID, Theme
from vbas_desktop.ui.widgets.building import dress, in_row, ticked
from vbas_desktop.ui.widgets.names_edit import TickingMenu

from .results_columns import STAR, measures_of
from .results_model import ResultsModel

_OFFERED = 20
"""How many of the latest solutions are offered for a comparison; any two rows can be compared by choosing both."""


class ScenarioChoice(QComboBox):
    """All scenarios, or one of them; out of sight while there is only one."""

    scenario_chosen = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._known: tuple[ProblemKey, ...] = ()
        dress(
            self,
            accessibleName="Scenario",
            toolTip="List the solutions of one k and one set of quasi-identifiers",
            minimumContentsLength=10,
            sizeAdjustPolicy=QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon,
        )
        self.activated.connect(self.scenario_chosen)
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


class MeasuresMenu(TickingMenu):
    """The measures in which a solution must be unbeaten for its star."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._ticks = session, MeasureTicks(self, session)
        self.refresh = self._ticks.refresh
        self.aboutToShow.connect(self._fill)

    @Slot()
    def _fill(self) -> None:
        self.clear()
        self._ticks.fill(measures_of(self._session.entries))


class ColumnsMenu(TickingMenu):
    """The columns of the table. `ticked`: others are wanted; ``hidden`` knows what was said of each by hand."""

    ticked = Signal()

    def __init__(self, model: ResultsModel, table: QTableView, parent: QWidget) -> None:
        super().__init__(parent)
        self._model, self._table = model, table
        self.hidden: dict[str, bool] = {}
        self.aboutToShow.connect(self._fill)

    @Slot()
    def _fill(self) -> None:
        self.clear()
        for index, column in enumerate(self._model.columns):
            title, shown = "Marks" if column.title == STAR else column.title, not self._table.isColumnHidden(index)
            action = ticked(self, title, shown, column.name, column.tip)
            action.triggered.connect(self._on_ticked)

    @Slot()
    def _on_ticked(self) -> None:
        for action in self.actions():
            self.hidden[action.data()] = not action.isChecked()
        self.ticked.emit()


Compare = Callable[[int, int], None]


def offer_pair(menu: QMenu, one: Entry, other: Entry, compare: Compare) -> None:
    """Offer to compare two solutions, or say why that would mislead."""
    reason = why_not_comparable(one, other)
    text = f"&Compare solutions {one.number:,} and {other.number:,}"
    menu.addAction(reason or text, partial(compare, one.number, other.number)).setEnabled(not reason)


def offer_others(menu: QMenu, entry: Entry, entries: Sequence[Entry], compare: Compare) -> None:
    """Offer those solutions that can be compared with one."""
    others = [each for each in entries if each.number != entry.number and not why_not_comparable(entry, each)]
    if others:
        offered = menu.addMenu(f"&Compare solution {entry.number:,} with")
        for other in others[-_OFFERED:]:
            offered.addAction(other.title, partial(compare, entry.number, other.number))


class ResultsBar(QWidget):
    """Ticks that leave solutions out, the scenario, and buttons whose icons follow the theme."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        tip = "Show only what no other solution beats: none is as good in all that counts and better in one (Ctrl+U)"
        self.only_stars = dress(QCheckBox("★ unbeaten"), shortcut="Ctrl+U", toolTip=tip)
        tip = "Show only solutions that meet the requirement (Tools ▸ Requirements)"
        self.only_meeting = dress(QCheckBox("S&uitable"), toolTip=tip)
        self.only_meeting.hide()
        self.scenario = ScenarioChoice()
        parts = (self.only_stars, self.only_meeting, (self.scenario, 1), 1)
        self._row = in_row(*parts, within=self, margins=(GRID, GRID // 2, GRID, GRID // 2), spacing=GRID // 2)

    def add_menu(self, icon: str, text: str, tip: str, menu: QMenu) -> None:
        """A button that opens a menu."""
        button = self._button(icon, text, tip)
        button.setMenu(menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)

    def add_actions(self, actions: Iterable[tuple[str, QAction]]) -> None:
        """A button for each action, under its icon."""
        for icon, action in actions:
            self._button(icon, action.text(), action.toolTip()).clicked.connect(action.trigger)

    def _button(self, icon: str, text: str, tip: str) -> QToolButton:
        button = dress(QToolButton(), toolTip=tip, accessibleName=text.replace("&", ""), autoRaise=True)
        self._theme.set_icon(button, icon)
        self._row.addWidget(button)
        return button
