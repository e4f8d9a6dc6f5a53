"""The frame: menus made from the registry, themes, tabs, and a window that fits a small screen."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QAction, QColor
from PySide6.QtWidgets import QApplication, QComboBox, QMenu, QScrollArea

from vbas_desktop.approaches.registry import COMPONENTS, approaches
from vbas_desktop.ui.pages import PAGES
from vbas_desktop.ui.theme import DARK, LIGHT


def menu_titles(window):
    return [action.text().replace("&", "") for action in window.menuBar().actions()]


def leaves(menu: QMenu) -> list[QAction]:
    found = []
    for action in menu.actions():
        if action.menu() is not None:
            found += leaves(action.menu())
        elif not action.isSeparator():
            found.append(action)
    return found


def component_menu(window, title):
    return next(action.menu() for action in window.menuBar().actions() if action.text().replace("&", "") == title)


def test_there_is_a_menu_for_every_component(window):
    assert set(COMPONENTS.values()) <= set(menu_titles(window))


def test_menu_mnemonics_are_unique(window):
    letters = [action.text().partition("&")[2][0].lower() for action in window.menuBar().actions()]
    assert len(set(letters)) == len(letters)


def test_every_action_of_the_menus_has_a_tip_and_a_key(window):
    actions = [leaf for top in window.menuBar().actions() for leaf in leaves(top.menu()) if leaf.isEnabled()]
    without = [a.text() for a in actions if a.shortcut().isEmpty() and "&" not in a.text()]
    assert without == []
    assert [action.text() for action in actions if not action.statusTip()] == []


def test_no_shortcut_is_used_twice(window):
    keys = [
        leaf.shortcut().toString()
        for top in window.menuBar().actions()
        for leaf in leaves(top.menu())
        if not leaf.shortcut().isEmpty()
    ]
    assert sorted(set(keys)) == sorted(keys)


def test_choosing_in_a_menu_changes_the_combination_in_words(window):
    actions = {action.data(): action for action in leaves(component_menu(window, "Locations"))}
    assert list(actions) == list(approaches("site_location"))
    actions["random"].trigger()
    assert window.session.choices.approaches["site_location"] == "random"
    assert approaches("site_location")["random"].card.title in window.combination.text()
    window.controller.undo()
    assert actions["balanced-density"].isChecked()


def test_ticking_a_measure_decides_what_counts_for_dominance(window):
    actions = {action.data(): action for action in leaves(component_menu(window, "Rating")) if action.data()}
    assert actions["suppressed_records"].isChecked()
    actions["suppressed_records"].trigger()
    assert "suppressed_records" not in window.session.pareto_measures


def test_run_says_why_it_is_disabled(window):
    run = window.menus.actions["run"]
    assert not run.isEnabled()
    assert "Open a record file" in run.toolTip()


def test_the_window_fits_1024_by_700(window, qtbot):
    window.resize(1024, 700)
    assert (window.width(), window.height()) == (1024, 700)
    assert window.minimumSizeHint().width() <= 1024
    assert window.minimumSizeHint().height() <= 700


def test_a_window_that_is_too_large_or_half_outside_is_put_whole_on_the_screen(window, qtbot):
    screen = window.screen().availableGeometry()
    window.setGeometry(600, 500, 4000, 3000)
    window._stay_on_screen()
    assert screen.contains(window.frameGeometry())
    window.setGeometry(screen.right() - 300, screen.bottom() - 200, 1200, 800)
    window._stay_on_screen()
    assert screen.contains(window.frameGeometry())
    assert (window.width(), window.height()) == (1200, 800)


def test_in_a_small_window_the_panel_steps_aside_for_tools_and_comes_back(aggregated_window, qtbot):
    window, panel = aggregated_window, aggregated_window.tabs
    window.resize(1024, 680)
    assert panel.isVisible()
    for page in PAGES:
        window.area.show_page(page)
        assert not panel.isVisible()
        QApplication.processEvents()
        assert window.width() == 1024, f"{page.title} asks for more"
    window.area.show_map()
    assert panel.isVisible()
    window.area.show_page(PAGES[0])
    window.resize(1440, 900)
    assert panel.isVisible(), "there is room for both"
    window.resize(1024, 680)
    assert not panel.isVisible()
    window.open_tab("Results")
    assert panel.isVisible(), "somebody wants it"
    window.resize(1000, 680)
    assert panel.isVisible()
    window.area.show_map()
    assert panel.isVisible()
    window.area.map._compare.setChecked(True)
    assert not panel.isVisible(), "two maps need the width"
    window.area.map._compare.setChecked(False)
    assert panel.isVisible()


@pytest.mark.parametrize("page", [*PAGES, None], ids=lambda page: page.title if page else "two maps")
def test_the_window_becomes_small_in_one_step(page, aggregated_window):
    window = aggregated_window
    window.resize(1440, 900)
    if page is None:
        window.area.map._compare.setChecked(True)
    else:
        window.area.show_page(page)
    QApplication.processEvents()
    assert window.tabs.isVisible()
    window.resize(1024, 680)
    QApplication.processEvents()
    assert (window.width(), window.height()) == (1024, 680)
    assert window.minimumSizeHint().width() <= 1024
    assert not window.tabs.isVisible()
    window.resize(1440, 900)
    QApplication.processEvents()
    assert window.tabs.isVisible()


def contrast(one: str, other: str) -> float:
    """How far two colours are apart for the eye, from 1 to 21."""

    def light(name: str) -> float:
        parts = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in QColor(name).getRgbF()
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2] + 0.05

    low, high = sorted((light(one), light(other)))
    return high / low


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_frames_and_scroll_bars_are_seen_and_words_are_read(colours):
    for ground in (colours.base, colours.window):
        assert contrast(colours.field, ground) >= 3
        for words in (colours.text, colours.muted, colours.warning, colours.error, colours.good):
            assert contrast(words, ground) >= 4.5
    assert contrast(colours.on_accent, colours.accent) >= 4.5


@pytest.mark.parametrize("choice", ["light", "dark"])
def test_fields_have_frames_and_progress_is_told_beside_its_bar(window, choice):
    window.theme.choose(choice)
    field, colours = QComboBox(), window.theme.colours
    field.resize(120, 30)
    image = field.grab().toImage()
    assert image.pixelColor(60, 0).name() == image.pixelColor(0, 15).name() == colours.field
    field.deleteLater()
    window.status._on_job_started("Waiting")
    window.status._on_progressed("Waiting", 0.42)
    assert not window.status.bar.isTextVisible()
    assert window.status.left.text() == "42 %"
    window.status._on_job_ended("Waiting")


def test_at_its_narrowest_the_panel_shows_all_of_input(loaded_window):
    loaded_window.resize(1024, 700)
    tab = loaded_window.input
    tab.files.unfold.click()
    tab.files.records.show_file("/" + 40 * "a long name " + ".csv", "")
    wide = loaded_window.splitter.width()
    loaded_window.splitter.setSizes([wide, 1])
    QApplication.processEvents()
    bar = tab.findChild(QScrollArea).horizontalScrollBar()
    assert loaded_window.tabs.width() < 0.42 * wide
    assert bar.maximum() == 0
    assert tab.files.records.name.shown.count("…") == 1


def test_a_long_sentence_ends_in_dots_and_is_read_in_its_tip(window):
    sentence = "Much has happened. " * 30
    window.say(sentence)
    assert window.status.what.shown.endswith("…")
    assert window.status.what.text() == window.status.what.toolTip() == sentence


def test_the_map_owns_sixty_percent_at_1440(window):
    assert window.area.width() >= 0.6 * window.width()


def test_the_theme_can_be_dark_and_is_remembered(window, qtbot):
    with qtbot.waitSignal(window.theme.changed):
        next(a for a in leaves(component_menu(window, "View")) if a.data() == "dark").trigger()
    assert window.theme.dark
    assert window.settings.get("theme") == "dark"
    assert window.palette().window().color().lightness() < 80


def test_a_button_that_asks_first_has_its_dots_in_the_toolbar_too(window):
    assert [action.iconText() for action in window.menus.toolbar_actions()] == ["Run", "Stop", "Export…"]


def test_the_combination_is_read_in_full_beside_the_buttons(window, qtbot):
    window.resize(1440, 900)
    qtbot.waitUntil(lambda: window.combination.shown == window.session.combination)


def test_the_tab_key_goes_through_input_from_top_to_bottom(loaded_window, qtbot):
    component_menu(loaded_window, "Sites").actions()[0].trigger()
    loaded_window.session.change(loaded_window.session.choices.with_approach("site_location", "adc"))
    section = loaded_window.input.approaches
    wanted = [section.choices["site_number"].combo, section.choices["site_location"].combo]
    seeding = section.choices["site_location"].form.fields["seeding"].widget
    wanted += [
        seeding,
        section.choices["construction"].combo,
        section.choices["refinement"].combo,
        section.choices["tiers"].combo,
        section.step,
        section.reach,
        section.seed,
    ]
    wanted.append(loaded_window.input.run)
    met, widget = [], wanted[0]
    for _ in range(500):
        if widget in wanted:
            met.append(widget)
        widget = widget.nextInFocusChain()
        if widget is wanted[0]:
            break
    assert met == wanted
