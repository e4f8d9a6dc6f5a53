"""All approaches at equal numbers of sites: suppressed records, measures, pieces, CPU, beside the rules of others."""

from __future__ import annotations

import heapq
import time
import tracemalloc

import numpy as np
import pytest
from bench_engine import SCENARIOS, loaded

from vbas_desktop.algorithms.adjacency import adjacency_lists, known_neighbours
from vbas_desktop.approaches.registry import approaches, make
from vbas_desktop.domain.problem import Problem, Request
from vbas_desktop.engine.outcome import outcome_of, situation_of
from vbas_desktop.engine.run import run

CASES = {
    "eastern": (("44 classes", 1500), ("924 classes", 350), ("924 classes", 100)),
    "western": (("44 classes", 6000), ("924 classes", 1400)),
}
MEASURES = (
    "average_distance",
    "alternative_average_distance",
    "precision_loss",
    "discernibility",
    "non_uniform_entropy",
    "average_anonymity_deviation",
)
HEADER = ["", "S", "ratio", *(name.replace("_", " ") for name in MEASURES), "in pieces", "regions", "CPU s"]


@pytest.mark.parametrize(
    ("like", "scenario", "sites"), [(like, *case) for like, cases in CASES.items() for case in cases]
)
def test_suppressed_records_at_equal_numbers_of_sites(bench_data, bench_table, like, scenario, sites):
    data = bench_data(like)
    problem = loaded(data.records, data.regions, *SCENARIOS[scenario])
    _solve(problem, 50, "refine-sites", "boundaries")
    rows, base = [], None
    for title, location, refinement, values in _contenders():
        start = time.process_time()
        solution = _solve(problem, sites, location, refinement, values)
        taken = time.process_time() - start
        base = base or solution.measures
        rows.append([title, *_row(solution.measures, base, solution.aggregated_regions, f"{taken:.1f}")])
    for name, rule in (("smallest with the nearest (GAT)", _gat), ("METIS", _metis)):
        owner = rule(problem, sites)
        if owner is not None:
            rows.append([name, *_row(_rated(problem, owner), base, len(set(owner.tolist())), "")])
    bench_table(f"{like}-like, {scenario}, {sites:,} sites, k = {problem.k}", HEADER, rows)


def _contenders():
    """Every location approach; ADC with its other objective; the refinements after the two that are worth it."""
    for location in approaches("site_location"):
        yield location, location, "none", {}
    yield "adc, objective suppression", "adc", "none", {"objective": "suppression"}
    for location in ("balanced-density", "refine-sites"):
        for refinement in approaches("refinement"):
            if refinement != "none":
                yield f"{location} · {refinement}", location, refinement, {}


@pytest.mark.parametrize("like", CASES)
def test_memory_of_a_search_beside_the_counts(bench_data, bench_table, like):
    rows = []
    for scenario, sites in CASES[like]:
        data = bench_data(like)
        problem = loaded(data.records, data.regions, *SCENARIOS[scenario])
        counts = problem.counts
        size = counts.dense.nbytes if counts.dense is not None else sum(array.nbytes for array in counts.rows)
        for location, refinement in (("refine-sites", "none"), ("balanced-density", "boundaries")):
            _solve(problem, 50, location, refinement)
            tracemalloc.start()
            _solve(problem, sites, location, refinement)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            told = [f"{size / 1e6:.1f}", f"{1 + peak / size:.2f}", "<= 3"]
            rows.append([f"{scenario}, {sites:,} sites · {location} · {refinement}", *told])
    bench_table(f"Memory of counts and a search / counts, {like}-like", ["", "counts MB", "ratio", "to reach"], rows)


@pytest.mark.parametrize("scenario", ["44 classes", "924 classes"])
def test_how_many_regions_one_percent_of_loss_allows(bench_data, bench_table, scenario):
    data = bench_data("eastern")
    problem = loaded(data.records, data.regions, *SCENARIOS[scenario])
    rows = []
    for title, location, refinement in (
        ("balanced density", "balanced-density", "none"),
        ("refine-sites", "refine-sites", "none"),
        ("boundaries", "balanced-density", "boundaries"),
    ):
        start = time.process_time()
        solution = _solve(problem, 0, location, refinement, {}, make("site_number", "limit"))
        taken = time.process_time() - start
        lost = f"{100 * solution.measures['suppressed_records'] / problem.records:.3f}"
        rows.append([title, f"{solution.site_count:,}", f"{solution.aggregated_regions:,}", lost, f"{taken:.1f}"])
    header = ["", "sites", "regions", "suppressed %", "CPU s"]
    bench_table(f"Regions at 1 % of loss, eastern-like, {scenario}", header, rows)


def _solve(problem: Problem, sites: int, location: str, refinement: str, values=None, number=None):
    number, voronoi = number or make("site_number", "fixed", {"sites": sites}), make("construction", "voronoi")
    refined = make("refinement", refinement)
    located = make("site_location", location, values or {})
    return run(Request(problem, number, located, voronoi, range_reach=0, workers=1, refinement=refined)).solutions[0]


def _row(measures, base, regions: int, taken: str) -> list[str]:
    ratios = [f"{measures[name] / base[name]:.3f}" if base[name] and measures[name] else "–" for name in MEASURES]
    lost = measures["suppressed_records"]
    share = f"{lost / max(1, base['suppressed_records']):.3f}"
    return [f"{lost:,}", share, *ratios, str(measures["regions_in_pieces"]), f"{regions:,}", taken]


def _rated(problem: Problem, owner: np.ndarray) -> dict:
    situation, _ = situation_of(problem)
    points, number = situation.points, np.bincount(owner)
    middles = np.column_stack([np.bincount(owner, points[:, axis]) / number for axis in (0, 1)])
    outcome = outcome_of(problem, situation, owner, middles)
    return {name: kind().rate(outcome) for name, kind in approaches("rating").items()}


def _gat(problem: Problem, sites: int) -> np.ndarray:
    """Merge the region of fewest records with its nearest neighbour until so many are left."""
    points, population = problem.regions.points, problem.counts.region_totals.astype(float)
    first, listed = adjacency_lists(known_neighbours(problem.regions), len(points))
    around = [set(listed[first[i] : first[i + 1]].tolist()) for i in range(len(points))]
    members = [[i] for i in range(len(points))]
    middle, size, alive = points.copy(), population.copy(), np.ones(len(points), bool)
    waiting = [(size[i], i) for i in range(len(points))]
    heapq.heapify(waiting)
    left = len(points)
    while left > sites:
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


def _metis(problem: Problem, sites: int) -> np.ndarray | None:
    """Balanced parts of the graph of neighbours; None if pymetis is not installed (it is no dependency)."""
    try:
        import pymetis
    except ImportError:
        return None
    first, listed = adjacency_lists(known_neighbours(problem.regions), len(problem.regions))
    weights = problem.counts.region_totals.tolist()
    graph = pymetis.CSRAdjacency(first.tolist(), listed.tolist())
    _, parts = pymetis.part_graph(sites, adjacency=graph, vweights=weights)
    return np.unique(np.array(parts), return_inverse=True)[1].astype(np.int32)
