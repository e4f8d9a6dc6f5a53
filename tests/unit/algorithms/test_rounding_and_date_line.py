"""Shapes on a grid, the date line, and Voronoi cells of awkward points."""

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.algorithms.antimeridian import (
    find_cut_of_points,
    find_cut_of_shapes,
    split_at_antimeridian,
    unwrap_longitudes,
    wrap_longitudes,
    wrap_pieces,
)
from vbas_desktop.algorithms.polygons import remove_hairlines, snap_to_grid
from vbas_desktop.algorithms.voronoi_cells import clip_voronoi_cells
from vbas_desktop.io.regions.coordinates import choose_projection, from_lon_lat


def shapes(*many):
    made = np.empty(len(many), object)
    made[:] = many
    return made


def test_shapes_that_only_need_rounding_keep_their_vertices():
    made, grid = snap_to_grid(shapes(shapely.Polygon([(0, 0), (1.00000004, 0), (1, 1)])), (6,))
    assert grid == 1e-6
    assert shapely.get_coordinates(made).tolist() == [[0, 0], [1, 0], [1, 1], [0, 0]]


def test_a_hairline_vanishes_and_neighbours_still_share_their_border():
    hairline = shapely.box(0, 0, 2, 1).difference(
        shapely.Polygon([(0.2, 0.5), (1.8, 0.5000003), (1.8, 0.4999997)])
    )
    made, grid = snap_to_grid(shapes(hairline, shapely.box(2, 0, 3, 1)), (6,))
    assert grid == 1e-6
    assert shapely.is_valid(made).all()
    assert shapely.coverage_is_valid(made)
    assert shapely.area(made).tolist() == pytest.approx([2, 1], abs=1e-6)


def test_a_shape_too_small_for_the_grid_is_put_on_a_finer_one():
    tiny = shapely.box(10, 10, 10 + 3.14e-7, 10 + 3.14e-7)
    made, grid = snap_to_grid(shapes(tiny, shapely.box(0, 0, 1, 1)), (6, 8, 10))
    assert grid == 1e-10
    assert shapely.area(made)[0] == pytest.approx(3.14e-7**2, rel=1e-3)


def test_without_a_grid_that_is_fine_enough_nothing_is_changed():
    tiny = shapely.box(0.1, 0.1, 0.1 + 1e-9, 0.1 + 1e-9)
    made, grid = snap_to_grid(shapes(tiny), (6,))
    assert grid == 0
    assert shapely.equals(made[0], tiny)


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.sampled_from([1, 2, 3]))
def test_rounding_keeps_random_partitions_partitions(seed, digits):
    draw = np.random.default_rng(seed)
    points = draw.random((25, 2))
    cells = clip_voronoi_cells(points, shapely.box(0, 0, 1, 1))
    groups = shapes(*(shapely.union_all(cells[number::4]) for number in range(4)))
    made, grid = snap_to_grid(groups, (digits, 9))
    assert shapely.is_valid(made).all()
    assert shapely.coverage_is_valid(made)
    assert (np.abs(shapely.area(made) - shapely.area(groups)) <= 1e-3 * shapely.area(groups)).all()
    steps = shapely.get_coordinates(made) / grid
    assert np.abs(steps - np.round(steps)).max() < 1e-3


def test_a_sliver_of_another_shape_does_not_take_the_face_around_it():
    sliver = shapely.Polygon([(0.2, 0.5), (1.8, 0.5000003), (1.8, 0.4999997)])
    made, _ = snap_to_grid(
        shapes(
            shapely.box(0, 0, 2, 1).difference(sliver), shapely.union(shapely.box(2, 0, 3, 1), sliver)
        ),
        (6,),
    )
    assert shapely.is_valid(made).all()
    assert [shape.bounds for shape in made] == [(0, 0, 2, 1), (2, 0, 3, 1)]


def test_shapes_that_overlap_in_the_file_still_do():
    twins = shapes(shapely.box(0, 0, 1.2345678, 1), shapely.box(0, 0, 1.2345678, 1))
    made, grid = snap_to_grid(twins, (6,))
    assert grid == 1e-6
    assert made[0].equals(made[1])


def test_sound_shapes_of_any_size_are_left_alone():
    for size in (1e-7, 1.0, 1e9):
        pair = shapes(shapely.box(0, 0, size / 3, size), shapely.box(size / 3, 0, size, size))
        assert remove_hairlines(pair) is pair


@pytest.mark.parametrize(
    ("longitudes", "cut"),
    [
        ([10, 20, 30], None),
        ([-170, -60, 5], None),
        ([177, -178], -0.5),
        ([-179, 179, 170, -150], 10.0),
        ([-100, 100], 0.0),
        ([-85, 100], 7.5),
        ([-75, 100], None),
        ([np.nan, 3.0], None),
        ([], None),
    ],
)
def test_the_circle_is_cut_where_there_are_no_data(longitudes, cut):
    found = find_cut_of_points(np.array(longitudes, float))
    assert found == (cut if cut is None else pytest.approx(cut, abs=0.2))


@given(st.lists(st.floats(-25, 25), min_size=2, max_size=20), st.floats(-180, 180))
def test_what_lies_together_on_the_globe_is_together_in_numbers(offsets, middle):
    longitudes = (middle + np.array(offsets) + 180) % 360 - 180
    joined = unwrap_longitudes(longitudes, find_cut_of_points(longitudes))
    assert np.ptp(joined) == pytest.approx(np.ptp(offsets), abs=1e-9)
    back = wrap_longitudes(joined)
    assert (np.abs((back - longitudes + 180) % 360 - 180) < 1e-9).all()


def test_an_edge_over_the_date_line_is_passed_the_shorter_way():
    jumping = shapely.Polygon([(170, 0), (-170, 0), (-170, 5), (170, 5)])
    assert find_cut_of_shapes(shapes(jumping)) == pytest.approx(0, abs=0.2)
    wide = shapely.box(-100, 0, 70, 5)
    assert find_cut_of_shapes(shapes(wide, shapely.box(80, 0, 100, 5))) is None


def test_shapes_are_cut_at_the_date_line_and_none_is_lost():
    over, west, east = (
        shapely.box(179, 0, 181, 1),
        shapely.box(170, 0, 171, 1),
        shapely.box(185, 0, 186, 1),
    )
    pieces, owner = split_at_antimeridian(shapes(over, west, east))
    assert owner.tolist() == [0, 0, 1, 2]
    assert [piece.bounds for piece in wrap_pieces(pieces)] == [
        (179, 0, 180, 1), (-180, 0, -179, 1), (170, 0, 171, 1), (-175, 0, -174, 1),
    ]  # fmt: skip


@pytest.mark.parametrize("origin", [(170.55, 64.55), (-10.0, 60.0), (20.0, -40.0), (-63.0, 44.0)])
def test_a_grid_of_longitudes_and_latitudes_has_sound_cells_when_projected(origin):
    lon, lat = np.meshgrid(origin[0] + np.arange(20) * 1.1, origin[1] + np.arange(10) * 1.1)
    degrees = np.column_stack((lon.ravel(), lat.ravel()))
    points = from_lon_lat(degrees, choose_projection(degrees))
    area = shapely.buffer(shapely.convex_hull(shapely.multipoints(points)), 20_000)
    cells = clip_voronoi_cells(points, area)
    assert shapely.is_valid(cells).all()
    assert shapely.contains_xy(cells, points).all()
    assert shapely.area(cells).sum() == pytest.approx(area.area, rel=1e-9)
