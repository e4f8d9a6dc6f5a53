"""Places of several sizes, one inside the other: what a record is released with if its own place is too small."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .records import frozen

NOWHERE = 255
"""The tier of what is released in no place at all."""

FIRST_TIER = "aggregated region"
WHOLE_AREA = "whole area"
"""What the places of the first and of the last tier are called."""


@dataclass(frozen=True, eq=False)
class Tiers:
    """A hierarchy of places. The places of tier 0 are the aggregated regions; the last tier is the whole area.

    ``parents[t][p]`` is the place of tier t + 1 that place p of tier t lies in. ``titles`` says what the places of each
    tier are called, ``names`` how each of them is called where they have names. ``assigned[t]`` places of tier t lay
    in several places of tier t + 1 and were given to the one with most of their initial regions.
    """

    parents: tuple[NDArray[np.int32], ...]
    titles: tuple[str, ...]
    names: tuple[tuple[str, ...] | None, ...]
    assigned: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.parents) + 1

    @cached_property
    def places(self) -> tuple[int, ...]:
        """How many places each tier has."""
        return (*(parent.size for parent in self.parents), 1)

    def memberships(self, membership: NDArray[np.int32]) -> Iterator[NDArray[np.int32]]:
        """The place of each initial region in tier 0 (``membership``), in tier 1, and so on."""
        yield membership
        for parent in self.parents:
            membership = parent[membership]
            yield membership

    @cached_property
    def ancestors(self) -> tuple[NDArray[np.int32], ...]:
        """The place of each tier that each place of tier 0 lies in."""
        first = frozen(np.arange(self.places[0], dtype=np.int32))
        return tuple(frozen(np.ascontiguousarray(each)) for each in self.memberships(first))
