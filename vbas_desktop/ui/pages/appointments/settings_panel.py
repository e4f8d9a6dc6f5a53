"""The left side of the page: the two files, what the columns are, constraints, and how much effort to spend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QListWidget, QListWidgetItem, QWidget

from vbas_desktop.appointments.inputs import (
    DEFAULT_OTHER_GROUPS,
    DEFAULT_OTHERS_SHARE,
    PeopleColumns,
    SlotTable,
)
from vbas_desktop.appointments.planners import list_planners
from vbas_desktop.appointments.settings import ConstraintOptions, PlanningOptions
from vbas_desktop.model.records import CodedRecords
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.text import escape_controls, format_count

from ...core.context import UiContext
from ...core.theme import GRID
from ...dialogs.records_row import RecordsRow
from ...state.appointments import PlanSetup
from ...widgets.fields import Field, heading_label, hint_label
from ...widgets.file_field import FileField, SidePanel
from ...widgets.layouts import grid_layout, set_items, vbox
from ...widgets.option_form import GroupForm

NOTHING = "none"

_MOST_VALUES = 500
"""Values that are offered as the majority: more cannot be looked through, and are no groups."""

_ROLES = {
    "id": ("Person id", "Names the person in the written appointments; the row number if none"),
    "region": ("Region", "Where people live; part of their class"),
    "count": ("People per row", "For a table of classes: how many people each row stands for"),
}


class PlanSettings(SidePanel):
    """`changed()`: another setting; `columns_changed()`: other classes."""

    changed = Signal()
    columns_changed = Signal()

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self.people: CodedRecords | None = None
        self.slots: SlotTable | None = None
        self.regions: Regions | None = None
        people = "CSV or address with one row per person, or per class with a number of people"
        self.people_file = RecordsRow("&People", people, context.theme)
        slots = "CSV with centre, time, capacity; optionally region, x and y"
        self.slots_file = FileField("Sl&ots", slots, context.theme)
        self.quasi = QListWidget()
        self.quasi.setSpacing(2)
        self.roles = {name: QComboBox() for name in _ROLES}
        self.constraints = ConstraintsForm(context)
        self.effort = QComboBox()
        set_items(
            self.effort,
            (
                (kind.metadata.title, name, kind.metadata.summary)
                for name, kind in list_planners().items()
            ),
        )
        self.planning = GroupForm(PlanningOptions, columns=2)
        self.summary = hint_label()
        self._show_effort()
        self._build()
        self._connect()
        self._fill_columns()

    def _show_effort(self) -> None:
        kind = list_planners()[self.effort.currentData()]
        self.summary.setText(kind.metadata.summary)
        parameters = {parameter.name: parameter for parameter in kind.options()}
        if "time_limit" in parameters:
            self.planning.show_values(time_limit=float(parameters["time_limit"].default))
        self._enable_parameters()

    def _enable_parameters(self) -> None:
        """Enable the parameters that the chosen planner has."""
        names = {parameter.name for parameter in list_planners()[self.effort.currentData()].options()}
        for name in ("time_limit", "fill"):
            self.planning.editors[name].setEnabled(name in names)

    def _build(self) -> None:
        planner = Field("Planner", self.effort, "How much time the plan is worth", narrow=True)
        roles = [
            Field(label, self.roles[name], help, narrow=True) for name, (label, help) in _ROLES.items()
        ]
        self.hold(
            self.people_file,
            Field("Quasi-identifiers", self.quasi, "Tick what others may know about a person"),
            grid_layout(roles[:2], (roles[2], None), across=GRID),
            self.slots_file,
            heading_label("Effort"),
            planner,
            self.summary,
            self.planning,
            self.constraints,
        )

    def _connect(self) -> None:
        self.quasi.itemChanged.connect(self._on_columns)
        for combo in self.roles.values():
            combo.activated.connect(self._on_columns)
        self.effort.activated.connect(self._on_effort)
        self.planning.edited.connect(self._on_planning)
        self.constraints.changed.connect(self.changed)

    # Files

    def show_people(self, table: CodedRecords) -> None:
        """Another people file."""
        self.people = table
        facts = f"{format_count(table.rows, 'row')} · {format_count(len(table.columns), 'column')}"
        self.people_file.show_file(Path(table.source.path), facts)
        self._fill_columns()
        self.columns_changed.emit()

    def show_slots(self, slots: SlotTable) -> None:
        """Another slots file."""
        self.slots = slots
        seats = f"{int(slots.seats.sum()):,} seats"
        self.slots_file.show_file(
            Path(slots.source), f"{format_count(len(slots.labels), 'slot')} · {seats}"
        )
        self.changed.emit()

    def _fill_columns(self) -> None:
        """Guess what the columns are: unique values name people, a column called count or people numbers them."""
        columns = self.people.columns if self.people is not None else ()
        rows = self.people.rows if self.people is not None else 0
        guessed = {
            "id": next(
                (
                    f.name
                    for f in columns
                    if not f.categorical or (f.distinct == rows and f.name != "count")
                ),
                None,
            ),
            "region": next(
                (f.name for f in columns if f.name.casefold() in ("region", "tract", "district")), None
            ),
            "count": next(
                (f.name for f in columns if f.name.casefold() in ("count", "people", "persons")), None
            ),
        }
        if guessed["count"] is not None:
            guessed["id"] = None
        for name, combo in self.roles.items():
            set_items(combo, [(NOTHING, None), *((facts.name, facts.name) for facts in columns)])
            combo.setCurrentIndex(max(0, combo.findData(guessed[name])))
        with QSignalBlocker(self.quasi):
            self.quasi.clear()
            for facts in columns:
                item = QListWidgetItem(escape_controls(facts.name), self.quasi)
                item.setData(Qt.ItemDataRole.UserRole, facts.name)
                fit = facts.categorical and facts.name not in guessed.values()
                item.setCheckState(Qt.CheckState.Checked if fit else Qt.CheckState.Unchecked)
                if not facts.categorical:
                    item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEnabled)
        self.quasi.ensurePolished()  # rows are as high as they will be
        height = (
            max(self.quasi.sizeHintForRow(0), self.quasi.fontMetrics().height())
            + 2 * self.quasi.spacing()
        )
        self.quasi.setFixedHeight(
            min(max(len(columns), 2), 6) * height + 2 * self.quasi.frameWidth() + GRID
        )
        self._show_groups()

    def _show_groups(self) -> None:
        """Offer the quasi-identifiers as groups, and their values as the majority."""
        names = self.columns().quasi_identifiers
        facts_by_name = {
            facts.name: facts for facts in (self.people.columns if self.people is not None else ())
        }
        values: dict[str, tuple[str, ...]] = {}
        for name in names:
            categories = facts_by_name[name].categories
            if categories is not None:
                number = min(len(categories.values), _MOST_VALUES)
                values[name] = tuple(categories.label(code) for code in range(number))
        self.constraints.show_groups(values)

    # Choices

    def columns(self) -> PeopleColumns:
        """Return the role of each column."""
        roles = {name: combo.currentData() for name, combo in self.roles.items()}
        items = [self.quasi.item(row) for row in range(self.quasi.count())]
        ticked = [
            item.data(Qt.ItemDataRole.UserRole)
            for item in items
            if item.checkState() is Qt.CheckState.Checked
        ]
        names = tuple(name for name in ticked if name not in roles.values())
        return PeopleColumns(names, roles["id"], roles["region"], roles["count"])

    def setup(self) -> PlanSetup | None:
        """Return the settings, or None while something is missing."""
        columns = self.columns()
        if self.people is None or self.slots is None or not columns.quasi_identifiers:
            return None
        planning = self.planning.values()
        return PlanSetup(
            self.people,
            self.slots,
            columns,
            self.constraints.form.values().constraints(),
            self.regions,
            self.effort.currentData(),
            planning.time_limit,
            planning.random_seed,
            planning.fill,
        )

    @Slot()
    def _on_columns(self) -> None:
        self._show_groups()
        self.columns_changed.emit()

    @Slot()
    def _on_effort(self) -> None:
        self._show_effort()
        self.changed.emit()

    @Slot()
    def _on_planning(self) -> None:
        self._enable_parameters()
        self.changed.emit()


class ConstraintsForm(QWidget):
    """`changed()`: another constraint."""

    changed = Signal()

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self.form = GroupForm(ConstraintOptions, columns=2)
        self._values: Mapping[str, Sequence[str]] = {}
        self.regions = FileField(
            "Re&gion file", "Where the regions are, for the distance", context.theme, clearable=True
        )
        vbox(
            heading_label("Constraints"),
            self.form,
            self.regions,
            within=self,
            margins=0,
            spacing=GRID // 2,
        )
        self.form.edited.connect(self._on_edited)

    def show_groups(self, values: Mapping[str, Sequence[str]]) -> None:
        """Offer these columns as groups, and the values of the chosen one as the majority."""
        self._values = values
        self._offer_values()

    def _offer_values(self) -> None:
        chosen = self.form.values()
        group = chosen.group_column if chosen.group_column in self._values else None
        values = () if group is None else self._values[group]
        majority = chosen.majority if chosen.majority in values else None
        sources = {"quasi-identifiers": tuple(self._values), "values": values}
        self.form.show_values(sources, group_column=group, majority=majority)
        if majority != chosen.majority:
            self._suggest_limits()

    def _suggest_limits(self) -> None:
        """Set the usual limits: those of the source beside a majority, none without one."""
        if self.form.values().majority is None:
            self.form.show_values(largest_share_percent=100.0, fewest_groups=1)
        else:
            share = 100 * DEFAULT_OTHERS_SHARE
            self.form.show_values(largest_share_percent=share, fewest_groups=DEFAULT_OTHER_GROUPS)

    @Slot(str, object)
    def _on_edited(self, name: str, value: object) -> None:
        if name == "group_column":
            self._offer_values()
        elif name == "majority":
            self._suggest_limits()
        self.changed.emit()
