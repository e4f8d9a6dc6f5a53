"""The map while a solution is edited by hand: colours, texts and table rows. No Qt."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.voronoi_cells import clip_voronoi_cells
from vbas_desktop.app.region_edit import EditFigures, RegionEdit
from vbas_desktop.model.progress import Progress

from .map_shapes import Rings, rings_of
from .region_geometry import FILLS
from .scene import MapScene
from .tables import TableColumn


@dataclass(eq=False)
class EditScene:
    """A solution that is being edited, and what of it is drawn.

    rings: the shapes of the initial regions; their Voronoi cells if the region file has points only.
    chosen: the aggregated region whose initial regions are listed, and that is outlined.
    """

    scene: MapScene
    edit: RegionEdit
    rings: Rings
    before: EditFigures
    chosen: int | None = None
    _new_fills: dict[int, int] = field(default_factory=dict)

    def fill_of(self, region: int) -> int:
        """Return the number of the fill of an aggregated region; a new one differs from its neighbours."""
        fills = self.scene.geometry.colours
        if region < len(fills):
            return int(fills[region])
        if region not in self._new_fills:
            used = {
                int(fills[other]) for other in self.edit.list_neighbours(region) if other < len(fills)
            }
            used |= set(self._new_fills.values())
            self._new_fills[region] = next(
                (fill for fill in range(FILLS) if fill not in used), region % FILLS
            )
        return self._new_fills[region]

    def list_moved(self) -> dict[int, NDArray[np.intp]]:
        """List the initial regions that are elsewhere than in the solution, by the fill that they have now."""
        moved = self.edit.moved
        owners = self.edit.membership[moved]
        by_fill: dict[int, list[NDArray[np.intp]]] = {}
        for owner in np.unique(owners).tolist():
            by_fill.setdefault(self.fill_of(owner), []).append(moved[owners == owner])
        return {fill: np.concatenate(parts) for fill, parts in by_fill.items()}

    def list_locked(self) -> NDArray[np.intp]:
        """List the initial regions of locked aggregated regions."""
        return np.flatnonzero(np.isin(self.edit.membership, list(self.edit.locked)))

    def describe_region(self, region: int) -> str:
        """Describe what is under the pointer: an initial region and the aggregated region that it is in now."""
        regions = self.scene.geometry.base.regions
        name = f" · {regions.names[region]}" if regions.names and regions.names[region] else ""
        return f"Initial region {regions.ids[region]}{name}\nin {self.edit.describe(int(self.edit.membership[region]))}"

    def describe_chosen(self) -> str:
        """Describe the chosen aggregated region, or say how one is chosen."""
        if self.chosen is None or not self.edit.exists(self.chosen):
            return "Click a region to choose it; drag from a region over others to extend it."
        return self.edit.describe(self.chosen)

    def list_rows(self) -> list[int]:
        """List the initial regions of the chosen aggregated region, then those that touch it."""
        if self.chosen is None or not self.edit.exists(self.chosen):
            return []
        return [
            *self.edit.list_members(self.chosen).tolist(),
            *self.edit.list_touching(self.chosen).tolist(),
        ]

    def list_targets(self) -> list[tuple[str, int]]:
        """List the aggregated regions to which initial regions can be moved: the chosen one, then its neighbours."""
        if self.chosen is None or not self.edit.exists(self.chosen):
            return []
        return [
            (self.edit.name(region), region)
            for region in (self.chosen, *self.edit.list_neighbours(self.chosen))
        ]

    def make_columns(self) -> list[TableColumn[int]]:
        """Make the columns of the table of initial regions."""
        regions = self.scene.geometry.base.regions
        assert self.scene.problem is not None
        records = self.scene.problem.counts.region_totals
        names = [TableColumn[int]("name", "Name", regions.names.__getitem__)] if regions.names else []
        return [
            TableColumn("initial_region", "Initial region", regions.ids.__getitem__),
            *names,
            TableColumn("records", "Records", lambda region: int(records[region]), side="right"),
            TableColumn(
                "aggregated_region",
                "In",
                lambda region: self.edit.name(int(self.edit.membership[region])),
            ),
        ]


def prepare_edit_scene(scene: MapScene, progress: Progress) -> EditScene:
    """Prepare the scene of a counted solution for editing."""
    assert scene.problem is not None
    progress.update("Preparing to edit")
    base = scene.geometry.base
    edit = RegionEdit(scene.problem, scene.solution.membership, base.pairs, scene.geometry.codes)
    rings = base.polygon_rings
    if rings is None:
        rings = rings_of(clip_voronoi_cells(base.drawn.points, base.area), base.frame)
    return EditScene(scene, edit, rings, edit.figures)


def describe_figures(now: EditFigures, before: EditFigures, k: int) -> str:
    """Describe the figures of an edit, beside those of the solution where they differ."""
    smallest = "none" if now.smallest_class is None else f"{now.smallest_class:,}"
    return " · ".join(
        (
            f"Suppressed records: {_with_former(now.suppressed, before.suppressed)}",
            f"Smallest class: {smallest} (k = {k:,})",
            f"In several pieces: {_with_former(now.in_pieces, before.in_pieces)}",
            f"Aggregated regions: {_with_former(now.regions, before.regions)}",
        )
    )


def _with_former(now: int, before: int) -> str:
    return f"{now:,}" if now == before else f"{now:,} (before: {before:,})"
