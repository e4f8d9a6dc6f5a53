"""For people who hear the window, need strong contrast or a large font."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QFont
from PySide6.QtWidgets import QApplication, QMessageBox

from vbas_desktop.ui.core.theme import ALWAYS_DARK, DARK, LIGHT
from vbas_desktop.ui.pages import PAGES


@pytest.fixture
def heard(monkeypatch):
    """Every announcement with its politeness; Qt hands them to screen readers only, where no test can listen."""
    events = []
    monkeypatch.setattr(QAccessible, "updateAccessibility", lambda event: events.append(event))
    return lambda: [(event.message(), event.politeness().name) for event in events]


def test_the_end_of_a_run_is_announced(loaded_window, heard, qtbot):
    with qtbot.waitSignal(loaded_window.worker.job_ended, timeout=60_000):
        loaded_window.run_commands.run()
    texts = [text for text, _ in heard()]
    assert texts[0] == f"Running {loaded_window.state.combination}…"
    assert texts[-1] == loaded_window.status.what.text()
    assert texts[-1].startswith("5 solutions in ")
    assert len(texts) == 2, "the stages in between are not read out"


def test_a_refusal_is_announced(window, heard):
    window.run_commands.run()
    assert heard() == [(window.state.why_not_run(), "Polite")]


def test_a_failure_is_announced_at_once(window, heard, tmp_path, data, qtbot):
    broken = tmp_path / "broken.csv"
    broken.write_text('region,age\n1,"2\n')
    with qtbot.waitSignal(window.worker.job_failed, timeout=60_000):
        window.data_commands.load(broken, data[1])
    window.findChild(QMessageBox).reject()
    urgent = [text for text, politeness in heard() if politeness == "Assertive"]
    assert len(urgent) == 1
    assert urgent[0].startswith("Failed: Loading broken.csv. ")


def test_high_contrast_of_the_system_is_followed_unless_a_theme_was_chosen(window):
    hints = QApplication.styleHints()
    changed = hints.accessibility().contrastPreferenceChanged
    changed.emit(Qt.ContrastPreference.HighContrast)
    colours = window.theme.colours
    assert colours.muted == colours.line == colours.field == colours.text
    window.theme.choose(ALWAYS_DARK)
    assert window.theme.colours == DARK
    window.theme.choose("system")
    changed.emit(Qt.ContrastPreference.NoPreference)
    assert window.theme.colours == LIGHT


@pytest.fixture
def large_font():
    """Text at 200 %."""
    before = QFont(QApplication.font())
    large = QFont(before)
    large.setPointSizeF(2 * before.pointSizeF())
    QApplication.setFont(large)
    yield
    QApplication.setFont(before)


@pytest.mark.parametrize("title", ["", *(page.title for page in PAGES)])
def test_the_window_fits_1440_by_900_at_twice_the_font(title, large_font, run_window):
    page = next((page for page in PAGES if page.title == title), None)
    if page is not None:
        run_window.area.show_page(page)
    run_window.resize(1440, 900)
    QApplication.processEvents()
    assert run_window.minimumSizeHint().width() <= 1440
    assert run_window.minimumSizeHint().height() <= 900
    assert (run_window.width(), run_window.height()) == (1440, 900)
