"""Released columns that could undo the release are named to the person who releases."""

import pytest
from release_making import load, random_rows, write_records, write_regions

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
