"""Released columns that could undo the release stop it unless the person who releases allows them."""

import json
from dataclasses import replace

import pytest
from release_making import load, random_rows, write_records, write_regions

from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.io.documents.run_file import build_run_document
from vbas_desktop.model.findings import InputError
from vbas_desktop.releases.disclosure_checks import DISCLOSIVE_COLUMN
from vbas_desktop.settings.release import ReleaseOptions

HEADER = ["name", "age", "sex", "region", "more"]


def case_of(folder, more, **chosen):
    """Records whose column “more” holds these values."""
    rows = [[*row[:4], value] for row, value in zip(random_rows(len(more)), more, strict=True)]
    return load(write_records(folder, rows, HEADER), write_regions(folder), **chosen)


def refused(folder, more, **options):
    """The columns that stop a release, with what is said of them; nothing is left of it then."""
    findings = []
    try:
        case_of(folder, more).release(folder / "out", ReleaseOptions(pdf=False, **options), tested=True)
    except InputError as error:
        findings = error.findings
    assert (folder / "out").exists() == (not findings)
    assert all(finding.code == DISCLOSIVE_COLUMN for finding in findings)
    return {finding.column: finding.message for finding in findings}


def test_a_column_with_a_value_for_each_record_may_name_the_person(tmp_path):
    told = refused(tmp_path, ["x"] * 400)
    assert set(told) == {"name"}
    assert (
        "In 100 % of the released records the value is one that fewer than 5 of them have"
        in told["name"]
    )


@pytest.mark.parametrize(
    "left_out", [{"identifiers": ("name",)}, {"columns": ("age", "sex", "region", "more")}]
)
def test_identifiers_and_columns_left_out_are_no_matter(tmp_path, left_out):
    assert refused(tmp_path, ["x"] * 400, **left_out) == {}


@pytest.mark.parametrize("empty", [0, 50])
def test_a_column_that_names_the_initial_region_in_other_words_undoes_the_merging(tmp_path, empty):
    towns = [f"town of {row[3]}" for row in random_rows(400)]
    told = refused(tmp_path, [""] * empty + towns[empty:], identifiers=("name",))
    assert "come from the same initial region in 100 % of the cases" in told["more"]
    assert "in 100 % of the records the value occurs in a single initial region" in told["more"]


def test_a_column_that_is_spread_over_the_regions_tells_no_place(tmp_path):
    assert (
        refused(tmp_path, [f"ward {number % 40}" for number in range(400)], identifiers=("name",)) == {}
    )


def test_a_column_that_is_no_finer_than_the_aggregated_regions_tells_nothing_new(tmp_path):
    case = case_of(tmp_path, [""] * 400)
    area_of = dict(zip(case.problem.regions.ids, case.solution.membership.tolist(), strict=True))
    areas = [f"area {area_of[row[3]]}" for row in random_rows(400)]
    assert refused(tmp_path, areas, identifiers=("name",)) == {}


def test_what_was_allowed_knowingly_is_released_and_noted_inside_only(tmp_path):
    options = ReleaseOptions(pdf=False, allow_columns=("name",))
    report = case_of(tmp_path, ["x"] * 400).release(tmp_path / "out", options, tested=True)
    (found,) = (finding for finding in report.findings if finding.code == DISCLOSIVE_COLUMN)
    assert (found.column, found.severity) == ("name", "warning")
    message = found.message
    assert message in (report.target / "internal" / "report.html").read_text(encoding="utf-8")
    assert message not in (report.folder / "report.html").read_text(encoding="utf-8")
    assert json.loads((report.target / "run.json").read_text())["release"]["allow_columns"] == ["name"]


def test_allowing_a_column_that_is_not_there_is_a_slip(tmp_path):
    with pytest.raises(InputError, match="no such column"):
        case_of(tmp_path, ["x"] * 400).release(
            tmp_path / "out", ReleaseOptions(allow_columns=("nam",)), tested=True
        )


def test_an_empty_release_is_refused(tmp_path):
    case = case_of(tmp_path, ["x"] * 400, k=390)
    with pytest.raises(
        InputError, match="Nothing would be released: no combination of values occurs 390 times"
    ):
        case.release(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("shuffle", "arranged", "warns"), [(False, True, True), (False, False, False), (True, True, False)]
)
def test_rows_that_stand_together_by_region_tell_the_place_unless_they_are_shuffled(
    tmp_path, shuffle, arranged, warns
):
    rows = [["", *row[1:]] for row in random_rows(400)]
    path = write_records(tmp_path, sorted(rows, key=lambda row: row[3]) if arranged else rows)
    report = load(path, write_regions(tmp_path)).release(
        tmp_path / "out", ReleaseOptions(pdf=False, shuffle=shuffle)
    )
    assert [finding.code for finding in report.findings if finding.column is None] == [
        "columns-without-role",
        *["disclosive-order"] * warns,
    ]


def test_the_recipient_does_not_learn_where_files_lie_in_the_house(tmp_path):
    case = load(write_records(tmp_path, random_rows(200)), write_regions(tmp_path))
    settings = {
        "records": "/secret/place/records.csv",
        "regions": "/secret/place/regions.csv",
        "region_column": "region",
        "generalise": ["/secret/place/ages.csv", "sex=/secret/place/sexes.csv:1"],
    }
    document = build_run_document(case.problem, case.result, settings)
    report = case.release(tmp_path / "out", ReleaseOptions(pdf=False), document=document)
    pages = {
        folder: (report.target / folder / "report.html").read_text(encoding="utf-8")
        for folder in ("release", "internal")
    }
    assert "vbas run records.csv regions.csv --region-column region" in pages["internal"]
    assert "/secret" not in pages["internal"].partition("How to repeat it")[2]
    assert "ages.csv" not in pages["release"]
    assert all("/secret" not in page for page in pages.values())


@pytest.mark.parametrize(
    ("approach", "settings", "words"),
    [
        ("anonymity", {}, ["45 %"]),
        ("adc", {}, ["71 %"]),
        ("adc", {"seeding": "anonymity"}, ["71 %", "45 %"]),
        ("density", {}, []),
        ("balanced-density", {}, []),
    ],
)
def test_what_the_regions_reveal_is_said_to_the_custodian_alone(tmp_path, approach, settings, words):
    made = load(write_records(tmp_path, random_rows(400)), write_regions(tmp_path))
    approaches = (
        create_approach("site_number", "fixed", {"sites": 3}),
        create_approach("site_location", approach, settings),
    )
    case = replace(
        made, result=run(Request(made.problem, *approaches, create_approach("construction", "voronoi")))
    )
    report = case.release(tmp_path / "out", ReleaseOptions(identifiers=("name",), pdf=False))
    told = [finding.message for finding in report.findings if finding.code == "disclosive-partition"]
    assert len(told) == len(words)
    assert all(word in message for word, message in zip(words, told, strict=True))
    inside, outside = (
        (report.target / folder / "report.html").read_text(encoding="utf-8")
        for folder in ("internal", "release")
    )
    assert ("The released regions reveal something" in inside) == bool(words)
    assert "The released regions reveal something" not in outside
    assert not any(word in outside for word in words)
