"""The strip above the map (what it is coloured by, layers, zoom, save) and the menu of its layers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QComboBox, QMenu, QToolButton, QWidget

from vbas_desktop.session.map_look import CODES, CONTEXT_COLOURS, NAMES, ContextLayer, MapLook
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.theme import GRID, Theme
from vbas_desktop.ui.widgets.building import dress, in_row, offer, ticked
from vbas_desktop.ui.widgets.fields import ElidedLabel
from vbas_desktop.ui.widgets.file_dialogs import OBSTACLE_FILES, ask_to_open
from vbas_desktop.ui.widgets.plain_text import Label, menu_text, set_tool_tip

from .figures import Figure
from .layers import DEFAULT_LAYERS, LAYER_TITLES, Layer
from .preparer import Preparer
from .shown import TierMap

_AUTOMATIC = "Names of the file, or ids"

_DISTINCT = "Distinct colours"


_BUTTONS = {
    "zoom_box": ("search", "Zoom to a box", "Drag a box to zoom into it (also Shift + drag)"),
    "zoom_out": ("", "−", "Zoom out (−)"),
    "zoom_in": ("", "+", "Zoom in (+)"),
    "fit": ("fit", "Fit", "Show the whole study area (F)"),
    "save": ("save", "Save map", "Save the map as PNG, SVG or PDF"),
}


class MapBar(QWidget):
    """`layers_chosen(frozenset)`: others were ticked. ``colouring`` has the names of figures as its data."""

    layers_chosen = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.colouring = dress(
            QComboBox(),
            accessibleName="Colour the map by",
            toolTip="What the colours of the aggregated regions tell",
            sizeAdjustPolicy=QComboBox.SizeAdjustPolicy.AdjustToContents,
        )
        label = dress(Label("Colour &by"), look="muted")
        label.setBuddy(self.colouring)
        layers = self._button("layers", "Layers", "Which layers are drawn")
        self.layer_menu = QMenu("&Layers", self)
        layers.setMenu(self.layer_menu)
        layers.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.layer_actions = {
            layer: ticked(self.layer_menu, title, layer in DEFAULT_LAYERS) for layer, title in LAYER_TITLES.items()
        }
        for action in self.layer_actions.values():
            action.toggled.connect(lambda: self.layers_chosen.emit(self.layers))
        self.before = self._button("", "Before refinement", "Show the regions as they were before the refinement")
        self.before.setVisible(False)
        self.title = dress(ElidedLabel(), look="muted")
        self.buttons = {name: self._button(*words) for name, words in _BUTTONS.items()}
        for button in (self.before, self.buttons["zoom_box"]):
            button.setCheckable(True)
        layout = in_row(label, self.colouring, layers, self.before, within=self, spacing=GRID // 2)
        layout.setContentsMargins(GRID, GRID // 2, GRID, GRID // 2)
        layout.addSpacing(GRID)
        layout.addWidget(self.title, 1)
        for button in self.buttons.values():
            layout.addWidget(button)
        self.show_figures((), None)

    def _button(self, icon: str, text: str, tip: str) -> QToolButton:
        button = dress(QToolButton(), text=text, toolTip=tip, accessibleName=text, autoRaise=True)
        self._theme.set_icon(button, icon)
        return button

    @property
    def layers(self) -> frozenset[Layer]:
        """The layers that are ticked."""
        return frozenset(layer for layer, action in self.layer_actions.items() if action.isChecked())

    def show_figures(self, figures: tuple[Figure | TierMap, ...], chosen: str | None) -> None:
        """Offer these figures; ``chosen`` is the one in force."""
        wanted = [(_DISTINCT, None), *((figure.title, figure.name) for figure in figures)]
        offer(self.colouring, wanted)
        names = [name for _, name in wanted]
        self.colouring.setCurrentIndex(names.index(chosen) if chosen in names else 0)
        self.colouring.setEnabled(bool(figures))


class LookMenu(QObject):
    """Adds its entries to a menu and keeps them in step with the session."""

    def __init__(self, context: Context, preparer: Preparer, menu: QMenu, window: QWidget) -> None:
        super().__init__(menu)
        self._context, self._preparer = context, preparer
        menu.addSeparator()
        self.labels = menu.addMenu("La&bels")
        self.outlines = menu.addMenu("&Outlines of a column")
        self.names = menu.addMenu("&Name aggregated regions after")
        self.context = menu.addMenu("Layers from &files")
        self._window = window
        self._filled: tuple[object, ...] = ()
        menu.aboutToShow.connect(self.refresh)

    @property
    def _look(self) -> MapLook:
        return self._context.session.look

    def _use(self, look: MapLook) -> None:
        self._context.session.change_look(look)

    def _change(self, **values: Any) -> None:
        self._use(replace(self._look, **values))

    @Slot()
    def refresh(self) -> None:
        """Fill the menus anew if the region file or the look is another one."""
        regions, overlay = self._context.session.regions, self._preparer.overlay
        problems = () if overlay is None else tuple((path, each.problem) for path, each in overlay.context.items())
        state = (id(regions), self._look, problems)
        if state == self._filled:
            return
        self._filled = state
        columns = {} if regions is None else regions.columns
        shared = [name for name, each in columns.items() if len(set(each)) < len(each)]
        of_columns = [(name, name) for name in columns]
        told = [("None", None), ("Codes of aggregated regions", CODES), ("Names of aggregated regions", NAMES)]
        self._choose(self.labels, [*told, *of_columns], self._look.labels, lambda name: self._change(labels=name))
        named = [(_AUTOMATIC, None), *of_columns]
        self._choose(self.names, named, self._look.names, lambda name: self._change(names=name))
        self.outlines.clear()
        self.outlines.setEnabled(bool(shared))
        for column in shared:
            action = ticked(self.outlines, column, column in self._look.outlines, column)
            action.toggled.connect(lambda on, column=column: self._use(self._look.toggled_outline(column, on)))
        self._fill_context(dict(problems))
        for menu in (self.labels, self.names, self.context):
            menu.setEnabled(regions is not None)

    def _choose(
        self, menu: QMenu, entries: list[tuple[str, str | None]], chosen: str | None, then: Callable[[str | None], None]
    ) -> None:
        menu.clear()
        group = QActionGroup(menu)
        for title, value in entries:
            action = ticked(menu, title, value == chosen, title)
            group.addAction(action)
            action.triggered.connect(lambda _, value=value: then(value))

    def _fill_context(self, problems: dict[str, str]) -> None:
        for menu in self.context.findChildren(QMenu, options=Qt.FindChildOption.FindDirectChildrenOnly):
            menu.deleteLater()
        self.context.clear()
        self.context.addAction("&Add a file…", self._on_add)
        self.context.addSeparator()
        # The uppermost layer stands first, as it lies on the map.
        for number, layer in reversed(list(enumerate(self._look.context))):
            self._fill_layer(number, layer, problems.get(layer.path, ""))

    def _fill_layer(self, number: int, layer: ContextLayer, problem: str) -> None:
        def change(**values: Any) -> None:
            self._use(self._look.changed_context(number, **values))

        title = layer.title + (" (not drawn)" if problem else "")
        menu = self.context.addMenu(menu_text(title))
        menu.setToolTipsVisible(True)
        ticked(menu, "&Show", layer.visible).toggled.connect(lambda on: change(visible=on))
        tip = "For a coast: of a region file with points, cells are drawn on its areas only"
        land = ticked(menu, "Regions &end at its areas", layer.land, tip=tip)
        regions = self._context.session.regions
        land.setEnabled(regions is not None and regions.polygons is None)
        land.toggled.connect(lambda on: change(land=on))
        if problem:
            again = menu.addAction("&Read again", partial(self._preparer.read_context_again, layer.path))
            set_tool_tip(again, problem)
        colours = [(name.capitalize(), name) for name in CONTEXT_COLOURS]
        self._choose(menu.addMenu("&Colour"), list(colours), layer.colour, lambda name: change(colour=name))
        last = len(self._look.context) - 1
        menu.addAction("Move &up", lambda: self._use(self._look.raised(number, 1))).setEnabled(number < last)
        menu.addAction("Move &down", lambda: self._use(self._look.raised(number, -1))).setEnabled(number > 0)
        menu.addAction("Re&move", lambda: self._use(self._look.without_context(number)))

    @Slot()
    def _on_add(self) -> None:
        start = self._context.session.regions_path
        folder = None if start is None else start.parent
        ask_to_open(self._window, "Choose a layer", OBSTACLE_FILES, folder, self.add)

    def add(self, path: str) -> None:
        """Draw one more file."""
        self._use(self._look.with_context(str(Path(path).absolute())))
