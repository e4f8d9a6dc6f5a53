"""Small problems for tests, from points and a matrix of counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from vbas_desktop.approaches.interface import Context
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import Categories
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem, Regions
from vbas_desktop.settings.run import RunSettings


def change_request(request, **changes):
    """The request with other parts; what is an option of a run is changed in its settings."""
    options = {option.name for option in RunSettings.options()}
    chosen = {name: value for name, value in changes.items() if name in options}
    parts = {name: value for name, value in changes.items() if name not in options}
    return replace(request, settings=request.settings.replaced(**chosen), **parts)


def regions_of(points) -> Regions:
    places = np.array(points, float).reshape(-1, 2)
    ids = tuple(f"r{number}" for number in range(len(places)))
    sides = {"side": tuple("west" if number % 3 else "east" for number in range(len(places)))}
    return Regions(ids, places, CoordinateSystem(CoordinateKind.PLANAR), labels=sides)


def counts_of(matrix) -> ClassCounts:
    """Counts of the combinations that occur."""
    matrix = np.array(matrix, np.int64)
    present = np.flatnonzero(matrix.sum(axis=0)).astype(np.int64)
    return ClassCounts.from_matrix((matrix.shape[1],), present, matrix[:, present])


def problem_of(points, matrix, k: int = 2, unknown: int = 0) -> Problem:
    categories = (Categories("colour", tuple(f"c{code}" for code in range(np.array(matrix).shape[1]))),)
    return Problem(
        regions_of(points),
        counts_of(matrix),
        k,
        ("colour",),
        categories,
        "region",
        unknown_region_records=unknown,
    )


def context_for(points, matrix, k: int = 2, random_seed: int = 0) -> Context:
    return Context(regions_of(points), counts_of(matrix), k, random_seed)


@st.composite
def problems(draw, most_regions: int = 12, distinct: bool = False) -> Problem:
    """Problems with ties, duplicates, collinear points, empty regions and rare classes."""
    number = draw(st.integers(1, most_regions))
    width = draw(st.integers(1, 5))
    coordinate = st.one_of(st.integers(0, 4), st.floats(-50, 50, allow_nan=False, width=32))
    points = draw(
        st.lists(st.tuples(coordinate, coordinate), min_size=number, max_size=number, unique=distinct)
    )
    cell = st.sampled_from([0, 0, 0, 1, 1, 2, 3, 5, 9, 40])
    matrix = draw(
        st.lists(st.lists(cell, min_size=width, max_size=width), min_size=number, max_size=number)
    )
    if not np.any(matrix):
        matrix[0][0] = draw(st.integers(1, 6))
    return problem_of(points, matrix, k=draw(st.integers(1, 8)))
