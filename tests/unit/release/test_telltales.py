"""Released columns that could undo the release are named to the person who releases."""

import pytest
from release_making import load, random_rows, write_records, write_regions

from vbas_desktop.files.runfile import run_document
from vbas_desktop.release import ReleaseOptions

HEADER = ["name", "age", "sex", "region", "more"]


def warned(folder, more, **options):
    """The columns that are warned about, with the kind, if column “more” holds these values."""
    rows = [[*row[:4], value] for row, value in zip(random_rows(400), more, strict=True)]
    case = load(write_records(folder, rows, HEADER), write_regions(folder))
    report = case.release(folder / "out", ReleaseOptions(pdf=False, **options))
    page = (report.target / "internal" / "report.html").read_text(encoding="utf-8")
    for finding in report.findings:
        assert finding.message in page
        assert finding.message not in (report.folder / "report.html").read_text(encoding="utf-8")
    return [(finding.column, finding.code) for finding in report.findings]


def test_a_column_with_a_value_for_each_record_may_name_the_person(tmp_path):
    assert warned(tmp_path, ["x"] * 400) == [("name", "identifier-released")]


def test_identifiers_are_dropped_and_need_no_warning(tmp_path):
    assert warned(tmp_path, ["x"] * 400, identifiers=("name",)) == []


@pytest.mark.parametrize("empty", [0, 50])
def test_a_column_that_names_the_initial_region_in_other_words_undoes_the_merging(tmp_path, empty):
    towns = [f"town of {row[3]}" for row in random_rows(400)]
    more = [""] * empty + towns[empty:]
    assert warned(tmp_path, more, identifiers=("name",)) == [("more", "place-released")]


def test_a_column_that_is_spread_over_the_regions_tells_no_place(tmp_path):
    assert warned(tmp_path, [f"ward {number % 40}" for number in range(400)], identifiers=("name",)) == []


def test_a_column_that_is_no_finer_than_the_aggregated_regions_tells_nothing_new(tmp_path):
    halves = ["north" if int(row[3][1:]) < 8 else "south" for row in random_rows(400)]
    assert warned(tmp_path, halves, identifiers=("name",)) == []


@pytest.mark.parametrize(
    ("shuffle", "arranged", "warns"), [(False, True, True), (False, False, False), (True, True, False)]
)
def test_rows_that_stand_together_by_region_tell_the_place_unless_they_are_shuffled(tmp_path, shuffle, arranged, warns):
    rows = [["", *row[1:]] for row in random_rows(400)]
    path = write_records(tmp_path, sorted(rows, key=lambda row: row[3]) if arranged else rows)
    report = load(path, write_regions(tmp_path)).release(tmp_path / "out", ReleaseOptions(pdf=False, shuffle=shuffle))
    assert [finding.code for finding in report.findings] == ["order-released"] * warns


def test_the_recipient_does_not_learn_where_files_lie_in_the_house(tmp_path):
    case = load(write_records(tmp_path, random_rows(200)), write_regions(tmp_path))
    settings = {
        "records": "/secret/place/records.csv",
        "regions": "/secret/place/regions.csv",
        "region_column": "region",
        "generalise": ["/secret/place/ages.csv", "sex=/secret/place/sexes.csv:1"],
    }
    document = run_document(case.problem, case.result, settings)
    report = case.release(tmp_path / "out", ReleaseOptions(pdf=False), document=document)
    pages = {
        folder: (report.target / folder / "report.html").read_text(encoding="utf-8")
        for folder in ("release", "internal")
    }
    assert "--generalise ages.csv --generalise sex=sexes.csv:1" in pages["internal"]
    assert "ages.csv" not in pages["release"]
    assert all("/secret" not in page for page in pages.values())
