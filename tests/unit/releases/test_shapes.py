"""The shapes of a release, checked by code that shares nothing with what wrote them."""

from __future__ import annotations

import csv
import json
from itertools import pairwise

import numpy as np
import pytest
import shapely
from geography_making import (
    over_date_line,
    polygon,
    random_geography,
    square,
    wrapped,
    write_points,
    write_shapes,
)
from release_making import load, random_rows, write_records

from vbas_desktop.model.findings import VerificationFailed
from vbas_desktop.releases.geometry import build_shapes, project_shapes
from vbas_desktop.releases.plan import build_plan
from vbas_desktop.releases.shapes_check import check_shapes
from vbas_desktop.settings.release import ReleaseOptions

PLAIN = ReleaseOptions(pdf=False)


def case_of(folder, regions, number, sites=9, coordinates="auto"):
    records = write_records(folder, random_rows(number * 25, regions=number))
    return load(records, regions, sites=sites, coordinates=coordinates)


def features_of(target):
    """Code and rings of every feature: a list of polygons, each a list of rings."""
    made = {}
    for feature in json.loads((target / "release" / "aggregated_regions.geojson").read_text())[
        "features"
    ]:
        geometry = feature["geometry"]
        many = (
            geometry["coordinates"] if geometry["type"] == "MultiPolygon" else [geometry["coordinates"]]
        )
        made[feature["properties"]["aggregated_region"]] = many
    return made


def shoelace(ring):
    x0, y0 = ring[0]
    return sum((a[0] - x0) * (b[1] - y0) - (b[0] - x0) * (a[1] - y0) for a, b in pairwise(ring)) / 2


def area_of(polygons):
    return sum(
        abs(shoelace(rings[0])) - sum(abs(shoelace(hole)) for hole in rings[1:]) for rings in polygons
    )


def holds(polygons, x, y):
    """Whether a ray to the east crosses the rings an odd number of times."""
    crossings = 0
    for rings in polygons:
        for ring in rings:
            for (ax, ay), (bx, by) in pairwise(ring):
                if (ay > y) != (by > y) and x < ax + (y - ay) * (bx - ax) / (by - ay):
                    crossings += 1
    return crossings % 2 == 1


def as_shapes(features):
    return np.array(
        [shapely.MultiPolygon([(rings[0], rings[1:]) for rings in many]) for many in features.values()]
    )


def crosswalk_of(target):
    with (target / "release" / "crosswalk.csv").open(newline="") as file:
        return {row["initial_region"]: row["aggregated_region"] for row in csv.DictReader(file)}


def given(path):
    """The points of a region file, or its polygons with rings that do not jump over the date line, by id."""
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            return {row[0]: (float(row[1]), float(row[2])) for row in list(csv.reader(file))[1:]}
    made = {}
    for feature in json.loads(path.read_text())["features"]:
        geometry = feature["geometry"]
        many = (
            geometry["coordinates"] if geometry["type"] == "MultiPolygon" else [geometry["coordinates"]]
        )
        made[feature["properties"]["id"]] = [[without_jump(ring) for ring in rings] for rings in many]
    return made


def without_jump(ring):
    jumps = max(x for x, _ in ring) - min(x for x, _ in ring) > 180
    return [[x + 360 if jumps and x < 0 else x, y] for x, y in ring]


def middle(polygons):
    """A point in the first of the made-up polygons, all of which are round enough: the mean of four corners."""
    x, y = np.mean(polygons[0][0][:4], axis=0)
    return wrapped(float(x)), float(y)


@pytest.mark.parametrize("seed", range(30))
def test_shapes_of_random_geographies_are_a_partition_of_their_regions(tmp_path, seed):
    path = random_geography(tmp_path, seed)
    regions = given(path)
    case_of(tmp_path, path, len(regions), sites=11).release(tmp_path / "out", PLAIN)
    features, crosswalk = features_of(tmp_path / "out"), crosswalk_of(tmp_path / "out")
    shapes = as_shapes(features)
    assert set(features) == set(crosswalk.values())
    assert shapely.is_valid(shapes).all()
    total = sum(map(area_of, features.values()))
    assert shapely.union_all(shapes).area == pytest.approx(total, rel=1e-6), "nothing lies in two shapes"
    if path.suffix == ".csv":
        missed = {
            name for name, point in regions.items() if not holds(features[crosswalk[name]], *point)
        }
        places = list(regions.values())
        assert not [name for name in missed if places.count(regions[name]) == 1]
        return
    drawn = shapely.union_all(shapely.make_valid(as_shapes(regions))).area
    assert total == pytest.approx(drawn, rel=1e-4)
    overlapping = seed % 10 == 2
    assert overlapping or not [
        n for n, many in regions.items() if not holds(features[crosswalk[n]], *middle(many))
    ]


@pytest.mark.parametrize("coordinates", ["geographic", "degrees", "planar"])
def test_squares_with_plain_floats_for_corners_give_valid_shapes(tmp_path, coordinates):
    rings = [square(-79 + i * 0.1, 43 + j * 0.1, 0.05) for i in range(10) for j in range(6)]
    path = write_shapes(tmp_path / "regions.geojson", [polygon(ring) for ring in rings])
    case_of(tmp_path, path, 60, 15, coordinates).release(tmp_path / "out", PLAIN)
    shapes = as_shapes(features_of(tmp_path / "out"))
    assert shapely.is_valid(shapes).all()
    assert shapely.coverage_is_valid(shapes)
    assert shapely.area(shapes).sum() == pytest.approx(0.6, abs=1e-9)
    holes = [hole for shape in shapes for part in shape.geoms for hole in part.interiors]
    assert not [hole for hole in holes if shapely.Polygon(hole).area < 1e-4], "no hairlines"


@pytest.mark.parametrize("cut", [True, False])
@pytest.mark.parametrize("coordinates", ["geographic", "degrees"])
def test_polygons_over_the_date_line_are_cut_at_it_on_writing(tmp_path, cut, coordinates):
    rings = [square(178.6 + i * 0.25, -19 + j * 0.25, 0.125) for i in range(12) for j in range(5)]
    path = write_shapes(tmp_path / "regions.geojson", [over_date_line(ring, cut) for ring in rings])
    case = case_of(tmp_path, path, 60, 6, coordinates)
    case.release(tmp_path / "out", PLAIN)
    features = features_of(tmp_path / "out")
    parts = [rings for many in features.values() for rings in many]
    assert all(-180 <= x <= 180 for rings in parts for ring in rings for x, _ in ring)
    assert max(np.ptp([x for x, _ in rings[0]]) for rings in parts) < 2
    assert any(max(x for x, _ in r[0]) == 180 for r in parts), "one was cut"
    assert any(min(x for x, _ in r[0]) == -180 for r in parts)
    assert sum(map(area_of, features.values())) == pytest.approx(60 * 0.25**2, abs=1e-5)
    crosswalk = crosswalk_of(tmp_path / "out")
    for number, ring in enumerate(rings):
        x, y = np.mean(ring[:4], axis=0)
        assert holds(features[crosswalk[f"r{number}"]], wrapped(x), y)
    assert np.ptp(case.problem.regions.points, axis=0).max() < (
        400_000 if coordinates == "geographic" else 4
    )
    with (tmp_path / "out" / "release" / "aggregated_regions.csv").open(newline="") as file:
        placed = [(float(row["x"]), float(row["y"])) for row in csv.DictReader(file)]
    longitudes = [place[coordinates == "degrees"] for place in placed]
    assert all(178 < abs(longitude) <= 180 for longitude in longitudes)
    assert {longitude > 0 for longitude in longitudes} == {True, False}


@pytest.mark.parametrize("coordinates", ["geographic", "degrees"])
def test_points_on_both_sides_of_the_date_line_are_neighbours(tmp_path, coordinates):
    # A grid in Chukotka: points nearly on circles once projected, and cells that are long in longitude.
    points = [(wrapped(170.55 + i * 1.1), 64.55 + j * 1.1) for i in range(20) for j in range(10)]
    path = write_points(tmp_path / "regions.csv", points, ("longitude", "latitude"))
    case = case_of(tmp_path, path, 200, 11, coordinates)
    case.release(tmp_path / "out", ReleaseOptions(pdf=False, geometry=("geojson", "gpkg")))
    features, crosswalk = features_of(tmp_path / "out"), crosswalk_of(tmp_path / "out")
    assert max(np.ptp([x for x, _ in rings[0]]) for many in features.values() for rings in many) < 12
    assert all(holds(features[crosswalk[f"r{n}"]], x, y) for n, (x, y) in enumerate(points))
    assert shapely.is_valid(as_shapes(features)).all()


def test_regions_at_one_place_get_a_disc_that_is_said_to_be_none_of_their_borders(tmp_path):
    path = write_points(tmp_path / "regions.csv", [(-63.5, 44.6)] * 3, ("longitude", "latitude"))
    report = case_of(tmp_path, path, 3, 1).release(tmp_path / "out", PLAIN)
    (shape,) = as_shapes(features_of(tmp_path / "out"))
    metres = np.array([111_320 * np.cos(np.radians(44.6)), 111_320])
    # Canada's projection is a few per cent off the true scale here.
    assert shape.area * metres.prod() == pytest.approx(np.pi * 500**2, rel=0.06)
    assert [finding.code for finding in report.findings if finding.code == "no-extent"]
    said = "a disc around it with a radius of 500 m, not a border"
    assert said in (tmp_path / "out" / "release" / "report.html").read_text()
    assert said in (tmp_path / "out" / "internal" / "report.html").read_text()


@pytest.mark.parametrize(("unit", "radius"), [(0.0, 1.0), (4e6, 4e3), (1e-5, 1e-8)])
def test_one_region_in_a_plane_gets_a_disc_in_keeping_with_its_numbers(tmp_path, unit, radius):
    path = write_points(tmp_path / "regions.csv", [(unit, unit)], ("x", "y"))
    case_of(tmp_path, path, 1, 1).release(tmp_path / "out", PLAIN)
    (shape,) = as_shapes(features_of(tmp_path / "out"))
    assert shape.area == pytest.approx(np.pi * radius**2, rel=0.03)


def test_regions_of_a_few_metres_are_written_finer_than_a_decimetre(tmp_path):
    rings = [square(-63 + i * 2e-6, 44 + j * 2e-6, 1e-6) for i in range(4) for j in range(4)]
    path = write_shapes(tmp_path / "regions.geojson", [polygon(ring) for ring in rings])
    case_of(tmp_path, path, 16, 5).release(tmp_path / "out", PLAIN)
    assert sum(map(area_of, features_of(tmp_path / "out").values())) == pytest.approx(
        16 * 4e-12, rel=1e-2
    )


@pytest.fixture
def written(tmp_path):
    """A release of squares, with what is needed to check its shapes once more."""
    rings = [square(10 + i * 0.1, 50 + j * 0.1, 0.05) for i in range(5) for j in range(5)]
    path = write_shapes(tmp_path / "regions.geojson", [polygon(ring) for ring in rings])
    case = case_of(tmp_path, path, 25, 5)
    case.release(tmp_path / "out", ReleaseOptions(pdf=False, geometry=("geojson", "gpkg")))
    plan = build_plan(case.problem, case.solution)
    release = tmp_path / "out" / "release"

    def check(kind):
        placed = [project_shapes(kind, build_shapes(plan), case.problem.regions)]
        return check_shapes(
            plan, placed, release / f"aggregated_regions.{kind}", release / "aggregated_regions.csv"
        )

    return release, check


def moved(features, by):
    return [feature | {"geometry": shifted(feature["geometry"], by)} for feature in features]


def shifted(geometry, by):
    return json.loads(
        shapely.to_geojson(shapely.affinity.translate(shapely.from_geojson(json.dumps(geometry)), by))
    )


def bow_tie(feature):
    (x, y), size = feature["geometry"]["coordinates"][0][0], 0.1
    ring = [[x, y], [x + size, y + size], [x + size, y], [x, y + size], [x, y]]
    return feature | {"geometry": {"type": "Polygon", "coordinates": [ring]}}


def exchanged(features):
    first, second, *rest = features
    return [first | {"geometry": second["geometry"]}, second | {"geometry": first["geometry"]}, *rest]


def recounted(features):
    first, *rest = features
    return [first | {"properties": first["properties"] | {"records": 1}}, *rest]


@pytest.mark.parametrize("kind", ["geojson", "gpkg"])
def test_honest_shapes_pass(written, kind):
    _, check = written
    assert len(check(kind)) == 5


@pytest.mark.parametrize(
    ("tamper", "noticed"),
    [
        (lambda features: features[:-1], "one shape for every aggregated region"),
        (lambda features: [*features[1:], features[0]], "one shape for every aggregated region"),
        (recounted, "one shape for every aggregated region"),
        (lambda features: [bow_tie(features[0]), *features[1:]], "every shape is valid"),
        (lambda features: [*moved(features[:1], 0.05), *features[1:]], "no two shapes overlap"),
        (lambda features: moved(features, 3.0), "lies in the shape of its aggregated region"),
        (exchanged, "lies in the shape of its aggregated region|areas are those"),
        (lambda features: [{"type": "Feature"}], "can be read back"),
    ],
)
def test_every_change_to_the_shapes_is_noticed(written, tamper, noticed):
    release, check = written
    path = release / "aggregated_regions.geojson"
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"features": tamper(document["features"])}))
    with pytest.raises(VerificationFailed, match=noticed):
        check("geojson")


def test_a_damaged_geopackage_is_noticed(written):
    release, check = written
    (release / "aggregated_regions.gpkg").write_bytes(b"SQLite format 3\0 and nothing more")
    with pytest.raises(VerificationFailed, match="can be read back"):
        check("gpkg")
