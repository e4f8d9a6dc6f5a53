"""The measures that decide which solutions are Pareto-optimal, as entries of a menu."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from vbas_desktop.approaches.registry import PRESETS, USUAL, list_approaches, preset, preset_of
from vbas_desktop.engine.figures import get_measure_figure
from vbas_desktop.settings.option import Level

from ..state.app_state import AppState
from ..widgets.layouts import add_checkable_action
from ..widgets.plain_text import set_tool_tip


class MeasureTicks(QObject):
    """Presets and measures in a menu: those that are ticked decide what is dominated."""

    def __init__(self, menu: QMenu, state: AppState) -> None:
        super().__init__(menu)
        self._menu = menu
        self._state = state
        self._presets: dict[str, QAction] = {}
        self._measures: dict[str, QAction] = {}

    def fill(self, measures: Iterable[str]) -> None:
        """Put the presets and these measures into the menu; those for research only if they are shown, or count."""
        self._presets = {
            name: add_checkable_action(self._menu, title, False) for name, title in PRESETS.items()
        }
        self._measures = {}
        for name, action in self._presets.items():
            names = ", ".join(
                list_approaches("rating")[measure].metadata.title for measure in preset(name)
            )
            _set_tips(action, f"The star looks at: {names}")
            action.triggered.connect(partial(self._on_preset, name))
        self._menu.addSeparator()
        for name in measures:
            figure = get_measure_figure(name)
            is_hidden = figure.level is Level.RESEARCH and not self._state.shows_research
            if is_hidden and name not in self._state.pareto_measures:
                continue
            action = add_checkable_action(self._menu, figure.title, False, name)
            _set_tips(action, figure.help)
            action.triggered.connect(self._on_ticked)
            self._measures[name] = action
        self.refresh()

    def _on_preset(self, name: str, checked: bool = False) -> None:
        # The usual measures are those of the program, also if a later version has others.
        self._state.change_fields(pareto_measures=None if name == USUAL else preset(name))

    @Slot()
    def _on_ticked(self) -> None:
        ticks = tuple(name for name, action in self._measures.items() if action.isChecked())
        if ticks:
            self._state.change_fields(pareto_measures=ticks)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Tick what counts, and the preset that it is; a menu may stay open meanwhile."""
        counting = self._state.pareto_measures
        for name, action in self._measures.items():
            action.setChecked(name in counting)
        for name, action in self._presets.items():
            action.setChecked(preset_of(counting) == name)


def _set_tips(action: QAction, tip: str) -> None:
    set_tool_tip(action, tip)
    action.setStatusTip(tip)
