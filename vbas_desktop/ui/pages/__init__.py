"""Whole-page tools that take the map's place: what the menu Tools lists.

To add one, write a QWidget class in this package whose constructor takes a `UiContext`, and add a `Page` to `PAGES`
(CONTRIBUTING.md has an example).

The widget is imported and created when it is first opened, lives as long as the window, and listens to
``context.model``. The window puts the title and a "Back to the map" button above it. If the widget has a method
``view_actions() -> list[QAction]``, these show in the menu View.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from ..core.context import UiContext


@dataclass(frozen=True)
class Page:
    """One entry of the menu Tools. ``widget`` is "module:Class"; imported on first use, so that starting stays quick.

    ``needs_data``: the entry is disabled until both files are loaded. ``guide``: the page of the guide that F1 opens.
    """

    title: str
    widget: str
    icon: str = "table"
    shortcut: str = ""
    summary: str = ""
    needs_data: bool = False
    guide: str = "user-guide.md"

    @property
    def id(self) -> str:
        """Return the id of the action that opens the page."""
        return self.title.lower().replace(" ", "_")

    def create(self, context: UiContext) -> QWidget:
        """Create the page's widget."""
        module, _, name = self.widget.partition(":")
        widget: QWidget = getattr(import_module(module), name)(context)
        return widget


COMPARE = Page(
    "Compare combinations",
    "vbas_desktop.ui.pages.compare.page:ComparePage",
    guide="comparing.md",
    icon="compare",
    shortcut="Ctrl+Shift+K",
    summary="Many combinations of approaches at once, the winners, and the published experiments",
)

PAGES: tuple[Page, ...] = (
    Page(
        "Find a release",
        "vbas_desktop.ui.pages.search.page:SearchPage",
        guide="finding-a-release.md",
        icon="search",
        shortcut="Ctrl+Shift+F",
        summary="The finest place for every combination of attribute levels, within the allowed loss",
    ),
    COMPARE,
    Page(
        "Risky combinations",
        "vbas_desktop.ui.pages.risky.page:RiskyPage",
        guide="risky-combinations.md",
        icon="search",
        shortcut="Ctrl+Shift+R",
        summary="Which combinations of answers point at few people, and coarsening them step by step",
    ),
    Page(
        "Appointments",
        "vbas_desktop.ui.pages.appointments.page:AppointmentsPage",
        guide="appointments.md",
        icon="calendar",
        shortcut="Ctrl+Shift+A",
        summary="Plan a screening so that centre and time single nobody out",
    ),
    Page(
        "Representability",
        "vbas_desktop.ui.pages.representability.page:RepresentabilityPage",
        guide="representability.md",
        icon="scale",
        shortcut="Ctrl+Shift+V",
        summary="What a solution, or any anonymised file, is still worth against its original",
    ),
    Page(
        "Requirements",
        "vbas_desktop.ui.pages.representability.requirements:RequirementsPage",
        guide="representability.md#the-requirement-file",
        icon="filter",
        shortcut="Ctrl+Shift+Q",
        summary="What a researcher needs of the release, checked against the solutions",
    ),
    Page(
        "Policy",
        "vbas_desktop.ui.pages.representability.policy:PolicyPage",
        guide="policies.md",
        icon="shield",
        shortcut="Ctrl+Shift+Y",
        summary="The checklist of a release: what is settled, by what evidence, and who signed",
    ),
    Page(
        "Releases",
        "vbas_desktop.ui.pages.ledger.page:LedgerPage",
        guide="ledger.md",
        icon="export",
        shortcut="Ctrl+Shift+L",
        summary="What was handed to whom, and whether the shown solution would single people out beside it",
        needs_data=True,
    ),
)
"""The pages in the order of the menu."""
