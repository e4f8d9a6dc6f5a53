"""Tiers of nested larger areas above the aggregated regions, and the columns of ``crosswalk.csv``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .records import as_readonly

NOT_RELEASED = 255
"""The tier of a class that is not released."""

FIRST_TIER = "aggregated region"
WHOLE_AREA = "whole area"
"""Names for an area of the first and of the last tier."""


@dataclass(frozen=True, eq=False)
class Tiers:
    """A hierarchy of areas. The areas of tier 0 are the aggregated regions; the last tier is the whole area.

    ``parents[t][p]`` is the area of tier t + 1 that area p of tier t lies in. ``titles`` says what the areas of each
    tier are called, ``names`` how each of them is called where they have names. ``assigned[t]`` areas of tier t lay
    in several areas of tier t + 1 and were given to the one with most of their initial regions.
    """

    parents: tuple[NDArray[np.int32], ...]
    titles: tuple[str, ...]
    names: tuple[tuple[str, ...] | None, ...]
    assigned: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.parents) + 1

    @cached_property
    def n_areas(self) -> tuple[int, ...]:
        """Return the number of areas of each tier."""
        return (*(parent.size for parent in self.parents), 1)

    def memberships(self, membership: NDArray[np.int32]) -> Iterator[NDArray[np.int32]]:
        """Yield the area of each initial region in tier 0 (``membership``), in tier 1, and so on."""
        yield membership
        for parent in self.parents:
            membership = parent[membership]
            yield membership

    @cached_property
    def ancestors(self) -> tuple[NDArray[np.int32], ...]:
        """Return for each tier the area in which each area of tier 0 lies."""
        first = as_readonly(np.arange(self.n_areas[0], dtype=np.int32))
        return tuple(as_readonly(np.ascontiguousarray(areas)) for areas in self.memberships(first))


CROSSWALK = ("initial_region", "aggregated_region")
NAME = "name"
"""The column with the readable name of the aggregated region, if there are names."""


def code_columns(header: Sequence[str]) -> int:
    """Count the columns from the left that hold the id and codes: all but a name."""
    return len(header) - int(len(header) > len(CROSSWALK) and header[-1] == NAME)
