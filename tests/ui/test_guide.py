"""The guide has contents and a search, and F1 opens the section that matches what is shown."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from vbas_desktop.io.paths import documentation_folder
from vbas_desktop.ui.pages import PAGES
from vbas_desktop.ui.shell.guide import GUIDE, GuideWindow, read_sections, split_sections
from vbas_desktop.ui.shell.help import find_guide_section


@pytest.fixture
def guide(window):
    window.help.show_guide()
    guide = window.findChild(GuideWindow)
    yield guide
    guide.close()


def test_sections_are_headings_outside_code():
    markdown = (
        "# The page\n\nIntro.\n\n## First, part\n\n```\n# no heading\n```\n\n### deeper\n\n## `last`\n"
    )
    sections = list(split_sections("page.md", markdown))
    assert [(each.address, each.title, each.level) for each in sections] == [
        ("page.md", "The page", 1),
        ("page.md#first-part", "First, part", 2),
        ("page.md#last", "last", 2),
    ]
    assert "# no heading" in sections[1].text


def test_every_section_that_f1_opens_is_in_the_guide(loaded_window):
    addresses = {section.address for section in read_sections(documentation_folder())}
    parts = [loaded_window.area.start_page, loaded_window.area.map, loaded_window.input.files]
    parts += [
        loaded_window.input.columns,
        *(loaded_window.tab(title) for title in ("Input", "Results", "Regions", "Log")),
    ]
    opened = [find_guide_section(part) for part in parts] + [page.guide for page in PAGES]
    assert [address for address in opened if address not in addresses] == []
    assert len(set(opened)) == len(opened), "each part has a section of its own"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_f1_on_a_page_opens_its_section(page, loaded_window, qtbot):
    loaded_window.area.show_page(page)
    loaded_window.menus.actions["show_guide"].trigger()
    guide = loaded_window.findChild(GuideWindow)
    assert guide.address == page.guide
    guide.close()


def test_f1_in_a_tab_opens_its_section_at_its_heading(loaded_window, qtbot):
    loaded_window.input.columns.view.setFocus()
    loaded_window.menus.actions["show_guide"].trigger()
    guide = loaded_window.findChild(GuideWindow)
    assert guide.address == "user-guide.md#2-choose-the-roles-of-the-columns"
    qtbot.waitUntil(lambda: guide.text.verticalScrollBar().value() > 0)
    guide.close()


def test_the_contents_list_pages_and_sections_and_open_them(guide, qtbot):
    first = guide.contents.topLevelItem(0)
    assert first.text(0) == "User guide"
    assert [first.child(number).text(0) for number in range(2)] == [
        "The first five minutes",
        "1. Open your data",
    ]
    guide.contents.itemClicked.emit(first.child(1), 0)
    assert guide.address == f"{GUIDE}#1-open-your-data"


def test_the_search_lists_the_sections_with_all_words_and_return_opens_the_first(guide, qtbot):
    qtbot.keyClicks(guide.search, "fingerprints crash")
    assert guide.contents.listed_titles() == []
    guide.search.clear()
    qtbot.keyClicks(guide.search, "fingerprints project")
    assert guide.contents.listed_titles()[:2] == ["User guide", "Projects"]
    qtbot.keyClick(guide.search, Qt.Key.Key_Return)
    assert guide.address == f"{GUIDE}#projects"
    guide.search.clear()
    assert len(guide.contents.listed_titles()) == len(read_sections(documentation_folder()))
