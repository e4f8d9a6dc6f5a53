"""Whole-page tools: listed in the menu Tools, opened in the map's place, with an obvious way back."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton

from vbas_desktop.ui.core.theme import ALWAYS_DARK, ALWAYS_LIGHT
from vbas_desktop.ui.pages import PAGES, Page


class Notes(QLabel):
    """A page like any other."""

    def __init__(self, context) -> None:
        super().__init__("notes")
        self.context = context


@pytest.fixture
def notes(monkeypatch):
    page = Page(
        "Notes", f"{__name__}:Notes", "table", "Ctrl+Alt+N", "Notes on the data.", needs_data=True
    )
    monkeypatch.setattr("vbas_desktop.ui.shell.menus.PAGES", (*PAGES, page))
    return page


def action_of(window, page):
    tools = next(action.menu() for action in window.menuBar().actions() if action.text() == "&Tools")
    return next(action for action in tools.actions() if action.text().replace("&", "") == page.title)


def test_a_page_that_needs_data_waits_for_them(notes, make_window, data, qtbot):
    window = make_window()
    assert not action_of(window, notes).isEnabled()
    with qtbot.waitSignal(window.worker.job_ended, timeout=60_000):
        window.data_commands.load(*data)
    assert action_of(window, notes).isEnabled()


def test_a_page_takes_the_place_of_the_map_and_there_is_a_way_back(notes, make_window, data, qtbot):
    window = make_window()
    with qtbot.waitSignal(window.worker.job_ended, timeout=60_000):
        window.data_commands.load(*data)
    action_of(window, notes).trigger()
    page = window.area.page
    assert isinstance(page, Notes)
    assert page.context.state is window.state
    back = next(
        button for button in window.area.findChildren(QPushButton) if button.text() == "&Back to the map"
    )
    qtbot.mouseClick(back, Qt.MouseButton.LeftButton)
    assert window.area.map.isVisible()


def test_a_page_is_made_once_and_keeps_its_state(notes, make_window, data, qtbot):
    window = make_window()
    with qtbot.waitSignal(window.worker.job_ended, timeout=60_000):
        window.data_commands.load(*data)
    first = window.area.show_page(notes)
    window.area.show_map()
    assert window.area.show_page(notes) is first


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_every_page_opens_and_says_what_it_is_for(page, run_window):
    assert page.summary
    widget = run_window.area.show_page(page)
    assert widget.isVisible()
    assert widget.minimumSizeHint().width() <= 660


def test_what_was_said_on_a_page_goes_when_the_page_does(window):
    first, second = (page for page in PAGES if page.title in ("Appointments", "Policy"))
    window.area.show_page(first)
    window.show_message("320 people have a slot.")
    window.area.show_page(first)
    assert window.status.what.text() == "320 people have a slot."
    window.area.show_page(second)
    assert window.status.what.text() == "Ready"
    window.show_message("Saved.")
    window.area.show_map()
    assert window.status.what.text() == "Ready"


@pytest.mark.parametrize("title", ["Find a release", "Compare combinations"])
def test_the_summary_line_has_its_frame_as_soon_as_there_are_data(title, window, data, qtbot):
    live = window.area.show_page(next(page for page in PAGES if page.title == title)).live
    plain = live.height() - live.contentsRect().height()
    with qtbot.waitSignal(window.worker.job_ended, timeout=60_000):
        window.data_commands.load(*data)
    framed = live.height() - live.contentsRect().height()
    window.theme.choose(ALWAYS_DARK)
    window.theme.choose(ALWAYS_LIGHT)
    assert framed == live.height() - live.contentsRect().height() > plain
