"""Two files the wrong way round, or one file twice, are recognised before anything is counted."""

from __future__ import annotations

import pytest

from vbas_desktop.app.data import LoadRequest, load_data
from vbas_desktop.model.findings import InputError

RECORDS = "age,sex,tract\n1,F,a\n2,M,b\n"
REGIONS = {
    "regions.csv": "tract;lat;lon\na;1,5;2\nb;3;4\n",
    "regions.geojson": '{"type": "FeatureCollection", "features": []}',
}


def problems(records, regions):
    with pytest.raises(InputError) as caught:
        load_data(LoadRequest(records, regions))
    return caught.value.findings


@pytest.mark.parametrize("name", REGIONS)
def test_swapped_files_are_asked_about(tmp_path, name):
    records, regions = tmp_path / "records.csv", tmp_path / name
    records.write_text(RECORDS)
    regions.write_text(REGIONS[name])
    first, *others = problems(regions, records)
    assert (first.code, first.remedy) == ("swapped-files", "Did you swap the two files?")
    assert name in first.message
    assert others, "what was wrong with the file is told too"


def test_files_that_both_lack_coordinates_are_not_called_swapped(tmp_path):
    records, regions = tmp_path / "records.csv", tmp_path / "regions.csv"
    records.write_text(RECORDS)
    regions.write_text("tract,name\na,A\nb,B\n")
    assert "swapped-files" not in [finding.code for finding in problems(records, regions)]


def test_one_file_is_not_taken_twice_under_two_names(tmp_path):
    records, again = tmp_path / "records.csv", tmp_path / "link.csv"
    records.write_text(RECORDS)
    again.symlink_to(records)
    assert [finding.code for finding in problems(records, again)] == ["one-file-twice"]
