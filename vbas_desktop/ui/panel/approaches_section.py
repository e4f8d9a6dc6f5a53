"""The chosen approaches with their parameters, and the range of site numbers."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QSpinBox, QWidget

from vbas_desktop.approaches.registry import approaches
from vbas_desktop.session.session import Session
from vbas_desktop.settings.run import COMPONENTS
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import dress, in_column, in_row
from vbas_desktop.ui.widgets.fields import Field, muted, title
from vbas_desktop.ui.widgets.parameters import ParameterForm

_LABELS = {
    "site_number": "Number of sites",
    "site_location": "Locations of the sites",
    "construction": "Construction of the regions",
    "refinement": "Refinement of the regions",
    "tiers": "Records whose class is too small in their region",
}


class ApproachChoice(QWidget):
    """One component: which approach, in one sentence what it does, and its parameters."""

    def __init__(self, component: str, session: Session) -> None:
        super().__init__()
        self._component, self._session = component, session
        self.combo = QComboBox()
        for name, kind in approaches(component).items():
            self.combo.addItem(kind.card.title, name)
            self.combo.setItemData(self.combo.count() - 1, kind.card.summary, 3)
        self.combo.activated.connect(self._on_activated)
        self._summary = muted()
        self.form = ParameterForm(component, session)
        in_column(
            Field(_LABELS[component], self.combo, "Also in the menu above"),
            self._summary,
            self.form,
            within=self,
            margins=0,
            spacing=GRID // 2,
        )

    def refresh(self) -> None:
        """Show what is chosen."""
        name = self._session.choices.approaches[self._component]
        kind = approaches(self._component).get(name)
        self.combo.setCurrentIndex(self.combo.findData(name))
        self._summary.setText(f"{kind.card.summary} {kind.card.reveals}".strip() if kind else "Not installed here.")
        self.form.refresh()

    @Slot(int)
    def _on_activated(self, index: int) -> None:
        self._session.change(self._session.choices.with_approach(self._component, self.combo.itemData(index)))


class ApproachesSection(QWidget):
    """All components of which one approach is chosen, and the range."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._tabs: list[QWidget] = []
        self.choices = {component: ApproachChoice(component, session) for component in COMPONENTS}
        self.step = dress(QDoubleSpinBox(), minimum=0.1, maximum=100.0, decimals=1, suffix=" %")
        self.reach = dress(QSpinBox(), minimum=0, maximum=50)
        self.seed = dress(QSpinBox(), minimum=0, maximum=2**31 - 1)
        for box in (self.step, self.reach, self.seed):
            box.setMinimumWidth(9 * GRID)
        row = in_row(
            Field("Step", self.step, "Distance between the numbers that are tried, of the approximated one"),
            Field("Steps to each side", self.reach, "0 tries the approximated number only"),
            Field("Random seed", self.seed, "The same seed gives the same result again"),
            spacing=GRID,
        )
        names = title("Approaches"), title("Range of site numbers")
        in_column(names[0], *self.choices.values(), names[1], row, within=self, margins=0, spacing=GRID)
        change = session.change_fields
        self.step.valueChanged.connect(lambda value: change("range_step_percent", range_step_percent=value))
        self.reach.valueChanged.connect(lambda value: change("range_reach", range_reach=value))
        self.seed.valueChanged.connect(lambda value: change("random_seed", random_seed=value))

    def refresh(self) -> None:
        """Show what is chosen."""
        chosen = self._session.choices
        for choice in self.choices.values():
            choice.refresh()
        self.step.setValue(chosen.range_step_percent)
        self.reach.setValue(chosen.range_reach)
        self.seed.setValue(chosen.random_seed)
        self._order_tabs()

    def _order_tabs(self) -> None:
        """Parameters come after their approach: fields made later would come after everything else."""
        order: list[QWidget] = []
        for choice in self.choices.values():
            order += [choice.combo, *(field.widget for field in choice.form.fields.values())]
        order += [self.step, self.reach, self.seed]
        if order != self._tabs:
            self._tabs = order
            for one, following in pairwise(order):
                QWidget.setTabOrder(one, following)
