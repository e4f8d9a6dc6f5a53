"""The strip above the map (what it is coloured by, layers, zoom, save) and the menu of its layers."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QComboBox, QMenu, QToolButton, QWidget

from ..core.context import UiContext
from ..core.theme import GRID, Theme
from ..presentation.region_measures import RegionMeasure
from ..presentation.scene import TierMap
from ..state.map_style import CODES, CONTEXT_COLOURS, NAMES, ContextLayer, MapStyle
from ..widgets.fields import ElidedLabel
from ..widgets.file_dialogs import OBSTACLE_FILES, ask_to_open
from ..widgets.layouts import add_checkable_action, hbox, set_items, with_properties
from ..widgets.plain_text import Label, menu_text, set_tool_tip
from .layers import DEFAULT_LAYERS, LAYER_TITLES, Layer
from .map_cache import MapCache

_AUTOMATIC = "Names of the file, or ids"

_DISTINCT = "Regions"


_BUTTONS = {
    "zoom_box": ("search", "Zoom to a box", "Drag a box to zoom into it (also Shift + drag)"),
    "zoom_out": ("", "−", "Zoom out (−)"),
    "zoom_in": ("", "+", "Zoom in (+)"),
    "fit": ("fit", "Fit", "Show the whole study area (F)"),
    "save": ("save", "Save map", "Save the map as PNG, SVG or PDF"),
}


class MapToolbar(QWidget):
    """`layers_chosen(frozenset)`: others were ticked. ``colouring`` has the names of figures as its data."""

    layers_chosen = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.colouring = with_properties(
            QComboBox(),
            accessibleName="Colour the map by",
            toolTip="What the colours of the aggregated regions tell",
            sizeAdjustPolicy=QComboBox.SizeAdjustPolicy.AdjustToContents,
        )
        label = with_properties(Label("Colour &by"), look="muted")
        label.setBuddy(self.colouring)
        layers = self._button("layers", "Layers", "Which layers are drawn")
        self.layer_menu = QMenu("&Layers", self)
        layers.setMenu(self.layer_menu)
        layers.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.layer_actions = {
            layer: add_checkable_action(self.layer_menu, title, layer in DEFAULT_LAYERS)
            for layer, title in LAYER_TITLES.items()
        }
        for action in self.layer_actions.values():
            action.toggled.connect(lambda: self.layers_chosen.emit(self.layers))
        self.before = self._button(
            "", "Before refinement", "Show the regions as they were before the refinement"
        )
        self.before.setVisible(False)
        self.title = with_properties(ElidedLabel(), look="muted")
        self.buttons = {name: self._button(*words) for name, words in _BUTTONS.items()}
        for button in (self.before, self.buttons["zoom_box"]):
            button.setCheckable(True)
        layout = hbox(label, self.colouring, layers, self.before, within=self, spacing=GRID // 2)
        layout.setContentsMargins(GRID, GRID // 2, GRID, GRID // 2)
        layout.addSpacing(GRID)
        layout.addWidget(self.title, 1)
        for button in self.buttons.values():
            layout.addWidget(button)
        self.show_figures((), None)

    def _button(self, icon: str, text: str, tip: str) -> QToolButton:
        button = with_properties(
            QToolButton(), text=text, toolTip=tip, accessibleName=text, autoRaise=True
        )
        self._theme.set_icon(button, icon)
        return button

    @property
    def layers(self) -> frozenset[Layer]:
        """The layers that are ticked."""
        return frozenset(layer for layer, action in self.layer_actions.items() if action.isChecked())

    def show_layers(self, layers: Collection[str]) -> None:
        """Tick these layers only."""
        for layer, action in self.layer_actions.items():
            with QSignalBlocker(action):
                action.setChecked(layer in layers)
        self.layers_chosen.emit(self.layers)

    def show_figures(self, figures: tuple[RegionMeasure | TierMap, ...], chosen: str | None) -> None:
        """Offer these figures; ``chosen`` is the one in force."""
        entries = [(_DISTINCT, None), *((figure.title, figure.name) for figure in figures)]
        set_items(self.colouring, entries)
        names = [name for _, name in entries]
        self.colouring.setCurrentIndex(names.index(chosen) if chosen in names else 0)
        self.colouring.setEnabled(bool(figures))


class MapStyleMenu(QObject):
    """Adds its entries to a menu and keeps them in step with the state."""

    def __init__(self, context: UiContext, map_cache: MapCache, menu: QMenu, window: QWidget) -> None:
        super().__init__(menu)
        self._context = context
        self._map_cache = map_cache
        menu.addSeparator()
        self.labels = menu.addMenu("La&bels")
        self.outlines = menu.addMenu("&Outlines of a column")
        self.names = menu.addMenu("&Name aggregated regions after")
        self.context = menu.addMenu("Layers from &files")
        self._window = window
        self._filled: tuple[object, ...] = ()
        menu.aboutToShow.connect(self.refresh)

    @property
    def _style(self) -> MapStyle:
        return self._context.state.map_style

    def _use(self, style: MapStyle) -> None:
        self._context.state.change_map_style(style)

    def _change(self, **values: Any) -> None:
        self._use(replace(self._style, **values))

    @Slot()
    def refresh(self) -> None:
        """Fill the menus anew if the region file or the map style changed."""
        regions = self._context.state.regions
        overlay = self._map_cache.overlay
        problems = (
            ()
            if overlay is None
            else tuple((path, values.problem) for path, values in overlay.context.items())
        )
        content = (id(regions), self._style, problems)
        if content == self._filled:
            return
        self._filled = content
        columns = {} if regions is None else regions.columns
        shared = [name for name, values in columns.items() if len(set(values)) < len(values)]
        of_columns = [(name, name) for name in columns]
        entries = [
            ("None", None),
            ("Codes of aggregated regions", CODES),
            ("Names of aggregated regions", NAMES),
        ]
        self._choose(
            self.labels,
            [*entries, *of_columns],
            self._style.labels,
            lambda name: self._change(labels=name),
        )
        named = [(_AUTOMATIC, None), *of_columns]
        self._choose(self.names, named, self._style.names, lambda name: self._change(names=name))
        self.outlines.clear()
        self.outlines.setEnabled(bool(shared))
        for column in shared:
            action = add_checkable_action(self.outlines, column, column in self._style.outlines, column)
            action.toggled.connect(
                lambda on, column=column: self._use(self._style.toggled_outline(column, on))
            )
        self._fill_context(dict(problems))
        for menu in (self.labels, self.names, self.context):
            menu.setEnabled(regions is not None)

    def _choose(
        self,
        menu: QMenu,
        entries: list[tuple[str, str | None]],
        chosen: str | None,
        then: Callable[[str | None], None],
    ) -> None:
        menu.clear()
        group = QActionGroup(menu)
        for title, value in entries:
            action = add_checkable_action(menu, title, value == chosen, title)
            group.addAction(action)
            action.triggered.connect(lambda _, value=value: then(value))

    def _fill_context(self, problems: dict[str, str]) -> None:
        for menu in self.context.findChildren(QMenu, options=Qt.FindChildOption.FindDirectChildrenOnly):
            menu.deleteLater()
        self.context.clear()
        self.context.addAction("&Add a file…", self._on_add)
        self.context.addSeparator()
        # The uppermost layer stands first, as it lies on the map.
        for number, layer in reversed(list(enumerate(self._style.context))):
            self._fill_layer(number, layer, problems.get(layer.path, ""))

    def _fill_layer(self, number: int, layer: ContextLayer, problem: str) -> None:
        def change(**values: Any) -> None:
            self._use(self._style.changed_context(number, **values))

        title = layer.title + (" (not drawn)" if problem else "")
        menu = self.context.addMenu(menu_text(title))
        menu.setToolTipsVisible(True)
        add_checkable_action(menu, "&Show", layer.visible).toggled.connect(lambda on: change(visible=on))
        tip = "For a coast: of a region file with points, cells are drawn on its areas only"
        land = add_checkable_action(menu, "Regions &end at its areas", layer.land, tip=tip)
        regions = self._context.state.regions
        land.setEnabled(regions is not None and regions.polygons is None)
        land.toggled.connect(lambda on: change(land=on))
        if problem:
            again = menu.addAction(
                "&Read again", partial(self._map_cache.read_context_again, layer.path)
            )
            set_tool_tip(again, problem)
        colours = [(name.capitalize(), name) for name in CONTEXT_COLOURS]
        self._choose(
            menu.addMenu("&Colour"), list(colours), layer.colour, lambda name: change(colour=name)
        )
        last = len(self._style.context) - 1
        menu.addAction("Move &up", lambda: self._use(self._style.raised(number, 1))).setEnabled(
            number < last
        )
        menu.addAction("Move &down", lambda: self._use(self._style.raised(number, -1))).setEnabled(
            number > 0
        )
        menu.addAction("Re&move", lambda: self._use(self._style.without_context(number)))

    @Slot()
    def _on_add(self) -> None:
        start = self._context.state.regions_path
        folder = None if start is None else start.parent
        ask_to_open(self._window, "Choose a layer", OBSTACLE_FILES, folder, self.add)

    def add(self, path: str) -> None:
        """Draw one more file."""
        self._use(self._style.with_context(str(Path(path).absolute())))
