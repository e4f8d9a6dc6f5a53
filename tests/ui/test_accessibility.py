"""Everything that the window shows is accessible by WCAG 2.2 AA, but for what is listed here with its reason."""

from __future__ import annotations

import pytest
from accessibility_checks import NON_TEXT_CONTRAST, SCREEN, TEXT_CONTRAST, check_stop, contrast
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication
from tour import Tour

from vbas_desktop.ui.core.theme import ALWAYS_DARK, ALWAYS_LIGHT, DARK, LIGHT

NORMAL = 1.0
ENLARGED = 2.0
ROUNDS = 6
"""Texts that wrap are laid out in several rounds of events."""

EXCEPTIONS: dict[str, dict[tuple[float, ...], tuple[str, ...]]] = {
    "Map, one or two": {
        (ENLARGED,): (
            "cut: QComboBox “Left solution”",
            "cut: QComboBox “Right solution”",
        ),
    },
}
"""What does not pass yet, by part of the window and size of the font; docs/accessibility.md tells what it means for
users. The list can only get shorter: an entry that no longer occurs fails the test, too.
"""

NAMES_A_PATH = {"cut: Label “postgresql://me@host/data: Add”"}
"""Messages that name a path of this machine, which may be too long a word for a line at twice the font."""


def list_exceptions(factor: float) -> set[str]:
    listed = [
        (factors, violations) for part in EXCEPTIONS.values() for factors, violations in part.items()
    ]
    return {violation for factors, violations in listed if factor in factors for violation in violations}


@pytest.fixture
def enlarge_font(qapp):
    """Change the size of the program's font for one test."""
    before = qapp.font()

    def enlarge(factor: float) -> None:
        font = qapp.font()
        font.setPointSizeF(factor * before.pointSizeF())
        qapp.setFont(font)

    yield enlarge
    qapp.setFont(before)


@pytest.mark.parametrize(("theme", "factor"), [(ALWAYS_LIGHT, NORMAL), (ALWAYS_DARK, ENLARGED)])
def test_every_stop_passes(theme, factor, enlarge_font, make_window, tmp_path):
    enlarge_font(factor)
    window = make_window()
    window.theme.choose(theme)
    window.resize(SCREEN)
    violations = {}
    for stop, widget in Tour(window, tmp_path).stops():
        for _ in range(ROUNDS):
            QApplication.processEvents()
        for violation in check_stop(widget):
            violations.setdefault(violation, stop)
    exceptions = list_exceptions(factor)
    for violation in NAMES_A_PATH:
        violations.pop(violation, None)
    others = [
        f"{violation} ({stop})" for violation, stop in violations.items() if violation not in exceptions
    ]
    mended = [
        f"mended, remove it from EXCEPTIONS: {violation}" for violation in exceptions - set(violations)
    ]
    if others or mended:
        pytest.fail("\n".join([*others, *mended]))


TEXTS = ("text", "muted", "accent", "good", "warning", "error", "mark")
GROUNDS = ("window", "base", "raised")


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_stand_out_from_every_ground(scheme):
    pairs = [(text, ground) for text in TEXTS for ground in GROUNDS] + [("on_accent", "accent")]
    ratios = {pair: contrast(*(QColor(getattr(scheme, name)) for name in pair)) for pair in pairs}
    assert {pair: ratio for pair, ratio in ratios.items() if ratio < TEXT_CONTRAST} == {}


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_borders_of_fields_and_lines_of_charts_stand_out(scheme):
    borders = [getattr(scheme, name) for name in ("field", "muted", "accent", "error")]
    pairs = [(border, getattr(scheme, ground)) for border in borders for ground in GROUNDS]
    pairs += [(line, scheme.base) for line in scheme.lines]
    assert [pair for pair in pairs if contrast(*map(QColor, pair)) < NON_TEXT_CONTRAST] == []
