"""Side constraints: which slots a class may use, and who may share a slot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QGridLayout, QSpinBox, QVBoxLayout, QWidget

from vbas_desktop.screening.inputs import Constraints
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.fields import Field, title
from vbas_desktop.ui.widgets.file_row import FileRow

NOTHING = "none"


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
        self.within.setRange(0.0, 100_000.0)
        self.within.setSuffix(" km")
        self.within.setSpecialValueText("any")
        self.share.setRange(1.0, 100.0)
        self.share.setDecimals(0)
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
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID // 2)
        layout.addWidget(title("Constraints"))
        layout.addWidget(self.same_region)
        layout.addLayout(grid)
        layout.addWidget(self.regions)
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
