"""Layers for orientation: read like obstacles, with points too, and clear words where they cannot be."""

from __future__ import annotations

import json

import numpy as np
import pytest
import shapely

from vbas_desktop.io.regions.map_layers import load_context_layer
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem

PLANE = CoordinateSystem(CoordinateKind.PLANAR)


def write(path, *geometries):
    features = [
        {"type": "Feature", "properties": {}, "geometry": json.loads(shapely.to_geojson(each))}
        for each in geometries
    ]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return str(path)


def test_areas_lines_and_points_are_read(tmp_path):
    shapes = (shapely.box(0, 0, 2, 1), shapely.LineString([(0, 0), (5, 5)]), shapely.Point(3, 3))
    found = load_context_layer(write(tmp_path / "coast.geojson", *shapes), PLANE)
    assert [shapely.normalize(each) for each in found] == [shapely.normalize(each) for each in shapes]


def test_shapes_come_in_the_coordinates_of_the_regions(tmp_path):
    system = CoordinateSystem(CoordinateKind.GEOGRAPHIC, "EPSG:32618", "m")
    (point,) = load_context_layer(write(tmp_path / "towns.geojson", shapely.Point(-75.0, 42.0)), system)
    assert np.allclose(shapely.get_coordinates(point), [[500_000, 4_649_776]], atol=1)
    raw = CoordinateSystem(CoordinateKind.DEGREES, "EPSG:4326", "degree")
    (point,) = load_context_layer(str(tmp_path / "towns.geojson"), raw)
    assert shapely.get_coordinates(point).tolist() == [[42.0, -75.0]]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("gone.geojson", None, "no such file"),
        ("coast.csv", "id,x,y\n1,2,3\n", "needs areas, lines or points"),
        ("empty.geojson", '{"type": "FeatureCollection", "features": []}', ""),
        ("damaged.geojson", '{"type": "FeatureColl', ""),
        ("other.geojson", '<OGRVRTDataSource><OGRVRTLayer name="x"/></OGRVRTDataSource>', ""),
    ],
)
def test_what_cannot_be_drawn_is_told(tmp_path, name, text, words):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as refused:
        load_context_layer(str(tmp_path / name), PLANE)
    assert words in str(refused.value)
