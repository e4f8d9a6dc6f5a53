"""Editing by hand: the strip above the map with figures and commands, and the table of initial regions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QTableView, QWidget

from vbas_desktop.app.inputs import input_paths
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.text import format_count

from ..core.context import UiContext
from ..core.theme import GRID
from ..presentation.edit_scene import EditScene, describe_figures, prepare_edit_scene
from ..state.releasing import explain_why_not_releasable
from ..widgets.fields import captioned
from ..widgets.file_dialogs import ask_to_save, sibling_path
from ..widgets.layouts import button, hbox, set_items, vbox, with_properties
from ..widgets.notice_bar import FlowLayout
from ..widgets.plain_text import Label, rich_text
from ..widgets.tables import TableModel, set_up_sorted, stretch_column
from .canvas import MapCanvas
from .edit_item import Brush, EditItem
from .map_cache import MapCache

_CROSSWALKS = "Crosswalks (*.csv)"


class RegionEditor(QWidget):
    """Edits the shown solution on a canvas; hidden while nothing is edited.

    `ended`: the edit was finished or discarded. An edit that makes way for another solution goes on where it was when
    its solution is edited again.
    """

    ended = Signal()

    def __init__(self, context: UiContext, canvas: MapCanvas, cache: MapCache) -> None:
        super().__init__()
        self._context = context
        self._canvas = canvas
        self._cache = cache
        self.scene: EditScene | None = None
        self._paused: EditScene | None = None
        self._target: int | None = None
        self.is_choosing = False
        """Whether the editor itself chooses a region, so that the map need not be moved to it."""
        self._item: EditItem | None = None
        self._brush: Brush | None = None
        self.figures = with_properties(
            Label(), accessibleName="Figures of the edited regions", wordWrap=True
        )
        self.chosen = with_properties(
            Label(), look="muted", accessibleName="Chosen region", wordWrap=True
        )
        self.lock = button(
            "Lock", self._on_locked, "Let the chosen region neither gain nor lose initial regions"
        )
        self.split = button(
            "Split", self._on_split, "Split the chosen region into its pieces, or into halves"
        )
        self.target = with_properties(
            QComboBox(),
            accessibleName="Target",
            toolTip="The region that the chosen region, or the selected initial regions, go to",
            sizeAdjustPolicy=QComboBox.SizeAdjustPolicy.AdjustToContents,
        )
        self.merge = button(
            "Merge into target", self._on_merged, "Merge the chosen region into the target"
        )
        self.move_rows = button(
            "Move selected", self._on_rows_moved, "Move the selected initial regions to the target"
        )
        self.show_table = button("Table", tip="List the initial regions in and around the chosen region")
        self.show_table.setCheckable(True)
        self.finish = button(
            "Finish…", self.ask_to_finish, "Save the regions as a crosswalk and list the solution"
        )
        self.discard = button("Discard", self.discard_edit, "End editing and forget all changes")
        self.table_model: TableModel[int] = TableModel((), self)
        self.table = QTableView()
        set_up_sorted(self.table, self.table_model, 0, "Initial regions in and around the chosen region")
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.table.setFixedHeight(6 * self.table.verticalHeader().defaultSectionSize())
        self.table.setVisible(False)
        self.show_table.toggled.connect(self.table.setVisible)
        head = hbox((self.figures, 1), self.finish, self.discard)
        commands = FlowLayout()
        target = captioned("Target", self.target)
        for widget in (self.lock, self.split, target, self.merge, self.move_rows, self.show_table):
            commands.addWidget(widget)
        margins = (GRID, GRID // 2, GRID, GRID // 2)
        vbox(head, self.chosen, commands, self.table, within=self, margins=margins, spacing=GRID // 2)
        self._connect()
        self.setVisible(False)

    def _connect(self) -> None:
        model = self._context.model
        model.edited.connect(self.refresh)
        model.region_chosen.connect(self._on_region_chosen)
        for signal in (model.selection_changed, model.data_loaded):
            signal.connect(self._on_selection_changed)
        self._context.theme.changed.connect(self.refresh)
        self.target.activated.connect(self._update_buttons)
        self.table.selectionModel().selectionChanged.connect(self._update_buttons)

    # Beginning and ending

    @Slot()
    def begin(self) -> None:
        """Begin to edit the shown solution, or say why that is not possible."""
        state = self._context.state
        self._context.show_map()
        if self.scene is not None:
            self._canvas.setFocus()
            return
        scene = self._cache.shown
        reason = explain_why_not_releasable(state.selected)
        if reason is not None or scene is None:
            self._context.show_message(reason or "The map is still being prepared.")
            return
        if self._paused is not None and self._paused.scene.solution is scene.solution:
            self._start(self._paused)
            return

        def prepare(progress: Progress) -> EditScene:
            return prepare_edit_scene(scene, progress)

        self._context.background.start("Preparing to edit", prepare, self._on_prepared)

    def _on_prepared(self, scene: EditScene) -> None:
        if (
            self.scene is None
            and self._cache.shown is not None
            and self._cache.shown.solution is scene.scene.solution
        ):
            self._start(scene)

    def _start(self, scene: EditScene) -> None:
        state = self._context.state
        self.scene = scene
        self._paused = None
        state.colour_by(None)
        scene.chosen = state.chosen_region if scene.chosen is None else scene.chosen
        self._canvas.choose(None)
        self._item = EditItem(scene)
        self._canvas.box.addItem(self._item, ignoreBounds=True)
        self._brush = Brush(self._canvas)
        self._brush.stroke_began.connect(self._on_stroke_began)
        self._brush.stroke_moved.connect(self._on_stroke_moved)
        self._brush.stroke_ended.connect(self._on_stroke_ended)
        self._brush.pointed.connect(self._on_pointed)
        self.table_model.set_rows(scene.list_rows(), scene.make_columns())
        stretch_column(self.table, len(self.table_model.columns) - 1)
        self.setVisible(True)
        state.begin_edit(scene.edit)
        self._canvas.setFocus()
        self._context.show_message(
            "Editing by hand: drag from a region over others to extend it; Undo takes back strokes. Counts are those "
            "of classes below k; criteria and larger areas count when the edit is finished."
        )

    def _end(self) -> None:
        assert self._item is not None
        assert self._brush is not None
        self.scene = None
        self._canvas.box.removeItem(self._item)
        self._brush.release()
        self._item = self._brush = None
        self.setVisible(False)
        self._canvas.clear_hover()
        self._canvas.choose(self._context.state.chosen_region)
        self._context.state.begin_edit(None)
        self.ended.emit()

    @Slot()
    def discard_edit(self) -> None:
        """End editing and forget all changes."""
        if self.scene is not None:
            self._end()
            self._context.show_message("The edit was discarded; the solution is as it was.")

    @Slot()
    def _on_selection_changed(self) -> None:
        """Make way for another solution; the edit is kept."""
        selected = self._context.state.selected
        if self.scene is None or (
            selected is not None and selected.solution is self.scene.scene.solution
        ):
            return
        self._paused = self.scene if self.scene.edit.undo_name is not None else None
        number = self.scene.scene.number
        self._end()
        if self._paused is not None:
            self._context.show_message(
                f"The edit of #{number:,} is kept: choose it and edit by hand to go on."
            )

    @Slot()
    def ask_to_finish(self) -> None:
        """Ask for the file of the crosswalk, then save it and list the edited solution."""
        scene = self.scene
        records = self._context.state.records_path
        if scene is None or records is None:
            return
        if not scene.edit.moved.size:
            self._context.show_message("Nothing was edited yet.")
            return
        name = f"{records.stem} edited from {scene.scene.number}.csv"
        title = "Save the edited regions as a crosswalk"
        ask_to_save(
            self, title, _CROSSWALKS, sibling_path(records, name), lambda path: self.save_as(Path(path))
        )

    def save_as(self, path: Path) -> None:
        """Save the crosswalk, end editing, and run it: the edited solution is listed like others."""
        scene = self.scene
        entry = self._context.state.selected
        if scene is None or entry is None:
            return
        inputs = input_paths(self._context.state.named_inputs())

        def save(progress: Progress) -> None:
            progress.update("Saving the edited regions")
            scene.edit.save(path, inputs)

        def run_saved(_: None) -> None:
            if self.scene is scene:
                self._end()
            self._context.run_edited(entry, path)

        self._context.background.start("Saving the edited regions", save, run_saved)

    # What is shown

    @Slot()
    def refresh(self) -> None:
        """Show the figures, the chosen region and what is around it."""
        scene = self.scene
        if scene is None or self._item is None:
            return
        assert scene.scene.problem is not None
        self._item.show_edit(scene, self._context.theme.colours)
        self.figures.setText(describe_figures(scene.edit.figures, scene.before, scene.scene.problem.k))
        self.chosen.setText(scene.describe_chosen())
        self._canvas.setAccessibleDescription(f"{self.figures.text()}. {self.chosen.text()}")
        if self._target is None:
            self.table_model.set_rows(scene.list_rows())
            set_items(self.target, scene.list_targets())
            self._update_buttons()

    @Slot()
    def _update_buttons(self) -> None:
        scene = self.scene
        is_chosen = scene is not None and scene.chosen is not None and scene.edit.exists(scene.chosen)
        is_locked = is_chosen and scene is not None and scene.chosen in scene.edit.locked
        self.lock.setText("Unlock" if is_locked else "Lock")
        self.lock.setEnabled(is_chosen)
        self.split.setEnabled(is_chosen and not is_locked)
        is_other = (
            is_chosen and scene is not None and self.target.currentData() not in (None, scene.chosen)
        )
        self.merge.setEnabled(is_other and not is_locked)
        self.move_rows.setEnabled(is_chosen and self.table.selectionModel().hasSelection())

    def choose(self, region: int) -> None:
        """Choose an aggregated region of the edit."""
        scene = self.scene
        if scene is None:
            return
        scene.chosen = region
        state = self._context.state
        if region < len(scene.scene.geometry.codes):
            self.is_choosing = True
            state.choose_region(region)
            self.is_choosing = False
        self._canvas.choose(None)
        self.refresh()
        self._context.show_message(f"{scene.describe_chosen()}.")

    @Slot()
    def _on_region_chosen(self) -> None:
        """Follow the choice of a row in Regions."""
        region = self._context.state.chosen_region
        if (
            self.scene is not None
            and region is not None
            and not self.is_choosing
            and region != self.scene.chosen
        ):
            self.choose(region)

    # What the user does

    @Slot(int)
    def _on_stroke_began(self, region: int) -> None:
        if self.scene is not None:
            edit = self.scene.edit
            self._target = int(edit.membership[region])
            edit.begin_stroke(f"painting into {edit.name(self._target)}")

    @Slot(object)
    def _on_stroke_moved(self, regions: list[int]) -> None:
        if self.scene is None or self._target is None:
            return
        if self.scene.edit.move(regions, self._target):
            self.scene.chosen = self._target
            self.refresh()

    @Slot(bool)
    def _on_stroke_ended(self, was_click: bool) -> None:
        target = self._target
        self._target = None
        if self.scene is None or target is None:
            return
        self.scene.edit.end_stroke()
        if not was_click and target in self.scene.edit.locked:
            self._context.show_message(f"{self.scene.edit.name(target)} is locked.")
        if was_click:
            self.choose(target)
        else:
            self._show_change(lambda: None)

    @Slot(object, float, float)
    def _on_pointed(self, region: int | None, x: float, y: float) -> None:
        text = "" if region is None or self.scene is None else self.scene.describe_region(region)
        self._canvas.show_hover_card(rich_text(text).replace("\n", "<br>"), x, y)

    @Slot()
    def _on_locked(self) -> None:
        scene = self.scene
        if scene is not None and scene.chosen is not None:
            region = scene.chosen
            self._show_change(lambda: scene.edit.lock(region, region not in scene.edit.locked))

    @Slot()
    def _on_split(self) -> None:
        scene = self.scene
        if scene is not None and scene.chosen is not None:
            region = scene.chosen
            self._show_change(lambda: scene.edit.split(region))

    @Slot()
    def _on_merged(self) -> None:
        scene = self.scene
        target = self.target.currentData()
        if scene is not None and scene.chosen is not None and target is not None:
            region = scene.chosen
            self._show_change(lambda: scene.edit.merge(region, target))
            self.choose(target)

    @Slot()
    def _on_rows_moved(self) -> None:
        scene = self.scene
        target = self.target.currentData()
        if scene is None or target is None:
            return
        rows = [
            self.table_model.row_at(index.row()) for index in self.table.selectionModel().selectedRows()
        ]
        with scene.edit.stroke(
            f"moving {format_count(len(rows), 'initial region')} to {scene.edit.name(target)}"
        ):
            scene.edit.move(rows, target)
        self._show_change(lambda: None)

    def _show_change(self, change: Callable[[], object]) -> None:
        """Make a change, and tell everybody what came of it."""
        change()
        self._context.state.notify_edited()
        self._context.show_message(f"{self.figures.text()}.")
