"""Decimal commas of region files: read where nothing else can be meant, asked for where it can."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vbas_desktop.cli.main import main
from vbas_desktop.io.regions.reader import RegionReading, load_regions, read_region_numbers
from vbas_desktop.model.findings import InputError, Severity
from vbas_desktop.model.regions import CoordinateKind

quick = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
TAKEN = "The comma is taken as the decimal sign of the numbers (47,5 is 47.5)."


def write(folder, text, name="regions.csv"):
    path = folder / name
    path.write_bytes(text.encode())
    return path


def points(path, **options):
    return load_regions(path, RegionReading(**options)).points.tolist()


def refusals(path, **options):
    with pytest.raises(InputError) as refusal:
        load_regions(path, RegionReading(**options))
    return [finding for finding in refusal.value.findings if finding.severity is Severity.ERROR]


def places(path, **options):
    return [(finding.code, finding.row, finding.column) for finding in refusals(path, **options)]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_decimal_commas_are_read_and_told_as_a_hint(tmp_path, delimiter):
    text = "id;x;y\na;1000,5;-2,25\nb;7;0,125\n".replace(";", delimiter)
    regions = load_regions(write(tmp_path, text))
    assert regions.points.tolist() == [[1000.5, -2.25], [7.0, 0.125]]
    found = next(finding for finding in regions.findings if finding.code == "decimal-comma")
    assert (found.severity, found.message) == (Severity.HINT, TAKEN)
    assert found.remedy == "Choose --regions-decimal point if it parts thousands."


def test_quoted_decimal_commas_are_read_between_commas_too(tmp_path):
    path = write(tmp_path, 'id,x,y\na,"1000,5","2000,25"\nb,3,4\n')
    assert points(path) == [[1000.5, 2000.25], [3.0, 4.0]]


def test_a_spreadsheet_of_a_french_windows_gives_the_places_of_the_same_file_with_points(tmp_path):
    comma = "région;longitude;latitude\r\na;-63,57;44,65\r\nb;-63,6;44,67\r\n"
    path = tmp_path / "comma.csv"
    path.write_bytes(comma.encode("cp1252"))
    regions = load_regions(path)
    other = load_regions(write(tmp_path, comma.replace(",", ".")))
    assert regions.system.kind is CoordinateKind.GEOGRAPHIC
    assert (regions.ids, regions.points.tolist()) == (other.ids, other.points.tolist())
    assert other.findings == ()


@pytest.mark.parametrize(
    ("word", "value"),
    [("0,125", 0.125), (",125", 0.125), ("-0,125", -0.125), ("1234,567", 1234.567), ("01,234", 1.234),
     ("1,2345", 1.2345), ("+1,5", 1.5), ("1,25E+02", 125.0), ("1,234e1", 12.34), (" 1,5 ", 1.5)],
)  # fmt: skip
def test_what_cannot_be_thousands_is_decimal(tmp_path, word, value):
    assert points(write(tmp_path, f"id;x;y\na;{word};1\n")) == [[value, 1.0]]


@pytest.mark.parametrize("word", ["1,234", "12,345", "-999,000", "+1,234"])
def test_three_digits_behind_a_comma_may_be_thousands_and_are_asked_for(tmp_path, word):
    path = write(tmp_path, f"id;x;y\na;{word};1\nb;{word};1\n")
    assert [str(finding) for finding in refusals(path)] == [
        "regions.csv, row 2, column “x”: This number, like 1 below, has a comma that may part decimals or thousands. "
        "Write decimal points without commas, or choose --regions-decimal comma if it parts decimals, "
        "--regions-decimal point if it parts thousands."
    ]
    assert points(path, decimal="comma")[0] == [float(word.replace(",", ".")), 1.0]
    assert points(path, decimal="point")[0] == [float(word.replace(",", "")), 1.0]


def test_one_column_tells_of_the_other(tmp_path):
    assert points(write(tmp_path, "id;x;y\na;45,123;-73,5\n")) == [[45.123, -73.5]]


def test_a_single_slip_among_thousands_does_not_make_them_decimals(tmp_path):
    rows = [f"{i};{100 + i},000;{200 + i},000" for i in range(11)]
    assert places(write(tmp_path, "\n".join(["id;x;y", *rows, "z;1,23;5"]))) == [
        ("decimal-comma", 2, "x"),
        ("decimal-comma", 2, "y"),
    ]
    assert points(write(tmp_path, "\n".join(["id;x;y", *rows[:9], "z;1,23;5"])))[0] == [100.0, 200.0]


@pytest.mark.parametrize(
    ("header", "options"),
    [("id;longitude;latitude", {}), ("id;lat;lon", {}), ("id;x;y", {"coordinates": "geographic"}),
     ("id;x;y", {"coordinates": "degrees"})],
)  # fmt: skip
def test_degrees_have_no_thousands(tmp_path, header, options):
    comma = write(tmp_path, f"{header}\na;45,123;46,512\nb;45,250;46,001\n", "comma.csv")
    point = write(tmp_path, f"{header}\na;45.123;46.512\nb;45.250;46.001\n", "point.csv")
    assert points(comma, **options) == points(point, **options)


@pytest.mark.parametrize(
    ("header", "first", "options"),
    [
        ("id;longitude;latitude", "45,123", {"coordinates": "planar"}),
        ("id;longitude;latitude", "432,123", {}),
    ],
)
def test_columns_named_like_degrees_are_asked_for_when_they_are_none(tmp_path, header, first, options):
    path = write(tmp_path, f"{header}\na;{first};46,512\n")
    assert places(path, **options) == [
        ("decimal-comma", 2, "longitude"),
        ("decimal-comma", 2, "latitude"),
    ]


@pytest.mark.parametrize(
    "odd", ["1.5", "1,234,567", "1.234,5", "1,234.5", "1 234,5", "1\u00a0234,5", "1'234,5", "1,"]
)
def test_numbers_written_otherwise_make_all_commas_uncertain(tmp_path, odd):
    path = write(tmp_path, f"id;x;y\na;47,5;2\nb;3;{odd}\n")
    assert ("decimal-comma", 2, "x") in places(path)
    assert "“x”: This number has a comma, but points or several commas among these numbers" in str(
        refusals(path)[0]
    )


def test_thousands_are_read_when_they_are_said_to_be_thousands(tmp_path):
    path = write(tmp_path, 'id,x,y\na,"1,234,567.5","-12,000"\nb,7.5,100\n')
    assert places(path) == [("decimal-comma", 2, "x"), ("decimal-comma", 2, "y")]
    assert points(path, decimal="point") == [[1234567.5, -12000.0], [7.5, 100.0]]


@pytest.mark.parametrize("word", ["47,5", "1,23,456", "0,123", "12,3456", "1234,567", "1,234,56"])
def test_commas_at_other_places_are_no_thousands(tmp_path, word):
    found = refusals(write(tmp_path, f"id;x;y\na;{word};1.5\n"), decimal="point")
    assert [(finding.code, finding.row, finding.column) for finding in found] == [
        ("decimal-comma", 2, "x")
    ]
    assert found[0].message == "This number has a comma that does not part thousands."


@pytest.mark.parametrize("word", ["1.5", "1.234", "1.234,5", "1,234,567"])
def test_points_are_refused_where_the_comma_is_said_to_be_the_decimal_sign(tmp_path, word):
    found = refusals(write(tmp_path, f"id;x;y\na;1,5;1\nb;{word};1\n"), decimal="comma")
    assert [(finding.code, finding.row, finding.column) for finding in found] == [
        ("decimal-comma", 3, "x")
    ]
    assert "has a point or several commas" in found[0].message


def test_a_column_of_uncertain_commas_is_one_problem_and_what_else_is_wrong_in_it_is_told_too(tmp_path):
    path = write(tmp_path, "id;x;y\na;1,500;2\nb;unknown;2\nc;3,500;\nd;4,500;1,2 km\n")
    assert places(path) == [
        ("decimal-comma", 2, "x"),
        ("not-a-number", 3, "x"),
        ("missing-number", 4, "y"),
        ("not-a-number", 5, "y"),
    ]
    assert refusals(path)[0].message.startswith("This number, like 2 below,")


def test_words_and_gaps_say_nothing_about_the_decimal_sign(tmp_path):
    path = write(tmp_path, "id;x;y\na;1,5;2\nb;unknown;n/a\nc;3,5;inf\n")
    assert places(path) == [
        ("not-a-number", 3, "x"),
        ("missing-number", 3, "y"),
        ("infinite-number", 4, "y"),
    ]


def test_an_unknown_decimal_sign_is_refused(tmp_path):
    found = refusals(write(tmp_path, "id,x,y\na,1,2\n"), decimal="semicolon")
    assert str(found[0]) == "regions.csv: “semicolon” is not known. Use one of auto, point, comma."


def test_further_columns_are_read_alike(tmp_path):
    path = write(tmp_path, "id;x;y;share;people\na;1;2;0,25;1,200\n")
    assert read_region_numbers(path, ["share"])["share"].tolist() == [0.25]
    with pytest.raises(InputError, match="may part decimals or thousands"):
        read_region_numbers(path, ["people"])
    assert read_region_numbers(path, ["people"], RegionReading(decimal="point"))["people"].tolist() == [
        1200.0
    ]


values = st.lists(
    st.tuples(st.integers(-(10**7), 10**7), st.integers(-(10**7), 10**7)), min_size=1, max_size=12
)


@quick
@given(values, st.sampled_from([1, 2, 4, 5, 6]), st.sampled_from([";", "\t", "|"]))
def test_any_number_of_decimals_but_three_reads_as_with_points(tmp_path, pairs, decimals, delimiter):
    rows = [
        [str(i), *(f"{value / 10**decimals:.{decimals}f}" for value in pair)]
        for i, pair in enumerate(pairs)
    ]
    text = "\n".join(delimiter.join(row) for row in [["id", "x", "y"], *rows])
    expected = [[float(word) for word in row[1:]] for row in rows]
    assert points(write(tmp_path, text.replace(".", ",")), coordinates="planar") == expected


@quick
@given(values)
def test_three_decimals_are_read_rightly_or_asked_for(tmp_path, pairs):
    rows = [[str(i), *(f"{value / 1000:.3f}" for value in pair)] for i, pair in enumerate(pairs)]
    path = write(
        tmp_path, "\n".join(";".join(row) for row in [["id", "x", "y"], *rows]).replace(".", ",")
    )
    expected = [[float(word) for word in row[1:]] for row in rows]
    assert points(path, decimal="comma") == expected
    sure = sum(abs(value) < 1000 or abs(value) >= 10**6 for pair in pairs for value in pair)
    if sure * 20 >= 2 * len(pairs):
        assert points(path) == expected
    else:
        assert {code for code, _, _ in places(path)} == {"decimal-comma"}


@quick
@given(values)
def test_thousands_are_never_taken_for_decimals(tmp_path, pairs):
    rows = [[str(i), *(f"{value:,}" for value in pair)] for i, pair in enumerate(pairs)]
    path = write(tmp_path, "\n".join(";".join(row) for row in [["id", "x", "y"], *rows]))
    assert points(path, decimal="point") == [[float(value) for value in pair] for pair in pairs]
    if any("," in word for row in rows for word in row):
        assert {code for code, _, _ in places(path)} == {"decimal-comma"}
    else:
        assert points(path) == [[float(value) for value in pair] for pair in pairs]


def records_beside(regions):
    path = regions.with_name("records.csv")
    path.write_text("age,region\n" + "1,a\n" * 5 + "2,b\n" * 5)
    return path


def run(regions, *options):
    arguments = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age",
        "-k",
        "2",
        "--quiet",
        "--json",
    ]
    return main(["run", str(records_beside(regions)), str(regions), *arguments, *options])


def test_vbas_run_takes_the_hint_along_and_asks_with_its_option(tmp_path, capsys):
    assert run(write(tmp_path, "id;x;y\na;1,5;2\nb;3,5;2\n")) == 0
    document = json.loads(capsys.readouterr().out)
    assert TAKEN in [finding["message"] for finding in document["warnings"]]
    assert document["options"]["regions_decimal"] == "auto"
    uncertain = write(tmp_path, "id;x;y\na;1,500;2\nb;3,500;2\n")
    assert run(uncertain) == 1
    assert "--regions-decimal comma" in capsys.readouterr().err
    assert run(uncertain, "--regions-decimal", "comma") == 0
