"""Partitions built zone by zone: no aggregated region crosses the boundary of a constraint zone.

Approaches see one zone at a time and need to know nothing of constraints. Size targets are met after the construction
and again after the refinement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.aggregation import dense_membership
from vbas_desktop.algorithms.nearest_site import weighted_centroids
from vbas_desktop.algorithms.region_graph import bridge_islands, contract_graph, region_neighbours
from vbas_desktop.algorithms.regionalisation import merge_undersized, split_oversized
from vbas_desktop.approaches.interface import Context, TierApproach
from vbas_desktop.model.findings import Finding
from vbas_desktop.model.progress import Progress, SubProgress
from vbas_desktop.model.records import as_readonly
from vbas_desktop.model.solution import UnrefinedPartition
from vbas_desktop.model.tiers import FIRST_TIER, WHOLE_AREA, Tiers

from .constraints import ResolvedConstraints, SizeTarget
from .outcome import RegionPartition

Owner = NDArray[np.int32]
Sites = NDArray[np.float64] | None

_STAGE = "Keeping to the limits"


@dataclass(frozen=True, eq=False)
class Zone:
    """Initial regions that may be merged with each other, and the size targets of what they are merged to.

    members: their positions in the region file. partitions: those that were built, by number of sites.
    """

    members: NDArray[np.intp]
    context: Context
    size_targets: tuple[SizeTarget, ...]
    partitions: dict[int, RegionPartition] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return int(self.members.size)


@dataclass(frozen=True, eq=False)
class Zones:
    """The whole area as zones that are solved one by one."""

    constraints: ResolvedConstraints
    context: Context

    @cached_property
    def zones(self) -> list[Zone]:
        """List the zones in the order of the constraints; a region that stays alone is a zone of one."""
        whole = replace(self.context, weights=self.constraints.weights, _memory={})
        groups = self.constraints.groups
        targets = self.constraints.size_targets
        if len(groups) == 1:
            return [Zone(groups[0], whole, targets)]
        zones = []
        for members in groups:
            own_targets = tuple(replace(target, amounts=target.amounts[members]) for target in targets)
            zones.append(Zone(members, whole.subset(members), own_targets))
        return zones

    @property
    def least_sites(self) -> int:
        """Return the smallest possible number of aggregated regions: one per zone."""
        return len(self.zones)

    @cached_property
    def _zones_of_further_sites(self) -> NDArray[np.intp]:
        """Compute the zone that each site beyond the first of every zone goes to.

        The zone with the most records for each of its sites comes first (highest averages, odd divisors). So the
        number of sites of a zone grows with its records, and never falls when there are more sites in all.
        """
        zone = np.concatenate([np.full(len(zone) - 1, number) for number, zone in enumerate(self.zones)])
        turn = np.concatenate([np.arange(1, len(zone)) for zone in self.zones])
        records = np.array([zone.context.records for zone in self.zones], np.float64)
        averages = records[zone.astype(np.intp)] / (2 * turn + 1)
        return zone[np.lexsort((zone, turn, -averages))].astype(np.intp)

    def apportion_sites(self, sites: int) -> list[int]:
        """Apportion sites to zones: at least one each, at most as many as it has initial regions."""
        n_further = max(0, sites - len(self.zones))
        further = np.bincount(self._zones_of_further_sites[:n_further], minlength=len(self.zones))
        return [int(number) + 1 for number in further]


def build_tiers_within(
    constraints: ResolvedConstraints | None,
    approach: TierApproach,
    context: Context,
    membership: NDArray[np.int32],
    progress: Progress,
) -> Tiers | None:
    """Build tiers within each boundary; above them is the whole area alone.

    Areas that a file states are taken as they are.
    """
    if constraints is None or approach.stated or len(constraints.value_names) == 1:
        return approach.build_tiers(context, membership, progress)
    tiers_by_boundary = []
    for number in range(len(constraints.value_names)):
        members = np.flatnonzero(constraints.value == number)
        own, used = dense_membership(membership[members])
        tiers = approach.build_tiers(context.subset(members), own, progress)
        if tiers is None:
            return None
        tiers_by_boundary.append((used, tiers))
    return _join_tiers(tiers_by_boundary, constraints)


def meet_size_targets(zone: Zone, partition: RegionPartition, progress: Progress) -> RegionPartition:
    """Merge and split the aggregated regions of a zone until they meet its size targets, as far as it allows.

    Groups that hold too little join their nearest neighbour, those that hold too much are cut in two while both halves
    hold enough. A group that still holds too little is all there is of its part. The site of a group that was joined to
    another goes away; a new half gets a site in its middle. The unrefined partition is dropped if regions change.
    """
    if not zone.size_targets or len(zone) == 1:
        return partition
    progress = SubProgress(progress, stage=_STAGE)
    progress.update(_STAGE)
    owner, sites = _meet_size_targets(zone, partition.owner, partition.sites, progress)
    if np.array_equal(dense_membership(owner)[0], dense_membership(partition.owner)[0]):
        return partition
    return replace(partition, owner=as_readonly(owner), sites=sites, unrefined=None)


def _meet_size_targets(
    zone: Zone, owner: Owner, sites: Sites, progress: Progress
) -> tuple[Owner, Sites]:
    context = zone.context
    points = context.points
    weights = context.weights
    pairs, _ = context.cached(
        "bridged graph", lambda: bridge_islands(region_neighbours(context.regions), points)
    )
    amounts = np.column_stack([target.amounts for target in zone.size_targets])
    least = np.array([target.least for target in zone.size_targets])
    most = np.array([target.most for target in zone.size_targets])
    membership, used = dense_membership(owner)
    root = merge_undersized(
        weighted_centroids(points, membership, weights),
        np.bincount(membership, weights).astype(np.float64),
        np.column_stack([np.bincount(membership, column) for column in amounts.T]),
        least,
        most,
        contract_graph(pairs, membership),
        progress,
    )

    def too_large(held: NDArray[np.float64]) -> int | None:
        excess = held / most
        return int(excess.argmax()) if (excess > 1).any() else None

    merged, left = dense_membership(root[membership])
    cut = split_oversized(points, amounts, pairs, merged, too_large, least, progress)
    if sites is None:
        return cut, None
    idle = np.delete(np.arange(len(sites)), used)
    added = weighted_centroids(points, cut, weights)[left.size :]
    return cut, as_readonly(np.concatenate((sites[used[left]], added, sites[idle])))


def join_partitions(
    zones: Sequence[Zone], partitions: Sequence[RegionPartition], n_regions: int
) -> RegionPartition:
    """Combine the partitions of the zones into one of all regions."""
    whole = _join_owners_and_sites(
        zones,
        [UnrefinedPartition(partition.owner, partition.sites) for partition in partitions],
        n_regions,
    )
    unrefined = None
    if any(partition.unrefined is not None for partition in partitions):
        unrefined = _join_owners_and_sites(
            zones,
            [
                partition.unrefined or UnrefinedPartition(partition.owner, partition.sites)
                for partition in partitions
            ],
            n_regions,
        )
    detoured = None
    if any(partition.detoured is not None for partition in partitions):
        detoured = np.zeros(n_regions, np.bool_)
        for zone, partition in zip(zones, partitions, strict=True):
            detoured[zone.members] = False if partition.detoured is None else partition.detoured
    return RegionPartition(
        whole.sites,
        whole.owner,
        _join_diagnostics(
            [
                (len(zone), partition.diagnostics)
                for zone, partition in zip(zones, partitions, strict=True)
            ]
        ),
        _join_findings(finding for partition in partitions for finding in partition.findings),
        unrefined=unrefined,
        stopped=any(partition.stopped for partition in partitions),
        detoured=detoured,
        zone_sites=tuple(
            len(partition.sites) for partition in partitions if partition.sites is not None
        ),
    )


def _join_owners_and_sites(
    zones: Sequence[Zone], partitions: Sequence[UnrefinedPartition], n_regions: int
) -> UnrefinedPartition:
    """Number the owners of all zones consecutively, and put their sites in the same order."""
    owner = np.empty(n_regions, np.int32)
    start = 0
    for zone, partition in zip(zones, partitions, strict=True):
        owner[zone.members] = partition.owner + start
        start += int(partition.owner.max()) + 1 if partition.sites is None else len(partition.sites)
    sites = [partition.sites for partition in partitions if partition.sites is not None]
    return UnrefinedPartition(as_readonly(owner), as_readonly(np.concatenate(sites)) if sites else None)


Diagnostics = Mapping[str, Any]


def _join_diagnostics(diagnostics: Sequence[tuple[int, Diagnostics]]) -> dict[str, Any]:
    """Combine the diagnostics of the zones, each given with its number of regions."""
    names = dict.fromkeys(name for _, facts in diagnostics for name in facts)
    return {
        name: _join_facts([(size, facts[name]) for size, facts in diagnostics if name in facts])
        for name in names
    }


def _join_facts(facts_by_zone: Sequence[tuple[int, Diagnostics]]) -> dict[str, Any]:
    joined: dict[str, Any] = {}
    for key in dict.fromkeys(key for _, facts in facts_by_zone for key in facts):
        values = [facts[key] for _, facts in facts_by_zone if key in facts]
        if all(isinstance(value, bool) for value in values):
            joined[key] = any(values)
        elif all(isinstance(value, int | float) for value in values):
            joined[key] = _join_numbers(
                key, values, [size for size, facts in facts_by_zone if key in facts]
            )
        elif all(value == values[0] for value in values):
            joined[key] = values[0]
    return joined


def _join_numbers(key: str, values: list[Any], sizes: list[int]) -> Any:
    """Sum up the values; average shares by regions, and keep the least of what is the smallest of something."""
    if key.endswith("_percent"):
        return sum(value * size for value, size in zip(values, sizes, strict=True)) / sum(sizes)
    if key.startswith("anonymity") or key in ("cutoff", "characters"):
        return min(values)
    return values[0] if key == "obstacles" else sum(values)


def _join_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Combine findings on the zones, one per code."""
    by_code: dict[str, list[Finding]] = {}
    for finding in dict.fromkeys(findings):
        by_code.setdefault(finding.code, []).append(finding)
    joined = []
    for first, *others in by_code.values():
        if others:
            more = f"The like holds within {len(others):,} other boundaries."
            first = replace(first, message=f"{first.message} {more}")
        joined.append(first)
    return tuple(joined)


def _join_tiers(
    tiers_by_boundary: Sequence[tuple[NDArray[np.int64], Tiers]], constraints: ResolvedConstraints
) -> Tiers:
    """Combine the tiers of the zones; one with fewer tiers repeats its top below the whole area."""
    depth = max(len(tiers.parents) for _, tiers in tiers_by_boundary)
    n_areas = sum(used.size for used, _ in tiers_by_boundary)
    parents = []
    numbers = [used for used, _ in tiers_by_boundary]
    for tier in range(depth):
        parent = np.empty(n_areas, np.int32)
        start = 0
        following = []
        for (_, tiers), own in zip(tiers_by_boundary, numbers, strict=True):
            up = tiers.parents[tier] if tier < len(tiers.parents) else np.zeros(own.size, np.int32)
            count = int(up.max()) + 1
            parent[own] = up + start
            following.append(np.arange(start, start + count, dtype=np.int64))
            start += count
        parents.append(as_readonly(parent))
        numbers = following
        n_areas = start
    names: list[tuple[str, ...] | None] = [None] * depth + [constraints.value_names]
    titles = [
        FIRST_TIER,
        *(f"larger area, tier {tier}" for tier in range(1, depth)),
        ", ".join(constraints.within),
    ]
    if n_areas > 1:
        parents.append(as_readonly(np.zeros(n_areas, np.int32)))
        titles.append(WHOLE_AREA)
        names.append(None)
    return Tiers(tuple(parents), tuple(titles), tuple(names))
