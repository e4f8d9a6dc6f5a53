"""A state with solutions and what parts of the window need, without the window: quick to make for each test."""

from __future__ import annotations

from dataclasses import replace

from made_up_data import write_data
from PySide6.QtWidgets import QApplication, QWidget

from vbas_desktop.app.run import get_problem, run_configuration
from vbas_desktop.ui.core.context import StateSignals, UiContext
from vbas_desktop.ui.core.theme import Theme
from vbas_desktop.ui.core.worker import Worker
from vbas_desktop.ui.panels.results_panel import ResultsPanel
from vbas_desktop.ui.state.app_state import AppState
from vbas_desktop.ui.state.requests import open_files


class Solved:
    """Loaded files and the solutions of two combinations, with ten to fourteen sites and a k that costs records."""

    def __init__(self, folder) -> None:
        state = AppState()
        self.loaded = open_files(state.request_load(*write_data(folder)))
        state.accept_data(self.loaded)
        choices = state.choices.with_approach("site_number", "fixed")
        self.choices = choices.with_parameter("site_number", "fixed", "sites", 12).replaced(k=14)
        for location in ("balanced-density", "density"):
            state.change(self.choices.with_approach("site_location", location))
            task = state.request_run()
            problem = get_problem(task.request)
            state.begin_counted(task.run_id, problem)
            result = run_configuration(replace(task.request, problem=problem)).result
            for solution in result.solutions:
                state.add_solutions(task.run_id, [solution])
            state.finish_run(task.run_id, result)
        self.entries = state.entries

    def state(self) -> AppState:
        """A fresh state with these solutions, the third selected."""
        state = AppState()
        state.accept_data(self.loaded)
        state.change(self.choices)
        state.restore_results(self.entries)
        state.select(self.entries[2].number)
        return state


class Bench:
    """A context whose sentences are kept, and a place to put a widget on."""

    def __init__(self, state: AppState) -> None:
        self.said: list[str] = []
        self.holder = QWidget()
        self.model = StateSignals(state, self.holder)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        self.context = UiContext(
            self.model,
            Worker(self.holder),
            Worker(self.holder),
            Theme(app, "light", self.holder),
            self.said.append,
            lambda: None,
            lambda title: None,
        )

    @property
    def state(self) -> AppState:
        return self.model.state

    def close(self) -> None:
        self.context.worker.shut_down()
        self.context.background.shut_down()
        self.model.close()


def results_tab(bench: Bench, qtbot, only_pareto: bool = False) -> ResultsPanel:
    """The results of a bench as they stand beside the map, dominated solutions listed unless they are not wanted."""
    tab = ResultsPanel(bench.context)
    tab.only_pareto.setChecked(only_pareto)
    qtbot.addWidget(tab)
    tab.resize(440, 700)
    tab.show()
    qtbot.waitExposed(tab)
    return tab


def shown_numbers(tab: ResultsPanel) -> list[int]:
    """The solutions that are listed, from top to bottom."""
    return [entry.number for entry in tab.table_model.listed_rows()]
