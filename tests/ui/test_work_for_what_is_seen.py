"""The window works for what is seen: a hidden page waits, and a new solution is measured with the rows in sight."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget
from solved import Bench, results_tab

from vbas_desktop.ui.pages import PAGES
from vbas_desktop.ui.pages.compare.page import ComparePage
from vbas_desktop.ui.pages.representability.page import RepresentabilityPage
from vbas_desktop.ui.pages.representability.policy import PolicyPage
from vbas_desktop.ui.pages.representability.requirements import RequirementsPage
from vbas_desktop.ui.pages.search.page import SearchPage
from vbas_desktop.ui.widgets.visible_refresh import VisibleRefresh

LONG = 60_000


def test_a_hidden_page_is_refreshed_once_when_it_is_shown(qtbot):
    page, calls = QWidget(), []
    qtbot.addWidget(page)
    refresh = VisibleRefresh(page, lambda: calls.append("refresh"))
    refresh.request()
    refresh.request()
    assert calls == []
    page.show()
    assert calls == ["refresh"]
    refresh.request()
    assert calls == ["refresh"] * 2
    page.hide()
    page.show()
    assert calls == ["refresh"] * 2


@pytest.mark.parametrize(
    ("title", "page", "refresh"),
    [
        ("Representability", RepresentabilityPage, "_refresh"),
        ("Requirements", RequirementsPage, "_on_solution_changed"),
        ("Requirements", RequirementsPage, "_offer_columns"),
        ("Policy", PolicyPage, "_refresh"),
        ("Find a release", SearchPage, "_on_changed"),
        ("Compare combinations", ComparePage, "_on_choices_changed"),
    ],
)
def test_selections_and_choices_cost_a_hidden_page_nothing(
    run_window, qtbot, monkeypatch, title, page, refresh
):
    window, state, calls, original = run_window, run_window.state, [], getattr(page, refresh)

    def count_refresh(self) -> None:
        calls.append(title)
        original(self)

    monkeypatch.setattr(page, refresh, count_refresh)
    shown = next(each for each in PAGES if each.title == title)
    window.area.show_page(shown)
    window.area.show_map()
    qtbot.waitUntil(lambda: not window.background.busy, timeout=LONG)
    calls.clear()
    for entry in state.entries:
        state.select(entry.number)
        state.change_fields(random_seed=entry.number)
    qtbot.waitUntil(lambda: not window.background.busy, timeout=LONG)
    assert calls == []
    window.area.show_page(shown)
    assert calls == [title]


class CountingDelegate(QStyledItemDelegate):
    """Counts how many cells are measured."""

    measured = 0

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex):
        self.measured += 1
        return super().sizeHint(option, index)


def list_more(state, number: int) -> None:
    """List so many made-up variants of a solution."""
    entry, rng = state.entries[0], np.random.default_rng(number)
    solutions = [
        replace(entry.solution, id=at, site_count=100 + at, owner=rng.permutation(entry.solution.owner))
        for at in range(number)
    ]
    parameters = {"site_number": {"fixed": {"sites": number}}}
    run = replace(
        entry.run, choices=entry.run.choices.replaced(parameters=parameters, random_seed=number)
    )
    assert state.add_complete([(run, replace(run.result, solutions=tuple(solutions)))]) == 1


def test_a_new_solution_has_only_the_cells_in_sight_measured(solved, qtbot):
    bench = Bench(solved.state())
    tab = results_tab(bench, qtbot)
    delegate = CountingDelegate(tab.table)
    tab.table.setItemDelegate(delegate)
    measured = []
    for number in (60, 240):
        list_more(bench.state, number)
        delegate.measured = 0
        list_more(bench.state, number + 1)
        measured.append(delegate.measured)
    assert tab.table_model.rowCount() > 500
    assert measured[0] == measured[1] > 0
    bench.close()
