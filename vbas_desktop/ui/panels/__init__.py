"""The tabs beside the map. Each is a QWidget class whose constructor takes a `Context`.

A tab with a method ``view_actions() -> list[QAction]`` gets these into the menu View.
"""

from __future__ import annotations

TABS = {
    "Input": "Files, column roles and settings",
    "Results": "All solutions of all runs",
    "Regions": "The aggregated regions of the shown solution",
    "Log": "What happened in this session",
}
"""The titles of the tabs in their order, each with its tip."""
