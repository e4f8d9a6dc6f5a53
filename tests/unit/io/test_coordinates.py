"""Projections: metres that are metres, everywhere on Earth where they can be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyproj import Geod, Proj

from vbas_desktop.io.regions.coordinates import CANADA, choose_projection, from_lon_lat, to_lon_lat
from vbas_desktop.io.regions.reader import RegionReading, load_regions
from vbas_desktop.model.findings import InputError

CITIES_OF_CANADA = [
    (-52.71, 47.56),
    (-63.57, 44.65),
    (-83.03, 42.31),
    (-123.12, 49.28),
    (-114.37, 62.45),
    (-68.52, 63.75),
]
CITIES_NEARBY = [(-71.06, 42.36), (-122.33, 47.61), (-149.9, 61.22), (-68.78, 44.8), (-51.73, 64.18)]


def test_all_of_canada_has_one_projection():
    assert choose_projection(np.array(CITIES_OF_CANADA)) == CANADA


@pytest.mark.parametrize("city", CITIES_NEARBY)
def test_neighbours_of_canada_get_their_own(city):
    assert choose_projection(np.array([*CITIES_OF_CANADA, city])).startswith("+proj=lcc")


def test_data_across_the_date_line_are_centred_on_it():
    assert "+lon_0=179.5 " in choose_projection(np.array([(177.0, -18.0), (-178.0, -17.0)]))


def test_at_the_equator_the_cone_becomes_a_cylinder():
    definition = choose_projection(np.array([(36.0, -1.0), (37.0, 1.0)]))
    assert definition.startswith("+proj=merc")
    assert np.isfinite(from_lon_lat(np.array([(36.5, 0.0)]), definition)).all()


@settings(max_examples=50, deadline=None)
@given(
    lon=st.floats(-180, 180),
    lat=st.floats(-80, 80),
    steps=st.lists(st.tuples(st.floats(-0.5, 0.5), st.floats(-0.5, 0.5)), min_size=2, max_size=6),
)
@example(lon=-60.0, lat=63.0, steps=[(0.0, 0.0), (0.0, 0.5)])
def test_distances_within_a_degree_are_true_to_a_thousandth(lon, lat, steps):
    points = np.array([((lon + dx + 180) % 360 - 180, lat + dy) for dx, dy in steps])
    definition = choose_projection(points)
    plane = from_lon_lat(points, definition)
    geod = Geod(ellps="WGS84")
    # Canada's own projection is true along two parallels only; between and beyond them its scale is known.
    scale = Proj(CANADA).get_factors(*points[0]).meridional_scale if definition == CANADA else 1.0
    for i in range(1, len(points)):
        true = geod.inv(*points[0], *points[i])[2]
        shift = 0.01 if definition == CANADA else 0.001
        assert np.hypot(*(plane[i] - plane[0])) == pytest.approx(scale * true, rel=shift, abs=0.01)
    assert to_lon_lat(plane, definition)[:, 1] == pytest.approx(points[:, 1], abs=1e-6)


def test_what_cannot_be_projected_is_refused_with_a_remedy(tmp_path):
    path = tmp_path / "regions.csv"
    path.write_text("id,lon,lat\na,0,90\nb,10,-90\n")
    with pytest.raises(InputError, match="too far over the globe") as error:
        load_regions(path)
    assert "Split the file" in error.value.findings[0].remedy
    assert load_regions(path, RegionReading(coordinates="degrees")).points.tolist() == [
        [90, 0],
        [-90, 10],
    ]
