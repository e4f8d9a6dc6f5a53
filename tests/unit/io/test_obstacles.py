"""Obstacle files: read with names, put into the coordinates of the regions, refused in clear words."""

import json

import numpy as np
import pytest
import shapely

from vbas_desktop.cli.main import main
from vbas_desktop.io.regions.reader import RegionReading, load_regions
from vbas_desktop.model.findings import InputError

LAKE = {
    "type": "Polygon",
    "coordinates": [[[-75.5, 45.1], [-75.1, 45.1], [-75.1, 45.9], [-75.5, 45.9], [-75.5, 45.1]]],
}
RIVER = {"type": "LineString", "coordinates": [[-76.0, 45.0], [-76.0, 46.0]]}


def feature(shape, **told):
    return {"type": "Feature", "properties": told, "geometry": shape}


def save(path, *features):
    path.write_text(json.dumps({"type": "FeatureCollection", "features": list(features)}))
    return str(path)


@pytest.fixture
def places(tmp_path):
    path = tmp_path / "regions.csv"
    path.write_text("id,longitude,latitude\na,-75.8,45.5\nb,-75.0,45.5\nc,-74.7,45.5\n")
    return path


def test_names_and_shapes_are_kept_in_the_regions_coordinates(tmp_path, places):
    water = save(tmp_path / "water.geojson", feature(LAKE, name="Long Lake"), feature(RIVER, name=None))
    regions = load_regions(places, RegionReading(obstacles=(water,)))
    found = regions.obstacles
    assert found.names == ("Long Lake", "")
    assert [shape.geom_type for shape in found.shapes] == ["Polygon", "LineString"]
    # Between a and b, in metres of the projection of the regions.
    assert shapely.intersects(found.shapes[0], shapely.LineString(regions.points[:2]))
    assert [source.path for source in found.sources] == [water]
    degrees = load_regions(places, RegionReading(obstacles=(water,), coordinates="degrees"))
    assert degrees.obstacles.shapes[0].bounds == (45.1, -75.5, 45.9, -75.1)


def test_what_is_no_obstacle_is_noted_and_wrong_files_are_refused(tmp_path, places):
    mixed = save(
        tmp_path / "mixed.geojson", feature(LAKE), feature({"type": "Point", "coordinates": [-75, 45]})
    )
    regions = load_regions(places, RegionReading(obstacles=(mixed,)))
    assert len(regions.obstacles) == 1
    assert [(finding.code, finding.row) for finding in regions.findings] == [("no-obstacle", 2)]
    only = save(tmp_path / "points.geojson", feature({"type": "Point", "coordinates": [-75, 45]}))
    with pytest.raises(InputError, match="No layer has polygons or lines"):
        load_regions(places, RegionReading(obstacles=(only,)))
    with pytest.raises(InputError, match="areas or lines"):
        load_regions(places, RegionReading(obstacles=(str(places),)))
    with pytest.raises(InputError):
        load_regions(places, RegionReading(obstacles=(str(tmp_path / "none.geojson"),)))


def test_obstacles_elsewhere_are_told(tmp_path, places):
    moved = json.loads(json.dumps(LAKE).replace("-75", "15"))
    far = save(tmp_path / "far.geojson", feature(moved))
    assert [f.code for f in load_regions(places, RegionReading(obstacles=(far,))).findings] == [
        "obstacles-elsewhere"
    ]


def test_the_command_goes_around_obstacles_and_says_how_much_that_changed(tmp_path, places, capsys):
    records = tmp_path / "records.csv"
    records.write_text(
        "sex,region\n" + "".join(f"{sex},{place}\n" for place in "abc" for sex in "FM" * 5)
    )
    water = save(tmp_path / "water.geojson", feature(LAKE, name="Long Lake"))
    common = [
        "run",
        str(records),
        str(places),
        "--region-column",
        "region",
        "--quasi-identifiers",
        "sex",
        "-k",
        "2",
    ]
    common += [
        "--sites",
        "2",
        "--range-reach",
        "0",
        "--site-location",
        "anonymity",
        "--set",
        "anonymity.ties=file",
    ]
    assert main([*common, "--construction", "obstacles", "--obstacles", water, "--json"]) == 0
    solution = json.loads(capsys.readouterr().out)["solutions"][0]
    assert solution["obstacles"]["obstacles"] == 1
    assert solution["obstacles"]["changed_regions"] == 0
    assert main([*common, "--construction", "obstacles", "--json"]) == 0
    told = capsys.readouterr()
    assert "No obstacle file is given" in told.err
    assert "obstacles" not in json.loads(told.out)["solutions"][0]
    assert main([*common, "--construction", "obstacles", "--obstacles", water, "--quiet"]) == 0
    assert "0 of 3 initial regions (0.0 %) have another site" in capsys.readouterr().out


def test_a_lake_changes_the_owner(tmp_path):
    from tests.problem_making import context_for
    from vbas_desktop.approaches.registry import create_approach
    from vbas_desktop.model.progress import NO_PROGRESS
    from vbas_desktop.model.regions import Obstacles

    context = context_for([(0, 0), (4, 0), (-7, 0)], [[5]] * 3)
    lake = Obstacles(np.array([shapely.box(1, -20, 3, 20)], object), ("Lake",), ())
    object.__setattr__(context.regions, "obstacles", lake)
    made = create_approach("construction", "obstacles").build_partition(
        context, context.points[1:], NO_PROGRESS
    )
    assert made.owner.tolist() == [1, 0, 1]
    assert made.diagnostics["obstacles"]["changed_regions"] == 1
    assert made.diagnostics["obstacles"]["changed_percent"] == pytest.approx(100 / 3)
