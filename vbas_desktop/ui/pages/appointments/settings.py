"""The left side of the page: the two files, what the columns are, constraints, and how much effort to spend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QListWidget, QListWidgetItem, QSpinBox, QWidget

from vbas_desktop.model.names import escape_controls
from vbas_desktop.model.records import RecordTable
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.words import counted
from vbas_desktop.screening.heuristic import CLOSEST, FILLS, LARGEST, LISTING
from vbas_desktop.screening.inputs import OTHER_GROUPS, OTHERS_SHARE, Constraints, PeopleColumns
from vbas_desktop.screening.planners import planners
from vbas_desktop.screening.slots import SlotTable
from vbas_desktop.session.appointments import PlanSetup
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.dialogs.records_row import RecordsRow
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import dress, in_column, in_grid, offer
from vbas_desktop.ui.widgets.fields import Field, in_pairs, muted, title
from vbas_desktop.ui.widgets.file_row import FileRow, SidePanel

NOTHING = "none"

_FILL_TITLES = {CLOSEST: "half and half", LISTING: "at most half", LARGEST: "largest slot first"}
_FILL_HELP = (
    "Which slot a class fills first if it fits into none. Half and half: the one closest to half of the class. At most "
    "half: the largest with at most half, as the source's listing says. Largest slot first: as in its printed example"
)
_MAJORITY_HELP = "A value of that column: the next two limits are then about all other groups together"
_SHARE_HELP = (
    "With a majority: the largest share of the people in a slot for all other groups together. Without: the largest "
    "share of the seats for each group (planner Optimal)"
)
_GROUPS_HELP = (
    "With a majority: the least number of different other groups in a slot where there are any. Without: of groups in "
    "every slot that is used (planner Optimal)"
)
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

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.people: RecordTable | None = None
        self.slots: SlotTable | None = None
        self.regions: Regions | None = None
        people = "CSV or address with one row per person, or per class with a number of people"
        self.people_file = RecordsRow("&People", people, context.theme)
        slots = "CSV with centre, time, capacity; optionally region, x and y"
        self.slots_file = FileRow("Sl&ots", slots, context.theme)
        self.quasi = QListWidget()
        self.quasi.setSpacing(2)
        self.roles = {name: QComboBox() for name in _ROLES}
        self.constraints = ConstraintsForm(context)
        self.effort = QComboBox()
        offer(self.effort, ((kind.card.title, name, kind.card.summary) for name, kind in planners().items()))
        self.limit = dress(QDoubleSpinBox(), minimum=0.1, maximum=86_400.0, decimals=1, suffix=" s")
        self.seed = dress(QSpinBox(), minimum=0, maximum=2**31 - 1)
        self.fill = QComboBox()
        offer(self.fill, ((_FILL_TITLES[name], name) for name in FILLS))
        self.summary = muted()
        self._show_effort()
        self._build()
        self._connect()
        self._fill_columns()

    def _show_effort(self) -> None:
        kind = planners()[self.effort.currentData()]
        self.summary.setText(kind.card.summary)
        limit = next((parameter for parameter in kind.parameters() if parameter.name == "time_limit"), None)
        self.limit.setEnabled(limit is not None)
        self.fill.setEnabled(any(parameter.name == "fill" for parameter in kind.parameters()))
        if limit is not None:
            self.limit.setValue(float(limit.default))

    def _build(self) -> None:
        planner = Field("Planner", self.effort, "How much time the plan is worth", narrow=True)
        limit = Field("Time limit", self.limit, "The best plan found by then is kept", narrow=True)
        seed = Field("Random seed", self.seed, "Of the random plan that others are compared with", narrow=True)
        fill = Field("Split classes", self.fill, _FILL_HELP, narrow=True)
        roles = [Field(label, self.roles[name], help, narrow=True) for name, (label, help) in _ROLES.items()]
        self.hold(
            self.people_file,
            Field("Quasi-identifiers", self.quasi, "Tick what others may know of a person"),
            in_grid(roles[:2], (roles[2], None), across=GRID),
            self.slots_file,
            title("Effort"),
            in_grid((planner, fill), (limit, seed), across=GRID),
            self.summary,
            self.constraints,
        )

    def _connect(self) -> None:
        self.quasi.itemChanged.connect(self._on_columns)
        for combo in self.roles.values():
            combo.activated.connect(self._on_columns)
        self.effort.activated.connect(self._on_effort)
        self.fill.activated.connect(self.changed)
        for signal in (self.limit.valueChanged, self.seed.valueChanged, self.constraints.changed):
            signal.connect(self.changed)

    # Files

    def show_people(self, table: RecordTable) -> None:
        """Another people file."""
        self.people = table
        facts = f"{counted(table.rows, 'row')} · {counted(len(table.columns), 'column')}"
        self.people_file.show_file(Path(table.source.path), facts)
        self._fill_columns()
        self.columns_changed.emit()

    def show_slots(self, slots: SlotTable) -> None:
        """Another slots file."""
        self.slots = slots
        seats = f"{int(slots.seats.sum()):,} seats"
        self.slots_file.show_file(Path(slots.source), f"{counted(len(slots.labels), 'slot')} · {seats}")
        self.changed.emit()

    def _fill_columns(self) -> None:
        """Guess what the columns are: unique values name people, a column called count or people numbers them."""
        columns = self.people.columns if self.people is not None else ()
        rows = self.people.rows if self.people is not None else 0
        guessed = {
            "id": next(
                (f.name for f in columns if not f.categorical or (f.distinct == rows and f.name != "count")), None
            ),
            "region": next((f.name for f in columns if f.name.casefold() in ("region", "tract", "district")), None),
            "count": next((f.name for f in columns if f.name.casefold() in ("count", "people", "persons")), None),
        }
        if guessed["count"] is not None:
            guessed["id"] = None
        for name, combo in self.roles.items():
            offer(combo, [(NOTHING, None), *((facts.name, facts.name) for facts in columns)])
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
        height = max(self.quasi.sizeHintForRow(0), self.quasi.fontMetrics().height()) + 2 * self.quasi.spacing()
        self.quasi.setFixedHeight(min(max(len(columns), 2), 6) * height + 6)
        self._show_groups()

    def _show_groups(self) -> None:
        """Offer the quasi-identifiers as groups, and their values as the majority."""
        names = self.columns().quasi_identifiers
        known = {facts.name: facts for facts in (self.people.columns if self.people is not None else ())}
        values: dict[str, tuple[str, ...]] = {}
        for name in names:
            categories = known[name].categories
            if categories is not None:
                shown = min(len(categories.values), _MOST_VALUES)
                values[name] = tuple(categories.label(code) for code in range(shown))
        self.constraints.show_groups(values)

    # Choices

    def columns(self) -> PeopleColumns:
        """What the columns are."""
        roles = {name: combo.currentData() for name, combo in self.roles.items()}
        items = [self.quasi.item(row) for row in range(self.quasi.count())]
        ticked = [item.data(Qt.ItemDataRole.UserRole) for item in items if item.checkState() is Qt.CheckState.Checked]
        names = tuple(name for name in ticked if name not in roles.values())
        return PeopleColumns(names, roles["id"], roles["region"], roles["count"])

    def setup(self) -> PlanSetup | None:
        """What is chosen; None while something is missing."""
        columns = self.columns()
        if self.people is None or self.slots is None or not columns.quasi_identifiers:
            return None
        return PlanSetup(
            self.people,
            self.slots,
            columns,
            self.constraints.constraints(),
            self.regions,
            self.effort.currentData(),
            self.limit.value(),
            self.seed.value(),
            self.fill.currentData(),
        )

    @Slot()
    def _on_columns(self) -> None:
        self._show_groups()
        self.columns_changed.emit()

    @Slot()
    def _on_effort(self) -> None:
        self._show_effort()
        self.changed.emit()


class ConstraintsForm(QWidget):
    """`changed()`: another constraint."""

    changed = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        own = "Everybody gets a slot of their own region; both files need a region column"
        self.same_region = dress(QCheckBox("Own region onl&y"), toolTip=own)
        self.within = dress(QDoubleSpinBox(), minimum=0.0, maximum=100_000.0, suffix=" km", specialValueText="any")
        self.share = dress(QDoubleSpinBox(), minimum=1.0, maximum=100.0, decimals=0, suffix=" %", value=100.0)
        self.groups = dress(QSpinBox(), minimum=1, maximum=1000)
        self.group = QComboBox()
        self.majority = QComboBox()
        self._values: Mapping[str, Sequence[str]] = {}
        self.regions = FileRow("Re&gion file", "Where the regions are, for the distance", context.theme, clearable=True)
        grid = in_pairs(
            ("Not farther than", self.within, "From the point of one's region to the slot"),
            ("Groups by", self.group, "A quasi-identifier; its values are groups for the next three fields"),
            ("Majority", self.majority, _MAJORITY_HELP),
            ("Most of a slot", self.share, _SHARE_HELP),
            ("Fewest groups", self.groups, _GROUPS_HELP),
        )
        in_column(title("Constraints"), self.same_region, grid, self.regions, within=self, margins=0, spacing=GRID // 2)
        self.show_groups({})
        for signal in (
            self.same_region.toggled,
            self.within.valueChanged,
            self.share.valueChanged,
            self.groups.valueChanged,
        ):
            signal.connect(self._on_changed)
        self.group.activated.connect(self._on_group)
        self.majority.activated.connect(self._on_majority)

    def show_groups(self, values: Mapping[str, Sequence[str]]) -> None:
        """Offer these columns as groups, and the values of the chosen one as the majority."""
        self._values = values
        chosen = self.group.currentData()
        offer(self.group, [(NOTHING, None), *((name, name) for name in values)])
        self.group.setCurrentIndex(max(0, self.group.findData(chosen)))
        self._show_values()

    def _show_values(self) -> None:
        chosen = self.majority.currentData()
        values = self._values.get(self.group.currentData() or "", ())
        offer(self.majority, [(NOTHING, None), *((value, value) for value in values)])
        self.majority.setCurrentIndex(max(0, self.majority.findData(chosen)))
        if chosen is not None and self.majority.currentData() is None:
            self._suggest_limits()
        self._enable()

    def _suggest_limits(self) -> None:
        """Set the usual limits: those of the source beside a majority, none without one."""
        beside_majority = self.majority.currentData() is not None
        self.share.setValue(100 * OTHERS_SHARE if beside_majority else 100.0)
        self.groups.setValue(OTHER_GROUPS if beside_majority else 1)

    def _enable(self) -> None:
        for widget in (self.share, self.groups, self.majority):
            widget.setEnabled(self.group.currentData() is not None)

    @Slot()
    def _on_group(self) -> None:
        self._show_values()
        self.changed.emit()

    @Slot()
    def _on_majority(self) -> None:
        self._suggest_limits()
        self.changed.emit()

    @Slot()
    def _on_changed(self) -> None:
        self._enable()
        self.changed.emit()

    def constraints(self) -> Constraints:
        """What is chosen."""
        return Constraints(
            same_region=self.same_region.isChecked(),
            within_km=self.within.value() or None,
            group_column=self.group.currentData(),
            largest_share=self.share.value() / 100,
            fewest_groups=self.groups.value(),
            majority=self.majority.currentData(),
        )
