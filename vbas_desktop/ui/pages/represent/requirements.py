"""The page Requirements: what a researcher needs, edited, loaded, saved and checked against the chosen solution."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QCheckBox, QLabel, QLineEdit, QMenu, QPlainTextEdit, QTableView, QWidget

from vbas_desktop.assessment.representability.requirement import (
    OVERALL,
    Requirement,
    Verdict,
    read_requirement,
    write_requirement,
)
from vbas_desktop.assessment.representability.words import OVERALL as MEASURES
from vbas_desktop.jobs.inputs import check_saved_file
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.words import agreeing, counted
from vbas_desktop.session.representing import alike_in_words, requirement_of, texts_of, unvarying
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import button, dress, in_column, in_grid, in_row, scrolled, split
from vbas_desktop.ui.widgets.fields import Field, muted, saying_wrong, title, told, with_button
from vbas_desktop.ui.widgets.file_dialogs import ask_to_open, ask_to_save
from vbas_desktop.ui.widgets.names_edit import NamesEdit
from vbas_desktop.ui.widgets.plain_text import menu_text
from vbas_desktop.ui.widgets.tables import fit_columns, set_up_table
from vbas_desktop.ui.widgets.visible_refresh import VisibleRefresh

from .version import ClassesModel

KINDS = "Requirements (*.json)"
_LISTED_VALUES = 60
_FIELDS = (
    ("quasi_identifiers", "Required &quasi-identifiers", "Columns that must be released, separated by commas"),
    ("levels", "Highest level", "How far a column may be generalised: age=1, job=0"),
    ("sensitive", "Required sensitive columns", "Columns that must be released, separated by commas"),
    ("ratio", "Smallest share of records", "Between 0 and 1"),
    ("k_min", "k, at least", "Smallest k that is accepted"),
    ("k_max", "k, at most", "Largest k that is accepted"),
    ("weights", "Weights", "Of the quasi-identifiers, adding up to 1: age=0.7, job=0.3"),
)
_NAMED = ("quasi_identifiers", "levels", "sensitive", "weights")
_CLASSES = "One on each line: age=3, sex=1"
_WITH_VALUES = ("levels", "weights")
_MARKS = {Verdict.OK: "✓", Verdict.NOT_MET: "✗", Verdict.NOT_CHECKABLE: "–"}
_HEADINGS = ("Verdict", "Criterion", "Required", "Actual")


class RequirementsPage(QWidget):
    """A form at the left, the check at the right. Every complete change is in force at once."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self.title = QLineEdit()
        self.names = {name: NamesEdit(value=name in _WITH_VALUES) for name in _NAMED}
        self.fields = {name: self.names.get(name) or QLineEdit() for name, _, _ in _FIELDS}
        self.bounds = {name: (QLineEdit(), QLineEdit()) for name in OVERALL}
        self.classes = dress(QPlainTextEdit(), placeholderText=_CLASSES, tabChangesFocus=True)
        self.classes.setFixedHeight(8 * GRID)
        self.unwanted = dress(QPlainTextEdit(), placeholderText=_CLASSES, tabChangesFocus=True)
        self.unwanted.setFixedHeight(8 * GRID)
        value = "Choose a value for the class in the line with the cursor"
        self.add_value, self.class_values = button("Add value", tip=value, keys="Ctrl+Shift+Space"), QMenu(self)
        self.add_value.setMenu(self.class_values)
        self.recorded = QCheckBox("Sensitive values not a&ggregated")
        self.load, self.save = button("L&oad…", self._on_load), button("Save a co&py…", self._on_save)
        self.clear = button("Clear for&m", lambda: self._context.session.require(Requirement()))
        self.message, self.verdict = told(look="error"), told()
        self.model = ClassesModel(self)
        self.table = QTableView()
        self.alike = muted()
        self._labels: dict[str, QLabel] = {}
        self._filling = self._editing = False
        self._build()
        self._connect()
        self._on_requirement_changed()

    def _build(self) -> None:
        form = scrolled(self._form(), focusPolicy=Qt.FocusPolicy.NoFocus, minimumWidth=380)
        self.table.setModel(self.model)
        set_up_table(self.table, "Check of the requirement")
        self.table.horizontalHeader().setStretchLastSection(True)
        right = QWidget()
        # The blank at the end takes the room while there is no table: what is said stands at the top.
        parts = (title("Check against the chosen solution"), self.verdict, (self.table, 1), 0)
        in_column(*parts, within=right, margins=(2 * GRID, 0, 2 * GRID, GRID), spacing=GRID)
        in_column(split(form, right, sizes=(420, 560), growing=1), within=self, margins=(GRID, GRID, 0, 0))

    def _form(self) -> QWidget:
        inner = QWidget()
        in_column(
            in_row(self.load, self.save, self.clear, 1),
            self.message,
            Field("Title", self.title, "Name of the requirement"),
            title("Measures of the whole release"),
            in_grid([muted(head) for head in ("", "at least", "at most")], *map(self._bounds, OVERALL), shares=(1,)),
            self.alike,
            title("Columns and values"),
            *(Field(words, dress(self.fields[name], placeholderText=help), help) for name, words, help in _FIELDS),
            with_button(Field("Required classes", self.classes, _CLASSES), self.add_value),
            Field("Unwanted classes", self.unwanted, f"No record of them is to be released. {_CLASSES}"),
            self.recorded,
            1,
            within=inner,
            margins=(GRID, 0, 2 * GRID, GRID),
            spacing=GRID,
        )
        return inner

    def _bounds(self, name: str) -> tuple[QWidget, ...]:
        """The row of a measure: what it is, and what it may be at least and at most."""
        words, help = OVERALL[name], MEASURES[name][1]
        self._labels[name] = told(words, toolTip=help)
        for edit, side in zip(self.bounds[name], ("least", "most"), strict=True):
            edit.setFixedWidth(9 * GRID)
            dress(edit, accessibleName=f"{words}, at {side}", toolTip=f"At {side}; empty: any. {words}: {help}")
        return self._labels[name], *self.bounds[name]

    def _connect(self) -> None:
        model = self._context.model
        solution = VisibleRefresh(self, self._on_solution_changed)
        for signal in (model.selection_changed, model.solutions_changed, model.solution_added):
            signal.connect(solution.request)
        model.requirement_changed.connect(self._on_requirement_changed)
        columns = VisibleRefresh(self, self._offer_columns)
        for signal in (model.data_loaded, model.choices_changed):
            signal.connect(columns.request)
        self._offer_columns()
        for edit in (self.title, *self.fields.values(), *(edit for pair in self.bounds.values() for edit in pair)):
            edit.textEdited.connect(self._on_edited)
        self.classes.textChanged.connect(self._on_edited)
        self.unwanted.textChanged.connect(self._on_edited)
        self.recorded.toggled.connect(self._on_edited)

    # What the session says

    @Slot()
    def _offer_columns(self) -> None:
        """Columns are chosen among those of the loaded file, classes among their values."""
        session = self._context.session
        names = session.table.dialect.header if session.table is not None else ()
        for edit in self.names.values():
            edit.offer(names)
        self.class_values.clear()
        for column in session.choices.quasi_identifiers if session.table is not None else ():
            categories = session.table.facts(column).categories if session.table is not None else None
            if categories is not None:
                menu = self.class_values.addMenu(menu_text(column))
                for code, value in enumerate(categories.values[:_LISTED_VALUES]):
                    told = menu_text(categories.label(code))
                    menu.addAction(told, partial(self._add_value, column, value))
        self.add_value.setEnabled(not self.class_values.isEmpty())

    def _add_value(self, column: str, value: str) -> None:
        """Put a value into the class of the line with the cursor; of a column that it has, into another class."""
        cursor = self.classes.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
        line = cursor.block().text()
        has = any(part.partition("=")[0].strip() == column for part in line.split(","))
        before = "\n" if has else ", " if line.strip() else ""
        cursor.insertText(f"{before}{column}={value}")
        self.classes.setTextCursor(cursor)

    @Slot()
    def _on_requirement_changed(self) -> None:
        if self._editing:  # What is being typed stays as it is typed.
            self._on_solution_changed()
            return
        texts, bounds, aggregated_ok = texts_of(self._context.session.requirement)
        self._filling = True
        self.title.setText(texts["title"])
        for name, edit in self.fields.items():
            edit.setText(texts[name])
        for name, (low, high) in self.bounds.items():
            low.setText(bounds[name][0])
            high.setText(bounds[name][1])
        self.classes.setPlainText(texts["classes"])
        self.unwanted.setPlainText(texts["unwanted"])
        self.recorded.setChecked(not aggregated_ok)
        self._filling = False
        self.message.clear()
        self._on_solution_changed()

    @Slot()
    def _on_solution_changed(self) -> None:
        session = self._context.session
        entry = session.selected
        criteria = session.criteria(entry)
        rows = tuple((f"{_MARKS[row.verdict]} {row.verdict}", row.name, row.required, row.actual) for row in criteria)
        if rows != self.model.rows or not self.model.heads:
            self.model.show_rows(_HEADINGS, rows)
            fit_columns(self.table)
        self.table.setVisible(bool(rows))
        self.verdict.setText(self._verdict(bool(rows)))
        self._offer_measures()

    def _offer_measures(self) -> None:
        """What is (nearly) the same for all solutions decides nothing: it is offered only if it is bounded already."""
        same = unvarying(self._context.session.entries)
        for name, edits in self.bounds.items():
            offered = name not in same or any(edit.text() for edit in edits)
            for widget in (self._labels[name], *edits):
                widget.setVisible(offered)
        self.alike.setText(alike_in_words(same))
        self.alike.setVisible(bool(same))

    def _verdict(self, stated: bool) -> str:
        session, entry = self._context.session, self._context.session.selected
        if not stated:
            return "Nothing is required yet. Fill in what the study needs, or load a requirement file."
        if entry is None:
            return "Choose a solution in Results to check it."
        meeting = sum(session.meets_requirement(each) for each in session.entries)
        verdict = "meets the requirement" if session.meets_requirement(entry) else "does not meet the requirement"
        all_told = f"{meeting:,} of {counted(len(session.entries), 'solution')} {agreeing(meeting, 'does', 'do')}"
        return f"Solution {entry.title} {verdict}. {all_told}."

    # What the user does

    def _stated(self) -> tuple[dict[str, str], dict[str, tuple[str, str]], bool]:
        texts = {"title": self.title.text(), **{name: edit.text() for name, edit in self.fields.items()}}
        texts["classes"] = self.classes.toPlainText()
        texts["unwanted"] = self.unwanted.toPlainText()
        bounds = {name: (low.text(), high.text()) for name, (low, high) in self.bounds.items()}
        return texts, bounds, not self.recorded.isChecked()

    @Slot()
    def _on_edited(self) -> None:
        if self._filling:
            return
        with saying_wrong(self.message):
            requirement = requirement_of(*self._stated())
            self._editing = True
            self._context.session.require(replace(requirement, extra=self._context.session.requirement.extra))
            self._editing = False

    @Slot()
    def _on_load(self) -> None:
        ask_to_open(self, "Load a requirement", KINDS, None, lambda path: self.load_file(Path(path)))

    def load_file(self, path: Path) -> None:
        """Load a requirement file in the background."""

        def job(progress: Progress) -> Requirement:
            progress.update("Reading the requirement")
            return read_requirement(path)

        self._context.runner.start(f"Loading {path.name}", job, self._context.session.require)

    @Slot()
    def _on_save(self) -> None:
        name = self._context.session.requirement.title or "requirement"
        ask_to_save(self, "Save the requirement", KINDS, Path(f"{name}.json"), lambda path: self.save_file(Path(path)))

    def save_file(self, path: Path) -> None:
        """Write the requirement in force in the background."""
        requirement = self._context.session.requirement
        inputs = self._context.session.named_inputs()

        def job(progress: Progress) -> None:
            progress.update("Saving the requirement")
            check_saved_file(path, inputs)
            write_requirement(path, requirement)

        self._context.runner.start(f"Saving {path.name}", job, lambda _: self._context.say(f"Saved {path}."))
