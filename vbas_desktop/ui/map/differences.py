"""What differs between two prepared solutions: as rows of words, and region by region, computed in a thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt

from vbas_desktop.algorithms.matching import changed_owner
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.solution import Solution
from vbas_desktop.ui.numbers import SECONDS, Value, measure_names, measure_of, measure_words, unit_of, value_text
from vbas_desktop.ui.panel.results_columns import approach_of
from vbas_desktop.ui.widgets.tables import Heading, TableModel

from .geometry import BaseGeometry, MapGeometry, coloured_like
from .shown import Shown

_HEADINGS = (Heading("Initial region"), *(Heading(title, side="right") for title in ("Records", "Left", "Right")))
REGION_ROLE = Qt.ItemDataRole.UserRole
"""The place of the row's region in the region file."""

_COMPONENTS = {
    "site_number": "Number of sites",
    "site_location": "Locations",
    "construction": "Construction",
    "refinement": "Refinement",
    "tiers": "Tiers",
}


@dataclass(frozen=True)
class Difference:
    """One line of the comparison; ``better`` is −1 if the left one is better, 1 if the right one, 0 if neither."""

    what: str
    left: str
    right: str
    change: str
    better: int = 0


def changed_regions(base: BaseGeometry, left: Solution, right: Solution) -> NDArray[np.bool_]:
    """The initial regions that are in another aggregated region than the counterpart of theirs."""
    return changed_owner(left.membership, right.membership, base.records)


def differences(base: BaseGeometry, left: Solution, right: Solution, changed: int) -> list[Difference]:
    """Numbers and measures side by side."""
    rows = [
        *(
            Difference(title, here or "–", there or "–", "")
            for component, title in _COMPONENTS.items()
            if (here := approach_of(left, component)) != (there := approach_of(right, component))
        ),
        _counts("Sites", left.site_count, right.site_count),
        _counts("Aggregated regions", left.aggregated_regions, right.aggregated_regions),
    ]
    both = (left.measures, right.measures)
    system = base.regions.system
    for name in measure_names([list(measures) for measures in both]):
        words = measure_words(name)
        unit = unit_of(words, system)
        one, other = measure_of(left, name), measure_of(right, name)
        better = 0 if one is None or other is None or one == other or name == SECONDS else (-1 if one < other else 1)
        rows.append(
            Difference(
                f"{words.title}, {unit}" if unit and unit not in words.title.lower() else words.title,
                value_text(words, one, system),
                value_text(words, other, system),
                _change(one, other, partial(value_text, words, system=system)),
                better,
            )
        )
    rows.append(
        Difference("Initial regions in another aggregated region", "", f"{changed:,} of {len(base.regions):,}", "")
    )
    return rows


def _counts(what: str, one: int, other: int) -> Difference:
    return Difference(what, f"{one:,}", f"{other:,}", _change(one, other, lambda value: f"{value:,}"))


def _change(one: Value, other: Value, text: Callable[[Any], str]) -> str:
    if one is None or other is None:
        return ""
    if one == other:
        return "equal"
    sign = "+" if other > one else "−"
    percent = f" ({sign}{100 * abs((other - one) / one):.1f} %)" if one else ""
    return f"{sign}{text(abs(other - one))}{percent}"


@dataclass(frozen=True, eq=False)
class Pair:
    """``right_map`` has the colours of its counterparts on the left; ``changed`` is None where the regions differ."""

    left: Shown
    right: Shown
    right_map: MapGeometry
    changed: NDArray[np.bool_] | None
    rows: tuple[Difference, ...]

    def is_of(self, left: Shown | None, right: Shown | None) -> bool:
        """Whether it is made of these two."""
        return self.left is left and self.right is right


def prepare_pair(left: Shown, right: Shown, progress: Progress) -> Pair:
    """Find counterparts and differences."""
    base = left.geometry.base
    if base.regions is not right.geometry.base.regions:
        return Pair(left, right, right.geometry, None, ())
    progress.update("Finding counterparts")
    right_map = coloured_like(right.geometry, left.geometry)
    progress.update("Listing what differs")
    changed = changed_regions(base, left.solution, right.solution)
    rows = differences(base, left.solution, right.solution, int(changed.sum()))
    return Pair(left, right, right_map, changed, tuple(rows))


class ChangedModel(TableModel):
    """Id, records, and the code of the aggregated region on either side of every initial region that changed.

    Makes texts when a row is seen: there may be tens of thousands.
    """

    heads = _HEADINGS

    def __init__(self) -> None:
        super().__init__()
        self._pair: Pair | None = None

    def show_pair(self, pair: Pair | None) -> None:
        """List another comparison."""
        with self.anew():
            self._pair = pair
            self.rows = () if pair is None or pair.changed is None else np.flatnonzero(pair.changed).tolist()

    def text(self, row: int, column: int) -> str:
        """What a cell shows."""
        assert self._pair is not None
        pair, region = self._pair, self.rows[row]
        base = pair.left.geometry.base
        if column == 0:
            return base.regions.ids[region]
        if column == 1:
            return "" if base.records is None else f"{int(base.records[region]):,}"
        shown = pair.left if column == 2 else pair.right
        return shown.geometry.codes[int(shown.solution.membership[region])]

    def more(self, row: int, column: int, role: int) -> Any:
        """The region."""
        return self.rows[row] if role == REGION_ROLE else None
