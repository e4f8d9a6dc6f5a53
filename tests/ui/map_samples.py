"""Small maps whose every pixel is known: a chequered 4 × 4 of unit squares in four aggregated regions."""

from __future__ import annotations

import numpy as np
from shapely import box

from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import Categories
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem, Regions
from vbas_desktop.model.solution import Solution

SIDE = 4
QUARTERS = np.array([y // 2 * 2 + x // 2 for y in range(SIDE) for x in range(SIDE)], np.int32)
"""The owner of each square: one quarter of the map each, counted from the lower left."""


def squares(polygons=True, kind=CoordinateKind.PLANAR, unit="m") -> Regions:
    places = [(x + 0.5, y + 0.5) for y in range(SIDE) for x in range(SIDE)]
    shapes = np.empty(len(places), object)
    shapes[:] = [box(x - 0.5, y - 0.5, x + 0.5, y + 0.5) for x, y in places]
    ids = tuple(f"S{i:02d}" for i in range(len(places)))
    return Regions(
        ids, np.array(places), CoordinateSystem(kind, None, unit), shapes if polygons else None
    )


def solution_of(owner, sites=None, id=1, **measures) -> Solution:
    owner = np.asarray(owner, np.int32)
    count = int(owner.max()) + 1 if sites is None else len(sites)
    return Solution(
        id=id,
        approaches={"site_number": "fixed", "site_location": "random", "construction": "voronoi"},
        parameters={},
        approximated_sites=count,
        site_count=count,
        sites=None if sites is None else np.asarray(sites, float),
        owner=owner,
        measures=measures,
        seconds=0.5,
        suppressed_global=0,
        suppressed_local=0,
    )


QUARTER_SITES = [(1.0, 1.0), (3.0, 1.0), (1.0, 3.0), (3.0, 3.0)]


def problem_of(regions: Regions, matrix, k=5) -> Problem:
    """A problem with one quasi-identifier, sex, and these counts of women and men in each region."""
    matrix = np.asarray(matrix, np.int64)
    counts = ClassCounts.from_matrix((2,), np.arange(2, dtype=np.int64), matrix)
    return Problem(regions, counts, k, ("sex",), (Categories("sex", ("F", "M")),), "tract")
