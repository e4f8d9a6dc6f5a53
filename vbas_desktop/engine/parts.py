"""A partition made part by part: within boundaries that no aggregated region crosses, every approach works by itself.

Approaches see one part at a time and need to know nothing of limits. What they make is brought to the wished sizes
after the construction and again after the refinement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.adjacency import group_neighbours, known_neighbours
from vbas_desktop.algorithms.aggregation import dense_membership
from vbas_desktop.algorithms.contiguity import bridged
from vbas_desktop.algorithms.districts import merge_small, split_large
from vbas_desktop.algorithms.places import middles
from vbas_desktop.approaches.base import Situation, Tiering
from vbas_desktop.model.errors import Finding
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import frozen
from vbas_desktop.model.tiers import FIRST_TIER, WHOLE_AREA, Tiers

from .limits import Limits, Wish

Owner = NDArray[np.int32]
Places = NDArray[np.float64] | None

_STAGE = "Keeping to the limits"


@dataclass(frozen=True, eq=False)
class Part:
    """Initial regions that may be merged with each other, the wishes for what they are merged to, and what is made of
    them with so many sites.
    """

    members: NDArray[np.intp]
    situation: Situation
    wishes: tuple[Wish, ...]
    made: dict[int, Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return int(self.members.size)


@dataclass(frozen=True, eq=False)
class Parts:
    """The whole area as parts that are solved one by one."""

    limits: Limits
    situation: Situation

    @cached_property
    def parts(self) -> list[Part]:
        """The parts in the order of the limits; what stays alone is a part of one region."""
        whole = replace(self.situation, weights=self.limits.weights, _memory={})
        groups = self.limits.groups
        if len(groups) == 1:
            return [Part(groups[0], whole, self.limits.wishes)]
        return [
            Part(
                members, whole.part(members), tuple(replace(w, amounts=w.amounts[members]) for w in self.limits.wishes)
            )
            for members in groups
        ]

    @property
    def least_sites(self) -> int:
        """How many aggregated regions there are at least."""
        return len(self.parts)

    @cached_property
    def _seats(self) -> NDArray[np.intp]:
        """The part that the next site goes to, for each site beyond the first of each part.

        The part with the most records for each of its sites comes first (highest averages, odd divisors). So the
        number of sites of a part grows with its records, and never falls when there are more sites in all.
        """
        which = np.concatenate([np.full(len(part) - 1, at) for at, part in enumerate(self.parts)])
        turn = np.concatenate([np.arange(1, len(part)) for part in self.parts])
        records = np.array([part.situation.records for part in self.parts], np.float64)
        return which[np.lexsort((which, turn, -(records[which.astype(np.intp)] / (2 * turn + 1))))].astype(np.intp)

    def sites_of_parts(self, sites: int) -> list[int]:
        """How many of the sites each part gets: one at least, no more than it has initial regions."""
        given = np.bincount(self._seats[: max(0, sites - len(self.parts))], minlength=len(self.parts))
        return [int(number) + 1 for number in given]


def tiers_within(
    limits: Limits | None, tiering: Tiering, situation: Situation, membership: NDArray[np.int32], progress: Progress
) -> Tiers | None:
    """Larger places within the boundaries, value by value; above them is the whole area alone.

    Places that a file states are taken as they are.
    """
    if limits is None or tiering.stated or len(limits.value_names) == 1:
        return tiering.arrange(situation, membership, progress)
    arranged = []
    for number in range(len(limits.value_names)):
        members = np.flatnonzero(limits.value == number)
        own, used = dense_membership(membership[members])
        found = tiering.arrange(situation.part(members), own, progress)
        if found is None:
            return None
        arranged.append((used, found))
    return _joined_tiers(arranged, limits)


def to_wishes(part: Part, owner: Owner, places: Places, progress: Progress) -> tuple[Owner, Places]:
    """Owners such that each group holds what is wished, as far as it can be had within the part.

    Groups that hold too little join their nearest neighbour, those that hold too much are cut in two while both halves
    hold enough. A group that still holds too little is all there is of its part. The site of a group that was joined to
    another goes away; a new half gets a site in its middle.
    """
    if not part.wishes or len(part) == 1:
        return owner, places
    progress.update(_STAGE)
    situation = part.situation
    points, weights = situation.points, situation.weights
    pairs, _ = situation.remember("bridged graph", lambda: bridged(known_neighbours(situation.regions), points))
    amounts = np.column_stack([wish.amounts for wish in part.wishes])
    least, most = (np.array([getattr(wish, bound) for wish in part.wishes]) for bound in ("least", "most"))
    membership, used = dense_membership(owner)
    root = merge_small(
        middles(points, membership, weights),
        np.bincount(membership, weights).astype(np.float64),
        np.column_stack([np.bincount(membership, column) for column in amounts.T]),
        least,
        most,
        group_neighbours(pairs, membership),
        progress,
        _STAGE,
    )

    def too_large(held: NDArray[np.float64]) -> int | None:
        excess = held / most
        return int(excess.argmax()) if (excess > 1).any() else None

    merged, left = dense_membership(root[membership])
    cut = split_large(points, amounts, pairs, merged, too_large, least, progress, _STAGE)
    if places is None:
        return cut, None
    idle = np.delete(np.arange(len(places)), used)
    added = middles(points, cut, weights)[left.size :]
    return cut, frozen(np.concatenate((places[used[left]], added, places[idle])))


def joined_owner(parts: Sequence[Part], owners: Sequence[Owner], counts: Sequence[int], regions: int) -> Owner:
    """The owners of all regions; ``counts`` says how many numbers each part takes."""
    owner = np.empty(regions, np.int32)
    start = 0
    for part, own, number in zip(parts, owners, counts, strict=True):
        owner[part.members] = own + start
        start += number
    return frozen(owner)


def joined_told(told: Sequence[tuple[int, Mapping[str, Any]]]) -> dict[str, Any]:
    """What approaches tell of the parts, as if of the whole; ``told`` has the regions of each part with it."""
    names = dict.fromkeys(name for _, facts in told for name in facts)
    return {name: _joined_facts([(size, facts[name]) for size, facts in told if name in facts]) for name in names}


def _joined_facts(told: Sequence[tuple[int, Mapping[str, Any]]]) -> dict[str, Any]:
    found = {}
    for key in dict.fromkeys(key for _, facts in told for key in facts):
        values = [facts[key] for _, facts in told if key in facts]
        if all(isinstance(value, bool) for value in values):
            found[key] = any(values)
        elif all(isinstance(value, int | float) for value in values):
            found[key] = _joined_number(key, values, [size for size, facts in told if key in facts])
        elif all(value == values[0] for value in values):
            found[key] = values[0]
    return found


def _joined_number(key: str, values: list[Any], sizes: list[int]) -> Any:
    """Sums, but shares are averaged by regions, and what is the smallest of something stays so."""
    if key.endswith("_percent"):
        return sum(value * size for value, size in zip(values, sizes, strict=True)) / sum(sizes)
    if key.startswith("anonymity") or key in ("cutoff", "characters"):
        return min(values)
    return values[0] if key == "obstacles" else sum(values)


def joined_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Remarks on the parts, each kind once."""
    by_code: dict[str, list[Finding]] = {}
    for each in dict.fromkeys(findings):
        by_code.setdefault(each.code, []).append(each)
    return tuple(
        found[0]
        if len(found) == 1
        else replace(found[0], message=f"{found[0].message} The like holds within {len(found) - 1:,} other boundaries.")
        for found in by_code.values()
    )


def _joined_tiers(arranged: Sequence[tuple[NDArray[np.int64], Tiers]], limits: Limits) -> Tiers:
    """One hierarchy of several: a part that reaches its top earlier waits there; the whole area is above all."""
    depth = max(len(tiers.parents) for _, tiers in arranged)
    places = sum(used.size for used, _ in arranged)
    parents, numbers = [], [used for used, _ in arranged]
    for tier in range(depth):
        parent, start, following = np.empty(places, np.int32), 0, []
        for (_, tiers), own in zip(arranged, numbers, strict=True):
            up = tiers.parents[tier] if tier < len(tiers.parents) else np.zeros(own.size, np.int32)
            count = int(up.max()) + 1
            parent[own] = up + start
            following.append(np.arange(start, start + count, dtype=np.int64))
            start += count
        parents.append(frozen(parent))
        numbers, places = following, start
    names: list[tuple[str, ...] | None] = [None] * depth + [limits.value_names]
    titles = [FIRST_TIER, *(f"larger place, tier {tier}" for tier in range(1, depth)), ", ".join(limits.within)]
    if places > 1:
        parents.append(frozen(np.zeros(places, np.int32)))
        titles.append(WHOLE_AREA)
        names.append(None)
    return Tiers(tuple(parents), tuple(titles), tuple(names))
