"""The strip above the map (what it is coloured by, layers, zoom, save) and the menu of its layers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QComboBox, QLabel, QMenu, QToolButton, QWidget

from vbas_desktop.session.map_look import CODES, CONTEXT_COLOURS, NAMES, MapLook
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.theme import GRID, Theme
from vbas_desktop.ui.widgets.building import dress, in_row, offer
from vbas_desktop.ui.widgets.fields import ElidedLabel
from vbas_desktop.ui.widgets.file_dialogs import OBSTACLE_FILES, ask_to_open

from .figures import Figure
from .layers import DEFAULT_LAYERS, LAYER_TITLES, Layer
from .preparer import Preparer
from .shown import TierMap

_AUTOMATIC = "Names of the file, or ids"

_DISTINCT = "Distinct colours"


class MapBar(QWidget):
    """Signals: `colouring_chosen(name or None)`, `layers_chosen(frozenset)`, and one per button."""

    colouring_chosen = Signal(object)
    layers_chosen = Signal(object)
    zoom_box_toggled = Signal(bool)
    zoomed_in = Signal()
    zoomed_out = Signal()
    fitted = Signal()
    save_wanted = Signal()
    before_toggled = Signal(bool)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.colouring = QComboBox()
        self.colouring.setAccessibleName("Colour the map by")
        self.colouring.setToolTip("What the colours of the aggregated regions tell")
        self.colouring.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.colouring.activated.connect(lambda place: self.colouring_chosen.emit(self.colouring.itemData(place)))
        self.layer_actions: dict[Layer, QAction] = {}
        layout = in_row(within=self, margins=(GRID, GRID // 2, GRID, GRID // 2), spacing=GRID // 2)
        label = QLabel("Colour &by")
        label.setBuddy(self.colouring)
        label.setProperty("look", "muted")
        layout.addWidget(label)
        layout.addWidget(self.colouring)
        layers = self._button("layers", "Layers", "Which layers are drawn")
        self.layer_menu = self._make_layer_menu()
        layers.setMenu(self.layer_menu)
        layers.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        layout.addWidget(layers)
        self.before = self._button("", "Before refinement", "Show the regions as they were before the refinement")
        self.before.setCheckable(True)
        self.before.setVisible(False)
        self.before.toggled.connect(self.before_toggled)
        layout.addWidget(self.before)
        self.title = dress(ElidedLabel(), look="muted")
        layout.addSpacing(GRID)
        layout.addWidget(self.title, 1)
        self.zoom_box = self._button("search", "Zoom to a box", "Drag a box to zoom into it (also Shift + drag)")
        self.zoom_box.setCheckable(True)
        self.zoom_box.toggled.connect(self.zoom_box_toggled)
        layout.addWidget(self.zoom_box)
        for icon, text, tip, signal in (
            ("", "−", "Zoom out (−)", self.zoomed_out),
            ("", "+", "Zoom in (+)", self.zoomed_in),
            ("fit", "Fit", "Show the whole study area (F)", self.fitted),
            ("save", "Save map", "Save the map as PNG, SVG or PDF", self.save_wanted),
        ):
            button = self._button(icon, text, tip)
            button.clicked.connect(signal)
            layout.addWidget(button)
        self.show_figures((), None)

    def _button(self, icon: str, text: str, tip: str) -> QToolButton:
        button = QToolButton()
        button.setText(text)
        dress(button, toolTip=tip, accessibleName=text, autoRaise=True)
        self._theme.set_icon(button, icon)
        return button

    def _make_layer_menu(self) -> QMenu:
        menu = QMenu("&Layers", self)
        for layer, title in LAYER_TITLES.items():
            action = menu.addAction(title)
            dress(action, checkable=True, checked=layer in DEFAULT_LAYERS)
            action.toggled.connect(lambda: self.layers_chosen.emit(self.layers))
            self.layer_actions[layer] = action
        return menu

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

    def offer_before(self, offered: bool) -> None:
        """Offer the map before the refinement, or not."""
        self.before.setVisible(offered)


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
        columns = [] if regions is None else list(regions.columns)
        shared = (
            [] if regions is None else [name for name, each in regions.columns.items() if len(set(each)) < len(each)]
        )
        told = [("None", None), ("Codes of aggregated regions", CODES), ("Names of aggregated regions", NAMES)]
        of_columns = [(name, name) for name in columns]
        self._choose(self.labels, [*told, *of_columns], self._look.labels, lambda value: self._change(labels=value))
        self._choose(
            self.names, [(_AUTOMATIC, None), *of_columns], self._look.names, lambda value: self._change(names=value)
        )
        self.outlines.clear()
        self.outlines.setEnabled(bool(shared))
        for column in shared:
            action = self.outlines.addAction(_plain(column))
            dress(action, checkable=True, checked=column in self._look.outlines)
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
            action = menu.addAction(_plain(title))
            dress(action, checkable=True, checked=value == chosen)
            group.addAction(action)
            action.triggered.connect(lambda _, value=value: then(value))

    def _fill_context(self, problems: dict[str, str]) -> None:
        for menu in self.context.findChildren(QMenu, options=Qt.FindChildOption.FindDirectChildrenOnly):
            menu.deleteLater()
        self.context.clear()
        self.context.addAction("&Add a file…", self._on_add)
        self.context.addSeparator()
        # The uppermost layer stands first, as it lies on the map.
        for number in range(len(self._look.context) - 1, -1, -1):
            layer = self._look.context[number]
            problem = problems.get(layer.path, "")
            menu = self.context.addMenu(_plain(layer.title + (" (not drawn)" if problem else "")))
            menu.setToolTipsVisible(True)
            shown = menu.addAction("&Show")
            dress(shown, checkable=True, checked=layer.visible)
            shown.toggled.connect(lambda on, number=number: self._change_layer(number, visible=on))
            land = menu.addAction("Regions &end at its areas")
            land.setToolTip("For a coast: of a region file with points, cells are drawn on its areas only")
            land.setCheckable(True)
            land.setChecked(layer.land)
            regions = self._context.session.regions
            land.setEnabled(regions is not None and regions.polygons is None)
            land.toggled.connect(lambda on, number=number: self._change_layer(number, land=on))
            if problem:
                again = menu.addAction("&Read again", partial(self._preparer.read_context_again, layer.path))
                again.setToolTip(problem)
            colours = menu.addMenu("&Colour")
            named = [(name.capitalize(), name) for name in CONTEXT_COLOURS]
            self._choose(colours, list(named), layer.colour, partial(self._colour_layer, number))
            last = len(self._look.context) - 1
            menu.addAction("Move &up", partial(self._move_layer, number, 1)).setEnabled(number < last)
            menu.addAction("Move &down", partial(self._move_layer, number, -1)).setEnabled(number > 0)
            menu.addAction("Re&move", partial(self._remove_layer, number))

    def _change_layer(self, number: int, **values: Any) -> None:
        self._use(self._look.changed_context(number, **values))

    def _colour_layer(self, number: int, colour: str | None) -> None:
        self._change_layer(number, colour=colour)

    def _remove_layer(self, number: int) -> None:
        self._use(self._look.without_context(number))

    def _move_layer(self, number: int, by: int) -> None:
        self._use(self._look.raised(number, by))

    @Slot()
    def _on_add(self) -> None:
        start = self._context.session.regions_path
        folder = None if start is None else start.parent
        ask_to_open(self._window, "Choose a layer", OBSTACLE_FILES, folder, self.add)

    def add(self, path: str) -> None:
        """Draw one more file."""
        self._use(self._look.with_context(str(Path(path).absolute())))


def _plain(title: str) -> str:
    """A title whose ampersands mark no key."""
    return title.replace("&", "&&")
