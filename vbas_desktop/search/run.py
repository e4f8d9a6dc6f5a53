"""Walks the lattice: of every node the finest place within the allowed loss, from fine to coarse attributes."""

from __future__ import annotations

import ctypes
import hashlib
import json
import math
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from vbas_desktop import __version__
from vbas_desktop.algorithms.aggregation import dense_membership
from vbas_desktop.algorithms.pareto import non_dominated
from vbas_desktop.algorithms.site_numbers import allowed_records
from vbas_desktop.algorithms.suppression import released_by_place
from vbas_desktop.approaches.base import Situation
from vbas_desktop.approaches.rating.place_information_loss import place_loss
from vbas_desktop.engine.limits import Limits, limits_settings
from vbas_desktop.engine.parallel import in_order
from vbas_desktop.engine.partitions import Partition, Partitions, decide_sites
from vbas_desktop.engine.run import names_of, settings_of
from vbas_desktop.io.hashing import fingerprint
from vbas_desktop.io.output import make_own_folder, write_text
from vbas_desktop.model.problem import Problem, Request
from vbas_desktop.model.progress import SILENT, Cancelled, Progress, Span
from vbas_desktop.model.sensitive import enforced
from vbas_desktop.settings.limits import Limiting

from .lattice import Finest, Node, coarser

FORMAT_VERSION = 3
_SMALL = 200_000
"""Stored counts of which several copies do not matter."""

OUT_OF_REACH, FOUND, NEEDLESS = "out of reach", "found", "coarser than needed"
"""What can become of a node: no place is coarse enough; a place was found; a finer node keeps every initial region."""


@dataclass(frozen=True)
class Found:
    """What came of one node. What was not computed is None: nothing is searched where monotonicity tells the answer.

    ``place_loss`` and ``detail`` are shares from 0 to 1: the information on place that is lost, the information of the
    attributes that is kept. ``unmet`` counts the wishes for sizes of regions that are not met, if there are any.
    ``places`` counts the places of all tiers that occur in the release; None without tiers.
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
    places: int | None = None

    @property
    def released_places(self) -> int | None:
        """How many places the release has: in tiers those that occur in it, else the aggregated regions."""
        return self.regions if self.places is None else self.places


@dataclass(frozen=True)
class NodeStore:
    """Finished nodes on disk: one small file each, named by what went in, so that a stopped search goes on."""

    folder: Path

    def path(self, settings: Mapping[str, Any]) -> Path:
        """Where a node is or will be."""
        return self.folder / f"{_key(settings)}.json"

    def get(self, settings: Mapping[str, Any]) -> Found | None:
        """The kept node; None if there is none that can be used."""
        try:
            document = json.loads(self.path(settings).read_text(encoding="utf-8"))
            return _from_plain(document["found"]) if document["settings"] == settings else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            # Whatever is in the way of reading it, computing it again gives the same.
            return None

    def put(self, settings: Mapping[str, Any], found: Found) -> Found:
        """Keep a node; hands it back as it will be read."""
        text = json.dumps({"settings": settings, "found": asdict(found)}, ensure_ascii=False, allow_nan=False)
        # Nodes tell of few records: nobody else may look, whatever the system's habit is.
        make_own_folder(self.folder)
        write_text(self.path(settings), text + "\n", private=True)
        return _from_plain(json.loads(text)["found"])


class NodeMemory:
    """Keeps nodes for the length of the program only."""

    def __init__(self) -> None:
        self._kept: dict[str, Found] = {}

    def get(self, settings: Mapping[str, Any]) -> Found | None:
        """The kept node, if there is one."""
        return self._kept.get(_key(settings))

    def put(self, settings: Mapping[str, Any], found: Found) -> Found:
        """Keep a node."""
        return self._kept.setdefault(_key(settings), found)


@dataclass(frozen=True, eq=False)
class Searched:
    """The whole table, in the order of the walk, and the limits that all its regions kept to."""

    finest: Finest
    rows: tuple[Found, ...]
    allowed_loss_percent: float
    limits: Limiting = field(default_factory=Limiting)

    @cached_property
    def front(self) -> frozenset[Node]:
        """The nodes that no other one beats in both, detail of the attributes and information on place."""
        found = [row for row in self.rows if row.status == FOUND]
        kept = non_dominated([(-row.detail, row.place_loss) for row in found])
        return frozenset(row.node for row, keep in zip(found, kept, strict=True) if keep)

    @cached_property
    def recommended(self) -> Found | None:
        """The node that keeps the largest product of attribute and place information; the first of several.

        A node that leaves one category of an attribute is recommended only if there is no other.
        """
        found = [row for row in self.rows if row.status == FOUND]
        full = [row for row in found if not self.emptied_columns(row)]
        return max(full or found, key=lambda row: row.detail * (1 - (row.place_loss or 0.0)), default=None)

    def emptied_columns(self, row: Found) -> tuple[str, ...]:
        """Name the attributes of several categories of which a node leaves one, so that they tell nothing."""
        ladders = zip(self.finest.lattice.ladders, row.node, strict=True)
        return tuple(
            ladder.column for ladder, level in ladders if ladder.number(level) == 1 and ladder.rungs[0].number > 1
        )

    @property
    def in_tiers(self) -> bool:
        """Whether records are released in larger places, too."""
        return any(row.places is not None for row in self.rows)

    def row(self, node: Node) -> Found:
        """The row of a node."""
        return next(row for row in self.rows if row.node == node)


def search(
    finest: Finest,
    request: Request,
    keeper: NodeStore | NodeMemory,
    progress: Progress = SILENT,
    on_found: Callable[[Found], None] | None = None,
) -> Searched:
    """Walk the lattice. ``request`` is that of the finest node, with the site number that knows the allowed loss.

    Joining classes never makes a partition lose more. So a node whose whole file in one region loses too much is out
    of reach before any place is tried, and a node coarser than one that keeps every initial region within the limit is
    not needed. The nodes of one height are searched at a time, so that the table does not depend on the number of
    workers. In tiers a coarser node may still give smaller places to more records, so that none is left out. If the
    work is stopped, what was kept is not computed again.
    """
    prints = _settings(request, fingerprint(finest.problem))
    rows: list[Found] = []
    complete: list[Node] = []
    size, everywhere = finest.lattice.size, len(finest.problem.regions)
    workers = request.workers or os.cpu_count() or 1
    for nodes in finest.lattice.by_height():
        needed = {node for node in nodes if not any(coarser(node, fine) for fine in complete)}
        jobs = [
            partial(_one, finest, request, keeper, prints, node) if node in needed else partial(_needless, finest, node)
            for node in nodes
        ]
        part = Span(progress, len(rows) / size, (len(rows) + len(nodes)) / size)
        with closing(in_order(jobs, part, _workers_for(finest, nodes, workers))) as results:
            for found in results:
                rows.append(found)
                if on_found is not None:
                    on_found(found)
        if request.tiers is None:
            complete += [row.node for row in rows[-len(nodes) :] if row.regions == everywhere]
    allowed = request.site_number.allowed_loss()
    return Searched(finest, tuple(rows), allowed, request.limits or Limiting())


def _workers_for(finest: Finest, nodes: list[Node], wanted: int) -> int:
    """So many nodes at a time that their counts together take no more memory than the finest ones."""
    stored = finest.problem.counts.table.nnz
    if stored < _SMALL:
        return min(wanted, len(nodes))
    largest = max(min(stored, len(finest.problem.regions) * _possible(finest, node)) for node in nodes)
    return max(1, min(wanted, len(nodes), stored // max(1, largest)))


def _needless(finest: Finest, node: Node, progress: Progress) -> Found:
    return Found(node, NEEDLESS, finest.lattice.detail(node), _possible(finest, node))


def _one(
    finest: Finest,
    request: Request,
    keeper: NodeStore | NodeMemory,
    prints: Mapping[str, Any],
    node: Node,
    progress: Progress,
) -> Found:
    progress.update("Searching the lattice", 0.0)
    groups = [[each.column, *pair] for each in finest.lattice.groupings(node) for pair in sorted(each.groups.items())]
    settings = {**prints, "node": list(node), "groups": groups}
    kept = keeper.get(settings)
    if kept is not None:
        return kept
    give_back()
    return keeper.put(settings, solve(finest, request, node, progress))


def solve(finest: Finest, request: Request, node: Node, progress: Progress) -> Found:
    """The finest place of one node within the allowed loss."""
    row = Found(node, OUT_OF_REACH, finest.lattice.detail(node), _possible(finest, node))
    allowed = allowed_records(finest.problem.records, request.site_number.allowed_loss())
    lost = finest.lost_at_least(node)
    if lost > allowed:
        return replace(row, suppressed=lost)
    problem, situation = finest.problem, _situation(finest, request, node)
    progress.update("Searching the lattice", 0.1)
    partitions = Partitions(replace(request, workers=1), situation)
    sites, _ = decide_sites(partitions, Span(progress, 0.1, 0.9))
    partition = partitions.make(sites, progress)
    if partitions.stopped:
        # An approach hands over the best until a stop; that is not what the node comes to.
        raise Cancelled
    regions, places, loss = _rated(problem, situation, partition, progress)
    return replace(
        row,
        status=FOUND if partitions.tried[sites] <= allowed else OUT_OF_REACH,
        classes_present=int(finest.joined_totals(node).size),
        sites=sites,
        regions=regions,
        suppressed=partitions.tried[sites],
        place_loss=loss,
        trials=len(partitions.trials.tried),
        unmet=_unmet(partitions.limits, partition),
        places=places,
    )


def _unmet(limits: Limits | None, partition: Partition) -> int | None:
    """How many wishes are not met; None if there are none."""
    if limits is None or not limits.wishes:
        return None
    return sum(1 for _ in limits.unmet(dense_membership(partition.owner)[0]))


def _situation(finest: Finest, request: Request, node: Node) -> Situation:
    """What approaches see of a node: its counts are there once."""
    problem = finest.problem
    least = problem.k if request.global_suppression else 1
    values = finest.values_at(node, least) if enforced(problem.sensitive) else ()
    counts = finest.counts_at(node, least)
    penalties = finest.lattice.category_penalties(node)
    return Situation(
        problem.regions, counts, problem.k, request.random_seed, sensitive=values, category_penalties=penalties
    )


def _rated(
    problem: Problem, situation: Situation, partition: Partition, progress: Progress
) -> tuple[int, int | None, float]:
    """The number of aggregated regions, that of the places with released records (in tiers), and the information on
    place that is lost.
    """
    merged = partition.aggregation(situation)
    released = released_by_place(merged, progress)
    places = None if merged.tiers is None else sum(int(np.count_nonzero(totals)) for totals in released)
    loss = place_loss(problem.counts.region_totals, zip(merged.memberships, released, strict=True))
    return merged.n_groups, places, loss


def _possible(finest: Finest, node: Node) -> int:
    return math.prod(ladder.number(level) for ladder, level in zip(finest.lattice.ladders, node, strict=True))


def _settings(request: Request, counts: str) -> dict[str, Any]:
    return {
        "format_version": FORMAT_VERSION,
        "program_version": __version__,
        "counts": counts,
        "k": request.problem.k,
        "approaches": settings_of(request),
        "names": names_of(request),
        "global_suppression": request.global_suppression,
        "random_seed": request.random_seed,
        **limits_settings(request),
    }


def _key(settings: Mapping[str, Any]) -> str:
    text = json.dumps(settings, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _from_plain(data: Mapping[str, Any]) -> Found:
    return Found(**{**data, "node": tuple(data["node"])})


def give_back() -> None:
    """Hand freed memory back. O(freed pages).

    The C library of Linux keeps what a thread freed for that thread, in pieces that the next node's counts may not fit
    into: without this the process grows to several times what is in use. Elsewhere nothing is done.
    """
    if sys.platform.startswith("linux"):
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
