"""The map of one version, coloured by a measure of its aggregated regions; maps that show the same part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from vbas_desktop.ui.theme import GRID, Theme
from vbas_desktop.ui.widgets.building import dress, in_column

from .canvas import MapCanvas
from .figures import Figure, figure_named
from .furniture import Legend
from .hover_card import card_text
from .layers import Layer
from .shown import Shown

MEASURES = ("jaccard", "fowlkes_mallows", "place_distance", "davies_bouldin")
"""The figures of aggregated regions that say what a version is worth."""


_LAYERS = frozenset({Layer.AREA, Layer.AGGREGATED, Layer.POLYGONS})


class RegionMap(QWidget):
    """`region_chosen(int or None)`: one was clicked."""

    region_chosen = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.shown: Shown | None = None
        """The solution that is shown."""
        self.canvas = dress(MapCanvas(theme.colours), accessibleName="Map by what remains")
        self.canvas.setMinimumSize(20 * GRID, 12 * GRID)
        self.canvas.show_layers(_LAYERS)
        in_column(self.canvas, within=self, margins=0)
        self.setMinimumHeight(20 * GRID)
        # Other sizes show all of the map again.
        self.canvas.box.sigResized.connect(self.canvas.fit)
        self.canvas.region_clicked.connect(self._on_clicked)
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def show_solution(
        self,
        shown: Shown | None,
        figure: Figure | None,
        changed: NDArray[np.bool_] | None = None,
        words: str = "",
    ) -> None:
        """Show a solution by a figure; None: nothing, and the widget is hidden.

        ``changed`` initial regions are marked; ``words`` say what that means.
        """
        self.setVisible(shown is not None)
        if shown is None or (shown is self.shown and figure is self.canvas.figure):
            return
        self.shown = shown
        self.canvas.show_map(shown.geometry, figure, changed, words)

    def tell(self, region: int | None, x: float, y: float) -> None:
        """Say what is at a place, with all measures."""
        if self.shown is None:
            return
        geometry, figures = self.shown.geometry, self.shown.figures
        aggregated = geometry.aggregated_at(x, y)
        self.canvas.hover(aggregated)
        text = card_text(geometry.base, geometry, figures, aggregated, None)
        if aggregated is not None:
            found = [figure_named(figures, name) for name in MEASURES]
            text += "".join(f"<br>{each.title}: {each.text(aggregated)}" for each in found if each is not None)
        self.canvas.tell(text, x, y)

    @Slot(object)
    def _on_clicked(self, region: int | None) -> None:
        self.canvas.choose(region)
        self.region_chosen.emit(region)

    @Slot()
    def _on_theme_changed(self) -> None:
        self.canvas.use_colours(self._theme.colours)


def colours_only(legend: Legend) -> Legend:
    """The colours of a map without the numbers of regions: it stands for both maps."""
    fills = (row for row in legend.rows if row.mark == "fill")
    return Legend(legend.title, tuple(replace(row, text=row.text.partition("  (")[0]) for row in fills))


Tell = Callable[[int | None, float, float], None]
"""Tells what is at a place of a map, and of the initial region under the pointer."""


class Link(QObject):
    """Makes two maps show the same part, and tell of the same place."""

    def __init__(self, maps: Mapping[MapCanvas, Tell], parent: QObject) -> None:
        super().__init__(parent)
        self._maps, self._following = maps, False
        one, other = maps
        for leader, follower in ((one, other), (other, one)):
            leader.view_moved.connect(partial(self._follow, leader, follower))
            leader.region_hovered.connect(self._on_hovered)
            leader.pointer_left.connect(self._on_left)

    def _follow(self, leader: MapCanvas, follower: MapCanvas) -> None:
        follower.card.hide()
        # A map that shows nothing yet has a view of its own, which is nobody's wish.
        leads = leader.isVisible() and leader.base is not None and follower.isVisible()
        if leads and not self._following:
            self._following = True
            # Maps of different heights would otherwise make each other smaller with every change of size.
            follower.fit() if leader.fitting else follower.show_rect(leader.view_rect)
            self._following = False

    @Slot(object, object, float, float)
    def _on_hovered(self, aggregated: int | None, region: int | None, x: float, y: float) -> None:
        for tell in self._maps.values():
            tell(region, x, y)

    @Slot()
    def _on_left(self) -> None:
        for canvas in self._maps:
            canvas.quiet()
