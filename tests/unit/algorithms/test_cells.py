"""Study area, cells and aggregated shapes: they cover what they should and nothing else."""

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely import MultiPolygon, Polygon, box

from vbas_desktop.algorithms.voronoi_cells import (
    clip_voronoi_cells,
    compute_study_area,
    measure_compactness,
    outline_aggregated_regions,
)
from vbas_desktop.algorithms.voronoi_diagram import is_tiling
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem, Regions

PLANE = CoordinateSystem(CoordinateKind.PLANAR)


def regions_of(points, polygons=None):
    points = np.asarray(points, float).reshape(-1, 2)
    shapes = None
    if polygons is not None:
        shapes = np.empty(len(points), object)
        shapes[:] = polygons
    return Regions(tuple(f"r{i}" for i in range(len(points))), points, PLANE, shapes)


def grid_of_squares(rows, columns):
    squares = [box(x, y, x + 1, y + 1) for y in range(rows) for x in range(columns)]
    return regions_of([(square.centroid.x, square.centroid.y) for square in squares], squares)


coordinates = st.integers(-50, 50).map(float)
point_lists = st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=40).map(np.array)


@given(point_lists)
@settings(max_examples=80, deadline=None)
def test_every_point_lies_inside_the_study_area(points):
    area = compute_study_area(regions_of(points))
    assert area.is_valid
    assert area.area > 0
    assert shapely.contains_xy(area, points).all()


@given(point_lists, st.integers(0, 2**32 - 1))
@settings(max_examples=80, deadline=None)
def test_cells_partition_the_area_and_hold_what_is_nearest(sites, seed):
    area = box(-60, -55, 45, 52).union(box(40, 40, 70, 70))
    cells = clip_voronoi_cells(sites, area)
    assert shapely.area(cells).sum() == pytest.approx(area.area, rel=1e-9)
    probes = np.random.default_rng(seed).uniform(-50, 45, (30, 2))
    squared = ((probes[:, None, :] - sites[None, :, :]) ** 2).sum(axis=2)
    for probe, row in zip(probes, squared, strict=True):
        assert shapely.distance(cells[row.argmin()], shapely.Point(probe)) <= 1e-9


def test_the_first_of_several_sites_at_one_place_has_the_cell():
    cells = clip_voronoi_cells(np.array([[1.0, 1.0], [3.0, 1.0], [1.0, 1.0]]), box(0, 0, 4, 2))
    assert shapely.area(cells).tolist() == pytest.approx([4, 4, 0])
    assert cells[0].equals(box(0, 0, 2, 2))


def test_one_site_has_the_whole_area_and_no_site_has_no_cell():
    area = box(0, 0, 4, 2)
    assert clip_voronoi_cells(np.array([[9.0, 9.0]]), area)[0].equals(area)
    assert clip_voronoi_cells(np.empty((0, 2)), area).size == 0


def test_collinear_sites_cut_the_area_into_stripes():
    cells = clip_voronoi_cells(np.array([[1.0, 0.0], [5.0, 0.0], [3.0, 0.0]]), box(0, -1, 6, 1))
    stripes = [(0, -1, 2, 1), (4, -1, 6, 1), (2, -1, 4, 1)]
    assert np.array([cell.bounds for cell in cells]) == pytest.approx(np.array(stripes))


def test_a_cell_cut_by_a_bay_becomes_several_polygons():
    area = box(0, 0, 10, 10).difference(box(4, 2, 6, 10)).difference(box(0, 0, 10, 3))
    cells = clip_voronoi_cells(np.array([[5.0, 9.0], [5.0, -90.0]]), area)
    assert isinstance(cells[0], MultiPolygon)
    assert cells[1].is_empty


def test_polygons_of_members_are_merged_and_areas_add_up():
    regions = grid_of_squares(4, 6)
    membership = np.arange(24, dtype=np.int32) % 6 // 2
    shapes = outline_aggregated_regions(regions, membership)
    assert [shape.geom_type for shape in shapes] == ["Polygon"] * 3
    assert shapely.area(shapes).tolist() == [8, 8, 8]
    assert shapes[1].equals(box(2, 0, 4, 4))
    assert compute_study_area(regions).equals(box(0, 0, 6, 4))


@given(st.integers(1, 5), st.integers(1, 5), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_dissolved_areas_sum_to_the_members_areas(rows, columns, chance):
    regions = grid_of_squares(rows, columns)
    owner = [chance.randrange(4) for _ in range(len(regions))]
    membership = np.unique(owner, return_inverse=True)[1].astype(np.int32)
    shapes = outline_aggregated_regions(regions, membership)
    assert shapely.area(shapes).tolist() == pytest.approx(np.bincount(membership).tolist())


def test_a_coverage_with_overlaps_and_gaps_is_still_merged_right():
    polygons = [box(0, 0, 1.1, 1), box(1, 0, 2, 1), box(2.05, 0, 3, 1)]
    shapes = outline_aggregated_regions(
        regions_of([(0.5, 0.5), (1.5, 0.5), (2.5, 0.5)], polygons), np.array([0, 0, 1])
    )
    assert shapes[0].area == pytest.approx(2)
    assert shapes[1].area == pytest.approx(0.95)
    assert not shapes[0].overlaps(shapes[1])


def test_equal_and_bow_tie_polygons_do_not_vanish():
    bow_tie = Polygon([(0, 0), (2, 2), (2, 0), (0, 2)])
    regions = regions_of([(0.3, 1), (5, 5), (5, 5)], [bow_tie, box(4, 4, 6, 6), box(4, 4, 6, 6)])
    shapes = outline_aggregated_regions(regions, np.array([0, 1, 2]))
    assert all(shape.is_valid and shape.area > 0 for shape in shapes)


def test_a_region_without_polygon_among_polygons_gets_a_small_disc():
    regions = regions_of([(0.5, 0.5), (7, 0.5)], [box(0, 0, 1, 1), None])
    shapes = outline_aggregated_regions(regions, np.array([0, 1]))
    assert shapes[1].contains(shapely.Point(7, 0.5))
    assert compute_study_area(regions).contains(shapely.Point(7, 0.5))


def test_points_of_a_voronoi_aggregation_get_the_cells_of_their_sites():
    points = np.random.default_rng(3).uniform(0, 100, (200, 2))
    sites = np.array([[20.0, 20.0], [80.0, 30.0], [50.0, 90.0]])
    owner = ((points[:, None] - sites) ** 2).sum(axis=2).argmin(axis=1)
    regions = regions_of(points)
    shapes = outline_aggregated_regions(regions, owner, sites)
    cells = clip_voronoi_cells(sites, compute_study_area(regions))
    assert all(shape.equals(cell) for shape, cell in zip(shapes, cells, strict=True))
    assert all(
        shapes[group].contains(shapely.Point(point)) for point, group in zip(points, owner, strict=True)
    )


@given(point_lists, st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_other_aggregations_of_points_get_the_cells_of_their_points(points, chance):
    membership = np.unique([chance.randrange(3) for _ in points], return_inverse=True)[1]
    regions = regions_of(points)
    shapes = outline_aggregated_regions(regions, membership)
    assert shapely.area(shapes).sum() == pytest.approx(compute_study_area(regions).area, rel=1e-9)
    assert (shapely.area(shapes) > 0).all()


def test_compactness_is_one_for_a_disc_and_pi_quarters_for_a_square():
    shapes = np.array([shapely.Point(0, 0).buffer(1, quad_segs=64), box(0, 0, 1, 1), Polygon()], object)
    assert measure_compactness(shapes)[:2] == pytest.approx([1, np.pi / 4], rel=1e-3)
    assert np.isnan(measure_compactness(shapes)[2])


def squares_of(size):
    return np.array([shapely.box(x, y, x + 1, y + 1) for x in range(size) for y in range(size)])


def test_cells_that_fill_a_box_once_are_seen_to_fit():
    assert is_tiling(squares_of(4))


@pytest.mark.parametrize(
    "squares",
    [
        squares_of(4)[:-1],  # a corner is missing
        np.delete(squares_of(4), 5),  # a hole
        np.append(squares_of(4), shapely.box(1, 1, 2, 2)),  # one twice
        np.append(
            squares_of(4)[:-1], shapely.Polygon([(3, 3), (4, 3), (4, 4), (3.5, 4), (3, 4), (3, 3.5)])
        ),
        np.array([shapely.box(0, 0, 2, 1), shapely.box(1, 0, 3, 1)]),  # overlapping
        np.array([shapely.box(0, 0, 1, 1), shapely.box(5, 5, 6, 6)]),  # apart
    ],
)
def test_cells_that_do_not_are_not(squares):
    assert not is_tiling(squares)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=3, max_size=30, unique=True))
def test_what_is_seen_to_fit_is_a_coverage(points):
    points = np.array(points, float)
    box = shapely.voronoi_polygons(shapely.multipoints(points), ordered=True)
    cells = shapely.get_parts(box)
    if len(cells) == len(points) and shapely.is_valid(cells).all() and is_tiling(cells):
        assert shapely.coverage_is_valid(cells)
        assert shapely.area(cells).sum() == pytest.approx(shapely.box(*shapely.total_bounds(cells)).area)


def test_the_area_of_points_leaves_empty_sea_out_and_far_islands_alone():
    bay = [(x, 0.0) for x in range(41)] + [(0.0, y) for y in range(41)] + [(40.0, y) for y in range(41)]
    area = compute_study_area(regions_of([*bay, (20.0, 90.0)]))
    assert not shapely.contains_xy(area, 20.0, 30.0)
    assert len(shapely.get_parts(area)) == 2
    assert shapely.contains_xy(area, 20.0, 90.0)
