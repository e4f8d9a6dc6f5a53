"""The lower part of the layers menu: labels, outlines, names, and layers from the user's files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from vbas_desktop.session.map_look import CODES, CONTEXT_COLOURS, NAMES, MapLook
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.widgets.file_dialogs import OBSTACLE_FILES, ask_to_open

from .preparer import Preparer

_AUTOMATIC = "Names of the file, or ids"


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

    def _change(self, look: MapLook) -> None:
        self._context.session.change_look(look)

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
        self._choose(self.labels, [*told, *of_columns], self._look.labels, self._on_labels)
        self._choose(self.names, [(_AUTOMATIC, None), *of_columns], self._look.names, self._on_names)
        self.outlines.clear()
        self.outlines.setEnabled(bool(shared))
        for column in shared:
            action = self.outlines.addAction(_plain(column))
            action.setCheckable(True)
            action.setChecked(column in self._look.outlines)
            action.toggled.connect(partial(self._on_outline, column))
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
            action.setCheckable(True)
            action.setChecked(value == chosen)
            group.addAction(action)
            action.triggered.connect(partial(self._chosen, then, value))

    @staticmethod
    def _chosen(then: Callable[[str | None], None], value: str | None, checked: bool = True) -> None:
        then(value)

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
            shown.setCheckable(True)
            shown.setChecked(layer.visible)
            shown.toggled.connect(partial(self._on_shown, number))
            land = menu.addAction("Regions &end at its areas")
            land.setToolTip("For a coast: of a region file with points, cells are drawn on its areas only")
            land.setCheckable(True)
            land.setChecked(layer.land)
            regions = self._context.session.regions
            land.setEnabled(regions is not None and regions.polygons is None)
            land.toggled.connect(partial(self._on_land, number))
            if problem:
                again = menu.addAction("&Read again", partial(self._preparer.read_context_again, layer.path))
                again.setToolTip(problem)
            colours = menu.addMenu("&Colour")
            named = [(name.capitalize(), name) for name in CONTEXT_COLOURS]
            self._choose(colours, list(named), layer.colour, partial(self._on_colour, number))
            menu.addAction("Move &up", partial(self._on_moved, number, 1)).setEnabled(
                number < len(self._look.context) - 1
            )
            menu.addAction("Move &down", partial(self._on_moved, number, -1)).setEnabled(number > 0)
            menu.addAction("Re&move", partial(self._on_removed, number))

    def _on_labels(self, value: str | None) -> None:
        self._change(replace(self._look, labels=value))

    def _on_names(self, value: str | None) -> None:
        self._change(replace(self._look, names=value))

    def _on_outline(self, column: str, on: bool) -> None:
        self._change(self._look.toggled_outline(column, on))

    @Slot()
    def _on_add(self) -> None:
        start = self._context.session.regions_path
        folder = None if start is None else start.parent
        ask_to_open(self._window, "Choose a layer", OBSTACLE_FILES, folder, self.add)

    def add(self, path: str) -> None:
        """Draw one more file."""
        self._change(self._look.with_context(str(Path(path).absolute())))

    def _on_shown(self, number: int, on: bool) -> None:
        self._change(self._look.changed_context(number, visible=on))

    def _on_land(self, number: int, on: bool) -> None:
        self._change(self._look.changed_context(number, land=on))

    def _on_colour(self, number: int, colour: str | None) -> None:
        self._change(self._look.changed_context(number, colour=colour))

    def _on_moved(self, number: int, by: int) -> None:
        self._change(self._look.raised(number, by))

    def _on_removed(self, number: int) -> None:
        self._change(self._look.without_context(number))


def _plain(title: str) -> str:
    """A title whose ampersands mark no key."""
    return title.replace("&", "&&")
