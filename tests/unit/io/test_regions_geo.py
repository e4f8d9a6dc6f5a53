"""Region files with geometry: GeoJSON, GeoPackage, Shapefile; archives are refused."""

from __future__ import annotations

import hashlib
import json
import zipfile

import numpy as np
import pytest
import shapely
from pyogrio.raw import write

from vbas_desktop.io.regions.reader import RegionReading, load_regions, read_columns_and_layers
from vbas_desktop.model.findings import InputError, Severity
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem

SQUARES = [shapely.box(500000 + i * 1000, 4600000, 501000 + i * 1000, 4601000) for i in range(3)]
DRIVERS = {".geojson": "GeoJSON", ".gpkg": "GPKG", ".shp": "ESRI Shapefile"}


def save(path, shapes, crs="EPSG:32618", kind="Polygon", layer=None, append=False, **fields):
    fields = fields or {"GEOID": [f"r{i}" for i in range(len(shapes))]}
    arrays = [
        np.array(values, object if isinstance(values[0], str | None) else None)
        for values in fields.values()
    ]
    write(
        path,
        shapely.to_wkb(np.array(shapes, object)),
        arrays,
        list(fields),
        driver=DRIVERS[path.suffix],
        crs=crs,
        geometry_type=kind,
        layer=layer or "regions",
        append=append,
    )
    return path


def findings_of(path, **options):
    with pytest.raises(InputError) as error:
        load_regions(path, RegionReading(**options))
    return error.value.findings


@pytest.mark.parametrize("name", ["r.gpkg", "r.shp"])
def test_projected_polygons_are_kept_in_their_own_system(tmp_path, name):
    regions = load_regions(save(tmp_path / name, SQUARES))
    assert regions.ids == ("r0", "r1", "r2")
    assert regions.system == CoordinateSystem(CoordinateKind.PLANAR, "EPSG:32618", "m")
    assert regions.points.tolist() == [[500500, 4600500], [501500, 4600500], [502500, 4600500]]
    assert regions.polygons is not None
    assert all(a.equals(b) for a, b in zip(regions.polygons, SQUARES, strict=True))
    assert regions.findings == ()


def test_geographic_polygons_are_projected_with_their_points_inside(tmp_path):
    ring = shapely.box(-63.6, 44.6, -63.5, 44.7).difference(shapely.box(-63.58, 44.6, -63.52, 44.69))
    regions = load_regions(
        save(tmp_path / "r.geojson", [ring, shapely.box(-64, 44, -63.9, 44.1)], "EPSG:4326")
    )
    assert regions.system == CoordinateSystem(CoordinateKind.GEOGRAPHIC, "EPSG:3347", "m")
    assert regions.polygons is not None
    assert not regions.polygons[0].contains(shapely.centroid(regions.polygons[0]))
    assert shapely.contains_xy(regions.polygons, regions.points).all()
    centre = shapely.centroid(regions.polygons[1])
    assert regions.points[1].tolist() == [centre.x, centre.y]


def test_degrees_swap_the_axes_of_polygons_too(tmp_path):
    path = save(tmp_path / "r.geojson", [shapely.box(-64, 44, -63, 45)], "EPSG:4326")
    regions = load_regions(path, RegionReading(coordinates="degrees"))
    assert regions.points.tolist() == [[44.5, -63.5]]
    assert regions.polygons is not None
    assert regions.polygons[0].bounds == (44, -64, 45, -63)


def test_a_projected_file_can_be_taken_geographically(tmp_path):
    path = save(tmp_path / "r.gpkg", SQUARES)
    degrees = load_regions(path, RegionReading(coordinates="degrees"))
    assert degrees.points[0] == pytest.approx([41.55617, -74.99400], abs=1e-5)
    metres = load_regions(path, RegionReading(coordinates="geographic"))
    assert metres.system.kind is CoordinateKind.GEOGRAPHIC
    assert np.hypot(*(metres.points[0] - metres.points[2])) == pytest.approx(2000.8, abs=0.1)


def test_a_system_in_feet_keeps_its_unit_and_says_so(tmp_path):
    regions = load_regions(save(tmp_path / "r.gpkg", SQUARES, "EPSG:2249"))
    assert regions.system == CoordinateSystem(CoordinateKind.PLANAR, "EPSG:2249", "unit")
    assert [finding.code for finding in regions.findings] == ["unit"]
    assert "US survey foot" in regions.findings[0].message


def test_a_geojson_in_metres_without_saying_so_is_taken_as_planar(tmp_path):
    regions = load_regions(save(tmp_path / "r.geojson", SQUARES, "EPSG:4326"))
    assert regions.system == CoordinateSystem(CoordinateKind.PLANAR, None, "unit")
    assert [finding.code for finding in regions.findings] == ["not-degrees"]


def test_point_layers_have_no_polygons(tmp_path):
    points = [shapely.Point(500000, 1), shapely.Point(500001, 2)]
    regions = load_regions(save(tmp_path / "r.gpkg", points, kind="Point"))
    assert regions.polygons is None
    assert regions.points.tolist() == [[500000, 1], [500001, 2]]


def test_points_may_come_from_two_attribute_columns(tmp_path):
    path = save(tmp_path / "r.gpkg", SQUARES, id=["a", "b", "c"], px=[1.0, 2.0, 3.0], py=[4.0, 5.0, 6.0])
    regions = load_regions(path, RegionReading(x_column="px", y_column="py"))
    assert regions.points.tolist() == [[1, 4], [2, 5], [3, 6]]
    assert regions.polygons is not None


def test_whole_number_ids_are_written_without_a_point_and_names_are_kept(tmp_path):
    path = save(tmp_path / "r.gpkg", SQUARES, DAUID=[10.0, 11.0, 12.0], NAME=["Ayr", "Bute", "Crail"])
    regions = load_regions(path)
    assert regions.ids == ("10", "11", "12")
    assert regions.names == ("Ayr", "Bute", "Crail")


def test_leading_zeros_of_ids_survive(tmp_path):
    assert load_regions(save(tmp_path / "r.geojson", SQUARES, id=["01", "02", "03"])).ids == (
        "01",
        "02",
        "03",
    )


def test_the_source_of_a_shapefile_covers_all_its_parts(tmp_path):
    path = save(tmp_path / "r.shp", SQUARES)
    data = b"".join(path.with_suffix(part).read_bytes() for part in (".shp", ".dbf", ".shx", ".prj"))
    source = load_regions(path).source
    assert source is not None
    assert (source.size_bytes, source.sha256) == (len(data), hashlib.sha256(data).hexdigest())


def test_a_zipped_shapefile_is_not_opened(tmp_path):
    path = save(tmp_path / "r.shp", SQUARES)
    with zipfile.ZipFile(tmp_path / "r.zip", "w") as archive:
        for part in tmp_path.glob("r.*"):
            if part.suffix != ".zip":
                archive.write(part, part.name)
    (finding,) = findings_of(tmp_path / "r.zip")
    assert (finding.code, finding.message) == ("wrong-format", "A zip archive is not opened.")
    assert "Unpack it" in finding.remedy
    assert path.exists()


def test_shapefiles_with_upper_case_endings_are_read(tmp_path):
    path = save(tmp_path / "r.shp", SQUARES)
    for part in (".shp", ".dbf", ".shx", ".prj", ".cpg"):
        path.with_suffix(part).rename(path.with_suffix(part.upper()))
    assert len(load_regions(tmp_path / "r.SHP")) == 3


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_shapefiles_without_a_code_page_are_read_as_utf8_or_latin1(tmp_path, encoding):
    path = save(tmp_path / "r.shp", SQUARES[:1], id=["a"], name=["Qx9zz"])
    path.with_suffix(".cpg").unlink()
    table = path.with_suffix(".dbf")
    new = "Né".encode(encoding)
    table.write_bytes(table.read_bytes().replace(b"Qx9zz", new.ljust(5)))
    assert load_regions(path).names == ("Né",)


@pytest.mark.parametrize("part", [".dbf", ".shx"])
def test_a_shapefile_without_a_needed_part_is_refused(tmp_path, part):
    path = save(tmp_path / "r.shp", SQUARES)
    path.with_suffix(part).unlink()
    (finding,) = findings_of(path)
    assert finding.code == "missing-part"
    assert f"r{part}" in finding.message


def test_a_shapefile_without_coordinate_system_is_planar_with_a_warning(tmp_path):
    path = save(tmp_path / "r.shp", SQUARES)
    path.with_suffix(".prj").unlink()
    regions = load_regions(path)
    assert regions.system == CoordinateSystem(CoordinateKind.PLANAR, None, "unit")
    assert [(f.code, f.severity) for f in regions.findings] == [("missing-part", Severity.WARNING)]


def test_an_invalid_polygon_is_repaired_with_a_warning(tmp_path):
    bow_tie = shapely.Polygon([(0, 0), (2000, 2000), (2000, 0), (0, 2000)])
    regions = load_regions(save(tmp_path / "r.gpkg", [*SQUARES, bow_tie], kind="Unknown"))
    assert [(f.code, f.severity, f.row) for f in regions.findings] == [
        ("invalid-geometry", Severity.WARNING, 4)
    ]
    assert regions.polygons is not None
    assert regions.polygons[3].is_valid
    assert regions.polygons[3].area == 2_000_000


def test_a_polygon_without_area_is_refused(tmp_path):
    flat = shapely.Polygon([(0, 0), (2000, 2000), (0, 0)])
    (finding,) = findings_of(save(tmp_path / "r.gpkg", [SQUARES[0], flat]))
    assert (finding.code, finding.row, finding.message) == (
        "invalid-geometry",
        2,
        "The polygon has no area.",
    )


def test_missing_and_wrong_shapes_are_named(tmp_path):
    line = shapely.LineString([(0, 0), (1, 1)])
    path = save(tmp_path / "r.gpkg", [SQUARES[0], None, line, shapely.Polygon()], kind="Unknown")
    assert [(f.code, f.row) for f in findings_of(path)] == [
        ("missing-geometry", 2),
        ("wrong-geometry", 3),
        ("missing-geometry", 4),
    ]


def test_a_layer_of_lines_is_refused(tmp_path):
    path = save(tmp_path / "r.gpkg", [shapely.LineString([(0, 0), (1, 1)])], kind="LineString")
    assert [finding.code for finding in findings_of(path)] == ["no-regions"]


def test_the_layer_with_polygons_is_chosen_or_the_one_named(tmp_path):
    path = save(tmp_path / "r.gpkg", [shapely.Point(7, 8)], kind="Point", layer="places")
    save(path, SQUARES, layer="tracts", append=True)
    save(path, SQUARES[:2], layer="counties", append=True)
    regions = load_regions(path)
    assert len(regions) == 3
    assert [finding.code for finding in regions.findings] == ["several-layers"]
    assert load_regions(path, RegionReading(layer="places")).points.tolist() == [[7, 8]]
    assert findings_of(path, layer="roads")[0].code == "missing-layer"


def test_duplicate_and_empty_ids_are_named_by_feature(tmp_path):
    path = save(tmp_path / "r.gpkg", [*SQUARES, SQUARES[0]], id=["a", None, "a", "b"])
    assert [(f.code, f.row) for f in findings_of(path)] == [("empty-id", 2), ("duplicate-id", 3)]


def test_an_id_column_must_be_there(tmp_path):
    path = save(tmp_path / "r.gpkg", SQUARES, colour=["a", "b", "c"])
    (finding,) = findings_of(path)
    assert finding.code == "missing-column"
    assert "“colour”" in finding.remedy
    assert load_regions(path, RegionReading(id_column="colour")).ids == ("a", "b", "c")


@pytest.mark.parametrize("name", ["r.geojson", "r.gpkg", "r.shp", "r.zip"])
def test_a_damaged_file_is_refused(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"this is no geometry")
    for part in (".dbf", ".shx", ".prj"):
        path.with_suffix(part).write_bytes(b"")
    assert findings_of(path)[-1].code == "wrong-format"
    opening = {
        "r.geojson": b"{",
        "r.gpkg": b"SQLite format 3\0".ljust(68, b"\0") + b"GPKG",
        "r.shp": b"\0\0\x27\x0a",
    }
    if name in opening:
        path.write_bytes(opening[name] + b" and then no geometry")
        assert findings_of(path)[-1].code == "unreadable"


def test_a_geojson_without_features_is_refused(tmp_path):
    path = tmp_path / "r.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": []}))
    assert [finding.code for finding in findings_of(path)] == ["empty-file"]


def test_a_polygon_beyond_the_globe_is_named(tmp_path):
    shapes = [
        shapely.box(-64, 44, -63, 45),
        shapely.box(-65, 44, -64, 45),
        shapely.box(-64, 89, -63, 95),
    ]
    findings = findings_of(save(tmp_path / "r.geojson", shapes, "EPSG:4326"))
    assert [(f.code, f.row, f.message) for f in findings] == [
        ("out-of-range", 3, "The latitude is beyond ±90 degrees.")
    ]


def test_attribute_points_must_be_numbers_and_both_be_named(tmp_path):
    path = save(tmp_path / "r.gpkg", SQUARES[:2], id=["a", "b"], px=["1", "east"], py=[4.0, np.nan])
    codes = [(f.code, f.row, f.column) for f in findings_of(path, x_column="px", y_column="py")]
    assert codes == [("not-a-number", 2, "px"), ("missing-number", 2, "py")]
    assert findings_of(path, y_column="py")[0].code == "missing-column"
    assert findings_of(path, x_column="pz", y_column="py")[0].message == "There is no column “pz”."


def test_a_vertex_that_is_no_number_is_told_of_by_its_row_and_by_nothing_else(tmp_path):
    path = tmp_path / "r.geojson"
    rings = [[[0, 0], [1, 0], [1, 1], [0, 0]], [[1, 0], [2, 0], [float("nan"), 1], [1, 1], [1, 0]]]
    features = [
        {
            "type": "Feature",
            "properties": {"id": f"r{n}"},
            "geometry": {"type": "Polygon", "coordinates": [ring]},
        }
        for n, ring in enumerate(rings)
    ]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    (finding,) = findings_of(path)
    assert (finding.code, finding.row) == ("infinite-number", 2)


def test_a_hole_outside_its_shell_adds_no_area(tmp_path):
    shell, hole = shapely.box(1, 0, 2, 1).exterior, shapely.box(5, 5, 6, 6).exterior
    half_out = shapely.box(2.5, 0, 4, 0.5).exterior
    shapes = [
        shapely.Polygon(shell, [hole]),
        shapely.Polygon(shapely.box(2, 0, 3, 1).exterior, [half_out]),
    ]
    regions = load_regions(save(tmp_path / "r.gpkg", shapes))
    assert regions.polygons is not None
    assert [polygon.area for polygon in regions.polygons] == [1.0, 0.75]
    assert regions.points[0].tolist() == [1.5, 0.5]
    assert [finding.row for finding in regions.findings if finding.code == "invalid-geometry"] == [1, 2]


@pytest.mark.parametrize("longitudes", [(179.0, -179.0), (-179.5, 178.0)])
def test_points_of_polygons_cut_at_the_date_line_lie_in_them(tmp_path, longitudes):
    low, high = max(longitudes), min(longitudes)
    both = shapely.MultiPolygon([shapely.box(low, -18, 180, -17), shapely.box(-180, -18, high, -17)])
    regions = load_regions(
        save(tmp_path / "r.geojson", [both, shapely.box(170, -18, 171, -17)], "EPSG:4326", "Unknown")
    )
    assert regions.polygons is not None
    assert shapely.contains_xy(regions.polygons, regions.points).all()
    assert regions.polygons[0].bounds[2] - regions.polygons[0].bounds[0] < 300_000


def test_columns_and_layers_are_told_without_reading_the_regions(tmp_path):
    path = save(tmp_path / "r.gpkg", SQUARES, layer="tracts", id=["a", "b", "c"], county=["x", "x", "y"])
    save(path, SQUARES, layer="towns", append=True, town=["p", "q", "r"])
    assert read_columns_and_layers(path, RegionReading()) == (("id", "county"), ("tracts", "towns"))
    assert read_columns_and_layers(path, RegionReading(layer="towns")) == (
        ("town",),
        ("tracts", "towns"),
    )
    assert read_columns_and_layers(path, RegionReading(layer="gone")) == (
        ("id", "county"),
        ("tracts", "towns"),
    )
    assert read_columns_and_layers(save(tmp_path / "r.shp", SQUARES), RegionReading())[0] == ("GEOID",)


def test_columns_of_text_are_told_as_it_is_read_and_those_of_no_table_not_at_all(tmp_path):
    text = tmp_path / "r.csv"
    text.write_text('\n id ;"x;1";größe\na;1;2\nb;1\n', encoding="latin-1")
    assert read_columns_and_layers(text, RegionReading()) == (("id", "x;1", "größe"), ())
    assert read_columns_and_layers(text, RegionReading(delimiter=",")) == (('id ;"x;1";größe',), ())
    for name, content in (
        ("no.gpkg", b"nothing"),
        ("no.csv", b"\0\0"),
        ("empty.csv", b""),
        ("no.geojson", b"{"),
    ):
        (tmp_path / name).write_bytes(content)
        assert read_columns_and_layers(tmp_path / name, RegionReading()) == ((), ())
    assert read_columns_and_layers(tmp_path / "missing.csv", RegionReading()) == ((), ())


@pytest.mark.parametrize("ending", ["gpkg", "shp"])
def test_a_file_that_is_read_some_features_at_a_time_is_read_whole(tmp_path, ending):
    number = 20_000  # exactly two blocks
    x, y = np.divmod(np.arange(number), 200)
    shapes = shapely.to_wkb(shapely.box(x, y, x + 1.0, y + 1.0))
    people = np.arange(number, dtype=float)
    people[15_000] = np.nan
    fields = [np.array([f"r{i}" for i in range(number)], object), people]
    path = tmp_path / f"many.{ending}"
    write(str(path), shapes, fields, ["id", "people"], geometry_type="Polygon", crs="EPSG:32618")
    regions = load_regions(path)
    assert regions.ids == tuple(f"r{i}" for i in range(number))
    assert np.allclose(regions.points, np.column_stack([x + 0.5, y + 0.5]))
