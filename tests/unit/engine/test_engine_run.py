"""Runs: ranges, streams, stops, degenerate problems, the properties every result has."""

from dataclasses import replace

import numpy as np
import pytest

from vbas_desktop.approaches.registry import make
from vbas_desktop.domain.problem import Problem, Request
from vbas_desktop.domain.records import Categories, EquivalenceCounts
from vbas_desktop.domain.regions import CoordinateKind, CoordinateSystem, Regions
from vbas_desktop.engine.region_table import region_table, why
from vbas_desktop.engine.run import run


def problem_of(points, matrix, k=2, unknown=0):
    matrix = np.array(matrix, np.int64)
    present = np.flatnonzero(matrix.sum(axis=0))
    counts = EquivalenceCounts.from_dense((matrix.shape[1],), present, matrix[:, present].copy())
    regions = Regions(
        tuple(f"r{i}" for i in range(len(points))),
        np.array(points, float).reshape(-1, 2),
        CoordinateSystem(CoordinateKind.PLANAR),
    )
    categories = (Categories("colour", tuple(f"c{i}" for i in range(matrix.shape[1]))),)
    return Problem(regions, counts, k, ("colour",), categories, "region", unknown_region_records=unknown)


def request_of(problem, sites=2, location="balanced-density", **changes):
    request = Request(
        problem,
        make("site_number", "fixed", {"sites": sites}),
        make("site_location", location),
        make("construction", "voronoi"),
        range_reach=0,
    )
    return replace(request, **changes)


LINE = problem_of([(0, 0), (1, 0), (10, 0), (11, 0)], [[3, 1, 0], [2, 0, 0], [0, 4, 1], [0, 3, 0]], k=2, unknown=2)


def test_a_small_run_worked_by_hand():
    # Class totals are 5, 8, 1: the third is dropped globally (1 record). Populations 4, 2, 4, 3; n = 13.
    # Two sites: c = 1, 1·2 ≤ 2, so two rows of ideal round(6.5) = 7; all y are equal, so file order: 4, 6, then 10
    # (10 − 7 = 3 > 7 − 6 = 1, so region 2 starts the next row). Sites: (0.5, 0) and (10.5, 0).
    # Left: classes 5, 1 → the 1 is suppressed. Right: class of 7.
    result = run(request_of(LINE))
    assert result.globally_suppressed_records == 1
    assert result.classes_present == 3
    (solution,) = result.solutions
    assert solution.sites.tolist() == [[0.5, 0], [10.5, 0]]
    assert solution.owner.tolist() == [0, 0, 1, 1]
    assert (solution.suppressed_global, solution.suppressed_local) == (1, 1)
    measures = {name: value for name, value in solution.measures.items() if name != "seconds"}
    # Released by initial region: 3, 2 | 4, 3. Entropy: 3·log2(5/3) + 2·log2(5/2) + 4·log2(7/4) + 3·log2(7/3).
    assert measures == {
        "suppressed_records": 4,  # 1 global, 1 local, 2 of unknown regions
        "average_distance": 0.5,
        "alternative_average_distance": 0.5,
        "precision_loss": 0.5,  # log2(2) / log2(4) in both
        "discernibility": 25 + 49,
        "non_uniform_entropy": pytest.approx(
            3 * np.log2(5 / 3) + 2 * np.log2(5 / 2) + 4 * np.log2(7 / 4) + 3 * np.log2(7 / 3), rel=1e-12
        ),
        "average_anonymity_deviation": (3 + 5) / 2,
    }
    assert solution.pareto
    assert solution.facts == {"released_records": 12, "anonymity": 5, "regions_without_release": 0}


def test_the_region_table_tells_what_each_region_lost_and_why():
    (solution,) = run(request_of(LINE)).solutions
    table = region_table(LINE, solution)
    assert table.records.tolist() == [6, 8]
    assert table.released.tolist() == [5, 7]
    assert table.suppressed.tolist() == [1, 1]
    assert table.share_of_loss.tolist() == [0.5, 0.5]
    assert table.initial_regions.tolist() == [2, 2]
    assert table.anonymity_before.tolist() == [1, 1]
    assert table.anonymity_after.tolist() == [5, 7]
    assert [(small.labels, small.size) for small in why(LINE, solution, 0)] == [(("c1",), 1)]
    assert [(small.labels, small.size) for small in why(LINE, solution, 1)] == [(("c2",), 1)]
