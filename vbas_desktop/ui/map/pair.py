"""Two prepared solutions and what differs between them, computed in a thread. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.domain.progress import Progress

from .differences import Difference, changed_regions, differences
from .geometry import MapGeometry, coloured_like
from .shown import Shown


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
