"""The menus of the results: which measures count, which columns are shown, and what a solution is compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QTableView, QWidget

from vbas_desktop.approaches.registry import preset_of
from vbas_desktop.session.results import Entry, why_not_comparable
from vbas_desktop.session.session import Session
from vbas_desktop.ui.actions import add_presets
from vbas_desktop.ui.numbers import measure_words
from vbas_desktop.ui.widgets.ticking_menu import TickingMenu

from .results_columns import STAR, measures_of
from .results_model import ResultsModel

_OFFERED = 20
"""So many of the latest solutions are offered for a comparison; any two rows can be compared by choosing both."""


class MeasuresMenu(TickingMenu):
    """The measures in which a solution must be unbeaten for its star."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session = session
        self._presets: dict[str, QAction] = {}
        self.aboutToShow.connect(self._fill)

    @Slot()
    def _fill(self) -> None:
        self.clear()
        self._presets = add_presets(self, self._session)
        for name in measures_of(self._session.entries):
            action = self.addAction(measure_words(name).title)
            action.setCheckable(True)
            action.setToolTip(measure_words(name).summary)
            action.setData(name)
            action.triggered.connect(self._on_ticked)
        self.refresh()

    @Slot()
    def _on_ticked(self) -> None:
        ticked = tuple(each.data() for each in self.actions() if each.isChecked() and each.data())
        if ticked:
            self._session.change_fields(pareto_measures=ticked)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """The menu stays open while ticks are set: those that follow from others follow at once."""
        counting = self._session.pareto_measures
        for action in self.actions():
            if action.data():
                action.setChecked(action.data() in counting)
        for name, action in self._presets.items():
            action.setChecked(preset_of(counting) == name)


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
            action = self.addAction("Marks" if column.title == STAR else column.title)
            action.setCheckable(True)
            action.setToolTip(column.tip)
            action.setChecked(not self._table.isColumnHidden(index))
            action.setData(column.name)
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
