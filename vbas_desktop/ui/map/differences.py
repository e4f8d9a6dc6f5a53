"""What differs between two prepared solutions: as rows of words, and region by region, computed in a thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.map_colouring import find_changed_members
from vbas_desktop.engine.figures import Value, list_measure_figures
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.solution import Solution

from ..presentation.region_geometry import RegionGeometry, SolutionGeometry, coloured_like
from ..presentation.results_table import approach_of
from ..presentation.scene import MapScene
from ..presentation.tables import TableColumn

_COMPONENTS = {
    "site_number": "Number of sites",
    "site_location": "Locations",
    "construction": "Construction",
    "refinement": "Refinement",
    "tiers": "Fallback to larger areas",
}


@dataclass(frozen=True)
class Difference:
    """One line of the comparison; ``better`` is −1 if the left one is better, 1 if the right one, 0 if neither."""

    what: str
    left: str
    right: str
    change: str
    better: int = 0


def _make_difference_column(
    name: str, title: str, side: str = "right", better: int = 0
) -> TableColumn[Difference]:
    return TableColumn(
        name,
        title,
        attrgetter(name),
        side=side,
        row_tip=attrgetter(name),
        is_bold=lambda row: row.better * better > 0,
    )


DIFFERENCE_COLUMNS = (
    _make_difference_column("what", "", "left"),
    _make_difference_column("left", "Left", better=-1),
    _make_difference_column("right", "Right", better=1),
    _make_difference_column("change", "Change"),
)


def changed_regions(base: RegionGeometry, left: Solution, right: Solution) -> NDArray[np.bool_]:
    """Flag the initial regions that are in another aggregated region than the counterpart of theirs."""
    return find_changed_members(left.membership, right.membership, base.records)


def differences(
    base: RegionGeometry, left: Solution, right: Solution, changed: int | None
) -> list[Difference]:
    """List numbers and measures side by side, and how many initial regions changed unless that is not known yet."""
    rows = [
        *(
            Difference(title, here or "–", there or "–", "")
            for component, title in _COMPONENTS.items()
            if (here := approach_of(left, component)) != (there := approach_of(right, component))
        ),
        _counts("Sites", left.site_count, right.site_count),
        _counts("Aggregated regions", left.aggregated_regions, right.aggregated_regions),
    ]
    system = base.regions.system
    for figure in list_measure_figures((left, right)):
        unit = figure.shown_unit(system)
        first = figure.read(left)
        other = figure.read(right)
        is_comparable = (
            first is not None and other is not None and first != other and figure.lower_is_better
        )
        better = 0 if not is_comparable else -1 if first < other else 1
        rows.append(
            Difference(
                f"{figure.title}, {unit}" if unit and unit not in figure.title.lower() else figure.title,
                figure.format(first, system),
                figure.format(other, system),
                _change(first, other, partial(figure.format, system=system)),
                better,
            )
        )
    if changed is not None:
        of_all = f"{changed:,} of {len(base.regions):,}"
        rows.append(Difference("Initial regions in another aggregated region", "", of_all, ""))
    return rows


def _counts(what: str, first: int, other: int) -> Difference:
    return Difference(
        what, f"{first:,}", f"{other:,}", _change(first, other, lambda value: f"{value:,}")
    )


def _change(first: Value, other: Value, text: Callable[[Any], str]) -> str:
    if first is None or other is None:
        return ""
    if first == other:
        return "equal"
    sign = "+" if other > first else "−"
    percent = f" ({sign}{100 * abs((other - first) / first):.1f} %)" if first else ""
    return f"{sign}{text(abs(other - first))}{percent}"


@dataclass(frozen=True, eq=False)
class MapComparison:
    """``right_map`` has the colours of its counterparts on the left; ``changed`` is None where the regions differ."""

    left: MapScene
    right: MapScene
    right_map: SolutionGeometry
    changed: NDArray[np.bool_] | None
    rows: tuple[Difference, ...]

    def is_of(self, left: MapScene | None, right: MapScene | None) -> bool:
        """Say if it compares these two solutions."""
        return self.left is left and self.right is right


def prepare_pair(left: MapScene, right: MapScene, progress: Progress) -> MapComparison:
    """Find counterparts and differences."""
    base = left.geometry.base
    if base.regions is not right.geometry.base.regions:
        return MapComparison(left, right, right.geometry, None, ())
    progress.update("Finding counterparts")
    right_map = coloured_like(right.geometry, left.geometry)
    progress.update("Listing what differs")
    changed = changed_regions(base, left.solution, right.solution)
    rows = differences(base, left.solution, right.solution, int(changed.sum()))
    return MapComparison(left, right, right_map, changed, tuple(rows))


def make_changed_rows(comparison: MapComparison) -> tuple[list[int], list[TableColumn[int]]]:
    """Make a row for every initial region that changed: id, records, and its aggregated region on either side."""
    base = comparison.left.geometry.base

    def count_records(region: int) -> int | None:
        return None if base.records is None else int(base.records[region])

    def get_code(scene: MapScene, region: int) -> str:
        return scene.geometry.codes[int(scene.solution.membership[region])]

    columns: list[TableColumn[int]] = [
        TableColumn("region", "Initial region", base.regions.ids.__getitem__),
        TableColumn("records", "Records", count_records, side="right"),
        TableColumn("left", "Left", partial(get_code, comparison.left), side="right"),
        TableColumn("right", "Right", partial(get_code, comparison.right), side="right"),
    ]
    return [] if comparison.changed is None else np.flatnonzero(comparison.changed).tolist(), columns
