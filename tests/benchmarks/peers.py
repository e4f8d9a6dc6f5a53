"""The rules of other programs, on the same initial regions: GAT's merging, METIS, GeoDa's skater.

A rule gives the group of each initial region, or None if the package that has it is not installed: none of them is a
dependency of the program.
"""

from __future__ import annotations

import heapq
import tempfile
import warnings
from pathlib import Path

import numpy as np

from vbas_desktop.algorithms.region_graph import bridge_islands, build_adjacency, region_neighbours
from vbas_desktop.model.problem import Problem


def gat(problem: Problem, groups: int) -> np.ndarray:
    """Merge the region of fewest records with its nearest neighbour until so many are left."""
    points, population = problem.regions.points, problem.counts.region_totals.astype(float)
    first, listed = build_adjacency(region_neighbours(problem.regions), len(points))
    around = [set(listed[first[i] : first[i + 1]].tolist()) for i in range(len(points))]
    members = [[i] for i in range(len(points))]
    middle, size, alive = points.copy(), population.copy(), np.ones(len(points), bool)
    waiting = [(size[i], i) for i in range(len(points))]
    heapq.heapify(waiting)
    left = len(points)
    while left > groups:
        people, i = heapq.heappop(waiting)
        if not alive[i] or people != size[i] or not around[i]:
            continue
        other = min(around[i], key=lambda j: (float(np.hypot(*(middle[i] - middle[j]))), j))
        for j in around[i] - {other}:
            around[j].discard(i)
            around[j].add(other)
        around[other] = (around[other] | around[i]) - {i, other}
        weights = len(members[i]), len(members[other])
        middle[other] = (middle[i] * weights[0] + middle[other] * weights[1]) / sum(weights)
        members[other] += members[i]
        size[other] += size[i]
        alive[i] = False
        left -= 1
        heapq.heappush(waiting, (size[other], other))
    owner = np.empty(len(points), np.int32)
    for number, i in enumerate(np.flatnonzero(alive)):
        owner[members[i]] = number
    return owner


def metis(problem: Problem, groups: int) -> np.ndarray | None:
    """Balanced parts of the graph of neighbours."""
    try:
        import pymetis
    except ImportError:
        return None
    first, listed = build_adjacency(region_neighbours(problem.regions), len(problem.regions))
    weights = problem.counts.region_totals.tolist()
    graph = pymetis.CSRAdjacency(first.tolist(), listed.tolist())
    _, parts = pymetis.part_graph(groups, adjacency=graph, vweights=weights)
    return _numbered(parts)


def skater_by_place(problem: Problem, groups: int) -> np.ndarray | None:
    """Cut the minimum spanning tree where that leaves the points of each part nearest to each other."""
    return _skater(problem, groups, problem.regions.points)


def skater_by_classes(problem: Problem, groups: int) -> np.ndarray | None:
    """The same by likeness of people: the share that each category of each quasi-identifier has in a region."""
    return _skater(problem, groups, _category_shares(problem))


def _skater(problem: Problem, groups: int, features: np.ndarray) -> np.ndarray | None:
    try:
        import pygeoda
    except ImportError:
        return None
    pairs, _ = bridge_islands(region_neighbours(problem.regions), problem.regions.points)
    first, listed = build_adjacency(pairs, len(problem.regions))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "neighbours.gal"
        lines = [f"0 {len(problem.regions)} regions id"]
        for i in range(len(problem.regions)):
            around = listed[first[i] : first[i + 1]]
            lines += [f"{i + 1} {around.size}", " ".join(str(j + 1) for j in around)]
        path.write_text("\n".join(lines) + "\n")
        # It leaves the file open.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            weights = pygeoda.read_gal(str(path), [str(i + 1) for i in range(len(problem.regions))])
    columns = [column.tolist() for column in features.T]
    return _numbered(pygeoda.skater(groups, weights, columns, cpu_threads=1)["Clusters"])


def _category_shares(problem: Problem) -> np.ndarray:
    counts = problem.counts
    first, columns, values = counts.table.indptr, counts.table.indices, counts.table.data
    region, codes, shares = (
        np.repeat(np.arange(len(problem.regions)), np.diff(first)),
        counts.combinations[columns],
        [],
    )
    for number in reversed(counts.n_categories):
        codes, category = np.divmod(codes, number)
        cells = region * number + category
        shares.append(np.bincount(cells, values, len(problem.regions) * number).reshape(-1, number))
    return np.hstack(shares) / np.maximum(counts.region_totals, 1)[:, None]


def _numbered(parts) -> np.ndarray:
    return np.unique(np.array(parts), return_inverse=True)[1].astype(np.int32)
