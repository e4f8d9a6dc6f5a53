"""The tabs beside the map. Each is a QWidget class whose constructor takes a `Context`.

A tab with a method ``view_actions() -> list[QAction]`` gets these into the menu View.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tab:
    """One tab: its title (with mnemonic), its widget as "module:Class" and its one-sentence tip."""

    title: str
    widget: str
    tip: str


TABS: tuple[Tab, ...] = (
    Tab("Input", "vbas_desktop.ui.panel.input_tab:InputTab", "Files, column roles and settings"),
    Tab("Results", "vbas_desktop.ui.panel.results_tab:ResultsTab", "All solutions of all runs"),
    Tab("Regions", "vbas_desktop.ui.panel.regions_tab:RegionsTab", "The aggregated regions of the shown solution"),
    Tab("Log", "vbas_desktop.ui.panel.log_tab:LogTab", "What happened in this session"),
)

MAP_WIDGET = "vbas_desktop.ui.map.view:MapView"
"""The widget in the middle, as "module:Class"; its constructor takes a `Context`."""
