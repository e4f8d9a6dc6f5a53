"""The frame: menus made from the registry, themes, tabs, and a window that fits a small screen."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QAction, QColor
from PySide6.QtWidgets import QApplication, QComboBox, QMenu, QMessageBox, QScrollArea

from vbas_desktop.approaches.registry import list_approaches
from vbas_desktop.ui.core.theme import DARK, LIGHT
from vbas_desktop.ui.pages import PAGES


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
    return next(
        action.menu() for action in window.menuBar().actions() if action.text().replace("&", "") == title
    )


def test_there_are_nine_menus_and_each_component_has_its_approaches_in_one(window):
    titles = [
        "File",
        "Edit",
        "Sites",
        "Locations",
        "Construction",
        "Refinement",
        "View",
        "Tools",
        "Help",
    ]
    assert menu_titles(window) == titles
    for title, components in {
        "Sites": ["site_number"],
        "Locations": ["site_location"],
        "Construction": ["construction"],
        "Refinement": ["refinement", "tiers"],
    }.items():
        names = [name for component in components for name in list_approaches(component)]
        assert [
            action.data() for action in leaves(component_menu(window, title)) if action.isEnabled()
        ] == names


def test_tiers_are_the_last_group_of_refinement_and_one_of_each_group_is_chosen(window):
    actions = component_menu(window, "Refinement").actions()
    heading = next(action for action in actions if action.text() == "Fallback to larger areas")
    tiers = {action.data(): action for action in actions[actions.index(heading) + 1 :]}
    assert list(tiers) == list(list_approaches("tiers"))
    tiers["auto"].trigger()
    assert window.state.choices.approaches["tiers"] == "auto"
    assert [name for name, action in tiers.items() if action.isChecked()] == ["auto"]
    assert [action.data() for action in actions[: actions.index(heading)] if action.isChecked()] == [
        "none"
    ]


def test_run_and_stop_are_first_in_tools_and_in_the_toolbar(window):
    first = component_menu(window, "Tools").actions()[:2]
    assert (
        first
        == window.menus.toolbar_actions()[:2]
        == [window.menus.actions["run"], window.menus.actions["stop"]]
    )
    assert [action.shortcut().toString() for action in first] == ["Ctrl+R", "Ctrl+."]


def test_menu_mnemonics_are_unique(window):
    letters = [action.text().partition("&")[2][0].lower() for action in window.menuBar().actions()]
    assert len(set(letters)) == len(letters)


def test_every_action_of_the_menus_has_a_tip_and_a_key(window):
    actions = [
        leaf for top in window.menuBar().actions() for leaf in leaves(top.menu()) if leaf.isEnabled()
    ]
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
    assert list(actions) == list(list_approaches("site_location"))
    actions["random"].trigger()
    assert window.state.choices.approaches["site_location"] == "random"
    assert list_approaches("site_location")["random"].metadata.title in window.combination.text()
    window.run_commands.undo()
    assert actions["balanced-density"].isChecked()


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


def test_the_start_page_is_alone_until_data_are_loaded(window, data, qtbot):
    assert window.area.start_page.isVisible()
    assert window.menuBar().isVisible()
    assert not window.tabs.isVisible()
    assert not window.area.map.isVisible()
    assert not window.toolbar.isVisible()
    window.data_commands.load(*data)
    qtbot.waitUntil(lambda: window.state.has_data and not window.worker.busy, timeout=60_000)
    assert window.tabs.isVisible()
    assert window.toolbar.isVisible()
    assert window.area.map.isVisible()
    assert not window.area.start_page.isVisible()


def test_files_that_cannot_be_read_are_mended_in_the_panel_beside_the_start_page(
    window, data, tmp_path, qtbot
):
    broken = tmp_path / "broken.csv"
    broken.write_text('region,age\n1,"2\n')
    with qtbot.waitSignal(window.worker.job_failed, timeout=60_000):
        window.data_commands.load(broken, data[1])
    window.findChild(QMessageBox).reject()
    qtbot.waitUntil(lambda: window.input.files.findings.isVisible())
    assert window.area.start_page.isVisible()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_a_page_takes_the_full_width_and_leaves_it_again(page, aggregated_window):
    window = aggregated_window
    for size in ((1024, 680), (1440, 900)):
        window.resize(*size)
        widget = window.area.show_page(page)
        QApplication.processEvents()
        assert (window.width(), window.height()) == size, f"{page.title} asks for more"
        assert not window.tabs.isVisible()
        assert widget.width() >= 0.95 * window.width()
        window.menus.actions["show_map"].trigger()
        assert window.tabs.isVisible()
        assert not window.menus.actions["show_map"].isEnabled()


def test_a_tab_that_is_asked_for_on_a_page_is_shown_beside_the_map(aggregated_window):
    aggregated_window.area.show_page(PAGES[0])
    aggregated_window.menus.actions["show_results"].trigger()
    assert aggregated_window.area.page is None
    assert aggregated_window.tabs.currentWidget() is aggregated_window.tab("Results")
    assert aggregated_window.tabs.isVisible()


def test_run_on_a_page_goes_back_to_the_map(loaded_window, qtbot):
    loaded_window.area.show_page(PAGES[0])
    with qtbot.waitSignal(loaded_window.worker.job_ended, timeout=60_000):
        loaded_window.menus.actions["run"].trigger()
    assert loaded_window.area.page is None
    assert loaded_window.area.map.isVisible()


def test_two_maps_fit_a_small_window_beside_the_panel(aggregated_window):
    aggregated_window.area.map._compare.setChecked(True)
    aggregated_window.resize(1024, 680)
    QApplication.processEvents()
    assert (aggregated_window.width(), aggregated_window.height()) == (1024, 680)
    assert aggregated_window.tabs.isVisible()


def test_input_begins_at_its_top_after_loading(loaded_window, data, qtbot):
    loaded_window.resize(1024, 600)
    loaded_window.input.files.unfold.click()
    QApplication.processEvents()
    bar = loaded_window.input.findChild(QScrollArea).verticalScrollBar()
    bar.setValue(bar.maximum())
    assert bar.value() > 0
    with qtbot.waitSignal(loaded_window.worker.job_ended, timeout=60_000):
        loaded_window.data_commands.load(*data)
    assert bar.value() == 0


def contrast(one: str, other: str) -> float:
    """How far two colours are apart for the eye, from 1 to 21."""

    def light(name: str) -> float:
        parts = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
            for part in QColor(name).getRgbF()
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


def test_at_its_narrowest_the_panel_shows_all_of_input(loaded_window, qtbot):
    loaded_window.resize(1024, 700)
    tab = loaded_window.input
    tab.files.unfold.click()
    tab.files.records.show_file("/" + 40 * "a long name " + ".csv", "")
    wide = loaded_window.splitter.width()
    loaded_window.splitter.setSizes([wide, 1])
    bar = tab.findChild(QScrollArea).horizontalScrollBar()
    # The panel takes more room in a later round of events, since its content does.
    qtbot.waitUntil(lambda: bar.maximum() == 0)
    assert loaded_window.tabs.width() < 0.42 * wide
    assert tab.files.records.name.shown.count("…") == 1


def test_a_long_sentence_ends_in_dots_and_is_read_in_its_tip(window):
    sentence = "Much has happened. " * 30
    window.show_message(sentence)
    assert window.status.what.shown.endswith("…")
    assert window.status.what.text() == sentence
    assert window.status.what.toolTip().replace("\n", " ") == sentence.strip()


def test_the_map_owns_sixty_percent_at_1440(loaded_window):
    assert loaded_window.area.width() >= 0.6 * loaded_window.width()


def test_the_theme_can_be_dark_and_is_remembered(window, qtbot):
    with qtbot.waitSignal(window.theme.changed):
        next(a for a in leaves(component_menu(window, "View")) if a.data() == "dark").trigger()
    assert window.theme.dark
    assert window.settings.get("theme") == "dark"
    assert window.palette().window().color().lightness() < 80


def test_a_button_that_asks_first_has_its_dots_in_the_toolbar_too(window):
    assert [action.iconText() for action in window.menus.toolbar_actions()] == ["Run", "Stop", "Export…"]


def test_the_combination_is_read_in_full_beside_the_buttons(loaded_window, qtbot):
    loaded_window.resize(1440, 900)
    qtbot.waitUntil(lambda: loaded_window.combination.shown == loaded_window.state.combination)


def test_the_tab_key_goes_through_input_from_top_to_bottom(loaded_window, qtbot):
    component_menu(loaded_window, "Sites").actions()[0].trigger()
    loaded_window.state.change(loaded_window.state.choices.with_approach("site_location", "adc"))
    section = loaded_window.input.approaches
    wanted = [section.choices["site_number"].combo, section.choices["site_location"].combo]
    seeding = section.choices["site_location"].form.fields["seeding"].widget
    wanted += [
        seeding,
        section.choices["construction"].combo,
        section.choices["refinement"].combo,
        section.choices["tiers"].combo,
        *section.range.editors.values(),
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
