"""The map of one version, coloured by a measure of its aggregated regions."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from vbas_desktop.ui.theme import GRID, Theme
from vbas_desktop.ui.widgets.building import dress, in_column

from .canvas import MapCanvas
from .figures import Figure, figure_named
from .furniture import Legend
from .hover_card import HoverCard, card_text
from .layers import Layer
from .shown import Shown

MEASURES = ("jaccard", "fowlkes_mallows", "place_distance")
"""The figures of aggregated regions that say what a version is worth."""


_LAYERS = frozenset({Layer.AREA, Layer.AGGREGATED, Layer.POLYGONS})


class RegionMap(QWidget):
    """`hovered(x, y)`: the pointer is at a place; `left()`: it is gone; `region_chosen(int or None)`."""

    hovered = Signal(float, float)
    left = Signal()
    region_chosen = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.shown: Shown | None = None
        """The solution that is shown."""
        self.canvas = dress(MapCanvas(theme.colours), accessibleName="Map by what remains")
        self.canvas.setMinimumSize(20 * GRID, 12 * GRID)
        self.canvas.show_layers(_LAYERS)
        self.fitting = False
        self.card = HoverCard(self.canvas)
        in_column(self.canvas, within=self, margins=0)
        self.setMinimumHeight(20 * GRID)
        self.canvas.region_hovered.connect(self._on_hovered)
        self.canvas.pointer_left.connect(self.left)
        self.canvas.view_moved.connect(self.card.hide)
        self.canvas.box.sigResized.connect(self._on_resized)
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

    @Slot()
    def _on_resized(self) -> None:
        """Other sizes show all of the map again."""
        self.fitting = True
        self.canvas.fit()
        self.fitting = False

    def tell(self, x: float, y: float) -> None:
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
        self.card.tell(text, self.canvas.position_of(x, y).toPoint())

    def quiet(self) -> None:
        """Say nothing."""
        self.canvas.hover(None)
        self.card.hide()

    @Slot(object, object, float, float)
    def _on_hovered(self, aggregated: int | None, region: int | None, x: float, y: float) -> None:
        self.hovered.emit(x, y)

    @Slot(object)
    def _on_clicked(self, region: int | None) -> None:
        self.canvas.choose(region)
        self.region_chosen.emit(region)

    @Slot()
    def _on_theme_changed(self) -> None:
        self.canvas.use_colours(self._theme.colours)
        self.card.use_colours(self._theme.colours)


def colours_only(legend: Legend) -> Legend:
    """The colours of a map without the numbers of regions: it stands for both maps."""
    fills = (row for row in legend.rows if row.mark == "fill")
    return Legend(legend.title, tuple(replace(row, text=row.text.partition("  (")[0]) for row in fills))


def link(one: RegionMap, other: RegionMap) -> None:
    """Make two maps show the same part, and tell of the same place."""
    _Link(one, other)


class _Link(QWidget):
    def __init__(self, one: RegionMap, other: RegionMap) -> None:
        super().__init__(one)
        self.hide()
        self._maps, self._following = (one, other), False
        one.canvas.view_moved.connect(partial(self._follow, one, other))
        other.canvas.view_moved.connect(partial(self._follow, other, one))
        for each in self._maps:
            each.hovered.connect(self._on_hovered)
            each.left.connect(self._on_left)

    def _follow(self, leader: RegionMap, follower: RegionMap) -> None:
        # A map that shows nothing yet has a view of its own, which is nobody's wish.
        leads = leader.isVisible() and leader.canvas.base is not None and not leader.fitting
        if leads and not self._following and follower.isVisible():
            self._following = True
            follower.canvas.show_rect(leader.canvas.view_rect)
            self._following = False

    @Slot(float, float)
    def _on_hovered(self, x: float, y: float) -> None:
        for each in self._maps:
            each.tell(x, y)

    @Slot()
    def _on_left(self) -> None:
        for each in self._maps:
            each.quiet()
