"""The system turns dark while the program runs: nothing stays in the old colours."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QGuiApplication, QImage
from PySide6.QtWidgets import QApplication

from vbas_desktop.ui.core.theme import ALWAYS_DARK, ALWAYS_LIGHT, DARK, FOLLOW_SYSTEM, LIGHT
from vbas_desktop.ui.pages import COMPARE, PAGES
from vbas_desktop.ui.shell.guide import GuideWindow

LONG = 60_000


def turn(scheme: Qt.ColorScheme) -> None:
    """What Qt says when the system's colours change."""
    QGuiApplication.styleHints().colorSchemeChanged.emit(scheme)
    QApplication.processEvents()


@pytest.fixture(autouse=True)
def light_again():
    yield
    turn(Qt.ColorScheme.Light)


def at_rest(window, qtbot) -> None:
    qtbot.waitUntil(lambda: not (window.worker.busy or window.background.busy), timeout=LONG)
    QApplication.processEvents()


def load_and_run(window, data, qtbot) -> None:
    for start in (lambda: window.data_commands.load(*data), window.run_commands.run):
        with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
            start()
    window.show_message("")


def wait_for_count(page, qtbot) -> None:
    """The plan of a comparison is counted a moment after its page is shown."""
    qtbot.waitUntil(lambda: "at most" not in page.live.text(), timeout=LONG)


def pictures(window, qtbot) -> dict[str, QImage]:
    """The window with every tab beside the map, and with every page."""
    found = {}
    for tab in ("Input", "Results", "Regions"):
        window.area.show_map()
        window.show_tab(tab)
        at_rest(window, qtbot)
        found[tab] = window.splitter.grab().toImage()
    for page in PAGES:
        widget = window.area.show_page(page)
        if page is COMPARE:
            wait_for_count(widget, qtbot)
        at_rest(window, qtbot)
        found[page.title] = window.splitter.grab().toImage()
    return found


def test_a_window_that_was_light_looks_like_one_that_was_always_dark(make_window, data, qtbot):
    turned = make_window()
    load_and_run(turned, data, qtbot)
    pictures(turned, qtbot)
    turn(Qt.ColorScheme.Dark)
    seen = pictures(turned, qtbot)
    turned.hide()
    turned.settings.put("theme", ALWAYS_DARK)
    turned.settings.sync()
    always = make_window()
    assert always.theme.choice == ALWAYS_DARK
    load_and_run(always, data, qtbot)
    pictures(always, qtbot)
    expected = pictures(always, qtbot)
    assert [name for name in expected if seen[name] != expected[name]] == []


def test_who_chose_light_stays_light(window):
    window.theme.choose(ALWAYS_LIGHT)
    turn(Qt.ColorScheme.Dark)
    assert window.theme.colours is LIGHT
    window.theme.choose(FOLLOW_SYSTEM)
    assert window.theme.colours is DARK


def heading_colour(guide) -> str:
    return guide.text.document().firstBlock().begin().fragment().charFormat().foreground().color().name()


def test_the_open_guide_turns_along_and_stays_at_its_place(window, qtbot):
    window.help.show_guide()
    guide = window.findChild(GuideWindow)
    assert heading_colour(guide) == LIGHT.text
    guide.text.verticalScrollBar().setValue(700)
    turn(Qt.ColorScheme.Dark)
    assert heading_colour(guide) == DARK.text
    assert guide.text.verticalScrollBar().value() == 700
    guide.close()


def test_the_font_stays_whatever_qt_makes_of_the_change(window, qtbot):
    before = QFont(QApplication.font())
    QApplication.setFont(QFont("monospace"))
    turn(Qt.ColorScheme.Dark)
    assert QApplication.font() == before
