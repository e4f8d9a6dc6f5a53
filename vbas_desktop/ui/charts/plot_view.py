"""A plot with axes and a legend in the colours of the theme: pan, zoom, hover, click, and saving as a picture."""

from __future__ import annotations

from collections.abc import Sequence

import pyqtgraph as pg
from pyqtgraph.exporters import Exporter
from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFont, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QMenu, QToolTip, QVBoxLayout, QWidget

from ..core.theme import ColourScheme
from ..widgets.layouts import popup_menu
from ..widgets.plain_text import tool_tip
from .axes import NumberAxis
from .legend import LegendEntry, LegendStrip, paint_entries

_ZOOM_STEP = 0.8
Key = Qt.Key


class PlotView(QWidget):
    """A plot with axes in the colours of the theme: pan by dragging, zoom with the wheel, save from the menu.

    Signals: `save_requested()`, `copy_requested()`, `table_requested()`: its picture, or its numbers;
    `legend_changed()`.
    shares_legend: the legend is hidden, since several plots share one; it is in saved pictures all the same.
    """

    save_requested = Signal()
    copy_requested = Signal()
    table_requested = Signal()
    legend_changed = Signal()
    smallest_size = QSize(200, 150)

    def __init__(self, colours: ColourScheme, axes: dict[str, pg.AxisItem] | None = None) -> None:
        super().__init__()
        self.colours = colours
        self.shares_legend = False
        chosen_axes = {"left": NumberAxis("left"), "bottom": NumberAxis("bottom")} | (axes or {})
        self.plot = pg.PlotWidget(axisItems=chosen_axes)
        self.plot.setFrameShape(pg.QtWidgets.QFrame.Shape.NoFrame)
        self.item = self.plot.getPlotItem()
        self.item.setMenuEnabled(False)
        self.item.hideButtons()
        self.legend = LegendStrip(colours, self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.legend)
        layout.addWidget(self.plot, 1)
        self.item.setContentsMargins(4, 4, 10, 4)
        self.setMinimumSize(
            self.smallest_size.width(),
            max(self.smallest_size.height(), 12 * self.fontMetrics().height()),
        )
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.plot.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(
            lambda position: self.open_menu(self.mapToGlobal(position))
        )
        self.plot.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self.plot.scene().sigMouseClicked.connect(self._on_mouse_clicked)
        self._apply_colours()

    def sizeHint(self) -> QSize:
        """Return a size that is wide enough for the labels."""
        return QSize(420, 280)

    def use_colours(self, colours: ColourScheme) -> None:
        """Draw in other colours."""
        self.colours = colours
        self._apply_colours()
        self.draw()

    def draw(self) -> None:
        """Draw what is shown anew."""
        raise NotImplementedError

    def show_legend(self, entries: Sequence[LegendEntry]) -> None:
        """Show a legend above the plot; one that several plots share is shown by whoever holds them."""
        self.legend.show_entries(entries, self.colours)
        if self.shares_legend:
            self.legend.hide()
        self.legend_changed.emit()

    def _apply_colours(self) -> None:
        self.plot.setBackground(self.colours.base)
        font = QFont(self.font())
        for side in ("left", "bottom"):
            axis = self.item.getAxis(side)
            axis.enableAutoSIPrefix(False)
            # Grid lines belong to the axes: they must not lie over the marks.
            axis.setZValue(-1000)
            axis.setPen(pg.mkPen(self.colours.field))
            axis.setTextPen(pg.mkPen(self.colours.muted))
            axis.setTickFont(font)
            axis.label.setFont(font)
        self.item.showGrid(x=True, y=True, alpha=0.35)

    def set_axis_titles(self, x: str, y: str) -> None:
        """Name the axes."""
        self.item.setLabel("bottom", x)
        self.item.setLabel("left", y)

    # Pointing and clicking

    def to_widget(self, x: float, y: float) -> QPointF:
        """Return the position of two values in pixels of this widget."""
        scene = self.item.getViewBox().mapViewToScene(QPointF(x, y))
        return QPointF(self.plot.mapTo(self, self.plot.mapFromScene(scene)))

    def to_values(self, position: QPointF) -> QPointF:
        """Return the values at a position in pixels of this widget."""
        scene = self.plot.mapToScene(self.plot.mapFrom(self, position.toPoint()))
        return self.item.getViewBox().mapSceneToView(scene)

    def tip_at(self, position: QPointF) -> str:
        """Describe what is at a position of this widget; empty if nothing is."""
        raise NotImplementedError

    def click_at(self, position: QPointF) -> None:
        """React to a click at a position of this widget."""

    @Slot(object)
    def _on_mouse_moved(self, scene_position: QPointF) -> None:
        position = self._from_scene(scene_position)
        text = self.tip_at(position)
        if text:
            QToolTip.showText(self.mapToGlobal(position.toPoint()), tool_tip(text), self)
        elif QToolTip.isVisible():
            QToolTip.hideText()

    @Slot(object)
    def _on_mouse_clicked(self, event: object) -> None:
        if event.button() is Qt.MouseButton.LeftButton:  # type: ignore[attr-defined]
            self.click_at(self._from_scene(event.scenePos()))  # type: ignore[attr-defined]

    def _from_scene(self, scene_position: QPointF) -> QPointF:
        return QPointF(self.plot.mapTo(self, self.plot.mapFromScene(scene_position)))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take the keyboard focus."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Zoom with plus and minus, show everything with Home."""
        key = Key(event.key())
        view = self.item.getViewBox()
        if key in (Key.Key_Plus, Key.Key_Equal):
            view.scaleBy((_ZOOM_STEP, _ZOOM_STEP))
        elif key is Key.Key_Minus:
            view.scaleBy((1 / _ZOOM_STEP, 1 / _ZOOM_STEP))
        elif key is Key.Key_Home:
            self.show_everything()
        else:
            super().keyPressEvent(event)

    @Slot()
    def show_everything(self) -> None:
        """Zoom out until all that is drawn is in sight."""
        self.item.getViewBox().enableAutoRange()

    def open_menu(self, position: QPoint) -> None:
        """Open the menu of the chart at a position on the screen."""
        menu = popup_menu(self)
        self.add_chart_actions(menu)
        menu.popup(position)

    def add_chart_actions(self, menu: QMenu) -> None:
        """Add what every chart offers to a menu."""
        menu.addAction("Show &everything", self.show_everything)
        menu.addSeparator()
        menu.addAction("&Copy chart", self.copy_requested.emit)
        menu.addAction("&Save chart as PNG, SVG or PDF…", self.save_requested.emit)
        menu.addAction("Save &numbers as CSV…", self.table_requested.emit)

    # Saving

    def list_numbers(self) -> list[list[str]]:
        """Return the header and the rows of what is drawn."""
        raise NotImplementedError

    @property
    def picture_size(self) -> QSize:
        """Return the size of the saved picture: that of the widget, and of a legend that is not in it."""
        return self.size() + QSize(0, self._legend_above)

    @property
    def _legend_above(self) -> int:
        return self.legend.height() if self.shares_legend and self.legend.entries else 0

    def paint_chart(self, painter: QPainter, area: QRectF) -> None:
        """Paint legend and plot as they are on the screen, as vectors."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        painter.fillRect(area, QColor(self.colours.base))
        if self.legend.entries:
            strip = QRectF(0, 0, self.width(), self.legend.height())
            paint_entries(painter, strip, self.legend.entries, self.colours, self.font())
        exporter = Exporter(self.item)
        options = {"painter": painter, "antialias": True, "background": None, "resolutionScale": 1.0}
        exporter.setExportMode(True, options)
        painter.save()
        painter.translate(0, self._legend_above)
        try:
            self.plot.render(painter, QRectF(self.plot.geometry()), self.plot.viewport().rect())
        finally:
            painter.restore()
            exporter.setExportMode(False)
