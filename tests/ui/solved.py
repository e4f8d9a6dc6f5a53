"""A session with solutions and what parts of the window need, without the window: quick to make for each test."""

from __future__ import annotations

from dataclasses import replace

from made_up_data import write_data
from PySide6.QtWidgets import QApplication, QWidget

from vbas_desktop.session.session import Session
from vbas_desktop.ui.context import Context, SessionModel
from vbas_desktop.ui.panel.results_tab import ResultsTab
from vbas_desktop.ui.theme import Theme
from vbas_desktop.ui.worker import JobRunner


class Solved:
    """Loaded files and the solutions of two combinations, with ten to fourteen sites and a k that costs records."""

    def __init__(self, folder) -> None:
        session = Session()
        self.loaded = session.order_load(*write_data(folder)).execute()
        session.accept_data(self.loaded)
        choices = session.choices.with_approach("site_number", "fixed")
        self.choices = replace(choices.with_parameter("site_number", "fixed", "sites", 12), k=14)
        for location in ("balanced-density", "density"):
            session.change(self.choices.with_approach("site_location", location))
            order = session.order_run()
            problem = order.job.count()
            session.begin_counted(order.run_id, problem)
            result = replace(order.job, problem=problem).execute().result
            for solution in result.solutions:
                session.add_solution(order.run_id, solution)
            session.finish_run(order.run_id, result)
        self.entries = session.entries

    def session(self) -> Session:
        """A fresh session with these solutions, the third selected."""
        session = Session()
        session.accept_data(self.loaded)
        session.change(self.choices)
        session.restore_results(self.entries)
        session.select(self.entries[2].number)
        return session


class Bench:
    """A context whose sentences are kept, and a place to put a widget on."""

    def __init__(self, session: Session) -> None:
        self.said: list[str] = []
        self.holder = QWidget()
        self.model = SessionModel(session, self.holder)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        self.context = Context(
            self.model,
            JobRunner(self.holder),
            JobRunner(self.holder),
            Theme(app, "light", self.holder),
            self.said.append,
            lambda: None,
            lambda title: None,
        )

    @property
    def session(self) -> Session:
        return self.model.session

    def close(self) -> None:
        self.context.runner.shut_down()
        self.context.quiet_runner.shut_down()
        self.model.close()


def results_tab(bench: Bench, qtbot) -> ResultsTab:
    """The results of a bench as they stand beside the map."""
    tab = ResultsTab(bench.context)
    qtbot.addWidget(tab)
    tab.resize(440, 700)
    tab.show()
    qtbot.waitExposed(tab)
    return tab


def shown_numbers(tab: ResultsTab) -> list[int]:
    """The solutions that are listed, from top to bottom."""
    return [entry.number for entry in tab.filter.shown_entries()]
