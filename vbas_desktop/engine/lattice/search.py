"""Walks the lattice: of every node the finest place within the allowed loss, from fine to coarse attributes."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from vbas_desktop import __version__
from vbas_desktop.algorithms.aggregation import dense_membership
from vbas_desktop.algorithms.site_counts import max_suppressed
from vbas_desktop.algorithms.suppression import count_released
from vbas_desktop.approaches.interface import Context
from vbas_desktop.approaches.rating.place_information import place_loss
from vbas_desktop.engine.dominance import find_non_dominated
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import NO_PROGRESS, Cancelled, Progress, SubProgress
from vbas_desktop.model.sensitive import with_criteria
from vbas_desktop.settings.constraints import RegionConstraints

from ..constraints import ResolvedConstraints, constraint_cache_key
from ..outcome import RegionPartition
from ..parallel import run_ordered
from ..partitions import PartitionBuilder
from ..request import Request, list_deciding_settings
from ..result_cache import ResultCache, fingerprint_problem
from ..run import collect_parameters, name_approaches
from ..site_search import choose_site_count
from .nodes import BaseTable, Node, is_coarser

FORMAT_VERSION = 3
_SMALL = 200_000
"""Stored counts of which several copies do not matter."""

OUT_OF_REACH = "out of reach"
FOUND = "found"
NOT_NEEDED = "coarser than needed"
"""What can become of a node: no place is coarse enough; a place was found; a finer node keeps every initial region."""


@dataclass(frozen=True)
class NodeResult:
    """Result of one node. Values that were not computed are None: monotonicity decides some nodes without a search.

    place_loss, detail: shares from 0 to 1, the information on place that is lost and that of the attributes that is
    kept. unmet: number of size targets of regions that are not met, if there are any. n_released_areas: areas of all
    tiers that occur in the release; None without tiers.
    """

    node: Node
    status: str
    detail: float
    equivalence_classes: int
    classes_present: int | None = None
    sites: int | None = None
    regions: int | None = None
    suppressed: int | None = None
    place_loss: float | None = None
    trials: int = 0
    unmet: int | None = None
    n_released_areas: int | None = None

    @property
    def released_places(self) -> int | None:
        """Count the released regions: in tiers those that occur in the release, else the aggregated regions."""
        return self.regions if self.n_released_areas is None else self.n_released_areas


@dataclass(frozen=True, eq=False)
class LatticeSearchResult:
    """The whole table, in the order of the walk, and the limits that all its regions kept to."""

    finest: BaseTable
    rows: tuple[NodeResult, ...]
    allowed_loss_percent: float
    limits: RegionConstraints = field(default_factory=RegionConstraints)

    @cached_property
    def front(self) -> frozenset[Node]:
        """Return the nodes that no other one beats in both attribute detail and place information."""
        rows = [row for row in self.rows if row.status == FOUND]
        flags = find_non_dominated([(-row.detail, row.place_loss) for row in rows])
        return frozenset(row.node for row, keep in zip(rows, flags, strict=True) if keep)

    @cached_property
    def recommended(self) -> NodeResult | None:
        """Return the node with the largest product of attribute and place information; the first of several.

        A node that leaves one category of an attribute is recommended only if there is no other.
        """
        rows = [row for row in self.rows if row.status == FOUND]
        full = [row for row in rows if not self.emptied_columns(row)]
        return max(
            full or rows, key=lambda row: row.detail * (1 - (row.place_loss or 0.0)), default=None
        )

    def emptied_columns(self, row: NodeResult) -> tuple[str, ...]:
        """List the columns of several categories that a node reduces to one."""
        hierarchies = zip(self.finest.lattice.hierarchies, row.node, strict=True)
        return tuple(
            hierarchy.column
            for hierarchy, level in hierarchies
            if hierarchy.count_categories(level) == 1 and hierarchy.count_groups(0) > 1
        )

    @property
    def in_tiers(self) -> bool:
        """Test whether records are released in fallback areas too."""
        return any(row.n_released_areas is not None for row in self.rows)

    def row(self, node: Node) -> NodeResult:
        """Return the row of a node."""
        return next(row for row in self.rows if row.node == node)


def search_lattice(
    finest: BaseTable,
    request: Request,
    cache: ResultCache[NodeResult],
    progress: Progress = NO_PROGRESS,
    on_found: Callable[[NodeResult], None] | None = None,
) -> LatticeSearchResult:
    """Walk the lattice. ``request`` is that of the finest node, with the site number that knows the allowed loss.

    Joining classes never makes a partition lose more. So a node whose whole file in one region loses too much is out
    of reach before any place is tried, and a node coarser than one that keeps every initial region within the limit is
    not needed. The nodes of one height are searched at a time, so that the table does not depend on the number of
    workers. In tiers a coarser node may still give smaller places to more records, so that none is left out. If the
    work is stopped, what was kept is not computed again.
    """
    prints = _build_cache_key(request, fingerprint_problem(finest.problem))
    rows: list[NodeResult] = []
    complete: list[Node] = []
    size = finest.lattice.size
    everywhere = len(finest.problem.regions)
    workers = request.settings.workers or os.cpu_count() or 1
    for nodes in finest.lattice.by_height():
        needed = {node for node in nodes if not any(is_coarser(node, fine) for fine in complete)}
        jobs = [
            partial(_solve_cached, finest, request, cache, prints, node)
            if node in needed
            else partial(_skip_node, finest, node)
            for node in nodes
        ]
        part = SubProgress(progress, len(rows) / size, (len(rows) + len(nodes)) / size)
        with closing(run_ordered(jobs, part, _choose_worker_count(finest, nodes, workers))) as results:
            for result in results:
                rows.append(result)
                if on_found is not None:
                    on_found(result)
        if request.tiers is None:
            complete += [row.node for row in rows[-len(nodes) :] if row.regions == everywhere]
    allowed = _allowed_percent(request)
    return LatticeSearchResult(finest, tuple(rows), allowed, request.settings.limiting)


def _allowed_percent(request: Request) -> float:
    """Return the percentage of records that may be lost. Raises `ValueError` if the site number knows none."""
    percent = request.site_number.allowed_loss()
    if percent is None:
        raise ValueError("the number of sites of a search must know an allowed loss")
    return percent


def _choose_worker_count(finest: BaseTable, nodes: list[Node], requested: int) -> int:
    """Batch the nodes so that the counts of a batch take no more memory than the base table."""
    stored = finest.problem.counts.table.nnz
    if stored < _SMALL:
        return min(requested, len(nodes))
    largest = max(
        min(stored, len(finest.problem.regions) * _count_combinations(finest, node)) for node in nodes
    )
    return max(1, min(requested, len(nodes), stored // max(1, largest)))


def _skip_node(finest: BaseTable, node: Node, progress: Progress) -> NodeResult:
    return NodeResult(node, NOT_NEEDED, finest.lattice.detail(node), _count_combinations(finest, node))


def _solve_cached(
    finest: BaseTable,
    request: Request,
    cache: ResultCache[NodeResult],
    prints: Mapping[str, Any],
    node: Node,
    progress: Progress,
) -> NodeResult:
    progress.update("Searching the lattice", 0.0)
    groups = [
        [grouping.column, *pair]
        for grouping in finest.lattice.groupings(node)
        for pair in sorted(grouping.groups.items())
    ]
    settings = {**prints, "node": list(node), "groups": groups}
    cached = cache.get(settings)
    if cached is not None:
        return cached
    return cache.put(settings, solve_node(finest, request, node, progress))


def solve_node(finest: BaseTable, request: Request, node: Node, progress: Progress) -> NodeResult:
    """Find the finest regions of one node within the allowed loss."""
    row = NodeResult(node, OUT_OF_REACH, finest.lattice.detail(node), _count_combinations(finest, node))
    allowed = max_suppressed(finest.problem.records, _allowed_percent(request))
    suppressed = finest.lost_at_least(node)
    if suppressed > allowed:
        return replace(row, suppressed=suppressed)
    problem = finest.problem
    context = _build_node_context(finest, request, node)
    progress.update("Searching the lattice", 0.1)
    partitions = PartitionBuilder(request, context)
    sites, _ = choose_site_count(partitions, SubProgress(progress, 0.1, 0.9))
    partition = partitions.build(sites, progress)
    if partitions.stopped:
        # An approach hands over the best until a stop; that is not what the node comes to.
        raise Cancelled
    regions, n_released_areas, loss = _rate(problem, context, partition, progress)
    return replace(
        row,
        status=FOUND if partitions.tried[sites] <= allowed else OUT_OF_REACH,
        classes_present=int(finest.sum_combinations(node).size),
        sites=sites,
        regions=regions,
        suppressed=partitions.tried[sites],
        place_loss=loss,
        trials=len(partitions.trials.tried),
        unmet=_count_unmet(partitions.constraints, partition),
        n_released_areas=n_released_areas,
    )


def _count_unmet(constraints: ResolvedConstraints | None, partition: RegionPartition) -> int | None:
    """Count the unmet size targets; None if there are no targets."""
    if constraints is None or not constraints.size_targets:
        return None
    return sum(1 for _ in constraints.unmet(dense_membership(partition.owner)[0]))


def _build_node_context(finest: BaseTable, request: Request, node: Node) -> Context:
    """Build the context of a node; its counts exist once."""
    problem = finest.problem
    least = problem.k if request.settings.global_suppression else 1
    values = finest.values_at(node, least) if with_criteria(problem.sensitive) else ()
    counts = finest.counts_at(node, least)
    penalties = finest.lattice.category_penalties(node)
    return Context(
        problem.regions,
        counts,
        problem.k,
        request.settings.random_seed,
        sensitive=values,
        category_penalties=penalties,
        given=problem.given,
    )


def _rate(
    problem: Problem, context: Context, partition: RegionPartition, progress: Progress
) -> tuple[int, int | None, float]:
    """Count the aggregated regions and (in tiers) the released ones, and compute the lost place information."""
    merged = partition.aggregate(context)
    released = count_released(merged, progress)
    n_released_areas = (
        None if merged.tiers is None else sum(int(np.count_nonzero(totals)) for totals in released)
    )
    loss = place_loss(problem.counts.region_totals, zip(merged.memberships, released, strict=True))
    return merged.n_groups, n_released_areas, loss


def _count_combinations(finest: BaseTable, node: Node) -> int:
    return math.prod(
        hierarchy.count_categories(level)
        for hierarchy, level in zip(finest.lattice.hierarchies, node, strict=True)
    )


def _build_cache_key(request: Request, counts: str) -> dict[str, Any]:
    return {
        "format_version": FORMAT_VERSION,
        "program_version": __version__,
        "counts": counts,
        "k": request.problem.k,
        "approaches": collect_parameters(request),
        "names": name_approaches(request),
        "settings": list_deciding_settings(request.settings),
        **constraint_cache_key(request),
    }
