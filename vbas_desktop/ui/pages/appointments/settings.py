"""The left side of the page: the two files, what the columns are, constraints, and how much effort to spend."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QGridLayout,
    QListWidget,
    QListWidgetItem,
    QSpinBox,
    QWidget,
)

from vbas_desktop.domain.regions import Regions
from vbas_desktop.domain.words import counted
from vbas_desktop.files.records.table import RecordTable
from vbas_desktop.screening.inputs import Constraints, PeopleColumns
from vbas_desktop.screening.planners import planners
from vbas_desktop.screening.slots import SlotTable
from vbas_desktop.session.appointments import PlanSetup
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import dress, in_column
from vbas_desktop.ui.widgets.fields import Field, muted, title
from vbas_desktop.ui.widgets.file_row import FileRow, SidePanel

NOTHING = "none"

_ROLES = {
    "id": ("Person id", "Names the person in the written appointments; the row number if none"),
    "region": ("Region", "Where people live; part of their class"),
    "count": ("People per row", "For a table of classes: how many people each row stands for"),
}


class PlanSettings(SidePanel):
    """`changed()`: another setting; `columns_changed()`: other classes; `…_chosen(Path)`: a file to load."""

    changed = Signal()
    columns_changed = Signal()
    people_chosen = Signal(Path)
    slots_chosen = Signal(Path)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.people: RecordTable | None = None
        self.slots: SlotTable | None = None
        self.regions: Regions | None = None
        theme = context.theme
        self.people_file = FileRow(
            "&People", "CSV with one row per person, or per class with a number of people", theme
        )
        self.slots_file = FileRow("Sl&ots", "CSV with centre, time, capacity; optionally region, x and y", theme)
        self.quasi = dress(QListWidget(), accessibleName="Quasi-identifiers")
        self.quasi.setSpacing(2)
        self.quasi.setToolTip("Tick what others may know of a person")
        self.roles = {name: QComboBox() for name in _ROLES}
        self.constraints = ConstraintsForm(context)
        self.effort, self.limit, self.seed = QComboBox(), QDoubleSpinBox(), QSpinBox()
        self.summary = muted()
        self._set_up_effort()
        self._build()
        self._connect()
        self._fill_columns()

    def _set_up_effort(self) -> None:
        for name, kind in planners().items():
            self.effort.addItem(kind.card.title, name)
            self.effort.setItemData(self.effort.count() - 1, kind.card.summary, Qt.ItemDataRole.ToolTipRole)
        dress(self.limit, minimum=0.1, maximum=86_400.0, decimals=1, suffix=" s")
        self.seed.setRange(0, 2**31 - 1)
        self._show_effort()

    def _show_effort(self) -> None:
        kind = planners()[self.effort.currentData()]
        self.summary.setText(kind.card.summary)
        limit = next((parameter for parameter in kind.parameters() if parameter.name == "time_limit"), None)
        self.limit.setEnabled(limit is not None)
        if limit is not None:
            self.limit.setValue(float(limit.default))

    def _build(self) -> None:
        inner = QWidget()
        layout = in_column(
            self.people_file,
            Field("Quasi-identifiers", self.quasi, "Tick what others may know of a person"),
            within=inner,
            margins=(GRID, 0, GRID, GRID),
            spacing=GRID,
        )
        roles = QGridLayout()
        roles.setHorizontalSpacing(GRID)
        for place, (name, (label, help)) in enumerate(_ROLES.items()):
            roles.addWidget(_narrow(Field(label, self.roles[name], help)), place // 2, place % 2)
        layout.addLayout(roles)
        layout.addWidget(self.slots_file)
        layout.addWidget(title("Effort"))
        effort = QGridLayout()
        effort.setHorizontalSpacing(GRID)
        effort.addWidget(_narrow(Field("Planner", self.effort, "How much time the plan is worth")), 0, 0, 1, 2)
        effort.addWidget(_narrow(Field("Time limit", self.limit, "The best plan found by then is kept")), 1, 0)
        effort.addWidget(
            _narrow(Field("Random seed", self.seed, "Of the random plan that others are compared with")), 1, 1
        )
        layout.addLayout(effort)
        layout.addWidget(self.summary)
        layout.addWidget(self.constraints)
        layout.addStretch(1)
        self.hold(inner)

    def _connect(self) -> None:
        self.people_file.chosen.connect(self.people_chosen)
        self.slots_file.chosen.connect(self.slots_chosen)
        self.quasi.itemChanged.connect(self._on_columns)
        for combo in self.roles.values():
            combo.activated.connect(self._on_columns)
        self.effort.activated.connect(self._on_effort)
        self.limit.valueChanged.connect(self._on_changed)
        self.seed.valueChanged.connect(self._on_changed)
        self.constraints.changed.connect(self._on_changed)

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
            combo.clear()
            combo.addItem(NOTHING, None)
            for facts in columns:
                combo.addItem(facts.name, facts.name)
            combo.setCurrentIndex(max(0, combo.findData(guessed[name])))
        self.quasi.blockSignals(True)
        self.quasi.clear()
        for facts in columns:
            item = QListWidgetItem(facts.name)
            fit = facts.categorical and facts.name not in guessed.values()
            item.setCheckState(Qt.CheckState.Checked if fit else Qt.CheckState.Unchecked)
            if not facts.categorical:
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEnabled)
            self.quasi.addItem(item)
        self.quasi.blockSignals(False)
        height = max(self.quasi.sizeHintForRow(0), self.quasi.fontMetrics().height()) + 2 * self.quasi.spacing()
        self.quasi.setFixedHeight(min(max(len(columns), 2), 6) * height + 6)
        self.constraints.show_groups(self.columns().quasi_identifiers)

    # Choices

    def columns(self) -> PeopleColumns:
        """What the columns are."""
        roles = {name: combo.currentData() for name, combo in self.roles.items()}
        items = [self.quasi.item(row) for row in range(self.quasi.count())]
        ticked = [item.text() for item in items if item.checkState() is Qt.CheckState.Checked]
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
        )

    @Slot()
    def _on_columns(self) -> None:
        self.constraints.show_groups(self.columns().quasi_identifiers)
        self.columns_changed.emit()

    @Slot()
    def _on_effort(self) -> None:
        self._show_effort()
        self.changed.emit()

    @Slot()
    def _on_changed(self) -> None:
        self.changed.emit()


def _narrow(field: Field) -> Field:
    field.widget.setMinimumWidth(1)
    field.caption.setMinimumWidth(1)
    return field


class ConstraintsForm(QWidget):
    """`changed()`: another constraint; `regions_chosen(Path)`: a region file of the page's own."""

    changed = Signal()
    regions_chosen = Signal(Path)
    regions_cleared = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.same_region = QCheckBox("Own region onl&y")
        self.same_region.setToolTip("Everybody gets a slot of their own region; both files need a region column")
        self.within, self.share, self.groups = QDoubleSpinBox(), QDoubleSpinBox(), QSpinBox()
        dress(self.within, minimum=0.0, maximum=100_000.0, suffix=" km", specialValueText="any")
        dress(self.share, minimum=1.0, maximum=100.0, decimals=0)
        self.share.setValue(100.0)
        self.share.setSuffix(" %")
        self.groups.setRange(1, 1000)
        self.group = QComboBox()
        self.regions = FileRow("Re&gion file", "Where the regions are, for the distance", context.theme, clearable=True)
        self.regions.show_file(None)
        grid = QGridLayout()
        grid.setHorizontalSpacing(GRID)
        grid.setVerticalSpacing(GRID // 2)
        for place, field in enumerate(
            (
                Field("Not farther than", self.within, "From the point of one's region to the slot"),
                Field("Groups by", self.group, "A quasi-identifier; its values are groups for the next two limits"),
                Field("Most of one group", self.share, "Largest share of a slot for people of one group"),
                Field("Fewest groups", self.groups, "Least number of groups in every slot that is used"),
            )
        ):
            field.widget.setMinimumWidth(1)
            field.caption.setMinimumWidth(1)
            grid.addWidget(field, place // 2, place % 2)
            grid.setColumnStretch(place % 2, 1)
        in_column(title("Constraints"), self.same_region, grid, self.regions, within=self, margins=0, spacing=GRID // 2)
        self.show_groups(())
        self.same_region.toggled.connect(self._on_changed)
        for signal in (self.within.valueChanged, self.share.valueChanged, self.groups.valueChanged):
            signal.connect(self._on_changed)
        self.group.activated.connect(self._on_changed)
        self.regions.chosen.connect(self.regions_chosen)
        self.regions.cleared.connect(self.regions_cleared)

    def show_groups(self, names: Sequence[str]) -> None:
        """Offer these columns as groups."""
        chosen = self.group.currentData()
        self.group.clear()
        self.group.addItem(NOTHING, None)
        for name in names:
            self.group.addItem(name, name)
        self.group.setCurrentIndex(max(0, self.group.findData(chosen)))
        self._enable()

    def _enable(self) -> None:
        for widget in (self.share, self.groups):
            widget.setEnabled(self.group.currentData() is not None)

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
        )
