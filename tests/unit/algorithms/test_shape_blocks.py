"""Shapes taken apart some at a time: the same as all at once."""

import numpy as np
import pytest
import shapely

from vbas_desktop.algorithms import voronoi_diagram as voronoi
from vbas_desktop.algorithms.polygons import apply_in_blocks, explode_in_blocks


@pytest.fixture
def shapes():
    """More than two blocks: squares, squares with a hole, pairs of squares, empty and missing shapes."""
    made = []
    for number in range(12_345):
        square = shapely.box(number, 0, number + 0.9, 1)
        kinds = (
            square,
            square - shapely.box(number + 0.2, 0.2, number + 0.4, 0.4),
            shapely.union(square, shapely.box(number, 2, number + 0.5, 3)),
            shapely.Polygon(),
            None,
        )
        made.append(kinds[number % 5])
    array = np.empty(len(made), object)
    array[:] = made
    return array


@pytest.mark.parametrize("function", [shapely.get_parts, shapely.get_coordinates])
def test_parts_and_coordinates_are_those_of_one_call(shapes, function):
    items, owner = explode_in_blocks(function, shapes)
    every, its_owner = function(shapes, return_index=True)
    assert owner.tolist() == its_owner.tolist()
    assert items.tolist() == every.tolist()


def test_rings_are_those_of_one_call(shapes):
    parts = shapely.get_parts(shapes)
    rings, owner = explode_in_blocks(shapely.get_rings, parts)
    every, its_owner = shapely.get_rings(parts, return_index=True)
    assert owner.tolist() == its_owner.tolist()
    assert shapely.equals_exact(rings, every).all()


def test_a_function_of_each_shape_is_applied_to_all(shapes):
    assert apply_in_blocks(shapely.area, shapes).tolist() == pytest.approx(
        shapely.area(shapes).tolist(), nan_ok=True
    )
    both = apply_in_blocks(shapely.distance, shapes, shapes[::-1])
    assert both.tolist() == pytest.approx(shapely.distance(shapes, shapes[::-1]).tolist(), nan_ok=True)
    assert apply_in_blocks(shapely.area, shapes[:0]).size == 0


def test_cells_fit_together_whatever_the_number_of_parts(monkeypatch):
    points = np.random.default_rng(3).random((4_000, 2))
    cells = shapely.get_parts(shapely.voronoi_polygons(shapely.multipoints(points)))
    torn = cells.copy()
    torn[7] = shapely.box(*shapely.bounds(torn[7]))
    doubled = np.append(cells, cells[:1])
    for edges in (500_000, 1_000):
        monkeypatch.setattr("vbas_desktop.algorithms.voronoi_diagram._EDGES", edges)
        assert [voronoi.is_tiling(each) for each in (cells, torn, doubled, cells[1:])] == [
            True,
            False,
            False,
            False,
        ]
