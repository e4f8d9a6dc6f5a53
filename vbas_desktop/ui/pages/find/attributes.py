"""The conditions of each attribute: its ladder, the level it is pinned to, the least number of categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QComboBox, QGridLayout, QLabel, QPushButton, QSpinBox, QWidget

from vbas_desktop.search.ladders import Ladder
from vbas_desktop.session.finding import Conditions
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import dress
from vbas_desktop.ui.widgets.fields import muted, without_wheel

_HEADS = ("Attribute", "Categories by level", "Level", "At least", "")
_FREE = -1
_LISTED = 12

_Level = tuple[int, tuple[str, ...]]
"""How many categories remain on a level, and their names."""


class AttributesForm(QWidget):
    """One line per quasi-identifier. `changed()`, and `file_wanted(column)` for a hierarchy from a file."""

    changed = Signal()
    file_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.levels: dict[str, Sequence[Mapping[str, str]]] = {}
        self.pins: dict[str, QComboBox] = {}
        self.minima: dict[str, QSpinBox] = {}
        self.files: dict[str, QPushButton] = {}
        self._shown: list[tuple[str, list[_Level]]] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(2 * GRID)
        self._grid.setVerticalSpacing(GRID // 2)

    def show_ladders(self, ladders: Sequence[Ladder], grouped: frozenset[str]) -> None:
        """Show these ladders; conditions that still fit stay. ``grouped``: columns whose level comes from Input."""
        shown = [
            (ladder.column, [(rung.number, ladder.labels(level)) for level, rung in enumerate(ladder.rungs)])
            for ladder in ladders
        ]
        if shown == self._shown:
            return
        before = self.conditions()
        self._shown = shown
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.pins, self.minima, self.files = {}, {}, {}
        for column, text in enumerate(_HEADS):
            self._grid.addWidget(muted(text), 0, column)
        for row, (name, levels) in enumerate(shown, 1):
            source = "from a file" if name in self.levels else "from Input" if name in grouped else "proposed"
            self._add(row, name, levels, source, before)
        self._grid.setColumnStretch(1, 1)

    def _add(self, row: int, name: str, levels: list[_Level], source: str, before: Conditions) -> None:
        numbers = [number for number, _ in levels]
        pin, least, file = QComboBox(), QSpinBox(), QPushButton("Hierarchy…")
        pin.addItem("any", _FREE)
        for level, (number, groups) in enumerate(levels):
            pin.addItem(f"{number:,} categories" if level else f"as it is ({number:,})", level)
            pin.setItemData(level + 1, _listed(groups), Qt.ItemDataRole.ToolTipRole)
        pin.setCurrentIndex(max(0, pin.findData(before.pins.get(name, _FREE))))
        dress(pin, accessibleName=f"Level of {name}", toolTip=f"Only this level of {name}, or any of its levels")
        least.setRange(1, max(1, numbers[0]))
        least.setValue(before.minima.get(name, 1))
        least.setAccessibleName(f"Least number of categories of {name}")
        least.setToolTip(f"Only levels that leave at least so many categories of {name}")
        if row < 10:
            file.setShortcut(QKeySequence(f"Ctrl+Alt+{row}"))
        keys = f" (Ctrl+Alt+{row})" if row < 10 else ""
        file.setToolTip(f"Levels from a file: value;level1;level2… on each line{keys}")
        file.setAccessibleName(f"Hierarchy of {name} from a file")
        for widget in (pin, least):
            without_wheel(widget)
        pin.activated.connect(self._on_changed)
        least.valueChanged.connect(self._on_changed)
        file.clicked.connect(partial(self.file_wanted.emit, name))
        ladder = QLabel(f"{' → '.join(f'{number:,}' for number in numbers)}  ({source})")
        told = (f"{'as it is' if level == 0 else level}: {_listed(groups)}" for level, (_, groups) in enumerate(levels))
        ladder.setToolTip("\n".join(told))
        cells: tuple[QWidget, ...] = (QLabel(name), ladder, pin, least, file)
        for column, cell in enumerate(cells):
            self._grid.addWidget(cell, row, column)
        self.pins[name], self.minima[name], self.files[name] = pin, least, file

    @Slot()
    def _on_changed(self) -> None:
        self.changed.emit()

    def conditions(self) -> Conditions:
        """What is asked of the attributes."""
        pins = {name: pin.currentData() for name, pin in self.pins.items() if pin.currentData() != _FREE}
        minima = {name: least.value() for name, least in self.minima.items() if least.value() > 1}
        return Conditions(dict(self.levels), pins, minima)


def _listed(groups: Sequence[str]) -> str:
    """The groups of a level in one line, the first ones if there are many."""
    more = f", and {len(groups) - _LISTED:,} more" if len(groups) > _LISTED else ""
    return f"{', '.join(groups[:_LISTED])}{more}"
