"""The input tab: files, what was understood of them, column roles and settings."""

from __future__ import annotations

from vbas_desktop.ui.context import Context

from .empty import EmptyState


class InputTab(EmptyState):
    """The files and what is decided about them."""

    def __init__(self, context: Context) -> None:
        super().__init__("Open a record file and a region file to begin.")
