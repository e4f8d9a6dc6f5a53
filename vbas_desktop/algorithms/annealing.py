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

from vbas_desktop.model.progress import SILENT, Cancelled, Progress

from .kernels import annealing as kernels
from .kernels.annealing import Limits, Places, squares_limit, typical_change
from .kernels.partition_state import (
    Floats,
    Indices,
    Partition,
    Total,
    measure_bits,
    recentre,
)
from .kernels.preparation import prepare
from .kernels.spatial_index import block_boxes, sites_in_blocks, spatial_order

_EPOCHS = 200
_COOL_EPOCHS = 10
"""Temperatures, one after the other; at the last ones nothing that raises the costs is taken."""

_COOLED = 1 / 30
"""The last temperature above zero, as a share of the first."""


@dataclass(frozen=True, eq=False)
class Refining:
    """The best partition that was met, and how it compares with the start."""

    owner: Indices
    centres: Floats
    suppressed_before: int
    suppressed: int
    moves: int
    tries: int
    stopped: bool


class Best:
    """The best state that was met: first within the guard, then not above the start's S, then of lowest costs.

    If the number of groups may change: not above the allowed S, then of most groups, then of lowest costs.
    """

    def __init__(self, partition: Partition, limits: Limits) -> None:
        self._limits = limits
        self._start = int(partition.totals[Total.SUPPRESSED])
        self._rank = (np.inf,) * 6
        self.look_at(partition)

    def look_at(self, partition: Partition) -> None:
        """Keep the state if it is better than all before."""
        suppressed, distance = int(partition.totals[Total.SUPPRESSED]), float(partition.distance[0])
        # The plain function: compiling it for this one call would take longer than all others.
        squares = squares_limit.py_func(partition, self._limits)
        too_large = max(0.0, int(partition.totals[Total.SQUARES]) - squares)
        too_far = max(0.0, distance - self._limits.distance)
        too_lossy = max(0.0, float(partition.bits[0]) - self._limits.bits)
        too_many, fewer = float(suppressed > self._start), 0
        if self._limits.most:
            too_many, fewer = max(0.0, suppressed - self._limits.allowed), -int(partition.totals[Total.GROUPS])
        costs = suppressed + self._limits.price * distance
        rank = (too_large, too_far, too_lossy, too_many, fewer, costs)
        if rank < self._rank:
            self._rank, self.suppressed = rank, suppressed
            self.owner, self.centres = partition.owner.copy(), partition.centres.copy()

    def refining(self, moves: int, tries: int, stopped: bool) -> Refining:
        """The result, with how it was come by."""
        return Refining(self.owner, self.centres, self._start, self.suppressed, moves, tries, stopped)


def temperatures(hot: float, tries: int) -> Iterator[tuple[float, int]]:
    """The temperatures from the first one down to zero, each with the number of tries after which it ends."""
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


class Change(NamedTuple):
    """Within which numbers of groups the search may remain, and the S up to which new ones may come."""

    fewest: int
    most: int
    allowed: int


def move_boundaries(
    partition: Partition,
    tries: int,
    seed: int,
    weight: float,
    squares: int,
    distance: float,
    bits: float = np.inf,
    progress: Progress = SILENT,
) -> Refining:
    """Anneal from a contiguous partition; a stop gives what was best until then.

    ``tries`` moves are drawn; ``squares``, ``distance`` and ``bits`` are the limits of the guard (a start above them
    may only come down); ``weight`` is what doubling the distances would cost, in terms of the start's S.
    O(tries · counts of a region).
    """
    totals, start = partition.totals, int(partition.totals[Total.SUPPRESSED])
    price = weight * start / partition.distance[0] if partition.distance[0] > 0 else 0.0
    draws, limits = np.array([seed], np.uint64), Limits(squares, distance, bits, float(price))
    best, done, stopped = Best(partition, limits), 0, False
    prepare(progress, typical_change, partition, draws, _SAMPLE)
    prepare(progress, kernels.move_regions, partition, limits, draws, tries, _SLICE)
    hot = typical_change(partition, draws, _SAMPLE) if start else 0.0
    try:
        for temperature, end in temperatures(hot, tries) if start else ():
            limits = limits._replace(temperature=temperature)
            while done < end:
                told = (
                    f"Moving boundaries: {totals[Total.SUPPRESSED]:,} records to be suppressed, {start:,} at the start"
                )
                progress.update(told, done / tries)
                done += kernels.move_regions(partition, limits, draws, end - done, _SLICE)
            recentre(partition)
            measure_bits(partition)
            best.look_at(partition)
    except Cancelled:
        stopped = True
    return best.refining(int(totals[Total.MOVES]), done, stopped)


def move_sites(
    partition: Partition,
    tries: int,
    seed: int,
    weight: float,
    longer: float,
    lossier: float,
    change: Change | None = None,
    progress: Progress = SILENT,
    larger: float = 1.0,
    leaving: bool = False,
) -> Refining:
    """Anneal the places of the sites, from a partition in which each region belongs to its nearest site.

    The sum of the squared populations must not rise above ``larger`` times the start's, nor the sum of the distances
    above ``longer`` times, nor the estimated entropy above ``lossier`` times. No site comes to attract nothing, unless
    the number of groups may ``change``, or sites may be ``leaving``: then as many go as the limits allow. ``weight`` as
    in `move_boundaries`. A stop gives what was best until then.
    O(tries · (points / 16 + counts moved)).
    """
    places, totals, distance = _places(partition), partition.totals, float(partition.distance[0])
    start, groups = int(totals[Total.SUPPRESSED]), int(totals[Total.GROUPS])
    price = weight * start / distance if distance > 0 else 0.0
    squares, bits = math.floor(int(totals[Total.SQUARES]) * larger), float(partition.bits[0]) * lossier
    limits = Limits(squares, distance * longer, bits, price, leaving=leaving)
    if change is not None:
        limits = limits._replace(groups=groups, **change._asdict())
    best, draws, done, stopped = Best(partition, limits), np.array([seed], np.uint64), 0, False
    prepare(progress, typical_change, partition, draws, _SAMPLE)
    prepare(progress, kernels.move_sites, partition, places, limits, draws, tries, _SLICE)
    hot = typical_change(partition, draws, _SAMPLE) if start or change else 0.0
    try:
        for epoch, (temperature, end) in enumerate(temperatures(hot, tries) if hot > 0 or change else ()):
            limits = limits._replace(temperature=temperature)
            if epoch % _REORDERED == _REORDERED - 1:
                places = _reordered(places, partition.centres)
            while done < end:
                progress.update(_told(partition, start, change), done / tries)
                done += kernels.move_sites(partition, places, limits, draws, end - done, _SLICE)
            measure_bits(partition)
            best.look_at(partition)
    except Cancelled:
        stopped = True
    return best.refining(int(totals[Total.MOVES]), done, stopped)


def _told(partition: Partition, start: int, change: Change | None) -> str:
    number = f", {partition.totals[Total.GROUPS]:,} regions" if change else ""
    now = f"{partition.totals[Total.SUPPRESSED]:,} records to be suppressed"
    return f"Moving sites: {now}, {start:,} at the start{number}"


def _places(partition: Partition) -> Places:
    points, sites, regions = partition.points, partition.centres, len(partition.points)
    order = spatial_order(points)
    position = np.empty(regions, np.int64)
    position[order] = np.arange(regions)
    in_blocks, site_boxes = sites_in_blocks(sites)
    away = points - sites[partition.owner]
    places = Places(
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
        aside=idle_place(points),
    )
    kernels.measure_blocks(places)
    return places


def _reordered(places: Places, sites: Floats) -> Places:
    """Blocks of sites that are near each other now: those who went far, or aside, had made their boxes large.

    What is found is the same; it is found sooner.
    """
    in_blocks, site_boxes = sites_in_blocks(sites)
    return places._replace(sites=in_blocks, site_boxes=site_boxes)


def idle_place(points: Floats) -> Floats:
    """A place that is farther from every point than the points are from each other."""
    low, high = points.min(axis=0), points.max(axis=0)
    return np.asarray(high + 4 * (high - low).max() + 1.0)
