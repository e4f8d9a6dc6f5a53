"""Region files: what is understood, what is refused, and in which words."""

from __future__ import annotations

import gzip
import hashlib

import numpy as np
import pytest

from vbas_desktop.io.regions.reader import RegionReading, load_regions
from vbas_desktop.model.findings import InputError, Severity
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem

HALIFAX = "id,longitude,latitude\na,-63.57,44.65\nb,-63.60,44.67\n"


def write(tmp_path, text, name="regions.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return path


def test_longitude_and_latitude_in_canada_become_metres_of_statistics_canadas_projection(tmp_path):
    regions = load_regions(write(tmp_path, HALIFAX))
    assert regions.ids == ("a", "b")
    assert regions.system == CoordinateSystem(CoordinateKind.GEOGRAPHIC, "EPSG:3347", "m")
    assert regions.findings == ()
    distance = np.hypot(*(regions.points[0] - regions.points[1]))
    assert distance == pytest.approx(3260, rel=0.03)


def test_planar_columns_are_taken_as_they_are(tmp_path):
    regions = load_regions(write(tmp_path, "DAUID,x,y\n07,1000.5,2e3\n08,3,4\n"))
    assert regions.ids == ("07", "08")
    assert regions.points.tolist() == [[1000.5, 2000.0], [3.0, 4.0]]
    assert regions.system == CoordinateSystem(CoordinateKind.PLANAR, None, "unit")
    assert not regions.points.flags.writeable


def test_a_file_with_both_kinds_is_taken_by_longitude_and_latitude_unless_planar_is_chosen(tmp_path):
    path = write(tmp_path, "id,longitude,latitude,x,y\na,-63.57,44.65,1,2\n")
    assert load_regions(path).system.kind is CoordinateKind.GEOGRAPHIC
    assert load_regions(path, RegionReading(coordinates="planar")).points.tolist() == [[1.0, 2.0]]


def test_plane_columns_that_agree_with_longitude_and_latitude_have_a_known_system(tmp_path):
    east = load_regions(write(tmp_path, HALIFAX)).points
    rows = "".join(
        f"{i},{p},{x:.2f},{y:.2f}\n"
        for i, p, (x, y) in zip("ab", ("-63.57,44.65", "-63.60,44.67"), east, strict=True)
    )
    path = write(tmp_path, "id,longitude,latitude,x,y\n" + rows, "both.csv")
    planar = load_regions(path, RegionReading(coordinates="planar"))
    assert planar.system == CoordinateSystem(CoordinateKind.PLANAR, "EPSG:3347", "m")
    assert planar.points == pytest.approx(east, abs=0.006)


@pytest.mark.parametrize(
    "header",
    [
        "DAUID,Long,Lat",
        "Geo_ID,centroid_lon,centroid_lat",
        "LSOA11CD,LONGITUDE,LATITUDE",
        "tract,INTPTLON20,INTPTLAT20",
    ],
)
def test_usual_names_of_columns_are_known(tmp_path, header):
    regions = load_regions(write(tmp_path, f"{header}\n07,-63.57,44.65\n"))
    assert regions.ids == ("07",)
    assert regions.system.kind is CoordinateKind.GEOGRAPHIC


def test_latitude_before_longitude_is_understood_by_name(tmp_path):
    regions = load_regions(
        write(tmp_path, "id,lat,lon\na,44.65,-63.57\n"), RegionReading(x_column="lat", y_column="lon")
    )
    assert regions.points == pytest.approx(load_regions(write(tmp_path, HALIFAX)).points[:1])


def test_an_area_in_square_kilometres_is_not_taken_for_an_id(tmp_path):
    assert only(write(tmp_path, "area,x,y\n1.5,1000,2000\n")).code == "missing-column"


def test_easting_and_northing_are_metres(tmp_path):
    assert load_regions(write(tmp_path, "id,easting,northing\na,500000,4600000\n")).system.unit == "m"


def test_degrees_computes_with_latitude_as_x(tmp_path):
    regions = load_regions(write(tmp_path, HALIFAX), RegionReading(coordinates="degrees"))
    assert regions.points.tolist() == [[44.65, -63.57], [44.67, -63.60]]
    assert regions.system == CoordinateSystem(CoordinateKind.DEGREES, "EPSG:4326", "degree")


def test_source_is_the_hash_and_size_of_the_file(tmp_path):
    path = write(tmp_path, HALIFAX)
    source = load_regions(path).source
    assert source is not None
    assert (source.path, source.size_bytes) == (str(path), len(HALIFAX))
    assert source.sha256 == hashlib.sha256(HALIFAX.encode()).hexdigest()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_delimiters_and_line_ends_are_guessed(tmp_path, delimiter, newline):
    text = HALIFAX.replace(",", delimiter).replace("\n", newline)
    assert load_regions(write(tmp_path, text)).ids == ("a", "b")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_encodings_are_guessed(tmp_path, encoding):
    path = write(tmp_path, 'id,name,x,y\n1,"Montréal, centre",5000,6000\n', encoding=encoding)
    regions = load_regions(path)
    assert regions.names == ("Montréal, centre",)


def test_compressed_text_is_read(tmp_path):
    path = tmp_path / "regions.csv.gz"
    path.write_bytes(gzip.compress(HALIFAX.encode()))
    assert load_regions(path).ids == ("a", "b")


def test_columns_are_named_by_option(tmp_path):
    path = write(tmp_path, "key,east,north\na,100000,2\nb,300000,4\n")
    regions = load_regions(path, RegionReading(id_column="Key", x_column="east", y_column="north"))
    assert regions.points.tolist() == [[100000, 2], [300000, 4]]


def test_a_complete_id_column_is_preferred_and_the_choice_is_said(tmp_path):
    path = write(tmp_path, "id,geoid,tract,x,y\n1,A,7,1000,1000\n1,B,8,2000,2000\n")
    regions = load_regions(path)
    assert regions.ids == ("A", "B")
    assert [finding.code for finding in regions.findings] == ["id-guessed"]
    assert "“tract” would be possible, too" in regions.findings[0].message


def findings_of(path, **options):
    with pytest.raises(InputError) as error:
        load_regions(path, RegionReading(**options))
    return error.value.findings


def only(path, **options):
    findings = findings_of(path, **options)
    assert len(findings) == 1
    return findings[0]


def test_another_delimiter_than_that_of_the_file_is_told_instead_of_every_column(tmp_path):
    found = only(write(tmp_path, "id;x;y\na;1;2\n"), delimiter=",")
    assert found.code == "missing-column"
    assert found.message.startswith("The column names seem to be separated by semicolons")
    assert found.remedy == "Set --regions-delimiter to “;”."


@pytest.mark.parametrize(
    ("body", "code", "row", "column", "words"),
    [
        ("a,1,x\n", "not-a-number", 2, "y", "not a number"),
        ("a,1,1_0\n", "not-a-number", 2, "y", "not a number"),
        ("a,,1000\n", "missing-number", 2, "x", "is missing"),
        ("a,NA,1000\n", "missing-number", 2, "x", "is missing"),
        ("a,inf,1000\n", "infinite-number", 2, "x", "is infinite"),
        ("a,1e300,1000\n", "out-of-range", 2, None, "too large"),
        ("b,1000,1\n ,1,1\n", "empty-id", 3, "id", "id is empty"),
        ("b,1000,1\nb,1,1\n", "duplicate-id", 3, "id", "already in row 2"),
        ("b,1000\n", "ragged-row", 2, None, "2 fields instead of 3"),
        ("b,1000,1,2\n", "ragged-row", 2, None, "decimal commas"),
        ('b,"47,5",1.5\n', "decimal-comma", 2, "x", "decimal points"),
        ("", "empty-file", None, None, "no regions"),
    ],
)
def test_each_problem_of_a_row_has_its_place_and_remedy(tmp_path, body, code, row, column, words):
    finding = next(
        f for f in findings_of(write(tmp_path, "id,x,y\n" + body)) if f.severity is Severity.ERROR
    )
    assert (finding.code, finding.row, finding.column) == (code, row, column)
    assert words in str(finding)
    assert finding.remedy
    assert finding.file == "regions.csv"


def test_missing_columns_are_named_together_with_those_that_are_there(tmp_path):
    findings = findings_of(write(tmp_path, "foo,bar\n1,2\n"))
    assert [finding.code for finding in findings] == ["missing-column"] * 3
    assert str(findings[0]) == (
        "regions.csv, row 1: No column is named like a region id. Name it with --id-column. "
        "The columns are “foo”, “bar”."
    )
    assert "--x-column" in findings[1].remedy
    assert "--y-column" in findings[2].remedy


def test_usual_names_are_known_with_their_accents(tmp_path):
    path = write(tmp_path, "Région,Längengrad,Breitengrad\na,-70,45\nb,-71,46\n")
    regions = load_regions(path)
    assert (regions.ids, regions.system.kind) == (("a", "b"), CoordinateKind.GEOGRAPHIC)


def test_a_column_named_by_option_must_exist(tmp_path):
    assert only(write(tmp_path, "id,x,y\na,1,2\n"), x_column="z").message == "There is no column “z”."


def test_a_needed_column_must_not_be_there_twice(tmp_path):
    finding = only(write(tmp_path, "id,x,y,x\na,1000,2,3\n"))
    assert (finding.code, finding.row, finding.column) == ("duplicate-column", 1, "x")


def test_an_unneeded_column_may_be_there_twice(tmp_path):
    regions = load_regions(write(tmp_path, "id,x,y,note,note\na,1000,2,3,4\n"))
    assert [(f.code, f.severity) for f in regions.findings] == [("duplicate-column", Severity.WARNING)]


def test_an_empty_file_is_refused(tmp_path):
    assert (
        only(write(tmp_path, "")).message == only(write(tmp_path, "\n")).message == "The file is empty."
    )
    assert only(write(tmp_path, "")).code == "empty-file"
    assert only(write(tmp_path, "\n\n")).code == "empty-file"


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    absent = only(tmp_path / "absent.csv")
    assert absent.code == "missing-file"
    assert str(absent) == f"{tmp_path / 'absent.csv'}: There is no such file. Check the path."
    folder = only(tmp_path)
    assert folder.code == "missing-file"
    assert str(folder) == f"{tmp_path}: This is a folder, not a file. Choose a file in it."


def test_a_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "regions.csv"
    path.write_bytes(b"PK\x03\x04\0\0\0")
    assert only(path).code == "not-text"
    path.write_bytes(b"\x1f\x8b broken")
    assert only(path).code == "bad-gzip"


def test_wrong_encodings_are_refused(tmp_path):
    path = write(tmp_path, "id,name,x,y\n1,é,1,2\n", encoding="latin-1")
    assert only(path, encoding="utf-8").code == "bad-encoding"
    for name in ("klingon", "utf-8\0"):
        assert only(path, encoding=name).code == "unknown-encoding"


def test_an_unknown_kind_of_coordinates_is_refused(tmp_path):
    assert only(write(tmp_path, HALIFAX), coordinates="polar").code == "unknown-coordinates"


def test_a_latitude_beyond_the_pole_is_refused_where_the_others_fit(tmp_path):
    finding = only(write(tmp_path, HALIFAX + "c,-63.5,446.5\n"))
    assert (finding.code, finding.row, finding.column) == ("out-of-range", 4, "latitude")
    assert finding.message == "The latitude is beyond ±90 degrees."


def test_values_out_of_range_are_told_together_with_those_that_are_no_numbers(tmp_path):
    findings = findings_of(write(tmp_path, "id,lon,lat\na,-63.5,446.5\nb,west,44\nc,,45\n"))
    assert [(f.code, f.row, f.column) for f in findings] == [
        ("not-a-number", 3, "lon"),
        ("missing-number", 4, "lon"),
        ("out-of-range", 2, "lat"),
    ]


@pytest.mark.parametrize("coordinates", ["degrees", "geographic"])
def test_degrees_must_fit_when_they_are_asked_for(tmp_path, coordinates):
    findings = findings_of(write(tmp_path, "id,x,y\na,-200,95\nb,1,1\n"), coordinates=coordinates)
    assert [(f.code, f.row, f.column) for f in findings] == [
        ("out-of-range", 2, "x"),
        ("out-of-range", 2, "y"),
    ]


def test_swapped_longitude_and_latitude_are_recognised(tmp_path):
    finding = only(write(tmp_path, "id,lon,lat\na,49.2,-123.1\n"))
    assert (finding.code, finding.column) == ("out-of-range", "lat")
    assert "look swapped" in finding.remedy


def test_metres_under_names_of_degrees_are_taken_as_planar_with_a_warning(tmp_path):
    regions = load_regions(write(tmp_path, "id,lon,lat\na,500000,4600000\nb,500100,4600100\n"))
    assert regions.system == CoordinateSystem(CoordinateKind.PLANAR, None, "unit")
    assert [finding.code for finding in regions.findings] == ["not-degrees"]


def test_planar_values_that_could_be_degrees_are_pointed_out(tmp_path):
    regions = load_regions(write(tmp_path, "id,x,y\na,-63,44\nb,-64,45\n"))
    assert regions.system.kind is CoordinateKind.PLANAR
    assert [(f.code, f.severity) for f in regions.findings] == [("degrees-perhaps", Severity.HINT)]


def test_identical_points_and_blanks_in_ids_are_pointed_out(tmp_path):
    regions = load_regions(write(tmp_path, "id,x,y\n a,1000,1\nb,2000,2\nc,1000,1\n"))
    assert [finding.code for finding in regions.findings] == ["id-blanks", "identical-points"]
    assert "2 regions share their point" in regions.findings[1].message
    assert "rows 2, 4" in regions.findings[1].message


def test_all_problems_come_at_once_and_long_lists_are_cut(tmp_path):
    body = "".join(f"{i},bad,1\n" for i in range(50)) + "0,1000,1\n7\n"
    findings = findings_of(write(tmp_path, "id,x,y\n" + body))
    codes = [finding.code for finding in findings]
    assert codes.count("not-a-number") == 21
    assert {"duplicate-id", "ragged-row"} < set(codes)
    assert findings[-1].message == "… and 30 more of this kind."


def test_messages_never_quote_a_value(tmp_path):
    findings = findings_of(write(tmp_path, "id,x,y\nsecret,private,1\nsecret,1,hidden\n"))
    text = "\n".join(map(str, findings))
    assert not any(word in text for word in ("secret", "private", "hidden"))


def test_rows_are_counted_in_lines_of_the_file(tmp_path):
    text = 'id,name,x,y\n1,"two\nlines",1000,1\n\n2,b,oops,1\n'
    assert only(write(tmp_path, text)).row == 5
