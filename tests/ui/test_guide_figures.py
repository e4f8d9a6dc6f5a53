"""The offline guide shows the figures of the approaches."""

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QImage, QTextDocument
from PySide6.QtWidgets import QApplication, QWidget

from vbas_desktop.approaches.registry import list_approaches
from vbas_desktop.ui.core.theme import Theme
from vbas_desktop.ui.shell.guide import GuideWindow


@pytest.fixture
def guide(qtbot):
    holder = QWidget()
    qtbot.addWidget(holder)
    guide = GuideWindow(Theme(QApplication.instance(), "light", holder), holder)
    yield guide
    guide.close()


@pytest.mark.parametrize("name", list_approaches("site_location"))
def test_the_page_of_approaches_shows_how_sites_are_placed(guide, name):
    guide.show_page("approaches.md")
    address = f"images/approach-{name}.svg"
    assert f'src="{address}"' in guide.text.toHtml()
    shown = guide.text.loadResource(QTextDocument.ResourceType.ImageResource, QUrl(address))
    assert not QImage.fromData(shown).isNull()
