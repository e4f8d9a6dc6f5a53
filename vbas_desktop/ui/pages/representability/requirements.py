"""The page Requirements: what a researcher needs, edited, loaded, saved and checked against the chosen solution."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Slot
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QCheckBox, QLabel, QLineEdit, QMenu, QPlainTextEdit, QTableView, QWidget

from vbas_desktop.analysis.representability.elements import OVERALL_MEASURES as MEASURES
from vbas_desktop.analysis.representability.requirement import (
    BOUNDED_MEASURES,
    Requirement,
    RequirementStatus,
    read_requirement,
    write_requirement,
)
from vbas_desktop.app.inputs import check_saved_file
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.text import format_count, inflect

from ...core.context import UiContext
from ...core.theme import GRID
from ...state.representing import (
    FOR_RESEARCH,
    alike_in_words,
    find_constant_measures,
    requirement_of,
    texts_of,
)
from ...widgets.column_picker import ColumnPicker
from ...widgets.fields import (
    Field,
    heading_label,
    hint_label,
    message_label,
    show_input_errors,
    with_button,
)
from ...widgets.file_dialogs import ask_to_open, ask_to_save
from ...widgets.file_field import SidePanel
from ...widgets.layouts import Part, button, grid_layout, hbox, splitter, vbox, with_properties
from ...widgets.notice_bar import NoticeBar
from ...widgets.plain_text import menu_text
from ...widgets.tables import TableModel, fit_columns, set_up_table
from ...widgets.visible_refresh import VisibleRefresh
from ..ways_on import list_ways_to_solution
from .report_view import make_value_columns

KINDS = "Requirements (*.json)"
_LISTED_VALUES = 60
_FIELDS = (
    (
        "quasi_identifiers",
        "Required &quasi-identifiers",
        "Columns that must be released, separated by commas",
    ),
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
_MARKS = {
    RequirementStatus.OK: "✓",
    RequirementStatus.NOT_MET: "✗",
    RequirementStatus.NOT_CHECKABLE: "–",
}
_HEADINGS = ("Verdict", "Criterion", "Required", "Actual")


class RequirementsPage(QWidget):
    """A form at the left, the check at the right. Every complete change is in force at once."""

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self._context = context
        self.title = QLineEdit()
        self.names = {name: ColumnPicker(value=name in _WITH_VALUES) for name in _NAMED}
        self.fields = {name: self.names.get(name) or QLineEdit() for name, _, _ in _FIELDS}
        self.bounds = {name: (QLineEdit(), QLineEdit()) for name in BOUNDED_MEASURES}
        self.classes = with_properties(QPlainTextEdit(), placeholderText=_CLASSES, tabChangesFocus=True)
        self.classes.setFixedHeight(8 * GRID)
        self.unwanted = with_properties(QPlainTextEdit(), placeholderText=_CLASSES, tabChangesFocus=True)
        self.unwanted.setFixedHeight(8 * GRID)
        value = "Choose a value for the class in the line with the cursor"
        self.add_value = button("Add value", tip=value, keys="Ctrl+Shift+Space")
        self.class_values = QMenu(self)
        self.add_value.setMenu(self.class_values)
        self.recorded = QCheckBox("Sensitive values not a&ggregated")
        self.load = button("L&oad…", self._on_load)
        self.save = button("Save a co&py…", self._on_save)
        self.clear = button("Clear for&m", lambda: self._context.state.require(Requirement()))
        self.message = message_label(look="error")
        self.verdict = message_label()
        self.nothing = NoticeBar()
        self.model: TableModel[tuple[Any, ...]] = TableModel((), self)
        self.table = QTableView()
        self.alike = hint_label()
        self._labels: dict[str, QLabel] = {}
        self._filling = self._editing = False
        self._build()
        self._connect()
        self._on_requirement_changed()

    def _build(self) -> None:
        form = SidePanel()
        form.hold(*self._form_parts())
        self.table.setModel(self.model)
        set_up_table(self.table, "Check of the requirement")
        self.table.horizontalHeader().setStretchLastSection(True)
        right = QWidget()
        # The blank at the end takes the room while there is no table: what is said stands at the top.
        heading = heading_label("Check against the chosen solution")
        parts = (heading, self.verdict, self.nothing, (self.table, 1), 0)
        vbox(*parts, within=right, margins=(2 * GRID, 0, 2 * GRID, GRID), spacing=GRID)
        vbox(splitter(form, right, sizes=(420, 560), growing=1), within=self, margins=(GRID, GRID, 0, 0))

    def _form_parts(self) -> tuple[Part, ...]:
        return (
            hbox(self.load, self.save, self.clear, 1),
            self.message,
            Field("Title", self.title, "Name of the requirement"),
            heading_label("Measures of the whole release"),
            grid_layout(
                [hint_label(head) for head in ("", "at least", "at most")],
                *map(self._bounds, BOUNDED_MEASURES),
                shares=(1,),
            ),
            self.alike,
            heading_label("Columns and values"),
            *(
                Field(words, with_properties(self.fields[name], placeholderText=help), help)
                for name, words, help in _FIELDS
            ),
            with_button(Field("Required classes", self.classes, _CLASSES), self.add_value),
            Field("Unwanted classes", self.unwanted, f"No record of them is to be released. {_CLASSES}"),
            self.recorded,
        )

    def _bounds(self, name: str) -> tuple[QWidget, ...]:
        """Make the row of a measure: what it is, and what it may be at least and at most."""
        words = BOUNDED_MEASURES[name]
        help = MEASURES[name][1]
        self._labels[name] = message_label(words, toolTip=help)
        for edit, side in zip(self.bounds[name], ("least", "most"), strict=True):
            edit.setFixedWidth(9 * GRID)
            with_properties(
                edit,
                accessibleName=f"{words}, at {side}",
                toolTip=f"At {side}; empty: any. {words}: {help}",
            )
        return self._labels[name], *self.bounds[name]

    def _connect(self) -> None:
        model = self._context.model
        solution = VisibleRefresh(self, self._on_solution_changed)
        for signal in (
            model.selection_changed,
            model.solutions_changed,
            model.solution_added,
            model.data_loaded,
            model.choices_changed,
            model.research_shown,
        ):
            signal.connect(solution.request)
        model.requirement_changed.connect(self._on_requirement_changed)
        columns = VisibleRefresh(self, self._offer_columns)
        for signal in (model.data_loaded, model.choices_changed):
            signal.connect(columns.request)
        self._offer_columns()
        for edit in (
            self.title,
            *self.fields.values(),
            *(edit for pair in self.bounds.values() for edit in pair),
        ):
            edit.textEdited.connect(self._on_edited)
        self.classes.textChanged.connect(self._on_edited)
        self.unwanted.textChanged.connect(self._on_edited)
        self.recorded.toggled.connect(self._on_edited)

    # What the state says

    @Slot()
    def _offer_columns(self) -> None:
        """Columns are chosen among those of the loaded file, classes among their values."""
        state = self._context.state
        names = state.table.file_format.header if state.table is not None else ()
        for edit in self.names.values():
            edit.offer(names)
        self.class_values.clear()
        for column in state.choices.quasi_identifiers if state.table is not None else ():
            categories = state.table.facts(column).categories if state.table is not None else None
            if categories is not None:
                menu = self.class_values.addMenu(menu_text(column))
                for code, value in enumerate(categories.values[:_LISTED_VALUES]):
                    label = menu_text(categories.label(code))
                    menu.addAction(label, partial(self._add_value, column, value))
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
        texts, bounds, aggregated_ok = texts_of(self._context.state.requirement)
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
        state = self._context.state
        entry = state.selected
        criteria = state.criteria(entry)
        rows = tuple(
            (f"{_MARKS[row.status]} {row.status}", row.name, row.required, row.actual)
            for row in criteria
        )
        if rows != self.model.rows or not self.model.columns:
            self.model.set_rows(rows, make_value_columns(_HEADINGS))
            fit_columns(self.table)
        self.table.setVisible(bool(rows))
        self.verdict.setText(self._verdict(bool(rows)))
        self._show_ways_on(is_needed=entry is None)
        self._offer_measures()

    def _show_ways_on(self, is_needed: bool) -> None:
        text = "There is no chosen solution to check." if is_needed else ""
        self.nothing.show_notice(text, list_ways_to_solution(self._context) if is_needed else ())

    def _offer_measures(self) -> None:
        """Offer a bound only for measures that differ between solutions, or that are bounded already.

        Indices for research are offered only if these are shown.
        """
        state = self._context.state
        known = [name for name in self.bounds if state.shows_research or name not in FOR_RESEARCH]
        same = {
            name: value for name, value in find_constant_measures(state.entries).items() if name in known
        }
        for name, edits in self.bounds.items():
            offered = (name in known and name not in same) or any(edit.text() for edit in edits)
            for widget in (self._labels[name], *edits):
                widget.setVisible(offered)
        self.alike.setText(alike_in_words(same))
        self.alike.setVisible(bool(same))

    def _verdict(self, stated: bool) -> str:
        state = self._context.state
        entry = self._context.state.selected
        if not stated:
            return "Nothing is required yet. Fill in what the study needs, or load a requirement file."
        if entry is None:
            return ""
        meeting = sum(state.meets_requirement(row) for row in state.entries)
        verdict = (
            "meets the requirement"
            if state.meets_requirement(entry)
            else "does not meet the requirement"
        )
        all_told = f"{meeting:,} of {format_count(len(state.entries), 'solution')} {inflect(meeting, 'does', 'do')}"
        return f"Solution {entry.title} {verdict}. {all_told}."

    # What the user does

    def _read_texts(self) -> tuple[dict[str, str], dict[str, tuple[str, str]], bool]:
        texts = {"title": self.title.text(), **{name: edit.text() for name, edit in self.fields.items()}}
        texts["classes"] = self.classes.toPlainText()
        texts["unwanted"] = self.unwanted.toPlainText()
        bounds = {name: (low.text(), high.text()) for name, (low, high) in self.bounds.items()}
        return texts, bounds, not self.recorded.isChecked()

    @Slot()
    def _on_edited(self) -> None:
        if self._filling:
            return
        with show_input_errors(self.message):
            requirement = requirement_of(*self._read_texts())
            self._editing = True
            later_fields = self._context.state.requirement.model_extra
            self._context.state.require(requirement.model_copy(update=later_fields))
            self._editing = False

    @Slot()
    def _on_load(self) -> None:
        ask_to_open(self, "Load a requirement", KINDS, None, lambda path: self.load_file(Path(path)))

    def load_file(self, path: Path) -> None:
        """Load a requirement file in the background."""

        def job(progress: Progress) -> Requirement:
            progress.update("Reading the requirement")
            return read_requirement(path)

        self._context.worker.start(f"Loading {path.name}", job, self._context.state.require)

    @Slot()
    def _on_save(self) -> None:
        name = self._context.state.requirement.title or "requirement"
        ask_to_save(
            self,
            "Save the requirement",
            KINDS,
            Path(f"{name}.json"),
            lambda path: self.save_file(Path(path)),
        )

    def save_file(self, path: Path) -> None:
        """Write the requirement in force in the background."""
        requirement = self._context.state.requirement
        inputs = self._context.state.named_inputs()

        def job(progress: Progress) -> None:
            progress.update("Saving the requirement")
            check_saved_file(path, inputs)
            write_requirement(path, requirement)

        self._context.worker.start(
            f"Saving {path.name}", job, lambda _: self._context.show_message(f"Saved {path}.")
        )
