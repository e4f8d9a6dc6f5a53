"""What aggregated regions keep to: boundaries, regions that stay alone, least and most records and inhabitants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QGridLayout, QLineEdit, QPushButton, QSpinBox, QWidget

from vbas_desktop.engine.limits import wrong_limits
from vbas_desktop.session.choices import limits_in_words
from vbas_desktop.session.session import Session
from vbas_desktop.settings.declaration import settings_of
from vbas_desktop.settings.forms import Ids, Whole
from vbas_desktop.settings.limits import Limiting
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import dress, in_column, ticked
from vbas_desktop.ui.widgets.fields import Field, Unfold, muted, set_look, setting_field
from vbas_desktop.ui.widgets.names_edit import ColumnList, TickingMenu
from vbas_desktop.ui.widgets.plain_text import menu_text, set_tool_tip

_DECLARED = {each.name: each for each in settings_of(Limiting)}
_COLUMNS = ("alone_column", "population_column", "centre_weights")
_NUMBERS = tuple(name for name, each in _DECLARED.items() if isinstance(each.form, Whole))
_ROWS = (
    ("within", "centre_weights"),
    ("alone", "alone_column"),
    ("min_records", "max_records"),
    ("population_column",),
    ("min_population", "max_population"),
)


class LimitsSection(QWidget):
    """One field for each limit, and in one line what is in force."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.within = _ColumnsButton()
        self.alone = dress(QLineEdit(), placeholderText="None")
        self.columns = {name: ColumnList(_DECLARED[name].usual.capitalize()) for name in _COLUMNS}
        self.numbers = {name: _number_box() for name in _NUMBERS}
        self.words = muted()
        self._ids = Ids()
        self.fields: dict[str, Field] = {}
        self._body = QWidget()
        self.unfold = Unfold("Limits", self._body)
        set_tool_tip(self.unfold, "Boundaries that no aggregated region crosses, and how much each should hold")
        self._build()
        self.within.menu().triggered.connect(self._on_within)
        self.alone.editingFinished.connect(self._on_alone)
        for name, combo in self.columns.items():
            combo.activated.connect(partial(self._on_column_chosen, name))
        for name, box in self.numbers.items():
            box.valueChanged.connect(partial(self._on_number_changed, name))

    def _build(self) -> None:
        widgets: dict[str, QWidget] = {"within": self.within, "alone": self.alone, **self.columns, **self.numbers}
        grid = QGridLayout(self._body)
        grid.setContentsMargins(2 * GRID, 0, 0, 0)
        grid.setHorizontalSpacing(2 * GRID)
        for column in (0, 1):
            grid.setColumnStretch(column, 1)
        for row, names in enumerate(_ROWS):
            for column, name in enumerate(names):
                field = self.fields[name] = setting_field(_DECLARED[name], widgets[name])
                grid.addWidget(field, row, column, Qt.AlignmentFlag.AlignTop)
        in_column(self.unfold, self.words, self._body, within=self, margins=0, spacing=GRID // 2)

    def reload(self) -> None:
        """Other regions are loaded: their columns can be chosen."""
        regions = self._session.regions
        if regions is None:
            return
        self.within.offer(regions.labels)
        for name, combo in self.columns.items():
            there = (*regions.labels, *regions.numbers) if name == "alone_column" else tuple(regions.numbers)
            combo.offer(there)

    def refresh(self) -> None:
        """Show what is chosen."""
        chosen = self._session.choices
        self.setVisible(self._session.has_data)
        self.within.show_chosen(chosen.within)
        self.alone.setText(self._ids.text(chosen.alone))
        for name, combo in self.columns.items():
            combo.choose(getattr(chosen, name))
        for name, box in self.numbers.items():
            box.setValue(getattr(chosen, name))
        for name in ("min_population", "max_population"):
            self.numbers[name].setEnabled(chosen.population_column is not None or bool(getattr(chosen, name)))
        self._tell()

    def _tell(self) -> None:
        chosen, regions = self._session.choices, self._session.regions
        wrong = [] if regions is None else wrong_limits(chosen.limiting, regions)
        words = wrong[0].message if wrong else limits_in_words(chosen.limiting)
        set_look(self.words, "error" if wrong else "muted")
        self.words.setText(words)
        self.words.setVisible(bool(words))
        self.fields["alone"].say("")

    @Slot()
    def _on_within(self) -> None:
        self._session.change_fields(within=self.within.chosen)

    @Slot()
    def _on_alone(self) -> None:
        text = self.alone.text().strip()
        try:
            ids = tuple(self._ids.parse(text)) if text else ()
        except ValueError as error:
            in_force = self._ids.text(self._session.choices.alone)
            self.fields["alone"].say_refused(f"{str(error)[:1].upper()}{str(error)[1:]}.", in_force)
            return
        self._session.change_fields(alone=ids)

    def _on_column_chosen(self, name: str, index: int) -> None:
        self._session.change_fields(**{name: self.columns[name].chosen})

    def _on_number_changed(self, name: str, number: int) -> None:
        # Steps of one spin box are one step of undo, those of another box are the next: undo names the setting.
        self._session.change_fields(merge=name, **{name: number})


class _ColumnsButton(QPushButton):
    """Columns of the region file to be ticked in a menu."""

    def __init__(self) -> None:
        super().__init__()
        self.setMenu(TickingMenu(self))

    def offer(self, columns: Iterable[str]) -> None:
        """Columns that can be chosen."""
        self.menu().clear()
        for name in columns:
            ticked(self.menu(), name, False, name)
        self.setEnabled(not self.menu().isEmpty())

    def show_chosen(self, chosen: Sequence[str]) -> None:
        """Tick what is chosen; what the file lacks can be unticked."""
        for name in chosen:
            if name not in [action.data() for action in self.menu().actions()]:
                ticked(self.menu(), name, False, name)
        for action in self.menu().actions():
            action.setChecked(action.data() in chosen)
        nothing = "None" if not self.menu().isEmpty() else "No columns with shared values"
        self.setText(menu_text(", ".join(chosen)) or nothing)

    @property
    def chosen(self) -> tuple[str, ...]:
        """What is ticked, in the order of the file."""
        return tuple(action.data() for action in self.menu().actions() if action.isChecked())


def _number_box() -> QSpinBox:
    box = dress(QSpinBox(), minimum=0, maximum=2**31 - 1)
    box.setGroupSeparatorShown(True)
    box.setSpecialValueText("Any")
    return box
