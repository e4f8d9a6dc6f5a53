"""The map of one version, coloured by a measure of its aggregated regions; maps that show the same part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from ..core.theme import GRID, Theme
from ..presentation.region_measures import RegionMeasure, find_measure
from ..presentation.scene import MapScene
from ..widgets.layouts import vbox, with_properties
from .canvas import MapCanvas
from .decorations import Legend
from .hover_card import card_text
from .layers import Layer

MEASURES = ("jaccard", "fowlkes_mallows", "place_distance", "davies_bouldin")
"""The figures of aggregated regions that say what a version is worth."""


_LAYERS = frozenset({Layer.AREA, Layer.AGGREGATED, Layer.POLYGONS})


class RegionMap(QWidget):
    """`region_chosen(int or None)`: one was clicked."""

    region_chosen = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.shown: MapScene | None = None
        """The solution that is shown."""
        self.canvas = with_properties(MapCanvas(theme.colours), accessibleName="Map of what remains")
        self.canvas.setMinimumSize(20 * GRID, 12 * GRID)
        self.canvas.show_layers(_LAYERS)
        vbox(self.canvas, within=self, margins=0)
        self.setMinimumHeight(20 * GRID)
        # Other sizes show all of the map again.
        self.canvas.box.sigResized.connect(self.canvas.fit)
        self.canvas.region_clicked.connect(self._on_clicked)
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def show_solution(
        self,
        scene: MapScene | None,
        figure: RegionMeasure | None,
        changed: NDArray[np.bool_] | None = None,
        words: str = "",
    ) -> None:
        """Show a solution by a figure; None: nothing, and the widget is hidden.

        ``changed`` initial regions are marked; ``words`` say what that means.
        """
        self.setVisible(scene is not None)
        if scene is None or (scene is self.shown and figure is self.canvas.figure):
            return
        self.shown = scene
        self.canvas.show_map(scene.geometry, figure, changed, words)
        self.canvas.setAccessibleDescription(
            f"{self.canvas.legend.text}. The tab Regions lists the regions of a solution as a table."
        )

    def show_hover_card(self, region: int | None, x: float, y: float) -> None:
        """Show a card with the aggregated region at a point of the map and its measures."""
        if self.shown is None:
            return
        geometry = self.shown.geometry
        figures = self.shown.figures
        aggregated = geometry.aggregated_at(x, y)
        self.canvas.hover(aggregated)
        text = card_text(geometry.base, geometry, figures, aggregated, None)
        if aggregated is not None:
            measures = [find_measure(figures, name) for name in MEASURES]
            text += "".join(
                f"<br>{measure.title}: {measure.text(aggregated)}"
                for measure in measures
                if measure is not None
            )
        self.canvas.show_hover_card(text, x, y)

    @Slot(object)
    def _on_clicked(self, region: int | None) -> None:
        self.canvas.choose(region)
        self.region_chosen.emit(region)

    @Slot()
    def _on_theme_changed(self) -> None:
        self.canvas.use_colours(self._theme.colours)


def colours_only(legend: Legend) -> Legend:
    """Return a legend without the numbers of regions, so that it stands for both maps."""
    fills = (row for row in legend.rows if row.mark == "fill")
    return Legend(legend.title, tuple(replace(row, text=row.text.partition("  (")[0]) for row in fills))


ShowHoverCard = Callable[[int | None, float, float], None]
"""Shows a card for an initial region (None: none is under the pointer) at the map coordinates x and y."""


class LinkedViews(QObject):
    """Makes two maps show the same part and a hover card at the same point."""

    def __init__(self, maps: Mapping[MapCanvas, ShowHoverCard], parent: QObject) -> None:
        super().__init__(parent)
        self._maps = maps
        self._following = False
        first, other = maps
        for leader, follower in ((first, other), (other, first)):
            leader.view_moved.connect(partial(self._follow, leader, follower))
            leader.region_hovered.connect(self._on_hovered)
            leader.pointer_left.connect(self._on_left)

    def _follow(self, leader: MapCanvas, follower: MapCanvas) -> None:
        follower.hover_card.hide()
        # A map that shows nothing yet has a view of its own that nobody chose.
        leads = leader.isVisible() and leader.base is not None and follower.isVisible()
        if leads and not self._following:
            self._following = True
            # Maps of different heights would otherwise make each other smaller with every change of size.
            follower.fit() if leader.fitting else follower.show_rect(leader.view_rect)
            self._following = False

    @Slot(object, object, float, float)
    def _on_hovered(self, aggregated: int | None, region: int | None, x: float, y: float) -> None:
        for show_hover_card in self._maps.values():
            show_hover_card(region, x, y)

    @Slot()
    def _on_left(self) -> None:
        for canvas in self._maps:
            canvas.clear_hover()
