"""The region column may have any number of values; other columns of too many have no categories."""

from functools import partial
from pathlib import Path

import pytest

from vbas_desktop.app import data as app_data
from vbas_desktop.app.data import LoadRequest, load_data
from vbas_desktop.io.records.file_format import ReadLimits

REGIONS = 60


@pytest.fixture
def files(tmp_path, monkeypatch) -> tuple[Path, Path]:
    """Records of two people in each region, and limits that neither regions nor people keep to."""
    limited = partial(app_data.load_records, limits=ReadLimits(distinct=20, identifier_from=10))
    monkeypatch.setattr(app_data, "load_records", limited)
    records, regions = tmp_path / "records.csv", tmp_path / "regions.csv"
    rows = [f"{number % 3},p{number},r{number % REGIONS}\n" for number in range(2 * REGIONS)]
    records.write_text("age,person,home\n" + "".join(rows))
    regions.write_text("id,x,y\n" + "".join(f"r{number},{number},0\n" for number in range(REGIONS)))
    return records, regions


@pytest.mark.parametrize("region_column", ["home", ""])
def test_the_region_column_is_coded_whether_or_not_it_is_named(files, region_column):
    table = load_data(LoadRequest(*files, region_column=region_column)).table
    home = table.facts("home")
    assert (home.categorical, home.distinct) == (True, REGIONS)
    assert [home.categories.values[code] for code in table.codes("home")[:3]] == ["r0", "r1", "r2"]
    assert home.frequencies.tolist() == [2] * REGIONS
    assert not table.facts("person").categorical
    assert table.facts("age").categorical


def test_only_the_named_column_is_without_limit(files):
    table = load_data(LoadRequest(*files, region_column="age")).table
    assert [facts.categorical for facts in table.columns] == [True, False, False]


def test_more_than_a_million_regions_are_loaded(tmp_path):
    number = 1_200_000
    path = tmp_path / "records.csv"
    path.write_text("home,person\n" + "".join(f"{place},{place}\n" for place in range(number)))
    table = app_data.load_records(path, unlimited=["home"])
    assert table.facts("home").distinct == number
    assert (table.codes("home")[-3:] == [number - 3, number - 2, number - 1]).all()
    assert not table.facts("person").categorical
