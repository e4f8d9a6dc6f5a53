"""Column roles, and what is in the column that is looked at."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, Qt, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QPushButton,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from vbas_desktop.domain.records import Role
from vbas_desktop.session.session import Session
from vbas_desktop.ui.dialogs.grouping import GroupingDialog
from vbas_desktop.ui.theme import GRID, tabular
from vbas_desktop.ui.widgets.elided import short_name
from vbas_desktop.ui.widgets.fields import muted, title
from vbas_desktop.ui.widgets.frequencies import BarDelegate, FrequenciesModel
from vbas_desktop.ui.widgets.unfold import Unfold

from .columns_model import NAME, ROLE, ROLE_TIPS, ColumnsModel

_SAMPLED_ROWS = 60
"""So many rows decide how wide a column is: a file can have tens of thousands of columns, each a row here."""

_KEYS = {
    Qt.Key.Key_R: Role.REGION,
    Qt.Key.Key_Q: Role.QUASI_IDENTIFIER,
    Qt.Key.Key_S: Role.SENSITIVE,
    Qt.Key.Key_I: Role.IDENTIFIER,
    Qt.Key.Key_P: Role.PLAIN,
}


class RoleDelegate(QStyledItemDelegate):
    """Chooses a role from a list."""

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QWidget:
        """The list of roles."""
        combo = QComboBox(parent)
        for role in Role:
            combo.addItem(str(role), str(role))
            combo.setItemData(combo.count() - 1, ROLE_TIPS[role], Qt.ItemDataRole.ToolTipRole)
        combo.activated.connect(self._on_activated)
        return combo

    def setEditorData(self, editor: QWidget, index: QModelIndex | QPersistentModelIndex) -> None:
        """Show the role in force."""
        assert isinstance(editor, QComboBox)
        editor.setCurrentIndex(editor.findData(index.data(Qt.ItemDataRole.EditRole)))
        editor.showPopup()

    def setModelData(
        self, editor: QWidget, model: QAbstractItemModel, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Put the chosen role into the choices."""
        assert isinstance(editor, QComboBox)
        model.setData(index, editor.currentData())

    @Slot(int)
    def _on_activated(self, _: int) -> None:
        editor = self.sender()
        assert isinstance(editor, QComboBox)
        self.commitData.emit(editor)
        self.closeEditor.emit(editor)


class ColumnsView(QTableView):
    """The table of columns; R, Q, S, I and P give the chosen column its role."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Roles by their first letter."""
        role = _KEYS.get(Qt.Key(event.key()))
        current = self.currentIndex()
        if role is None or not current.isValid() or event.modifiers():
            super().keyPressEvent(event)
            return
        self.model().setData(current.siblingAtColumn(ROLE), str(role))


class ColumnsSection(QWidget):
    """The table of roles with the categories of the chosen column under it."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.model = ColumnsModel(session)
        self.view = ColumnsView()
        self.view.setModel(self.model)
        self.view.setItemDelegateForColumn(ROLE, RoleDelegate(self.view))
        self.view.setEditTriggers(
            QAbstractItemView.EditTrigger.SelectedClicked
            | QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed
        )
        self.view.setToolTip("Click a role to change it, or press R, Q, S, I or P")
        self.view.setAccessibleName("Column roles")
        _table_look(self.view, NAME)
        self.view.clicked.connect(self._on_clicked)
        self.frequencies = FrequenciesModel()
        self.bars = QTableView()
        self.bars.setModel(self.frequencies)
        self.bars.setItemDelegateForColumn(2, BarDelegate(self.bars))
        self.bars.setAccessibleName("Categories")
        _table_look(self.bars, 2)
        self.unfold = Unfold()
        self.unfold.toggled.connect(self._on_unfolded)
        self._left_out = muted()
        self.group = QPushButton("Grou&p categories…")
        self.group.setToolTip("Take categories of the chosen column together, before counting and in the release")
        self.group.clicked.connect(self.open_grouping)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID // 2)
        for widget in (title("Columns and roles"), self.view, self.unfold, self.bars, self._left_out, self.group):
            layout.addWidget(widget)
        self.view.selectionModel().currentRowChanged.connect(self._on_row_changed)
        self.reload()

    def reload(self) -> None:
        """Other data are loaded."""
        self.model.reload()
        rows = self.model.rowCount()
        height = self.view.verticalHeader().defaultSectionSize() * min(max(rows, 2), 12)
        self.view.setFixedHeight(height + self.view.horizontalHeader().sizeHint().height() + 4)
        if rows:
            self.view.setCurrentIndex(self.model.index(0, NAME))
        self._on_unfolded(self.unfold.isChecked())
        self.setVisible(rows > 0)

    def refresh(self) -> None:
        """Roles or groups changed."""
        self.model.refresh_roles()
        self._refresh_group_button()

    def _refresh_group_button(self) -> None:
        row = self.view.currentIndex().row()
        facts = self.model.facts(row)
        usable = facts is not None and facts.categories is not None and facts.distinct > 1
        self.group.setVisible(usable and self.model.role_of(row) is Role.QUASI_IDENTIFIER)
        if facts is not None:
            self.group.setText(f"Grou&p categories of “{short_name(facts.name)}”…")

    @Slot()
    def open_grouping(self) -> None:
        """Ask how the categories of the chosen column are taken together."""
        facts = self.model.facts(self.view.currentIndex().row())
        if facts is None or facts.categories is None:
            return
        chosen = self._session.choices.groupings.get(facts.name, {})
        dialog = GroupingDialog(facts, dict(chosen), self.window())
        dialog.groups_chosen.connect(self._on_groups_chosen)
        dialog.open()

    @Slot(str, dict)
    def _on_groups_chosen(self, column: str, groups: dict[str, str]) -> None:
        self._session.change(self._session.choices.with_grouping(column, groups))

    @Slot(QModelIndex)
    def _on_clicked(self, index: QModelIndex) -> None:
        if index.column() == ROLE:
            self.view.edit(index)

    @Slot()
    def _on_row_changed(self) -> None:
        self._on_unfolded(self.unfold.isChecked())
        self._refresh_group_button()

    @Slot(bool)
    def _on_unfolded(self, unfolded: bool) -> None:
        facts = self.model.facts(self.view.currentIndex().row())
        self.unfold.setText(f"Categories of “{short_name(facts.name)}”" if facts else "Categories")
        left_out = self.frequencies.show_column(facts if unfolded else None)
        shown = self.frequencies.rowCount()
        self.bars.setVisible(unfolded and shown > 0)
        height = self.bars.verticalHeader().defaultSectionSize() * min(max(shown, 1), 8)
        self.bars.setFixedHeight(height + self.bars.horizontalHeader().sizeHint().height() + 4)
        told = f"and {left_out:,} more" if left_out else "Too many different values to list." if not shown else ""
        self._left_out.setText(told)
        self._left_out.setVisible(unfolded and bool(told))


def _table_look(view: QTableView, stretched: int) -> None:
    view.setFont(tabular(view.font()))
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setShowGrid(False)
    view.setTabKeyNavigation(False)
    view.verticalHeader().hide()
    view.verticalHeader().setDefaultSectionSize(view.fontMetrics().height() + GRID)
    head = view.horizontalHeader()
    head.setResizeContentsPrecision(_SAMPLED_ROWS)
    head.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    head.setSectionResizeMode(stretched, QHeaderView.ResizeMode.Stretch)
    head.setHighlightSections(False)
    head.setMinimumSectionSize(48)
