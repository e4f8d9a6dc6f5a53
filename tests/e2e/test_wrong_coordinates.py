"""Coordinates that are not what they are said to be are warned of; points all over the globe are released."""

import math
import random
import shutil
from pathlib import Path

import numpy as np
import pyogrio.raw
import pytest
import shapely
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vbas_desktop.cli.main import main
from vbas_desktop.io.regions.coordinates import from_lon_lat

CHOICES = ["--region-column", "region", "--quasi-identifiers", "sex", "-k", "3", "--identifiers", "who"]
DEGREES = [
    shapely.box(-63 + i % 3 / 10, 46 + i // 3 / 10, -62.9 + i % 3 / 10, 46.1 + i // 3 / 10)
    for i in range(9)
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write_records(regions):
    rows = "".join(f"p{i},{'FM'[i // regions % 2]},{1001 + i % regions}\n" for i in range(regions * 12))
    Path("records.csv").write_text("who,sex,region\n" + rows)


def write_shapes(name, system):
    write_records(9)
    ids = np.array([str(1001 + i) for i in range(9)], object)
    driver = "GPKG" if name.endswith(".gpkg") else "ESRI Shapefile"
    shapes = shapely.to_wkb(np.array(DEGREES, object))
    pyogrio.raw.write(name, shapes, [ids], ["id"], geometry_type="Polygon", crs=system, driver=driver)


def write_points(points):
    write_records(len(points))
    rows = "".join(f"{1001 + i},{lon!r},{lat!r}\n" for i, (lon, lat) in enumerate(points))
    Path("regions.csv").write_text("id,longitude,latitude\n" + rows)


@pytest.mark.parametrize(
    ("name", "system"), [("regions.gpkg", "EPSG:3857"), ("regions.shp", "EPSG:3347")]
)
def test_degrees_that_are_declared_as_metres_are_warned_of(capsys, name, system):
    write_shapes(name, system)
    assert main(["run", "records.csv", name, *CHOICES]) == 0
    said = capsys.readouterr().err
    assert (
        f"warning: {name}: The file declares plane coordinates, but all of them could be degrees."
        in said
    )
    assert "declare them as such (EPSG:4326)" in said


def test_degrees_and_metres_that_are_declared_rightly_are_not_warned_of(capsys):
    write_shapes("regions.gpkg", "EPSG:4326")
    assert main(["run", "records.csv", "regions.gpkg", *CHOICES]) == 0
    assert "warning: regions.gpkg" not in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"", b"no \x01 system", "half", "without a number"])
def test_a_broken_prj_is_warned_of(capsys, content):
    write_shapes("regions.shp", "EPSG:4326")
    sound = Path("regions.prj").read_text()
    broken = {"half": sound[: len(sound) // 2], "without a number": sound.replace("6378137", "many")}
    Path("regions.prj").write_bytes(content if isinstance(content, bytes) else broken[content].encode())
    assert main(["run", "records.csv", "regions.shp", *CHOICES, "--out", "out"]) == 0
    said = capsys.readouterr().err
    assert (
        "The file regions.prj with the coordinate system is damaged; taken as plane coordinates." in said
    )
    assert "Get a fresh copy of it, or choose --coordinates." in said


def all_over_the_globe(draw):
    return [(draw.uniform(-180, 180), math.degrees(math.asin(draw.uniform(-0.9, 1)))) for _ in range(80)]


def around_the_south_pole(draw):
    return [(draw.uniform(-180, 180), -90 + abs(draw.gauss(0, 8))) for _ in range(80)]


def on_both_sides_of_the_north_pole(draw):
    return [(draw.uniform(-85, 85), draw.uniform(84, 89)) for _ in range(80)]


def next_to_the_south_pole(draw):
    return [(draw.uniform(-10, 10), draw.uniform(-89.9, -60)) for _ in range(80)]


FAR = [
    all_over_the_globe,
    around_the_south_pole,
    on_both_sides_of_the_north_pole,
    next_to_the_south_pole,
]


@pytest.mark.parametrize("make_points", FAR)
def test_points_all_over_the_globe_or_around_a_pole_are_refused_before_anything_is_computed(
    capsys, make_points
):
    write_points(make_points(random.Random(5)))
    assert main(["run", "records.csv", "regions.csv", *CHOICES, "--out", "out"]) == 1
    said = capsys.readouterr().err
    assert "globe" in said or "or around or close to a pole." in said
    assert "split the file" in said.lower()
    assert "Counting" not in said
    assert not Path("out").exists()


def test_points_all_over_the_globe_are_refused_in_raw_degrees_too(capsys):
    write_points(all_over_the_globe(random.Random(5)))
    assert (
        main(["run", "records.csv", "regions.csv", *CHOICES, "--coordinates", "degrees", "--out", "out"])
        == 1
    )
    assert "more than half of all longitudes" in capsys.readouterr().err
    assert not Path("out").exists()


def test_the_remedy_for_points_around_a_pole_works(capsys):
    points = around_the_south_pole(random.Random(5))
    write_records(len(points))
    plane = from_lon_lat(np.array(points), "EPSG:3031")
    rows = "".join(f"{1001 + i},{x!r},{y!r}\n" for i, (x, y) in enumerate(plane.tolist()))
    Path("regions.csv").write_text("id,x,y\n" + rows)
    assert (
        main(["run", "records.csv", "regions.csv", *CHOICES, "--coordinates", "planar", "--out", "out"])
        == 0
    )


@settings(
    max_examples=10,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    lon=st.floats(-180, 180),
    lat=st.floats(-89, 89),
    width=st.sampled_from([10, 60, 89, 130]),
    height=st.sampled_from([10, 40]),
    seed=st.integers(0, 99),
)
def test_points_anywhere_are_released_or_refused_before_anything_is_computed(
    lon, lat, width, height, seed
):
    draw = random.Random(seed)
    points = [
        (
            (lon + draw.uniform(-width, width) + 180) % 360 - 180,
            max(-90.0, min(90.0, lat + draw.uniform(-height, height))),
        )
        for _ in range(30)
    ]
    write_points(points)
    shutil.rmtree("out", ignore_errors=True)
    more = [
        "--site-number",
        "fixed",
        "--sites",
        "5",
        "--range-reach",
        "0",
        "--no-pdf",
        "--quiet",
        "--out",
        "out",
    ]
    assert main(["run", "records.csv", "regions.csv", *CHOICES, *more]) in (0, 1)
