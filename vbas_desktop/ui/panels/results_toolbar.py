"""The bar above the results: which solutions and columns are listed, which measures count, what is done with rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QCheckBox, QComboBox, QMenu, QTableView, QToolButton, QWidget

from vbas_desktop.engine.figures import list_measure_figures
from vbas_desktop.model.text import format_count

from ..core.theme import GRID, Theme
from ..presentation.results_table import STAR, count_frozen
from ..state.app_state import AppState
from ..state.scenario import ResultRow, Scenario, reason_not_comparable
from ..widgets.column_picker import CheckableMenu
from ..widgets.fields import hint_label
from ..widgets.layouts import add_checkable_action, button, vbox, with_properties
from ..widgets.notice_bar import FlowLayout
from ..widgets.plain_text import set_tool_tip
from .measure_ticks import MeasureTicks
from .results_model import ResultsModel

_PARETO = (
    "List only what no other solution beats: none is as good in all rated measures and better in one"
)
_OFFERED = 20
"""How many of the latest solutions are offered for a comparison; any two rows can be compared by choosing both."""


class ScenarioChoice(QComboBox):
    """All scenarios, or one of them; out of sight while there is only one."""

    scenario_chosen = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._known: tuple[Scenario, ...] = ()
        with_properties(
            self,
            accessibleName="Scenario",
            toolTip="List the solutions of one k and one set of quasi-identifiers",
            minimumContentsLength=10,
            sizeAdjustPolicy=QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon,
        )
        self.activated.connect(self.scenario_chosen)
        self.hide()

    @property
    def scenario(self) -> Scenario | None:
        """The scenario that is listed; None: all."""
        index = self.currentIndex() - 1
        return self._known[index] if 0 <= index < len(self._known) else None

    def offer(self, entries: Sequence[ResultRow]) -> None:
        """Offer the scenarios of these solutions; the chosen one stays chosen while it is among them."""
        scenarios = tuple(dict.fromkeys(entry.run.key for entry in entries))
        chosen = self.scenario
        if scenarios == self._known:
            return
        self._known = scenarios
        self.clear()
        self.addItem("All scenarios")
        for key in scenarios:
            self.addItem(key.in_words)
        self.setCurrentIndex(1 + scenarios.index(chosen) if chosen in scenarios else 0)
        self.setVisible(len(scenarios) > 1)


class MeasuresMenu(CheckableMenu):
    """The measures that rate the solutions: they decide which are Pareto-optimal, and are shown first."""

    def __init__(self, state: AppState, parent: QWidget) -> None:
        super().__init__(parent)
        self._state = state
        self._ticks = MeasureTicks(self, state)
        self.refresh = self._ticks.refresh
        self.aboutToShow.connect(self._fill)

    @Slot()
    def _fill(self) -> None:
        self.clear()
        figures = list_measure_figures(entry.solution for entry in self._state.entries)
        self._ticks.fill(figure.name for figure in figures)


class ColumnsMenu(CheckableMenu):
    """The columns of the table. `toggled`: others are chosen; ``hidden`` holds what was chosen by hand."""

    toggled = Signal()

    def __init__(self, model: ResultsModel, table: QTableView, parent: QWidget) -> None:
        super().__init__(parent)
        self._model = model
        self._table = table
        self.hidden: dict[str, bool] = {}
        self.aboutToShow.connect(self._fill)

    @Slot()
    def _fill(self) -> None:
        self.clear()
        for index, column in enumerate(self._model.columns):
            title = "Pareto-optimal, recommended" if column.title == STAR else column.title
            visible = not self._table.isColumnHidden(index)
            action = add_checkable_action(self, title, visible, column.name, column.tip)
            action.triggered.connect(self._on_ticked)
            # What decides which solutions are Pareto-optimal must be seen.
            action.setEnabled(index >= count_frozen(self._model.columns))

    @Slot()
    def _on_ticked(self) -> None:
        for action in self.actions():
            self.hidden[action.data()] = not action.isChecked()
        self.toggled.emit()


Compare = Callable[[int, int], None]


def offer_pair(menu: QMenu, first: ResultRow, other: ResultRow, compare: Compare) -> None:
    """Offer to compare two solutions, or say why that would mislead."""
    reason = reason_not_comparable(first, other)
    text = f"&Compare solutions #{first.number:,} and #{other.number:,}"
    menu.addAction(reason or text, partial(compare, first.number, other.number)).setEnabled(not reason)


def offer_others(menu: QMenu, entry: ResultRow, entries: Sequence[ResultRow], compare: Compare) -> None:
    """Offer those solutions that can be compared with one."""
    others = [
        candidate
        for candidate in entries
        if candidate.number != entry.number and not reason_not_comparable(entry, candidate)
    ]
    if others:
        offered = menu.addMenu(f"&Compare solution #{entry.number:,} with")
        for other in others[-_OFFERED:]:
            offered.addAction(other.title, partial(compare, entry.number, other.number))


class ResultsToolbar(QWidget):
    """Ticks that leave solutions out, the scenario, and buttons whose icons follow the theme."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.only_pareto = with_properties(
            QCheckBox("Pareto-optimal only"), shortcut="Ctrl+U", checked=True
        )
        set_tool_tip(self.only_pareto, f"{_PARETO} (Ctrl+U)")
        self.hidden = with_properties(hint_label(), wordWrap=False)
        self.hidden.setMinimumHeight(self.only_pareto.sizeHint().height())
        self.hidden.setAccessibleName("Hidden solutions")
        self.compare = button(
            "&Compare", tip="Show the two selected solutions side by side (Ctrl+Shift+C)"
        )
        self.compare.hide()
        tip = "Show only solutions that meet the requirement (Tools ▸ Requirements)"
        self.only_meeting = with_properties(QCheckBox("S&uitable"), toolTip=tip)
        self.only_meeting.hide()
        self.scenario = ScenarioChoice()
        self._row = FlowLayout(GRID // 2)
        filters = FlowLayout()
        self._row.addWidget(self.scenario)
        self._row.addWidget(self.compare)
        filters.addWidget(self.only_pareto)
        filters.addWidget(self.only_meeting)
        filters.addWidget(self.hidden)
        vbox(
            self._row,
            filters,
            within=self,
            margins=(GRID, GRID // 2, GRID, GRID // 2),
            spacing=GRID // 2,
        )
        self._last: QWidget = self.compare
        """The widget of the first row that was added last; the tab key goes on from there."""

    def show_hidden(self, n_dominated: int) -> None:
        """Say how many dominated solutions are not listed."""
        self.hidden.setText(
            f"{format_count(n_dominated, 'dominated solution')} hidden" if n_dominated else ""
        )

    def add_menu(self, icon: str, text: str, tip: str, menu: QMenu) -> None:
        """Add a button that opens a menu."""
        button = self._button(icon, text, tip)
        button.setMenu(menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)

    def add_actions(self, actions: Iterable[tuple[str, QAction]]) -> None:
        """Add a button for each action, under its icon."""
        for icon, action in actions:
            self._button(icon, action.text(), action.toolTip()).clicked.connect(action.trigger)

    def _button(self, icon: str, text: str, tip: str) -> QToolButton:
        button = with_properties(
            QToolButton(), toolTip=tip, accessibleName=text.replace("&", ""), autoRaise=True
        )
        self._theme.set_icon(button, icon)
        self._row.addWidget(button)
        self.setTabOrder(self._last, button)
        self._last = button
        return button
