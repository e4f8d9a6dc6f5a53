"""Simulated annealing of a partition, so that fewer records are to be suppressed: boundaries moved, or sites.

`move_boundaries` gives single initial regions to the group of a neighbour; `move_sites` moves sites, and regions stay
Voronoi. Both begin hot, cool down, and keep the best state that was met.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vbas_desktop.model.progress import NO_PROGRESS, Cancelled, Progress

from .kernels import annealing as kernels
from .kernels.annealing import (
    AnnealingBounds,
    SiteSearch,
    prepare_region_moves,
    prepare_site_moves,
    squares_limit,
    typical_change,
)
from .kernels.partition_state import Floats, Indices, PartitionState, Total, measure_bits, recentre
from .kernels.spatial_index import block_boxes, sites_in_blocks, spatial_order

_EPOCHS = 200
_COOL_EPOCHS = 10
"""Temperatures, one after the other; at the last ones nothing that raises the costs is taken."""

_COOLED = 1 / 30
"""The last temperature above zero, as a share of the first."""


@dataclass(frozen=True, eq=False)
class AnnealingResult:
    """The best partition of a search, and how it compares with the start.

    owner: group of each region. centres: float64 (groups, 2). suppressed, suppressed_before: records, at the end and
    at the start. stopped: the user ended the search.
    """

    owner: Indices
    centres: Floats
    suppressed_before: int
    suppressed: int
    moves: int
    tries: int
    stopped: bool


class BestState:
    """The best state so far: first within the guard, then not above the start's S, then of lowest costs.

    If the number of groups may change: not above the allowed S, then of most groups, then of lowest costs.
    """

    def __init__(self, partition: PartitionState, limits: AnnealingBounds) -> None:
        self._limits = limits
        self._start = int(partition.totals[Total.SUPPRESSED])
        self._rank = (np.inf,) * 6
        self.keep_if_better(partition)

    def keep_if_better(self, partition: PartitionState) -> None:
        """Copy the state if it is better than all before."""
        suppressed = int(partition.totals[Total.SUPPRESSED])
        distance = float(partition.distance[0])
        # The plain function: compiling it for this one call would take longer than all others.
        squares = squares_limit.py_func(partition, self._limits)
        too_large = max(0.0, int(partition.totals[Total.SQUARES]) - squares)
        too_far = max(0.0, distance - self._limits.distance)
        too_lossy = max(0.0, float(partition.bits[0]) - self._limits.bits)
        too_many = float(suppressed > self._start)
        fewer = 0
        if self._limits.most:
            too_many = max(0.0, suppressed - self._limits.allowed)
            fewer = -int(partition.totals[Total.GROUPS])
        costs = suppressed + self._limits.price * distance
        rank = (too_large, too_far, too_lossy, too_many, fewer, costs)
        if rank < self._rank:
            self._rank = rank
            self.suppressed = suppressed
            self.owner = partition.owner.copy()
            self.centres = partition.centres.copy()

    def build_result(self, moves: int, tries: int, stopped: bool) -> AnnealingResult:
        """Build the result from the best state."""
        return AnnealingResult(
            self.owner, self.centres, self._start, self.suppressed, moves, tries, stopped
        )


def schedule_temperatures(hot: float, tries: int) -> Iterator[tuple[float, int]]:
    """Yield the temperatures from the first one down to zero, each with the number of tries after which it ends."""
    warm = _EPOCHS - _COOL_EPOCHS
    for epoch in range(_EPOCHS):
        temperature = hot * _COOLED ** (epoch / warm) if epoch < warm else 0.0
        yield temperature, tries * (epoch + 1) // _EPOCHS


_SLICE = 20_000_000
"""Steps of work (about a nanosecond each) between two looks at progress."""

_SAMPLE = 4000
"""Moves that are looked at to find the first temperature."""

_REORDERED = 4
"""Temperatures after which the blocks of sites are made anew."""


@dataclass(frozen=True)
class AnnealingOptions:
    """Length of a search, its random seed, and the weight of distances.

    tries: moves that are drawn. weight: what doubling the distances would cost, as a multiple of the start's S.
    """

    tries: int
    seed: int
    weight: float


@dataclass(frozen=True)
class BoundaryGuard:
    """Limits that moved boundaries keep; a start above them may only come down.

    squares: sum of the squared populations. distance: sum of the distances to the centres. bits: estimated entropy.
    """

    squares: int
    distance: float
    bits: float = np.inf


@dataclass(frozen=True)
class SiteGuard:
    """Limits that moved sites keep, as multiples of what the start has.

    longer: of the sum of the distances. lossier: of the estimated entropy. larger: of the sum of the squared
    populations. leaving: sites may come to attract nothing, as many as these limits allow. change: bounds within which
    the number of groups may change.
    """

    longer: float
    lossier: float
    larger: float = 1.0
    leaving: bool = False
    change: SiteCountBounds | None = None


class SiteCountBounds(NamedTuple):
    """Fewest and most groups that the search may reach, and the largest S at which new ones may come."""

    fewest: int
    most: int
    allowed: int


def move_boundaries(
    partition: PartitionState,
    options: AnnealingOptions,
    guard: BoundaryGuard,
    progress: Progress = NO_PROGRESS,
) -> AnnealingResult:
    """Anneal the boundaries of a contiguous partition; a stop returns the best state so far.

    O(tries · counts of a region).
    """
    tries = options.tries
    totals = partition.totals
    start = int(partition.totals[Total.SUPPRESSED])
    price = options.weight * start / partition.distance[0] if partition.distance[0] > 0 else 0.0
    draws = np.array([options.seed], np.uint64)
    limits = AnnealingBounds(guard.squares, guard.distance, guard.bits, float(price))
    best = BestState(partition, limits)
    done = 0
    stopped = False
    prepare_region_moves(partition, limits, draws, progress)
    hot = typical_change(partition, draws, _SAMPLE) if start else 0.0
    try:
        for temperature, end in schedule_temperatures(hot, tries) if start else ():
            limits = limits._replace(temperature=temperature)
            while done < end:
                left = f"{totals[Total.SUPPRESSED]:,} records to be suppressed, {start:,} at the start"
                stage = f"Moving boundaries: {left}"
                progress.update(stage, done / tries)
                done += kernels.move_regions(partition, limits, draws, end - done, _SLICE)
            recentre(partition)
            measure_bits(partition)
            best.keep_if_better(partition)
    except Cancelled:
        stopped = True
    return best.build_result(int(totals[Total.MOVES]), done, stopped)


def move_sites(
    partition: PartitionState,
    options: AnnealingOptions,
    guard: SiteGuard,
    progress: Progress = NO_PROGRESS,
) -> AnnealingResult:
    """Anneal the positions of the sites, from a partition in which each region belongs to its nearest site.

    No site comes to attract nothing, unless the guard allows it. A stop returns the best state so far.
    O(tries · (points / 16 + counts moved)).
    """
    tries = options.tries
    change = guard.change
    search = _build_site_search(partition)
    totals = partition.totals
    distance = float(partition.distance[0])
    start = int(totals[Total.SUPPRESSED])
    groups = int(totals[Total.GROUPS])
    price = options.weight * start / distance if distance > 0 else 0.0
    squares = math.floor(int(totals[Total.SQUARES]) * guard.larger)
    bits = float(partition.bits[0]) * guard.lossier
    limits = AnnealingBounds(squares, distance * guard.longer, bits, price, leaving=guard.leaving)
    if change is not None:
        limits = limits._replace(groups=groups, **change._asdict())
    best = BestState(partition, limits)
    draws = np.array([options.seed], np.uint64)
    done = 0
    stopped = False
    prepare_site_moves(partition, search, limits, draws, progress)
    hot = typical_change(partition, draws, _SAMPLE) if start or change else 0.0
    try:
        for epoch, (temperature, end) in enumerate(
            schedule_temperatures(hot, tries) if hot > 0 or change else ()
        ):
            limits = limits._replace(temperature=temperature)
            if epoch % _REORDERED == _REORDERED - 1:
                search = _rebuild_site_blocks(search, partition.centres)
            while done < end:
                progress.update(_describe_progress(partition, start, change), done / tries)
                done += kernels.move_sites(partition, search, limits, draws, end - done, _SLICE)
            measure_bits(partition)
            best.keep_if_better(partition)
    except Cancelled:
        stopped = True
    return best.build_result(int(totals[Total.MOVES]), done, stopped)


def _describe_progress(partition: PartitionState, start: int, change: SiteCountBounds | None) -> str:
    number = f", {partition.totals[Total.GROUPS]:,} regions" if change else ""
    now = f"{partition.totals[Total.SUPPRESSED]:,} records to be suppressed"
    return f"Moving sites: {now}, {start:,} at the start{number}"


def _build_site_search(partition: PartitionState) -> SiteSearch:
    points = partition.points
    sites = partition.centres
    regions = len(partition.points)
    order = spatial_order(points)
    position = np.empty(regions, np.int64)
    position[order] = np.arange(regions)
    in_blocks, site_boxes = sites_in_blocks(sites)
    away = points - sites[partition.owner]
    search = SiteSearch(
        sites=in_blocks,
        site_boxes=site_boxes,
        boxes=block_boxes(points[order]),
        region=order,
        position=position,
        away=away[:, 0] * away[:, 0] + away[:, 1] * away[:, 1],
        touched=np.zeros(regions, np.int64),
        origin=np.zeros(regions, np.int64),
        heir=np.zeros(regions, np.int64),
        fresh=np.zeros(regions),
        aside=find_remote_point(points),
    )
    kernels.measure_blocks(search)
    return search


def _rebuild_site_blocks(search: SiteSearch, sites: Floats) -> SiteSearch:
    """Rebuild the blocks of sites from where these are now: sites that went far had made their boxes large.

    What is found is the same; it is found sooner.
    """
    in_blocks, site_boxes = sites_in_blocks(sites)
    return search._replace(sites=in_blocks, site_boxes=site_boxes)


def find_remote_point(points: Floats) -> Floats:
    """Return a position that is farther from every point than the points are from each other."""
    low = points.min(axis=0)
    high = points.max(axis=0)
    return np.asarray(high + 4 * (high - low).max() + 1.0)
