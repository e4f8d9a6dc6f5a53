"""The strip above the map: what it is coloured by, layers, zoom, save."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QMenu, QToolButton, QWidget

from vbas_desktop.ui.theme import GRID, Theme
from vbas_desktop.ui.widgets.elided import ElidedLabel

from .figures import Figure
from .layers import DEFAULT_LAYERS, LAYER_TITLES, Layer
from .shown import TierMap

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
        self.colouring.activated.connect(self._on_colouring_activated)
        self._buttons: list[tuple[QToolButton, str]] = []
        self.layer_actions: dict[Layer, QAction] = {}
        layout = QHBoxLayout(self)
        layout.setContentsMargins(GRID, GRID // 2, GRID, GRID // 2)
        layout.setSpacing(GRID // 2)
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
        self.title = ElidedLabel()
        self.title.setProperty("look", "muted")
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
        self.refresh_icons()

    def _button(self, icon: str, text: str, tip: str) -> QToolButton:
        button = QToolButton()
        button.setText(text)
        button.setToolTip(tip)
        button.setAccessibleName(text)
        button.setAutoRaise(True)
        self._buttons.append((button, icon))
        return button

    def _make_layer_menu(self) -> QMenu:
        menu = QMenu("&Layers", self)
        for layer, title in LAYER_TITLES.items():
            action = menu.addAction(title)
            action.setCheckable(True)
            action.setChecked(layer in DEFAULT_LAYERS)
            action.toggled.connect(self._on_layer_toggled)
            self.layer_actions[layer] = action
        return menu

    @property
    def layers(self) -> frozenset[Layer]:
        """The layers that are ticked."""
        return frozenset(layer for layer, action in self.layer_actions.items() if action.isChecked())

    @Slot()
    def refresh_icons(self) -> None:
        """Draw the icons in the theme's colours."""
        for button, icon in self._buttons:
            if icon:
                button.setIcon(self._theme.icon(icon))

    def show_figures(self, figures: tuple[Figure | TierMap, ...], chosen: str | None) -> None:
        """Offer these figures; ``chosen`` is the one in force."""
        wanted = [(_DISTINCT, None), *((figure.title, figure.name) for figure in figures)]
        offered = [(self.colouring.itemText(i), self.colouring.itemData(i)) for i in range(self.colouring.count())]
        if wanted != offered:
            self.colouring.clear()
            for title, name in wanted:
                self.colouring.addItem(title, name)
        names = [name for _, name in wanted]
        self.colouring.setCurrentIndex(names.index(chosen) if chosen in names else 0)
        self.colouring.setEnabled(bool(figures))

    def offer_before(self, offered: bool) -> None:
        """Offer the map before the refinement, or not."""
        self.before.setVisible(offered)

    @Slot(int)
    def _on_colouring_activated(self, index: int) -> None:
        self.colouring_chosen.emit(self.colouring.itemData(index))

    @Slot()
    def _on_layer_toggled(self) -> None:
        self.layers_chosen.emit(self.layers)
