"""The map in the window: bar, canvas, and the comparison that takes the canvas' place."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QStackedWidget, QWidget

from vbas_desktop.session.map_look import CODES, NAMES, MapLook
from vbas_desktop.session.results import why_not_comparable
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.pictures import Drawing, copy_drawing, offer_to_save, record, side_by_side
from vbas_desktop.ui.widgets.building import dress, in_column
from vbas_desktop.ui.widgets.plain_text import menu_text, set_tool_tip

from .bar import LookMenu, MapBar
from .canvas import MapCanvas
from .figures import figure_named
from .furniture import LegendStrip
from .hover_card import card_text
from .layers import Layer
from .preparer import preparer_of
from .save_dialog import MapWish, SaveMapDialog, titled
from .side_by_side import SideBySide


class MapView(QWidget):
    """Follows the session: shows the selected solution, tells what the user points at."""

    comparing_changed = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._preparer = preparer_of(context)
        self._own_choice = False
        colours = context.theme.colours
        self.bar = MapBar(context.theme)
        self.canvas = MapCanvas(colours)
        self.comparison = SideBySide(context)
        self.look_menu = LookMenu(context, self._preparer, self.bar.layer_menu, self)
        self._stack = QStackedWidget()
        self.legend = LegendStrip(colours)
        single = QWidget()
        in_column((self.canvas, 1), self.legend, within=single, margins=0, spacing=0)
        self._single = single
        self._stack.addWidget(single)
        self._stack.addWidget(self.comparison)
        in_column(self.bar, (self._stack, 1), within=self, margins=0, spacing=0)
        self._compare = self._make_compare_action()
        self._connect()
        self._on_prepared()

    def _make_compare_action(self) -> QAction:
        action = dress(QAction("&Compare two solutions", self), checkable=True, shortcut="Ctrl+Shift+C")
        action.setStatusTip("Show two solutions side by side, with what differs")
        action.toggled.connect(self._on_compare_toggled)
        return action

    def _connect(self) -> None:
        bar, canvas, model = self.bar, self.canvas, self._context.model
        bar.colouring.activated.connect(lambda: self._context.session.colour_by(bar.colouring.currentData()))
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
        for each in (canvas, self.comparison.left, self.comparison.right):
            each.context_requested.connect(self._on_context_requested)
        self.comparison.closed.connect(lambda: self._compare.setChecked(False))
        self._preparer.changed.connect(self._on_prepared)
        model.region_chosen.connect(self._on_region_chosen)
        model.selection_changed.connect(self._on_selection_changed)
        model.colouring_changed.connect(self._on_prepared)
        for signal in (model.choices_changed, model.solutions_changed):
            signal.connect(self._show_title)
        self._context.theme.changed.connect(self._on_theme_changed)

    def view_actions(self) -> list[QAction]:
        """What the menu View offers for the map."""
        fit = dress(QAction("&Fit the map", self), shortcut="Ctrl+0")
        fit.setStatusTip("Show the whole study area")
        fit.triggered.connect(self._on_fitted)
        return [self._compare, fit]

    # What the session says

    @Slot()
    def _on_prepared(self) -> None:
        """Show what is prepared by now. While a solution is being prepared, the one before stays."""
        session, shown, base = self._context.session, self._preparer.shown, self._preparer.base
        coloured_by = session.coloured_by
        if shown is not None:
            self.bar.before.setVisible(shown.before is not None)
            figure, geometry = figure_named(shown.figures, coloured_by), shown.geometry_by(coloured_by)
            if self.bar.before.isChecked() and shown.before is not None:
                # Figures are those of the refined regions.
                figure, geometry = None, shown.before
            if self.canvas.geometry_shown is not geometry or self.canvas.figure is not figure:
                self.canvas.show_map(geometry, figure)
                self.canvas.choose(session.chosen_region)
            self._show_title()
            self.bar.show_figures((*shown.tier_maps, *shown.figures), coloured_by)
        elif session.selected is None and base is not None:
            self.canvas.show_base(base)
            self.bar.title.setText("")
            self.bar.show_figures((), None)
            self.bar.before.setVisible(False)
        elif self.canvas.base is not None and session.selected is None and session.regions is not None:
            # Other regions are loaded and not prepared yet: the old ones would be misleading.
            self.canvas.show_base(None)
        for canvas in (self.canvas, self.comparison.left, self.comparison.right):
            canvas.show_overlay(self._preparer.overlay, self._look_of(canvas))

    def _look_of(self, canvas: MapCanvas) -> MapLook:
        """Labels of aggregated regions are those of the one map: two compared solutions have others."""
        look = self._context.session.look
        own = canvas is not self.canvas and look.labels in (CODES, NAMES)
        return replace(look, labels=None) if own else look

    @Slot()
    def _show_title(self) -> None:
        """Name the solution that is drawn, and what it is among the others."""
        session = self._context.session
        if self._preparer.shown is None or session.selected is None:
            return
        title = session.selected.title + session.marks[session.selected.number].in_words
        if self._preparer.shown.before is not None and self.bar.before.isChecked():
            title = f"Before the refinement: {title}"
        self.bar.title.setText(title)
        set_tool_tip(self.bar.title, title)

    @Slot()
    def _on_region_chosen(self) -> None:
        region = self._context.session.chosen_region
        self.canvas.choose(region)
        if region is not None and not self._own_choice:
            self.canvas.zoom_to(region)

    @Slot()
    def _on_theme_changed(self) -> None:
        self.canvas.use_colours(self._context.theme.colours)

    # What the user does

    @Slot(object)
    def _on_region_clicked(self, region: int | None) -> None:
        self._own_choice = True
        self._context.session.choose_region(region)
        self._own_choice = False
        if region is not None:
            self._context.show_tab("Regions")

    @Slot(object, object, float, float)
    def _on_region_hovered(self, aggregated: int | None, region: int | None, x: float, y: float) -> None:
        base, shown = self.canvas.base, self._preparer.shown
        if base is None:
            return
        drawn = None if shown is None else shown.geometry_by(self._context.session.coloured_by)
        figures = shown.figures if shown is not None and drawn is self.canvas.geometry_shown else ()
        reach = 4 * self.canvas.units_per_pixel
        obstacle = base.obstacle_at(x, y, reach) if Layer.OBSTACLES in self.canvas.layers else None
        where = () if shown is None or not figures or aggregated is None else shown.released_in(aggregated)
        names = shown.names if shown is not None and figures else ()
        text = card_text(base, self.canvas.geometry_shown, figures, aggregated, region, obstacle, where, names)
        self.canvas.tell(text, x, y)

    @Slot(object)
    def _on_layers_chosen(self, layers: frozenset[Layer]) -> None:
        self.canvas.show_layers(layers)
        self.comparison.show_layers(layers)
        self._preparer.want_cells(Layer.CELLS in layers)

    @Slot(bool)
    def _on_before_toggled(self, on: bool) -> None:
        """Before or after the refinement; what moved is marked from the first look on."""
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
        """Whether two maps are shown."""
        return self._stack.currentWidget() is self.comparison

    @Slot(bool)
    def _on_compare_toggled(self, on: bool) -> None:
        session = self._context.session
        selected = session.selected
        others = [entry for entry in session.entries if selected is not None and entry.number != selected.number]
        if on and not others:
            self._context.say("Two solutions are needed for a comparison. Run, and choose one in Results.")
            self._compare.setChecked(False)
            return
        if on and session.compared is None:
            assert selected is not None
            alike = [entry for entry in others if not why_not_comparable(selected, entry)]
            session.compare_with((alike or others)[-1].number)
        elif not on:
            session.compare_with(None)
        self._stack.setCurrentWidget(self.comparison if on else self._single)
        self.comparing_changed.emit()
        if on:
            self._context.show_map()

    @Slot()
    def _on_selection_changed(self) -> None:
        """Whoever names a second solution wants to see the two side by side."""
        session = self._context.session
        self._compare.setChecked(session.compared is not None and session.selected is not None)

    @Slot(object)
    def _on_context_requested(self, position: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("&Fit", self._on_fitted)
        region, geometry = self._context.session.chosen_region, self.canvas.geometry_shown
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
        session = self._context.session
        shown = [entry.number for entry in (session.selected, session.compared) if entry is not None]
        name = " ".join(["map", *map(str, shown)])
        base = self.canvas.base
        placed = base is not None and base.regions.system.definition is not None
        dialog = SaveMapDialog(self._drawing().size, self.bar.title.text(), placed, self)
        dialog.wanted.connect(lambda: self._save(dialog.wish, name))
        dialog.open()

    def _save(self, wish: MapWish, name: str) -> None:
        drawing = self._drawing(wish.north)
        if wish.title:
            drawing = titled(drawing, wish.title, self.font(), self._context.theme.colours)
        offer_to_save(self._context, self, drawing, name, wish.paper)

    @Slot()
    def copy(self) -> None:
        """Copy what the map shows as a picture."""
        copy_drawing(self._context, self._drawing())

    def _drawing(self, north: bool = False) -> Drawing:
        """What is shown: one map, or both that are compared."""
        shown = (self.comparison.left, self.comparison.right) if self.comparing else (self.canvas,)
        drawings = [record(canvas.picture_size, partial(canvas.paint_map, north=north)) for canvas in shown]
        return side_by_side(*drawings) if self.comparing else drawings[0]
