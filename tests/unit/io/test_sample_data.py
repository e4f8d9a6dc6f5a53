"""The sample data: what its README promises."""

from __future__ import annotations

import csv
import json

import pytest
import shapely

from vbas_desktop.io.paths import sample_data_folder
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.io.synthetic.generate import generate
from vbas_desktop.io.synthetic.spec import load_spec
from vbas_desktop.model.regions import CoordinateKind


@pytest.fixture(scope="module")
def again(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sample") / "again"
    generate(load_spec(sample_data_folder() / "spec.toml"), folder)
    return folder


@pytest.mark.parametrize("name", ["records.csv", "codebook.csv", "generalise.csv"])
def test_making_it_again_gives_the_same_bytes(again, name):
    assert (again / name).read_bytes() == (sample_data_folder() / name).read_bytes()


def test_every_tract_has_a_polygon_and_neighbours_share_their_border():
    regions = load_regions(sample_data_folder() / "regions.geojson")
    assert len(regions) == 281
    assert regions.system.kind is CoordinateKind.GEOGRAPHIC
    assert regions.findings == ()
    assert regions.polygons is not None
    assert shapely.is_valid(regions.polygons).all()
    assert shapely.contains_xy(regions.polygons, regions.points).all()
    original = shapely.from_geojson((sample_data_folder() / "regions.geojson").read_text())
    assert shapely.coverage_is_valid(shapely.get_parts(original))


def test_every_tract_has_a_name():
    tracts = json.loads((sample_data_folder() / "regions.geojson").read_text(encoding="utf-8"))[
        "features"
    ]
    names = {tract["properties"]["id"]: tract["properties"]["name"] for tract in tracts}
    assert all(len(name) > 3 for name in names.values())
    assert names["36007011901"] == "Tract 119.01, Broome County"


def test_records_have_the_columns_that_the_readme_lists():
    table = load_records(sample_data_folder() / "records.csv")
    assert table.rows == 105_000
    assert table.file_format.header == (
        "health_number",
        "tract",
        "age",
        "sex",
        "marital_status",
        "housing",
        "plan",
        "diagnosis",
    )
    assert [table.facts(name).distinct for name in table.file_format.header[1:]] == [
        281,
        7,
        2,
        4,
        2,
        3,
        12,
    ]


def test_it_is_small_enough_to_be_kept_with_the_program():
    assert sum(file.stat().st_size for file in sample_data_folder().iterdir()) < 6_500_000


def test_some_tracts_have_hardly_any_record(again):
    with (again / "regions.csv").open(encoding="utf-8") as stream:
        sizes = sorted(int(row["records"]) for row in csv.DictReader(stream))
    assert sizes[0] == 1
    assert sizes[-1] > 1000
