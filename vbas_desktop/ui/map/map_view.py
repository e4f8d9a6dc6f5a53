"""The map in the window: bar, canvas, and the comparison that takes the canvas' place."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QStackedWidget, QWidget

from vbas_desktop.model.text import format_count

from ..core.announcements import announce
from ..core.context import UiContext
from ..presentation.region_measures import find_measure
from ..state.map_style import CODES, NAMES, MapStyle
from ..state.scenario import reason_not_comparable
from ..widgets.image_export import Drawing, copy_drawing, offer_to_save, record, side_by_side
from ..widgets.layouts import vbox, with_properties
from ..widgets.plain_text import menu_text, set_tool_tip
from .canvas import MapCanvas
from .comparison_view import ComparisonView
from .decorations import LegendStrip
from .hover_card import card_text, obstacle_text
from .layers import Layer
from .map_cache import map_cache_of
from .map_toolbar import MapStyleMenu, MapToolbar
from .region_editor import RegionEditor
from .save_dialog import MapExportOptions, SaveMapDialog, add_title


class MapView(QWidget):
    """Follows the state: shows the selected solution, tells what the user points at."""

    comparing_changed = Signal()

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self._context = context
        self._map_cache = map_cache_of(context)
        self._own_choice = False
        colours = context.theme.colours
        self.bar = MapToolbar(context.theme)
        self.canvas = MapCanvas(colours)
        self.comparison = ComparisonView(context)
        self.style_menu = MapStyleMenu(context, self._map_cache, self.bar.layer_menu, self)
        self._stack = QStackedWidget()
        self.legend = LegendStrip(colours)
        single = QWidget()
        vbox((self.canvas, 1), self.legend, within=single, margins=0, spacing=0)
        self._single = single
        self._stack.addWidget(single)
        self._stack.addWidget(self.comparison)
        self.editor = RegionEditor(context, self.canvas, self._map_cache)
        vbox(self.bar, self.editor, (self._stack, 1), within=self, margins=0, spacing=0)
        self._compare = self._make_compare_action()
        self._connect()
        self._on_prepared()

    def _make_compare_action(self) -> QAction:
        action = with_properties(
            QAction("&Compare two solutions", self), checkable=True, shortcut="Ctrl+Shift+C"
        )
        action.setStatusTip("Show two solutions side by side, with what differs")
        action.toggled.connect(self._on_compare_toggled)
        return action

    def _connect(self) -> None:
        bar = self.bar
        canvas = self.canvas
        model = self._context.model
        bar.colouring.activated.connect(
            lambda: self._context.state.colour_by(bar.colouring.currentData())
        )
        bar.layers_chosen.connect(self._on_layers_chosen)
        bar.before.toggled.connect(self._on_before_toggled)
        bar.buttons["zoom_box"].toggled.connect(canvas.use_rubber_band)
        bar.buttons["zoom_in"].clicked.connect(lambda: self._active.zoom_in())
        bar.buttons["zoom_out"].clicked.connect(lambda: self._active.zoom_out())
        bar.buttons["fit"].clicked.connect(self._on_fitted)
        bar.buttons["save"].clicked.connect(self.save)
        canvas.region_clicked.connect(self._on_region_clicked)
        canvas.region_hovered.connect(self._on_region_hovered)
        canvas.legend_changed.connect(self.legend.show_legend)
        for map_canvas in (canvas, self.comparison.left, self.comparison.right):
            map_canvas.context_requested.connect(self._on_context_requested)
        self.comparison.closed.connect(lambda: self._compare.setChecked(False))
        self._map_cache.changed.connect(self._on_prepared)
        model.region_chosen.connect(self._on_region_chosen)
        model.selection_changed.connect(self._on_selection_changed)
        model.colouring_changed.connect(self._on_prepared)
        model.view_changed.connect(self._on_view_changed)
        for signal in (model.choices_changed, model.solutions_changed):
            signal.connect(self._show_title)
        self._context.theme.changed.connect(self._on_theme_changed)

    def view_actions(self) -> list[QAction]:
        """Return the actions of the View menu that concern the map."""
        fit = with_properties(QAction("&Fit the map", self), shortcut="Ctrl+0")
        fit.setStatusTip("Show the whole study area")
        fit.triggered.connect(self._on_fitted)
        return [self._compare, fit]

    # What the state says

    @Slot()
    def _on_prepared(self) -> None:
        """Show what is prepared by now. While a solution is being prepared, the one before stays."""
        state = self._context.state
        scene = self._map_cache.shown
        base = self._map_cache.base
        coloured_by = state.coloured_by
        if scene is not None:
            self.bar.before.setVisible(scene.before is not None)
            figure = find_measure(scene.figures, coloured_by)
            geometry = scene.geometry_by(coloured_by)
            if self.bar.before.isChecked() and scene.before is not None:
                # Figures are those of the refined regions.
                figure = None
                geometry = scene.before
            if self.canvas.geometry_shown is not geometry or self.canvas.figure is not figure:
                self.canvas.show_map(geometry, figure)
                self.canvas.choose(state.chosen_region)
            self._show_title()
            self.bar.show_figures((*scene.tier_maps, *scene.figures), coloured_by)
            self._describe_map()
        elif state.selected is None and base is not None:
            self.canvas.show_base(base)
            self.canvas.setAccessibleDescription(
                f"{format_count(len(base.points), 'initial region')}; no solution yet."
            )
            self.bar.title.setText("")
            self.bar.show_figures((), None)
            self.bar.before.setVisible(False)
        elif self.canvas.base is not None and state.selected is None and state.regions is not None:
            # Other regions are loaded and not prepared yet: the old ones would be misleading.
            self.canvas.show_base(None)
        for canvas in (self.canvas, self.comparison.left, self.comparison.right):
            canvas.show_overlay(self._map_cache.overlay, self._style_of(canvas))

    def _style_of(self, canvas: MapCanvas) -> MapStyle:
        """Return the style of a map; two compared solutions have labels other than those of the one map."""
        style = self._context.state.map_style
        own = canvas is not self.canvas and style.labels in (CODES, NAMES)
        return replace(style, labels=None) if own else style

    @Slot()
    def _show_title(self) -> None:
        """Name the solution that is drawn, and what it is among the others."""
        state = self._context.state
        if self._map_cache.shown is None or state.selected is None:
            return
        title = state.selected.title + state.marks[state.selected.number].in_words
        if self._map_cache.shown.before is not None and self.bar.before.isChecked():
            title = f"Before the refinement: {title}"
        self.bar.title.setText(title)
        set_tool_tip(self.bar.title, title)

    def _describe_map(self) -> None:
        """Say in the accessible description what is shown and chosen, and where a table says the same."""
        scene = self._map_cache.shown
        if scene is None or self.editor.scene is not None:
            return
        chosen = self._context.state.chosen_region
        parts = [
            self.bar.title.text(),
            f"Coloured by {self.bar.colouring.currentText()}",
            self.canvas.legend.text,
        ]
        if chosen is not None and chosen < len(scene.geometry.codes):
            parts.append(f"Chosen: {scene.describe_region(chosen)}")
        self.canvas.setAccessibleDescription(
            f"{'. '.join(parts)} The tab Regions lists all of them as a table."
        )

    @Slot()
    def _on_region_chosen(self) -> None:
        region = self._context.state.chosen_region
        scene = self._map_cache.shown
        self._describe_map()
        if (
            region is not None
            and scene is not None
            and self.editor.scene is None
            and region < len(scene.geometry.codes)
        ):
            announce(self.canvas, scene.describe_region(region))
        if self.editor.scene is None:
            self.canvas.choose(region)
        if region is not None and not self._own_choice and not self.editor.is_choosing:
            self.canvas.zoom_to(region)

    @Slot()
    def _on_theme_changed(self) -> None:
        self.canvas.use_colours(self._context.theme.colours)

    # What the user does

    @Slot(object)
    def _on_region_clicked(self, region: int | None) -> None:
        self._own_choice = True
        self._context.state.choose_region(region)
        self._own_choice = False
        if region is not None:
            self._context.show_tab("Regions")

    @Slot(object, object, float, float)
    def _on_region_hovered(self, aggregated: int | None, region: int | None, x: float, y: float) -> None:
        base = self.canvas.base
        scene = self._map_cache.shown
        if base is None:
            return
        drawn = None if scene is None else scene.geometry_by(self._context.state.coloured_by)
        figures = scene.figures if scene is not None and drawn is self.canvas.geometry_shown else ()
        reach = 4 * self.canvas.units_per_pixel
        obstacle = base.obstacle_at(x, y, reach) if Layer.OBSTACLES in self.canvas.layers else None
        where = (
            () if scene is None or not figures or aggregated is None else scene.released_in(aggregated)
        )
        names = scene.names if scene is not None and figures else ()
        on_regions = card_text(
            base, self.canvas.geometry_shown, figures, aggregated, region, where, names
        )
        lines = (on_regions, obstacle_text(base, obstacle))
        self.canvas.show_hover_card("<br>".join(filter(None, lines)), x, y)

    @Slot(object)
    def _on_layers_chosen(self, layers: frozenset[Layer]) -> None:
        self.canvas.show_layers(layers)
        self.comparison.show_layers(layers)
        self._map_cache.want_cells(Layer.CELLS in layers)
        self._context.state.change_view(layers=tuple(sorted(layers)))

    @Slot()
    def _on_view_changed(self) -> None:
        """Draw the layers that a project restores."""
        layers = self._context.state.view.layers
        if layers is not None and set(layers) != self.bar.layers:
            self.bar.show_layers(layers)

    @Slot(bool)
    def _on_before_toggled(self, on: bool) -> None:
        """Before or after the refinement; what moved is marked from the first style on."""
        if on:
            self.bar.layer_actions[Layer.MOVED].setChecked(True)
        self._on_prepared()

    @Slot()
    def _on_fitted(self) -> None:
        self._active.fit()

    @property
    def _active(self) -> MapCanvas:
        return self.comparison.left if self.comparing else self.canvas

    @property
    def comparing(self) -> bool:
        """Say if two maps are shown."""
        return self._stack.currentWidget() is self.comparison

    @Slot(bool)
    def _on_compare_toggled(self, on: bool) -> None:
        state = self._context.state
        selected = state.selected
        others = [
            entry for entry in state.entries if selected is not None and entry.number != selected.number
        ]
        if on and not others:
            self._context.show_message(
                "Two solutions are needed for a comparison. Run, and choose one in Results."
            )
            self._compare.setChecked(False)
            return
        if on and state.compared is None:
            assert selected is not None
            alike = [entry for entry in others if not reason_not_comparable(selected, entry)]
            pair = state.chosen_pair
            if pair is not None:
                state.select(pair[0])
            state.compare_with(pair[1] if pair is not None else (alike or others)[-1].number)
        elif not on:
            state.compare_with(None)
        self._stack.setCurrentWidget(self.comparison if on else self._single)
        self.comparing_changed.emit()
        if on:
            self._context.show_map()

    @Slot()
    def _on_selection_changed(self) -> None:
        """Whoever names a second solution wants to see the two side by side."""
        state = self._context.state
        self._compare.setChecked(state.compared is not None and state.selected is not None)

    @Slot(object)
    def _on_context_requested(self, position: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("&Fit", self._on_fitted)
        region = self._context.state.chosen_region
        geometry = self.canvas.geometry_shown
        if region is not None and geometry is not None and region < len(geometry.codes):
            code = menu_text(geometry.codes[region])
            menu.addAction(f"&Zoom to aggregated region {code}", lambda: self._active.zoom_to(region))
        menu.addAction(self._compare)
        menu.addMenu(self.bar.layer_menu)
        menu.addSeparator()
        menu.addAction("Co&py map", self.copy)
        menu.addAction("&Save map as PNG, SVG or PDF…", self.save)
        menu.popup(position)

    @Slot()
    def save(self) -> None:
        """Save what the map shows as a picture."""
        state = self._context.state
        numbers = [entry.number for entry in (state.selected, state.compared) if entry is not None]
        name = " ".join(["map", *map(str, numbers)])
        base = self.canvas.base
        placed = base is not None and base.regions.system.definition is not None
        dialog = SaveMapDialog(self._drawing().size, self.bar.title.text(), placed, self)
        dialog.save_requested.connect(lambda: self._save(dialog.export_options, name))
        dialog.open()

    def _save(self, options: MapExportOptions, name: str) -> None:
        drawing = self._drawing(options.north)
        if options.title:
            drawing = add_title(drawing, options.title, self.font(), self._context.theme.colours)
        offer_to_save(self._context, self, drawing, name, options.paper)

    @Slot()
    def copy(self) -> None:
        """Copy what the map shows as a picture."""
        copy_drawing(self._context, self._drawing())

    def _drawing(self, north: bool = False) -> Drawing:
        """Return the visible maps: one, or the two that are compared."""
        canvases = (self.comparison.left, self.comparison.right) if self.comparing else (self.canvas,)
        drawings = [
            record(canvas.picture_size, partial(canvas.paint_map, north=north)) for canvas in canvases
        ]
        return side_by_side(*drawings) if self.comparing else drawings[0]
