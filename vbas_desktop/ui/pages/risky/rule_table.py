"""Rules as a small grid: the kinds and their words, edited in place, read from and saved to CSV files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QHeaderView,
    QMenu,
    QTableWidget,
    QTableWidgetItem,
    QToolButton,
    QWidget,
)

from vbas_desktop.analysis.minimal_uniques.rules import (
    ALL,
    describe_filter_rule,
    parse_domain_rules,
    read_rule_lines,
)
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.text import format_count

from ...core.context import UiContext
from ...core.theme import GRID
from ...widgets.cell_delegates import ComboBoxDelegate
from ...widgets.fields import heading_label, hint_label, set_variant
from ...widgets.file_dialogs import ask_to_open, ask_to_save
from ...widgets.layouts import hbox, vbox, with_properties
from ...widgets.plain_text import set_tool_tip
from ...widgets.table_actions import save_rows

Row = tuple[str, ...]
Pairs = tuple[tuple[str, str], ...]

_FILES = "Rules (*.csv *.txt);;All files (*)"


@dataclass(frozen=True)
class RuleKind:
    """``fields`` are the names in a file, ``heads`` those on the screen; ``choices`` are offered for each field but the
    first, which is a column of the file (or one of ``also``). ``say`` gives a rule as a sentence, or nothing if it is
    no rule.
    """

    name: str
    fields: Row
    heads: Row
    usual: Row
    choices: tuple[Pairs, ...]
    also: Pairs
    typed: tuple[bool, ...]
    say: Callable[[Row], str]
    words: Callable[[str], str] | None
    none_yet: str
    wrong: str


def _say_domain(row: Row) -> str:
    try:
        # As if it were no first row, which may hold names.
        (rule,) = parse_domain_rules([(2, list(row))], "")
        return rule.sentence
    except InputError:
        return ""


def _say_filter(row: Row) -> str:
    words = describe_filter_rule(row[1])
    return f"{row[0]}: {words}." if words and row[0] else ""


DOMAIN = RuleKind(
    "Domain rules",
    ("Feature", "Type", "Option"),
    ("Column", "May stay", "Number"),
    (ALL, "Candidate", "1"),
    (
        (
            ("Candidate", "if it has exactly … columns"),
            ("Threshold Greater", "if the column is in more than … combinations of any size"),
            ("Threshold Less", "if the column is in fewer than … combinations of any size"),
        ),
        (),
    ),
    ((ALL, "any column"),),
    (False, True),
    _say_domain,
    None,
    "None: whatever is risky is changed. A rule lets combinations stay that somebody who knows the data accepts; the "
    "file may then not be k-anonymous. Example: any column · if it has exactly … columns · 4.",
    "Choose a column, when it may stay, and a whole number.",
)

FILTER = RuleKind(
    "Filter rules",
    ("Feature", "Rule"),
    ("Column", "Recoding"),
    ("", "-1"),
    (
        (
            ("-1", "cut the last character"),
            ("-2", "cut the last 2 characters"),
            ("-3", "cut the last 3 characters"),
            ("null", "empty it"),
        ),
    ),
    (),
    (True,),
    _say_filter,
    describe_filter_rule,
    "None: texts are shortened, numbers joined in pairs or emptied, rare values joined. A column’s rules are used in "
    "their order, one row one use. "
    "Examples: postcode · cut the last 2 characters (N5Y2N3 → N5Y2); job · map:jobs.csv, a file of lines value,group.",
    "Choose a column and how it is coarsened: -2 cuts two characters, map:FILE groups, null empties.",
)


class RuleTable(QWidget):
    """One rule a row. `changed()`: something was edited or read."""

    changed = Signal()

    def __init__(self, context: UiContext, kind: RuleKind) -> None:
        super().__init__()
        self._context = context
        self._kind = kind
        self._name = kind.name
        self._columns: tuple[str, ...] = ()
        self.folder: Path | None = None
        self.said = hint_label()
        self.grid = with_properties(
            QTableWidget(0, len(kind.heads)), tabKeyNavigation=False, accessibleName=kind.name
        )
        self.grid.setHorizontalHeaderLabels(list(kind.heads))
        self._set_choices()
        self.grid.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.grid.verticalHeader().setDefaultSectionSize(self.grid.fontMetrics().height() + GRID)
        self.grid.verticalHeader().hide()
        self.changed.connect(self._say)
        self.grid.cellChanged.connect(self.changed)
        self.add = self._button("+", "Add a rule and choose what it says", "Ins")
        self.remove = self._button("−", "Remove the chosen rule", "Del")
        self.files = self._button("CSV", "Read the rules from a file, or save them")
        self.add.clicked.connect(self._on_add)
        self.remove.clicked.connect(self._on_remove)
        menu = QMenu(self)
        menu.addAction("&Import…", self._on_import)
        menu.addAction("&Export…", self._on_export)
        self.files.setMenu(menu)
        self.files.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        bar = hbox((heading_label(kind.name), 1), self.add, self.remove, self.files, spacing=0)
        vbox(bar, self.grid, self.said, within=self, margins=0, spacing=GRID // 4)
        self._fit()
        self._say()

    def _set_choices(self) -> None:
        kind = self._kind
        self.grid.setItemDelegateForColumn(0, ComboBoxDelegate(self._list_columns, self.grid))
        for index, (choices, typed) in enumerate(zip(kind.choices, kind.typed, strict=True), 1):
            if choices:
                cells = ComboBoxDelegate(partial(tuple, choices), self.grid, typed, kind.words)
                self.grid.setItemDelegateForColumn(index, cells)

    def offer(self, columns: Sequence[str]) -> None:
        """Offer these columns."""
        self._columns = tuple(columns)

    def _list_columns(self) -> tuple[tuple[str, str], ...]:
        return (*self._kind.also, *((name, name) for name in self._columns))

    @Slot()
    def _say(self) -> None:
        """Show every rule as a sentence; without rules, what they would be good for."""
        rows = self.rows()
        self.said.setText(
            "\n".join(self._kind.say(row) or self._kind.wrong for row in rows) or self._kind.none_yet
        )
        set_variant(self.said, "muted" if all(map(self._kind.say, rows)) else "warning")

    def _button(self, text: str, tip: str, keys: str = "") -> QToolButton:
        button = with_properties(
            QToolButton(), text=text, accessibleName=f"{self._name}: {tip.lower()}", autoRaise=True
        )
        set_tool_tip(button, f"{tip} ({keys} in the list)" if keys else tip)
        if keys:
            shortcut = QShortcut(
                QKeySequence(keys), self.grid, context=Qt.ShortcutContext.WidgetShortcut
            )
            shortcut.activated.connect(button.click)
        return button

    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Return the rules as typed; empty rows are left out."""
        model = self.grid.model()
        columns = range(self.grid.columnCount())
        rows = (
            tuple((model.index(row, column).data() or "").strip() for column in columns)
            for row in range(self.grid.rowCount())
        )
        return tuple(row for row in rows if any(row))

    def show_rows(self, rows: Sequence[Sequence[str]], folder: Path | None = None) -> None:
        """Show other rules; ``folder`` is where files that they name are."""
        self.folder = folder
        self._put(rows)
        self.changed.emit()

    def _put(self, rows: Sequence[Sequence[str]]) -> None:
        with QSignalBlocker(self.grid):
            self.grid.setRowCount(len(rows))
            for row, fields in enumerate(rows):
                for column in range(self.grid.columnCount()):
                    self.grid.setItem(
                        row, column, QTableWidgetItem(fields[column] if column < len(fields) else "")
                    )
        self._fit()

    def _fit(self) -> None:
        """Make the table as high as its rules need, within bounds: an empty one should not take the room of others."""
        rows = min(max(self.grid.rowCount(), 1), 5)
        height = self.grid.horizontalHeader().sizeHint().height() + rows * (
            self.grid.fontMetrics().height() + GRID
        )
        self.grid.setFixedHeight(height + 4)

    @Slot()
    def _on_add(self) -> None:
        self._put([*self.rows(), self._kind.usual])
        row = self.grid.rowCount() - 1
        self.grid.setCurrentCell(row, 0)
        self.grid.setFocus(Qt.FocusReason.OtherFocusReason)
        self.grid.edit(self.grid.model().index(row, 0))
        self.changed.emit()

    @Slot()
    def _on_remove(self) -> None:
        row = self.grid.currentRow()
        if row >= 0:
            self.grid.removeRow(row)
            self._fit()
            self.changed.emit()

    @Slot()
    def _on_import(self) -> None:
        ask_to_open(self, f"Import {self._name.lower()}", _FILES, self.folder, self.read_file)

    def read_file(self, chosen: str) -> None:
        """Read rules from a file in the background."""
        path = Path(chosen)
        heads = self._kind.fields

        def job(progress: Progress) -> list[list[str]]:
            progress.update("Reading rules")
            lines = [fields for _, fields in read_rule_lines(path)]
            return lines[1:] if lines and _is_head(lines[0], heads) else lines

        def on_read(rows: list[list[str]]) -> None:
            self.show_rows(rows, path.parent)
            self._context.show_message(f"{format_count(len(rows), 'rule')} read from {path.name}.")

        self._context.worker.start(f"Reading {path.name}", job, on_read)

    @Slot()
    def _on_export(self) -> None:
        suggested = (self.folder or Path()) / f"{self._name.lower().replace(' ', '-')}.csv"
        ask_to_save(self, f"Export {self._name.lower()}", "Rules (*.csv)", suggested, self.write_file)

    def write_file(self, chosen: str) -> None:
        """Save the rules in the background; files that they name keep being found."""
        path = Path(chosen)
        folder = self.folder
        rows = [[_reachable(field, folder, path.parent) for field in row] for row in self.rows()]
        head = [name.lower() for name in self._kind.fields]
        save_rows(self._context, "Saving rules", [head, *rows], path)


def _is_head(fields: list[str], heads: tuple[str, ...]) -> bool:
    return len(fields) == len(heads) and fields[0].lower() == "feature"


def _reachable(field: str, folder: Path | None, target: Path) -> str:
    """Rewrite a rule that names a file of groups, so that it is found from the target folder as well."""
    if folder is None or folder == target or not field.lower().startswith("map:"):
        return field
    return f"map:{folder / field[4:].strip()}"
