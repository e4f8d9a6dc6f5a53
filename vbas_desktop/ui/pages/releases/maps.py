"""A release that was handed over and the solution that is shown, as two maps side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Slot
from PySide6.QtWidgets import QLabel, QWidget

from vbas_desktop.domain.progress import Progress
from vbas_desktop.domain.solution import Solution
from vbas_desktop.domain.words import counted
from vbas_desktop.release.ledger import Entry, partition_of
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.map.differences import changed_regions
from vbas_desktop.ui.map.geometry import BaseGeometry, coloured_like, prepare_map
from vbas_desktop.ui.map.preparer import preparer_of
from vbas_desktop.ui.map.region_map import Link, RegionMap
from vbas_desktop.ui.map.shown import Shown
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import in_column, in_row
from vbas_desktop.ui.worker import Latest

_CUT = "cut otherwise than in the release"
_NO_SOLUTION = "No solution is shown"


@dataclass(frozen=True, eq=False)
class Pictures:
    """The map of a release, and the initial regions that the shown solution has elsewhere (None: there is none)."""

    earlier: Shown
    changed: NDArray[np.bool_] | None


@dataclass(frozen=True, eq=False)
class PicturesJob:
    """Shape the aggregated regions of a release in the ledger, in the colours of the shown solution."""

    entry: Entry
    key: bytes
    base: BaseGeometry
    shown: Shown | None

    def __call__(self, progress: Progress) -> Pictures:
        """Prepare."""
        owner = partition_of(self.entry, self.key, self.base.regions.ids)
        number = int(owner.max(initial=-1)) + 1
        solution = Solution(0, {}, {}, number, number, None, owner, {}, 0.0, 0, 0)
        geometry = prepare_map(self.base, solution, progress)
        if self.shown is None:
            return Pictures(Shown(0, solution, None, geometry, None, ()), None)
        changed = changed_regions(self.base, solution, self.shown.solution)
        geometry = coloured_like(geometry, self.shown.geometry)
        return Pictures(Shown(0, solution, None, geometry, None, ()), changed)


class ReleaseMaps(QWidget):
    """The chosen release on the left, the shown solution on the right: same view, same hovering, same colours."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._preparer = preparer_of(context)
        self._latest = Latest(context.quiet_runner, "Drawing the earlier release", self)
        self._entry: Entry | None = None
        self._key = b""
        self.earlier, self.now = RegionMap(context.theme), RegionMap(context.theme)
        self.earlier.canvas.setAccessibleName("Map of the earlier release")
        self.now.canvas.setAccessibleName("Map of the shown solution")
        self.earlier_title, self.now_title = QLabel(), QLabel(_NO_SOLUTION)
        row = in_row(within=self, margins=0, spacing=GRID)
        for label, region_map in ((self.earlier_title, self.earlier), (self.now_title, self.now)):
            column = in_column(spacing=GRID // 2)
            label.setWordWrap(True)
            column.addWidget(label)
            column.addWidget(region_map, 1)
            row.addLayout(column, 1)
        Link({each.canvas: each.tell for each in (self.earlier, self.now)}, self)
        self._preparer.changed.connect(self.refresh)
        self.hide()

    def show_entry(self, entry: Entry | None, key: bytes) -> None:
        """Show another release of a ledger with this key; None: nothing."""
        self._entry, self._key = entry, key
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Draw what is shown now; nothing without data or without a release."""
        entry, base, shown = self._entry, self._preparer.base, self._preparer.shown
        self.setVisible(entry is not None and base is not None)
        if entry is None or base is None:
            self._latest.forget()
            return
        base = base if shown is None else shown.geometry.base
        self._latest.want(PicturesJob(entry, self._key, base, shown), lambda found: self._on_drawn(entry, shown, found))

    def _on_drawn(self, entry: Entry, shown: Shown | None, found: Pictures) -> None:
        title = f"{entry.title[:1].upper()}{entry.title[1:]}"
        self.earlier_title.setText(f"{title}: {counted(entry.aggregated_regions, 'aggregated region')}")
        self.earlier.show_solution(found.earlier, None)
        if shown is None or found.changed is None:
            self.now_title.setText(_NO_SOLUTION)
            self.now.show_solution(None, None)
            return
        moved = int(found.changed.sum())
        told = f"{counted(moved, 'initial region is', 'initial regions are')} {_CUT}" if moved else "the same regions"
        regions = counted(shown.solution.aggregated_regions, "aggregated region")
        self.now_title.setText(f"Solution {shown.number}: {regions}; {told}")
        self.now.show_solution(replace(shown, figures=()), None, found.changed, _CUT)
