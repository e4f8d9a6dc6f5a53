"""Files that people take for a table are refused in words that say what they are."""

import zipfile

import pytest

from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.model.findings import InputError

SAVE_AS_CSV = "In the spreadsheet program, save the sheet as CSV (UTF-8), then open that file."


def refusal(load, path):
    with pytest.raises(InputError) as caught:
        load(path)
    (finding,) = caught.value.findings
    return finding.message, finding.remedy


@pytest.mark.parametrize("load", [load_records, load_regions])
@pytest.mark.parametrize("part", ["xl/workbook.xml", "content.xml"])
def test_a_workbook(load, part, tmp_path):
    path = tmp_path / "patients.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(part, "<x/>")
    assert refusal(load, path) == ("This is a spreadsheet, not a table in text form.", SAVE_AS_CSV)


@pytest.mark.parametrize("load", [load_records, load_regions])
def test_a_picture(load, tmp_path):
    path = tmp_path / "patients.csv"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(20))
    assert refusal(load, path) == (
        "This is a picture, not a table in text form.",
        "Choose another file.",
    )


def test_the_region_file_in_place_of_the_records(tmp_path):
    path = tmp_path / "regions.geojson"
    path.write_text('{"type": "FeatureCollection", "features": []}', encoding="utf-8")
    assert refusal(load_records, path) == (
        "This is a file of shapes, not a table in text form.",
        "Choose the record file; if this is the region file, exchange the two.",
    )
