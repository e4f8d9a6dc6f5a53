"""The conditions of each attribute: its hierarchy, the level it is pinned to, the least number of categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QPushButton, QSpinBox, QWidget

from vbas_desktop.engine.lattice.hierarchies import CodedHierarchy
from vbas_desktop.model.text import format_count

from ...core.theme import GRID
from ...state.searching import Conditions
from ...widgets.fields import clear_layout, hint_label, ignore_wheel_unless_focused
from ...widgets.layouts import button, grid_layout, order_tabs, set_items, with_properties
from ...widgets.plain_text import Label, menu_text, set_tool_tip

_HEADS = ("Attribute", "Categories by level", "Level", "Categories, at least", "")
_SHARES = (0, 0, 0, 0, 0, 1)
"""The room that is left stays at the right, so that the fields stand beside their attribute."""

_FREE = -1
_LISTED = 12

_Level = tuple[int, tuple[str, ...]]
"""How many categories remain on a level, and their names."""


class AttributesForm(QWidget):
    """One line per quasi-identifier. `changed()`, and `file_requested(column)` for a hierarchy from a file."""

    changed = Signal()
    file_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.levels: dict[str, Sequence[Mapping[str, str]]] = {}
        self.pins: dict[str, QComboBox] = {}
        self.minima: dict[str, QSpinBox] = {}
        self.files: dict[str, QPushButton] = {}
        self._shown: list[tuple[str, list[_Level]]] = []
        self._anchor = QWidget(self)
        """Keeps the place of the rows in the tab order while they are made anew; never shown."""
        self._anchor.hide()
        self._grid = grid_layout(within=self, margins=0, across=2 * GRID, down=GRID // 2, shares=_SHARES)

    def show_hierarchies(self, hierarchies: Sequence[CodedHierarchy], grouped: frozenset[str]) -> None:
        """Show these hierarchies; conditions that still fit stay. ``grouped``: columns whose level comes from Input."""
        rows = [
            (
                hierarchy.column,
                [
                    (hierarchy.count_groups(level), hierarchy.list_labels(level))
                    for level in range(len(hierarchy.levels))
                ],
            )
            for hierarchy in hierarchies
        ]
        if rows == self._shown:
            return
        before = self.conditions()
        self._shown = rows
        clear_layout(self._grid)
        self.pins = {}
        self.minima = {}
        self.files = {}
        for column, text in enumerate(_HEADS):
            self._grid.addWidget(hint_label(text), 0, column)
        for row, (name, levels) in enumerate(rows, 1):
            source = (
                "from a file" if name in self.levels else "from Input" if name in grouped else "proposed"
            )
            self._add(row, name, levels, source, before)
        editors = zip(self.pins.values(), self.minima.values(), self.files.values(), strict=True)
        order_tabs(self._anchor, [widget for line in editors for widget in line])

    def _add(self, row: int, name: str, levels: list[_Level], source: str, before: Conditions) -> None:
        numbers = [number for number, _ in levels]
        pin = with_properties(
            QComboBox(),
            accessibleName=f"Level of {name}",
            toolTip=f"Only this level of {name}, or any of its levels",
        )
        entries = (
            (
                format_count(number, "category") if level else f"as it is ({number:,})",
                level,
                _describe_groups(groups),
            )
            for level, (number, groups) in enumerate(levels)
        )
        set_items(pin, [("any", _FREE), *entries])
        pin.setCurrentIndex(max(0, pin.findData(before.pins.get(name, _FREE))))
        least = with_properties(
            QSpinBox(),
            minimum=1,
            maximum=max(1, numbers[0]),
            value=before.minima.get(name, 1),
            accessibleName=f"Least number of categories of {name}",
            toolTip=f"Only levels that leave at least so many categories of {name}",
        )
        file = button(
            "Hierarchy…",
            lambda: self.file_requested.emit(name),
            "Levels from a file: value;level1;level2… on each line",
            f"Ctrl+Alt+{row}" if row < 10 else "",
            accessibleName=f"Hierarchy of {name} from a file",
        )
        for widget in (pin, least):
            ignore_wheel_unless_focused(widget)
        pin.activated.connect(self.changed)
        least.valueChanged.connect(self.changed)
        hierarchy = Label(f"{' → '.join(f'{number:,}' for number in numbers)}  ({source})")
        lines = (
            f"{'as it is' if level == 0 else level}: {_describe_groups(groups)}"
            for level, (_, groups) in enumerate(levels)
        )
        set_tool_tip(hierarchy, "\n".join(lines))
        caption = Label(menu_text(name))
        caption.setBuddy(pin)
        cells: tuple[QWidget, ...] = (caption, hierarchy, pin, least, file)
        for column, cell in enumerate(cells):
            self._grid.addWidget(cell, row, column)
        self.pins[name], self.minima[name], self.files[name] = pin, least, file

    def conditions(self) -> Conditions:
        """Return what the user requires of the attributes."""
        pins = {name: pin.currentData() for name, pin in self.pins.items() if pin.currentData() != _FREE}
        minima = {name: least.value() for name, least in self.minima.items() if least.value() > 1}
        return Conditions(dict(self.levels), pins, minima)


def _describe_groups(groups: Sequence[str]) -> str:
    """Describe the groups of a level in one line, the first ones if there are many."""
    more = f", and {len(groups) - _LISTED:,} more" if len(groups) > _LISTED else ""
    return f"{', '.join(groups[:_LISTED])}{more}"
