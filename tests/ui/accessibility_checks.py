"""Check what a window shows against WCAG 2.2 AA: names, contrast, size of targets, cut texts, tab order, shortcuts.

Each check yields violations as sentences without numbers that depend on the data, so that they can be listed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import TypeVar

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QAction, QColor, QImage, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QApplication,
    QCheckBox,
    QComboBox,
    QGraphicsView,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QScrollBar,
    QSizeGrip,
    QSplitterHandle,
    QTabBar,
    QToolButton,
    QWidget,
)

from vbas_desktop.ui.widgets.fields import ElidedLabel

W = TypeVar("W", bound=QWidget)

SCREEN = QSize(1440, 900)
SMALLEST_TARGET = 24
TEXT_CONTRAST = 4.5
NON_TEXT_CONTRAST = 3.0
_TARGETS = (QAbstractButton, QComboBox, QAbstractSpinBox, QLineEdit)
_MOST_STOPS = 500
_SLACK = 2
"""Pixels by which rounding may make a widget smaller than its hint."""


def luminance(colour: QColor) -> float:
    """Return the relative luminance by WCAG 2.2, from 0 (black) to 1 (white)."""
    channels = (colour.redF(), colour.greenF(), colour.blueF())
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: QColor, other: QColor) -> float:
    """Return the contrast ratio of two colours by WCAG 2.2, from 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def check_stop(widget: QWidget) -> Iterator[str]:
    """Check a page, dialog, menu or the whole window as it is shown now."""
    if isinstance(widget, QMenu):
        yield from check_menu(widget)
        return
    yield from check_names(widget)
    yield from check_descriptions(widget)
    yield from check_contrast(widget)
    yield from check_targets(widget)
    yield from check_fit(widget)
    yield from check_tab_order(widget)
    yield from check_shortcuts(widget)


def find_visible(root: QWidget, kind: type[W]) -> list[W]:
    """Find the visible widgets of a kind within a window or page, in the order of their making."""
    widgets = [
        widget
        for widget in root.findChildren(kind)
        if widget.isVisible() and widget.window() is root.window()
    ]
    return [widget for widget in widgets if not _is_made_by_qt(widget)]


def _is_made_by_qt(widget: QWidget) -> bool:
    """Tell if Qt made the widget as a part of another one, such as the field of a spin box."""
    parent = widget.parentWidget()
    if isinstance(widget, QScrollBar | QSizeGrip | QSplitterHandle) or widget.objectName().startswith(
        "qt_"
    ):
        return True
    if isinstance(widget, QAbstractButton) and isinstance(
        parent, QLineEdit | QTabBar | QAbstractScrollArea
    ):
        return True
    return isinstance(parent, QAbstractSpinBox | QComboBox | QHeaderView)


def describe(widget: QWidget) -> str:
    """Describe a widget by its class and what it says, with # for each number."""
    words = (
        widget.accessibleName()
        or getattr(widget, "text", str)()
        or getattr(widget, "currentText", str)()
    )
    if not words:
        words = f"in {type(widget.parentWidget()).__name__}"
    short = re.sub(r"\d[\d.,]*", "#", words.replace("&", "").replace("\n", " "))
    return f"{type(widget).__name__} “{short[:30]}”"


# Names and descriptions


def check_names(root: QWidget) -> Iterator[str]:
    """Check that assistive technology gets a name for everything that takes the focus (4.1.2, 3.3.2)."""
    labelled = {label.buddy() for label in find_visible(root, QLabel) if label.text()}
    for widget in find_visible(root, QWidget):
        # Texts that can only be selected are read as texts.
        takes_focus = widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.focusProxy() is None
        if not takes_focus or isinstance(widget, QLabel):
            continue
        own_text = widget.text() if isinstance(widget, QAbstractButton) else ""
        is_named = widget.accessibleName() or widget in labelled or own_text
        if not is_named and not isinstance(widget, QTabBar | QScrollArea):
            yield f"no name: {describe(widget)}"
        # On Linux, Qt gives the current entry as the name of a list; its label tells what is chosen.
        if isinstance(widget, QComboBox) and widget not in labelled:
            yield f"no label: {describe(widget)}"


def check_descriptions(root: QWidget) -> Iterator[str]:
    """Check that pictures have a name and say what they show (1.1.1)."""
    for view in find_visible(root, QGraphicsView):
        # The widget around a plot has the focus and speaks for it.
        picture = view if view.focusPolicy() & Qt.FocusPolicy.TabFocus else view.parentWidget()
        if not picture.accessibleName() or not picture.accessibleDescription():
            yield f"no description: {describe(picture)}"


# Contrast


def check_contrast(root: QWidget) -> Iterator[str]:
    """Check the text colours of the palette against the colour that is around them on the screen (1.4.3)."""
    window = root.window()
    picture = window.grab().toImage().scaled(window.size())
    for widget in [
        *find_visible(root, QLabel),
        *find_visible(root, QAbstractButton),
        *find_visible(root, QComboBox),
    ]:
        text = getattr(widget, "text", str)() or getattr(widget, "currentText", str)()
        in_sight = widget.visibleRegion().boundingRect()
        area = QRect(widget.mapTo(window, in_sight.topLeft()), in_sight.size()) & window.rect()
        if not text or not widget.isEnabled() or area.isEmpty():
            continue
        around = _find_background(picture, area)
        ratio = contrast(widget.palette().color(widget.foregroundRole()), around)
        if ratio < TEXT_CONTRAST:
            yield f"contrast {ratio:.1f}: {describe(widget)}"


def _find_background(picture: QImage, area: QRect) -> QColor:
    """Find the most frequent colour of an area; the shades of a gradient count as one colour."""
    step = max(1, area.width() * area.height() // 4_000)
    points = range(0, area.width() * area.height(), step)
    colours = [
        picture.pixel(area.x() + point % area.width(), area.y() + point // area.width())
        for point in points
    ]
    shades = Counter(colour & 0xE0E0E0 for colour in colours)
    most_frequent = shades.most_common(1)[0][0]
    return QColor(next(colour for colour in colours if colour & 0xE0E0E0 == most_frequent))


# Targets


def check_targets(root: QWidget) -> Iterator[str]:
    """Check that what can be clicked is at least 24 × 24 px large (2.5.8)."""
    for widget in find_visible(root, QWidget):
        if isinstance(widget, _TARGETS) and min(widget.width(), widget.height()) < SMALLEST_TARGET:
            yield f"small target: {describe(widget)}"
    for bar in find_visible(root, QTabBar):
        for index in range(bar.count()):
            if bar.tabRect(index).height() < SMALLEST_TARGET:
                yield f"small target: tab “{bar.tabText(index)}”"


def check_menu(menu: QMenu) -> Iterator[str]:
    """Check height and shortcuts of the entries of a menu, and that it fits the screen."""
    entries = [action for action in menu.actions() if not action.isSeparator()]
    if any(menu.actionGeometry(action).height() < SMALLEST_TARGET for action in entries):
        yield f"small target: entries of the menu “{menu.title().replace('&', '')}”"
    if menu.height() > SCREEN.height() or menu.width() > SCREEN.width():
        yield f"larger than the screen: menu “{menu.title().replace('&', '')}”"


# Fit


def check_fit(root: QWidget) -> Iterator[str]:
    """Check that the window fits the screen and that no text in it is cut (1.4.4, 1.4.10)."""
    window = root.window()
    if window.width() > SCREEN.width() or window.height() > SCREEN.height():
        yield f"larger than the screen: {type(window).__name__}"
    for widget in find_visible(root, QWidget):
        if _is_cut(widget) or _is_covered(widget):
            yield f"cut: {describe(widget)}"
    for header in find_visible(root, QHeaderView):
        yield from _check_titles(header)


def _is_cut(widget: QWidget) -> bool:
    """Tell if a widget is smaller than its text."""
    width, height = widget.width() + _SLACK, widget.height() + _SLACK
    if isinstance(widget, ElidedLabel):
        return widget.shown != widget.text() and widget.text() not in widget.toolTip().replace("\n", " ")
    if isinstance(widget, QLabel):
        if not widget.text():
            return False
        if widget.wordWrap():
            return widget.heightForWidth(widget.width()) > height or _longest_word(widget) > width
        return widget.sizeHint().width() > width or widget.sizeHint().height() > height
    if isinstance(widget, QPushButton | QCheckBox | QRadioButton | QToolButton):
        return widget.sizeHint().width() > width or widget.sizeHint().height() > height
    if isinstance(widget, QComboBox | QAbstractSpinBox):
        text = widget.currentText() if isinstance(widget, QComboBox) else widget.text()
        needed = widget.fontMetrics().horizontalAdvance(text) + 4 + 18
        return needed > width or widget.minimumSizeHint().height() > height
    if isinstance(widget, QLineEdit | QTabBar):
        return widget.minimumSizeHint().height() > height
    if isinstance(widget, QPlainTextEdit):
        return widget.height() < 2 * widget.fontMetrics().height()
    return False


def _longest_word(label: QLabel) -> int:
    return max(label.fontMetrics().horizontalAdvance(word) for word in label.text().split() or [""])


def _is_covered(widget: QWidget) -> bool:
    """Tell if a part of a widget lies outside the widgets around it, and no scroll bar leads there."""
    if not isinstance(widget, (QLabel, *_TARGETS)):
        return False
    around = widget.parentWidget()
    while around is not None:
        scrolled = around.parentWidget()
        if isinstance(scrolled, QAbstractScrollArea) and scrolled.viewport() is around:
            return False
        area = QRect(widget.mapTo(around, QPoint(0, 0)), widget.size())
        if not around.rect().adjusted(-_SLACK, -_SLACK, _SLACK, _SLACK).contains(area):
            return True
        if around.isWindow():
            return False
        around = around.parentWidget()
    return False


def _check_titles(header: QHeaderView) -> Iterator[str]:
    """Check that the titles of columns are not cut; parents of headers are tables."""
    table = describe(header.parentWidget())
    if header.orientation() is not Qt.Orientation.Horizontal or not header.isVisible():
        return
    for section in range(header.count()):
        if header.isSectionHidden(section):
            continue
        title = str(header.model().headerData(section, Qt.Orientation.Horizontal) or "")
        widest = max(map(header.fontMetrics().horizontalAdvance, title.split("\n")))
        if widest > header.sectionSize(section):
            yield f"cut: title “{title}” of {table}"


# Keyboard


def check_tab_order(root: QWidget) -> Iterator[str]:
    """Check that the tab key goes from the left to the right and from the top to the bottom (2.4.3)."""
    for one, other in pairwise(_list_stops(root)):
        first, second = _locate(one, other)
        is_above = second.bottom() <= first.top() and second.left() < first.right()
        is_in_row = second.top() < first.bottom() and first.top() < second.bottom()
        is_before = (
            is_in_row and second.right() <= first.left() and abs(second.y() - first.y()) < first.height()
        )
        if is_above or is_before:
            yield f"tab order: from {describe(one)} back to {describe(other)}"


def _list_stops(root: QWidget) -> list[QWidget]:
    """List what the tab key comes to within a widget, in its order; the focus stays where it was in the end.

    The key is pressed, since `QWidget.nextInFocusChain` damages the program: PySide takes what it returns for a child
    of the widget before, even the window, and forgets everything in it when that widget is deleted.
    """
    window = root.window()
    before = window.focusWidget()
    if before is not None:
        before.clearFocus()
    stops: list[QWidget] = []
    widget = None
    for _ in range(_MOST_STOPS):
        for event_type in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            key = QKeyEvent(event_type, Qt.Key.Key_Tab, Qt.KeyboardModifier.NoModifier)
            QApplication.sendEvent(widget or window, key)
        widget = window.focusWidget()
        if widget is None or widget in stops:
            break
        stops.append(widget)
    if before is not None:
        before.setFocus()
    return [
        stop for stop in stops if (stop is root or root.isAncestorOf(stop)) and not _is_made_by_qt(stop)
    ]


def _locate(one: QWidget, other: QWidget) -> tuple[QRect, QRect]:
    """Locate two widgets in their window; what is scrolled out of sight counts as the edge of its scroll area."""
    if _scroll_area(one) is _scroll_area(other):
        return _rectangle(one), _rectangle(other)
    return _rectangle_in_sight(one), _rectangle_in_sight(other)


def _scroll_area(widget: QWidget) -> QScrollArea | None:
    parent = widget.parentWidget()
    while parent is not None and not isinstance(parent, QScrollArea):
        parent = parent.parentWidget()
    return parent


def _rectangle(widget: QWidget) -> QRect:
    return QRect(widget.mapTo(widget.window(), QPoint(0, 0)), widget.size())


def _rectangle_in_sight(widget: QWidget) -> QRect:
    rectangle = _rectangle(widget)
    area = _scroll_area(widget)
    if area is None:
        return rectangle
    limits = _rectangle(area)
    top = min(max(rectangle.top(), limits.top()), limits.bottom() - 1)
    bottom = max(min(rectangle.bottom(), limits.bottom()), top + 1)
    left = min(max(rectangle.left(), limits.left()), limits.right() - 1)
    right = max(min(rectangle.right(), limits.right()), left + 1)
    return QRect(QPoint(left, top), QPoint(right, bottom))


def check_shortcuts(root: QWidget) -> Iterator[str]:
    """Check that no key does two things in a window; keys that a widget has while it has the focus do not count."""
    window = root.window()
    own_keys = (Qt.ShortcutContext.WidgetShortcut, Qt.ShortcutContext.WidgetWithChildrenShortcut)
    actions = [
        action for action in window.findChildren(QAction) if action.shortcutContext() not in own_keys
    ]
    shortcuts = [
        shortcut for shortcut in window.findChildren(QShortcut) if shortcut.context() not in own_keys
    ]
    buttons = find_visible(window, QAbstractButton)
    keys = [key.toString() for action in actions for key in action.shortcuts()]
    keys += [shortcut.key().toString() for shortcut in shortcuts if shortcut.parent().isVisible()]
    keys += [b.shortcut().toString() for b in buttons if b.shortcut() != QKeySequence.mnemonic(b.text())]
    for key, number in sorted(Counter(filter(None, keys)).items()):
        if number > 1:
            yield f"shortcut twice: {key}"
