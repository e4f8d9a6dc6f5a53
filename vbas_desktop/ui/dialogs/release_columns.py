"""Which columns are released, and under which names."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem

from vbas_desktop.model.records import Role
from vbas_desktop.session.choices import Choices
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.plain_text import set_tool_tip
from vbas_desktop.ui.widgets.tables import cell, ticked_rows

_NAMED = 6
"""So many columns are named in a sentence."""

_TICK, _ROLE, _NAME, _ALLOWED = range(4)

_IN_SIGHT = 9
_ALLOWING = (
    "Every column is tested before the export. If you tick this, the column is released even if it says more about a "
    "person, a place or a category than the rest of the release does; the internal report says so."
)


class ReleaseColumns(QTableWidget):
    """One row per column of the file: a tick, its role, its name in the release, and whether it may tell too much."""

    changed = Signal()

    def __init__(self, columns: tuple[str, ...], choices: Choices, region_column: str) -> None:
        super().__init__(len(columns), 4)
        self._columns = columns
        self.setHorizontalHeaderLabels(["Released", "Role", "Name in the release", "Allowed"])
        head = self.horizontalHeaderItem(_ALLOWED)
        assert head is not None
        set_tool_tip(head, _ALLOWING)
        self.setAccessibleName("Released columns")
        self._undecided = frozenset(choices.undecided)
        self._roles = {name: choices.roles.get(name, Role.PLAIN) for name in columns} | {region_column: Role.REGION}
        for row, name in enumerate(columns):
            self._fill(row, name, self._roles[name])
        self.verticalHeader().hide()
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(_NAME, QHeaderView.ResizeMode.Stretch)
        # The tick is drawn by the style sheet, and the table's own measure leaves it out.
        header.setSectionResizeMode(_TICK, QHeaderView.ResizeMode.Interactive)
        widest = max((self.fontMetrics().horizontalAdvance(name) for name in (*columns, "Released")), default=0)
        self.setColumnWidth(_TICK, min(widest, 240) + 5 * GRID)
        height = self.fontMetrics().height() + GRID
        self.verticalHeader().setDefaultSectionSize(height)
        # The rest of the dialog is scrolled to where there is no room: of usual files every column is in sight.
        rows = min(len(columns), _IN_SIGHT) * height
        self.setMinimumHeight(rows + self.horizontalHeader().sizeHint().height() + GRID)
        self.itemChanged.connect(self.changed)

    def _fill(self, row: int, name: str, role: Role) -> None:
        dropped = role is Role.IDENTIFIER
        tick, named = cell(name, ticked=not dropped), cell(name, editable=True)
        if dropped:
            # An identifier that is released would undo the whole release: change its role first, knowingly.
            tick.setFlags(Qt.ItemFlag.ItemIsSelectable)
            named.setFlags(Qt.ItemFlag.ItemIsSelectable)
            set_tool_tip(tick, "Identifiers are never released. Give the column another role in Input if it is none.")
        for column, item in (
            (_TICK, tick),
            (_ROLE, cell(self._role_text(name))),
            (_NAME, named),
            (_ALLOWED, _allowing(role)),
        ):
            self.setItem(row, column, item)

    def _role_text(self, name: str) -> str:
        return f"{self._roles[name]}?" if name in self._undecided else str(self._roles[name])

    @property
    def undecided(self) -> tuple[str, ...]:
        """The kept columns that were only guessed to be plain."""
        return tuple(name for name in self.kept if name in self._undecided)

    def show_decided(self, choices: Choices) -> None:
        """Show that roles were confirmed."""
        self._undecided = frozenset(choices.undecided)
        for row, name in enumerate(self._columns):
            item = self.item(row, _ROLE)
            if item is not None:
                item.setText(self._role_text(name))

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns that are ticked."""
        return tuple(self._columns[row] for row in ticked_rows(self, _TICK))

    @property
    def unprotected(self) -> tuple[str, ...]:
        """The kept columns that nothing is done about: neither region, quasi-identifier nor known as sensitive."""
        return tuple(name for name in self.kept if self._roles[name] is Role.PLAIN)

    @property
    def allowed(self) -> tuple[str, ...]:
        """The columns that are released even if they tell of a person, a place or a category."""
        return tuple(self._columns[row] for row in ticked_rows(self, _ALLOWED))

    def take_up(self, kept: Collection[str], renames: Mapping[str, str], allowed: Collection[str]) -> None:
        """Show choices that were made before."""
        for row, name in enumerate(self._columns):
            for column, names in ((_TICK, kept), (_ALLOWED, allowed)):
                item = self.item(row, column)
                if item is not None and item.flags() & Qt.ItemFlag.ItemIsUserCheckable:
                    item.setCheckState(Qt.CheckState.Checked if name in names else Qt.CheckState.Unchecked)
            shown = self.item(row, _NAME)
            if shown is not None:
                shown.setText(renames.get(name, name))

    @property
    def renames(self) -> dict[str, str]:
        """The new names of kept columns that get one."""
        kept, result = self.kept, {}
        for row, name in enumerate(self._columns):
            item = self.item(row, _NAME)
            text = item.text().strip() if item is not None else ""
            if name in kept and text and text != name:
                result[name] = text
        return result


def _allowing(role: Role) -> QTableWidgetItem:
    """A tick for columns that are tested before an export: those that are neither region nor quasi-identifier."""
    if role in (Role.REGION, Role.QUASI_IDENTIFIER, Role.IDENTIFIER):
        item = cell()
        item.setFlags(Qt.ItemFlag.ItemIsSelectable)
        return item
    return cell(ticked=False, tip=_ALLOWING)


def unprotected_in_words(columns: Sequence[str]) -> str:
    """What is said of plain columns that are released."""
    named = ", ".join(f"“{name}”" for name in columns[:_NAMED])
    more = f" and {len(columns) - _NAMED:,} more" if len(columns) > _NAMED else ""
    return (
        f"Released unchanged and unprotected: {named}{more}. If others may know a column’s values, make it a "
        "quasi-identifier in Input; if nobody may learn them, make it sensitive."
    )
