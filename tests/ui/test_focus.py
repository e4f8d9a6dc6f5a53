"""Whoever works with the keyboard gets everywhere, and sees where they are."""

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QTabBar, QWidget

from vbas_desktop.ui.core.theme import ALWAYS_DARK, ALWAYS_LIGHT
from vbas_desktop.ui.pages import PAGES

TABS = ("Input", "Results", "Regions", "Log")


def stops(window) -> set[QWidget]:
    """Everything in a window that the tab key should come to."""
    return {
        widget
        for widget in window.findChildren(QWidget)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.isVisible()
        and widget.isEnabled()
        and widget.focusProxy() is None
        and widget.window() is window
        and not isinstance(widget.parentWidget(), QTabBar)
    }


def walk(window, qtbot) -> list[QWidget]:
    """Press the tab key until it comes back to where it began."""
    window.activateWindow()
    window.setFocus()
    met: list[QWidget] = []
    while (focused := next_stop(window, qtbot)) not in met:
        met.append(focused)
        assert window.focus_ring.around is focused, f"no ring around {told(focused)}"
        assert window.focus_ring.ring.isVisible(), f"no ring around {told(focused)}"
    assert focused is met[0], f"the tab key does not get out of {told(focused)}"
    return met


def next_stop(window, qtbot) -> QWidget:
    qtbot.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_Tab)
    return QApplication.focusWidget()


def told(widget) -> str:
    return f"{type(widget).__name__} {widget.accessibleName() or getattr(widget, 'text', str)()}"


def missed(window, qtbot) -> list[str]:
    met = walk(window, qtbot)
    return sorted(told(widget) for widget in stops(window) - set(met))


def test_on_the_welcome_page(window, qtbot):
    assert missed(window, qtbot) == []


@pytest.mark.parametrize("tab", TABS)
def test_beside_the_map(tab, aggregated_window, qtbot):
    aggregated_window.show_tab(tab)
    assert missed(aggregated_window, qtbot) == []


def test_in_two_compared_maps(aggregated_window, qtbot):
    aggregated_window.area.map._compare.setChecked(True)
    qtbot.waitUntil(lambda: aggregated_window.area.map.comparison.regions.isVisible())
    assert missed(aggregated_window, qtbot) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_on_a_page(page, aggregated_window, qtbot):
    aggregated_window.show_tab("Log")
    aggregated_window.area.show_page(page)
    qtbot.waitUntil(lambda: not (aggregated_window.worker.busy or aggregated_window.background.busy))
    assert missed(aggregated_window, qtbot) == []


def frame_colours(window) -> set[str]:
    """The colours of the four edges of the ring, as they are on the screen."""
    ring = window.focus_ring.ring
    corner = ring.mapTo(window, QPoint(0, 0))
    picture = window.grab(QRect(corner, ring.size())).toImage()
    wide, high = picture.width() - 1, picture.height() - 1
    points = [(wide // 2, 0), (wide // 2, high), (0, high // 2), (wide, high // 2)]
    return {QColor(picture.pixel(x, y)).name() for x, y in points}


@pytest.mark.parametrize("theme", [ALWAYS_LIGHT, ALWAYS_DARK])
def test_the_ring_is_drawn_in_the_accent_of_the_theme(theme, aggregated_window, qtbot):
    aggregated_window.activateWindow()
    canvas = aggregated_window.area.map.canvas
    while next_stop(aggregated_window, qtbot) is not canvas:
        pass
    aggregated_window.theme.choose(theme)
    assert frame_colours(aggregated_window) == {aggregated_window.theme.colours.accent}


def test_the_ring_of_the_tabs_goes_along_with_the_arrow_keys(aggregated_window, qtbot):
    aggregated_window.activateWindow()
    aggregated_window.show_tab("Input")
    bar = aggregated_window.tabs.tabBar()
    while next_stop(aggregated_window, qtbot) is not bar:
        pass
    before = aggregated_window.focus_ring.ring.geometry()
    qtbot.keyClick(bar, Qt.Key.Key_Right)
    after = aggregated_window.focus_ring.ring.geometry()
    assert (
        after.center().x() - before.center().x()
        == bar.tabRect(1).center().x() - bar.tabRect(0).center().x()
    )


def test_the_ring_stays_with_a_field_that_is_scrolled(loaded_window, qtbot):
    loaded_window.resize(1024, 700)
    loaded_window.activateWindow()
    field = loaded_window.input.privacy.form.editors["k"]
    while next_stop(loaded_window, qtbot) is not field:
        pass
    ring = loaded_window.focus_ring.ring
    assert ring.mapToGlobal(QPoint(3, 3)) == field.mapToGlobal(QPoint(0, 0))
    loaded_window.resize(1100, 760)
    QApplication.processEvents()
    assert ring.mapToGlobal(QPoint(3, 3)) == field.mapToGlobal(QPoint(0, 0))


def test_a_click_of_the_mouse_leaves_no_ring(aggregated_window, qtbot):
    aggregated_window.activateWindow()
    next_stop(aggregated_window, qtbot)
    assert aggregated_window.focus_ring.around is QApplication.focusWidget()
    qtbot.mouseClick(aggregated_window.area.map.canvas.viewport(), Qt.MouseButton.LeftButton)
    assert aggregated_window.area.map.canvas.hasFocus()
    assert aggregated_window.focus_ring.around is None
