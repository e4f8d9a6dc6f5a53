"""What the map is prepared from: frames, rings, classes, legends, scale bars."""

from dataclasses import replace

import numpy as np
import pytest
import shapely
from geography_making import over_date_line, square, wrapped, write_points, write_shapes
from hypothesis import given, settings
from hypothesis import strategies as st
from map_samples import QUARTER_SITES, QUARTERS, problem_of, solution_of, squares
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter

import vbas_desktop.ui.presentation.region_geometry as geometry_module
from vbas_desktop.io.regions.reader import RegionReading, load_regions
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem
from vbas_desktop.ui.core.theme import DARK, LIGHT, contrast
from vbas_desktop.ui.map.decorations import class_rows, legend_of, scale_of
from vbas_desktop.ui.map.layers import DEFAULT_LAYERS, MapPicture
from vbas_desktop.ui.map.paths import TiledPath, hairline, path_of, split_lines
from vbas_desktop.ui.presentation.map_shapes import Frame, Rings, frame_of, rings_of, sort_into_tiles
from vbas_desktop.ui.presentation.region_geometry import (
    prepare_region_geometry,
    prepare_solution_geometry,
)
from vbas_desktop.ui.presentation.region_measures import RegionMeasure, classify, find_measure, spread
from vbas_desktop.ui.presentation.scene import prepare_scene


def test_latitudes_given_as_x_are_drawn_upwards_and_longitudes_shrink():
    regions = squares(kind=CoordinateKind.DEGREES, unit="degree")
    frame = frame_of(regions)
    assert frame.swapped
    assert frame.x_scale == pytest.approx(np.cos(np.radians(2)))
    assert frame.to_map(np.array([[47.0, -52.0]])).tolist() == [[-52.0 * frame.x_scale, 47.0]]
    assert frame.from_map(-52.0 * frame.x_scale, 47.0) == pytest.approx((47.0, -52.0))
    assert frame_of(squares()) == Frame()


def test_rings_keep_holes_parts_and_the_order_of_shapes():
    holed = shapely.box(0, 0, 4, 4).difference(shapely.box(1, 1, 2, 2))
    pair = shapely.MultiPolygon([shapely.box(5, 0, 6, 1), shapely.box(7, 0, 8, 1)])
    shapes = np.array([holed, shapely.Polygon(), pair], object)
    rings = rings_of(shapes, Frame())
    assert rings.starts.tolist() == [0, 10, 10, 20]
    assert (~rings.joined).nonzero()[0].tolist() == [4, 9, 14, 19]
    some, joined = rings.of(np.array([2, 0]))
    assert some[:10].tolist() == rings.xy[10:].tolist()
    assert joined.tolist() == [True] * 4 + [False] + [True] * 4 + [False] + [True] * 4 + [False] + [
        True
    ] * 4 + [False]


def test_tiles_hold_every_shape_once_and_those_in_view_are_drawn():
    rings = rings_of(squares().polygons, Frame())
    tiled = TiledPath(rings, sort_into_tiles(rings, across=2))
    everything = tiled.visible(QRectF(0, 0, 4, 4))
    assert sum(path.elementCount() for path in everything) == len(rings.xy)
    corner = tiled.visible(QRectF(0.1, 0.1, 0.2, 0.2))
    assert 0 < len(corner) < len(everything)


def test_polygons_with_very_many_vertices_are_simplified_alike_on_both_sides(monkeypatch):
    monkeypatch.setattr(geometry_module, "_MANY_VERTICES", 100)
    regions = squares()
    wavy = replace(regions, polygons=shapely.segmentize(regions.polygons, 0.125))
    base = prepare_region_geometry(wavy)
    assert base.clean
    assert (
        shapely.get_num_coordinates(base.drawn.polygons).sum()
        < shapely.get_num_coordinates(wavy.polygons).sum()
    )
    assert shapely.coverage_is_valid(base.drawn.polygons)
    assert base.pairs.tolist() == prepare_region_geometry(regions).pairs.tolist()


def test_a_prepared_map_knows_colours_pieces_sites_and_what_is_where():
    sites = [*QUARTER_SITES, (50.0, 50.0)]
    base = prepare_region_geometry(squares()).with_records(np.where(QUARTERS == 3, 0, 7))
    geometry = prepare_solution_geometry(base, solution_of(QUARTERS, sites))
    assert len(set(geometry.colours.tolist())) == 4
    assert geometry.pieces.tolist() == [1, 1, 1, 1]
    assert geometry.site_attracts.tolist() == [True, True, True, True, False]
    assert geometry.without_records.tolist() == [False, False, False, True]
    assert geometry.aggregated_at(3.2, 0.2) == 1
    assert geometry.aggregated_at(9.0, 9.0) is None
    assert base.region_at(3.2, 0.2, reach=0.1) == 3
    assert geometry.box(2) == (0.0, 2.0, 2.0, 4.0)


def test_points_are_found_within_reach_only():
    base = prepare_region_geometry(squares(polygons=False))
    assert base.region_at(0.6, 0.6, reach=0.2) == 0
    assert base.region_at(1.0, 1.0, reach=0.2) is None


def test_regions_in_several_pieces_are_counted():
    owner = QUARTERS.copy()
    owner[15] = 0
    geometry = prepare_solution_geometry(prepare_region_geometry(squares()), solution_of(owner))
    assert geometry.pieces.tolist() == [2, 1, 1, 1]
    assert geometry.cell_rings is None


def test_a_prepared_solution_tells_the_figures_of_its_regions():
    regions = squares()
    matrix = [[3, 10]] + [[2, 20]] * 14 + [[0, 0]]
    shown = prepare_scene(
        7,
        solution_of(np.arange(16)),
        problem_of(regions, matrix),
        prepare_region_geometry(regions),
        NO_PROGRESS,
    )
    texts = {figure.name: figure.text(0) for figure in shown.figures}
    assert texts["records"] == "13 records"
    assert texts["suppressed"] == "3 records"
    assert texts["share_suppressed"] == "23.08 %"
    assert texts["anonymity_before"] == "3"
    assert texts["anonymity"] == "10"
    assert texts["initial_regions"] == "1 initial regions"
    assert find_measure(shown.figures, "anonymity").text(15) == "–"


@given(st.lists(st.one_of(st.none(), st.integers(0, 40)), min_size=1, max_size=80), st.integers(2, 7))
@settings(max_examples=100, deadline=None)
def test_classes_cover_all_values_in_order_without_splitting_equal_ones(values, number):
    array = np.array([np.nan if value is None else value for value in values], float)
    classes = classify(array, number)
    known = np.isfinite(array)
    assert (classes.of_region[~known] == -1).all()
    assert len(classes.counts) <= number
    assert classes.counts.sum() == known.sum()
    assert (classes.counts > 0).all()
    assert (classes.high[:-1] < classes.low[1:]).all()
    for value, each in zip(array[known], classes.of_region[known], strict=True):
        assert classes.low[each] <= value <= classes.high[each]


def test_zero_is_a_class_of_its_own_if_many_have_it():
    classes = classify(np.array([0] * 20 + list(range(1, 81))), 5)
    assert (classes.low[0], classes.high[0], classes.counts[0]) == (0, 0, 20)


def test_shades_spread_from_the_first_to_the_last():
    assert spread(6, 6) == [0, 1, 2, 3, 4, 5]
    assert spread(2, 6) == [0, 5]
    assert spread(1, 6) == [3]


@pytest.mark.parametrize("colours", [LIGHT, DARK])
def test_the_scale_survives_greyscale_print(colours):
    def grey(colour):
        red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
        return 0.299 * red + 0.587 * green + 0.114 * blue

    steps = np.diff([grey(colour) for colour in colours.sequence])
    assert (steps < -12).all() or (steps > 12).all()


def test_the_legend_names_classes_with_bounds_and_numbers():
    figure = RegionMeasure("records", "Records", np.array([5, 1200, 1200, 3400]), unit="records")
    rows = class_rows(classify(figure.values, 6), figure, LIGHT)
    assert [row.text for row in rows] == ["3,400 records  (1)", "1,200 records  (2)", "5 records  (1)"]


def test_the_legend_tells_pieces_idle_sites_and_empty_regions():
    owner = QUARTERS.copy()
    owner[15] = 0
    records = np.full(16, 3)
    records[4] = 0
    base = prepare_region_geometry(squares()).with_records(records)
    geometry = prepare_solution_geometry(base, solution_of(owner, [*QUARTER_SITES, (9.0, 9.0)]))
    legend = legend_of(MapPicture(base, geometry, LIGHT, DEFAULT_LAYERS), None)
    assert legend.title == "4 aggregated regions"
    assert [row.text for row in legend.rows] == [
        "in several pieces (1)",
        "site (4)",
        "unused site (1)",
        "Voronoi cells of the sites",
        "initial region (15)",
        "initial region without records (1)",
    ]


@pytest.mark.parametrize(
    ("unit", "units_per_pixel", "length", "words"),
    [
        ("m", 1000.0, 100, "100 km"),
        ("m", 4.0, 50, "200 m"),
        ("m", 10.0, 100, "1 km"),
        ("degree", 0.01, 100, "1° (111 km)"),
        ("unit", 0.05, 100, "5 units"),
    ],
)
def test_the_scale_bar_is_a_round_distance(unit, units_per_pixel, length, words):
    system = CoordinateSystem(CoordinateKind.PLANAR, None, unit)
    assert scale_of(system, units_per_pixel) == (pytest.approx(length), words)


@pytest.mark.parametrize(("coordinates", "widest"), [("geographic", 350_000), ("degrees", 3.1)])
@pytest.mark.parametrize("polygons", [True, False])
def test_regions_on_both_sides_of_the_date_line_are_drawn_side_by_side(
    tmp_path, coordinates, widest, polygons
):
    rings = [square(178.6 + i * 0.25, -19 + j * 0.25, 0.125) for i in range(12) for j in range(5)]
    middles = [(wrapped(178.6 + i * 0.25), -19 + j * 0.25) for i in range(12) for j in range(5)]
    if polygons:
        path = write_shapes(tmp_path / "regions.geojson", [over_date_line(ring, True) for ring in rings])
    else:
        path = write_points(tmp_path / "regions.csv", middles, ("longitude", "latitude"))
    base = prepare_region_geometry(load_regions(path, RegionReading(coordinates=coordinates)))
    low_x, _, high_x, _ = base.bounds
    assert high_x - low_x < widest
    assert base.area.geom_type == "Polygon", "one study area, not one on each side"
    # Neighbours in the file's order of columns are a column apart on the map, over the date line too.
    steps = np.diff(base.points[::5, 0])
    assert steps.min() > 0
    assert steps.max() < 1.1 * steps.min()


def test_each_edge_between_cells_is_drawn_once():
    base = prepare_region_geometry(squares())
    lines = prepare_solution_geometry(base, solution_of(QUARTERS, QUARTER_SITES)).cell_lines
    edges = lines.xy.reshape(-1, 4)
    assert len({tuple(sorted(map(tuple, edge.reshape(2, 2).tolist()))) for edge in edges}) == len(edges)
    # Four cells meet in the middle; the outline of the study area is no edge between cells.
    assert all([2.0, 2.0] in edge for edge in lines.xy.reshape(-1, 2, 2).tolist())
    assert sum(np.hypot(*(edge[1] - edge[0])) for edge in edges.reshape(-1, 2, 2)) == pytest.approx(8.0)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_borders_of_regions_are_seen_on_every_fill(colours):
    grounds = (*colours.fills, *colours.sequence, colours.water, colours.canvas, colours.base)
    assert contrast(colours.region_border, colours.base) >= 3
    for ground in grounds:
        assert max(contrast(line, ground) for line in (colours.region_border, colours.base)) >= 3, ground


def test_lines_drawn_in_parts_look_like_those_of_one_path(qapp):
    angles = np.linspace(0, 2 * np.pi, 1000)
    xy = np.column_stack((60 + 50 * np.cos(angles), 60 + 50 * np.sin(3 * angles)))
    rings = Rings(xy, np.r_[np.ones(999, np.bool_), False], np.array([0, 1000]))
    parts = split_lines(rings)
    assert len(parts) > 1
    drawn = []
    for paths in ([path_of(rings)], parts):
        image = QImage(120, 120, QImage.Format.Format_RGB32)
        image.fill(QColor(LIGHT.base))
        painter = QPainter(image)
        for path in paths:
            painter.strokePath(path, hairline(LIGHT.region_border, width=3))
        painter.end()
        drawn.append(np.array(image.constBits()).reshape(120, 120, 4).astype(int))
    differs = np.abs(drawn[0] - drawn[1]).max(axis=2) > 0
    assert differs.mean() < 0.01
    assert (drawn[1] != drawn[1][0, 0]).any()
