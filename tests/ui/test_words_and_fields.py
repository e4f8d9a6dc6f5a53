"""Words and fields of the whole window: nothing says what only its makers understand, every word of the trade is
explained where it stands, and every field has a name and a tip.
"""

from __future__ import annotations

import re

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QTableView,
    QWidget,
)
from tour import Tour

BANNED = re.compile(
    r"find out|non-dominated|changed owner|thesis' experiments|thesis’ experiments|na[iï]ve|\bNaN\b|"
    r"\bNone\b(?=.*\bobject)|traceback|TODO|GAPS\b(?!:)",
    re.IGNORECASE,
)
"""Never shown."""

OF_THE_TRADE = re.compile(
    r"\bADC\b|Pareto|MaxCombs|Voronoi|Jaccard|Fowlkes|\bRand\b|Davies|Discernibility|[Ee]ntropy|[Cc]entroidal|[Hh]ierarch|"
    r"[Cc]rosswalk|[Qq]uasi-identifier|closeness|diversity|[Kk]nee\b|\bGAPS\b|[Cc]odebook|[Ss]eed\b"
)
"""Explained in a tip wherever it names something that can be set, pressed or chosen."""

TIP = Qt.ItemDataRole.ToolTipRole
FIELDS = (QLineEdit, QAbstractSpinBox, QComboBox, QPlainTextEdit)


def seen(root: QWidget, kind: type) -> list:
    found = root.findChildren(kind) if not isinstance(root, kind) else [root, *root.findChildren(kind)]
    return [each for each in found if each.isVisible()]


def is_inner(widget: QWidget) -> bool:
    """Whether it is a part of a field, or of something that Qt made."""
    parent = widget.parentWidget()
    return (
        widget.objectName().startswith("qt_")
        or isinstance(parent, QAbstractSpinBox | QComboBox | QHeaderView)
    ) or (isinstance(widget, QAbstractButton) and isinstance(parent, QLineEdit | QTableView))


def texts_of(widget: QWidget) -> list[str]:
    """All that a widget says by itself."""
    texts = [widget.toolTip(), widget.accessibleName(), widget.windowTitle(), widget.statusTip()]
    if isinstance(widget, QLabel | QAbstractButton):
        texts.append(widget.text())
    if isinstance(widget, QLineEdit | QPlainTextEdit):
        texts.append(widget.placeholderText())
    if isinstance(widget, QComboBox):
        texts += [str(widget.itemText(row)) for row in range(widget.count())]
        texts += [str(widget.itemData(row, TIP) or "") for row in range(widget.count())]
    if isinstance(widget, QTableView):
        texts += [str(text) for head in heads_of(widget) for text in head if text]
    if isinstance(widget, QMenu):
        for action in widget.actions():
            texts += [action.text(), action.toolTip(), action.statusTip()]
    return [text for text in texts if text]


def label_of(widget: QWidget, root: QWidget) -> str:
    """What a field is called: by the label that belongs to it, or to those who cannot see it."""
    labels = [label.text() for label in root.findChildren(QLabel) if label.buddy() is widget]
    return (labels or [widget.accessibleName()])[0]


def unnamed_fields(root: QWidget) -> list[str]:
    found = []
    for kind in FIELDS:
        for widget in seen(root, kind):
            if is_inner(widget) or (isinstance(widget, QPlainTextEdit) and widget.isReadOnly()):
                continue
            label = label_of(widget, root.window())
            if not label:
                found.append(
                    f"{kind.__name__} without a name: {widget.toolTip() or widget.parentWidget()}"
                )
            elif not widget.toolTip():
                found.append(f"no tip: {label}")
    return found


def unnamed_buttons(root: QWidget) -> list[str]:
    """Buttons that say nothing, neither in letters nor, where they have an icon only, in a tip."""
    found = [
        button for button in seen(root, QAbstractButton) if not is_inner(button) and not button.text()
    ]
    return [
        f"no words: {each.parentWidget()}"
        for each in found
        if not (each.accessibleName() and each.toolTip())
    ]


def unexplained(root: QWidget) -> list[str]:
    """Words of the trade on something that can be used, without a tip on it."""
    told: list[tuple[str, object]] = []
    told += [
        (button.text(), button.toolTip())
        for button in seen(root, QAbstractButton)
        if not is_inner(button)
    ]
    told += [
        (label.text(), label.toolTip() or label.buddy().toolTip())
        for label in seen(root, QLabel)
        if label.buddy()
    ]
    for combo in seen(root, QComboBox):
        rows = range(combo.count())
        told += [(combo.itemText(row), combo.itemData(row, TIP) or combo.toolTip()) for row in rows]
    for table in seen(root, QTableView):
        told += heads_of(table)
    for menu in seen(root, QMenu):
        told += [(action.text(), explained(action)) for action in leaves(menu)]
    return [f"not explained: {text}" for text, tip in told if OF_THE_TRADE.search(text) and not tip]


def heads_of(table: QTableView) -> list[tuple[str, object]]:
    model, across = table.model(), Qt.Orientation.Horizontal
    columns = range(model.columnCount()) if model is not None else ()
    return [
        (str(model.headerData(each, across) or ""), model.headerData(each, across, TIP))
        for each in columns
    ]


def leaves(menu: QMenu) -> list[QAction]:
    return [
        each
        for each in menu.actions()
        if not each.isSeparator() and each.isEnabled() and each.menu() is None
    ]


def explained(action: QAction) -> bool:
    return bool(action.statusTip()) or action.toolTip() not in ("", action.text().replace("&", ""))


def test_every_word_can_be_understood_and_every_field_has_a_name_and_a_tip(window, data, tmp_path):
    wrong: dict[str, list[str]] = {}
    stops = 0
    for name, widget in Tour(window, tmp_path, data).stops():
        QApplication.processEvents()
        stops += 1
        root = widget if widget.isWindow() else window
        banned = [text for each in seen(root, QWidget) for text in texts_of(each) if BANNED.search(text)]
        found = [*banned, *unnamed_fields(root), *unnamed_buttons(root), *unexplained(root)]
        if isinstance(root, QDialog) and not root.windowTitle():
            found.append("a dialog without a title")
        for each in found:
            wrong.setdefault(each, []).append(name)
    assert stops > 60
    told = "\n".join(f"{where[0]}: {each}" for each, where in wrong.items())
    assert not told, told
