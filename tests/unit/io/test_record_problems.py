"""Everything that can be wrong with record files and choices: one test per problem, with its message."""

import gzip
import os
import sys

import numpy as np
import pytest

from vbas_desktop.engine.problem import build_problem
from vbas_desktop.io.delimited_text import suggest_delimiter
from vbas_desktop.io.records import table as record_table
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.model.findings import InputError, Severity
from vbas_desktop.model.progress import Cancelled
from vbas_desktop.model.records import Grouping
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem, Regions
from vbas_desktop.settings.reading import RecordReading

GOOD = "age,sex,region\n1,F,r1\n2,M,r2\n1,M,r1\n"


def written(tmp_path, content, name="records.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(tmp_path, content, name="records.csv", **options):
    with pytest.raises(InputError) as caught:
        load_records(written(tmp_path, content, name), RecordReading(**options))
    return [str(finding).removeprefix(f"{tmp_path}{os.sep}") for finding in caught.value.findings]


def test_an_empty_file(tmp_path):
    assert refused(tmp_path, "") == ["records.csv: The file is empty. Choose another file."]
    assert refused(tmp_path, "\n\n") == ["records.csv: The file is empty. Choose another file."]


def test_only_a_header(tmp_path):
    message = "records.csv: The file has column names but no records. Choose another file."
    assert refused(tmp_path, "age,region\n") == [message]
    assert refused(tmp_path, "age,region") == [message]


def test_columns_without_a_name(tmp_path):
    message = "records.csv, row 1: Column 2 has no name. Give every column a name in line 1."
    assert refused(tmp_path, "age, ,region\n1,2,3\n") == [message]


def test_columns_with_the_same_name(tmp_path):
    message = "records.csv, row 1: Columns 1 and 2 have the same name. Give every column a name of its own in line 1; "
    more = "if line 1 is a record, put the names above it."
    assert refused(tmp_path, "age,age,region\n1,2,3\n") == [message + more]


def test_ragged_rows(tmp_path):
    content = 'age,region\n1,r1\n1\n"a\nb",r2\n1,r1,x\n\n1,2\n'
    advice = "Look for a missing or extra delimiter, or put quotes around text that contains one."
    assert refused(tmp_path, content)[:2] == [
        f"records.csv, row 3: The row has 1 field, the names line has 2. {advice}",
        f"records.csv, row 6: The row has 3 fields, the names line has 2. {advice}",
    ]


def test_many_ragged_rows_are_counted(tmp_path):
    found = refused(tmp_path, "age,region\n" + "1\n" * 1234)
    assert len(found) == 11
    assert found[-1] == "records.csv: 1,224 more rows have the wrong number of fields."


def test_all_problems_of_a_file_are_told_at_once(tmp_path):
    with pytest.raises(InputError) as caught:
        load_records(
            written(tmp_path, b"age,age,\n1,2,3\n1,2\n\xe9,2,3\n"),
            RecordReading(encoding="utf-8", delimiter=","),
        )
    assert sorted(f.code for f in caught.value.findings) == [
        "bad-encoding",
        "duplicate-name",
        "empty-name",
        "ragged-row",
    ]


def test_a_file_that_is_not_text(tmp_path):
    message = "row 1: The file is not text: it contains zero bytes. Export the records as CSV (UTF-8) or Parquet."
    assert refused(tmp_path, b"PK\x03\x04\x00\x00") == [f"records.csv, {message}"]
    late = b"a,b\n" + b"1,2\n" * 400_000 + b"\x00,1\n"
    assert refused(tmp_path, late)[0].startswith("records.csv, row 400,002: The file is not text")


def test_a_name_that_promises_gzip(tmp_path):
    message = "records.csv.gz: The file is named .gz but is not compressed with gzip. Get a fresh copy of the file."
    assert refused(tmp_path, GOOD, "records.csv.gz") == [message]


def test_a_damaged_gzip(tmp_path):
    whole = gzip.compress(GOOD.encode() * 1000)
    message = "records.csv.gz: The file is damaged: it cannot be decompressed to its end. Get a fresh copy of the file."
    assert refused(tmp_path, whole[:-20], "records.csv.gz") == [message]
    assert refused(tmp_path, whole[:40] + b"x" * 9 + whole[49:], "records.csv.gz") == [message]


def test_text_in_another_encoding_than_said(tmp_path):
    message = (
        "records.csv, row 3: The text is not valid utf-8. "
        "Save the file as UTF-8, or name its encoding (for example latin-1 or windows-1252)."
    )
    content = "age,region\n1,2\n\xe9,2\n".encode("latin-1")
    assert refused(tmp_path, content, encoding="utf-8") == [message]
    assert refused(tmp_path, b"\xef\xbb\xbf" + content) == [message]
    assert "not valid ascii" in refused(tmp_path, "age,region\n1,é\n", encoding="ascii")[0]
    assert "not valid utf-16" in refused(tmp_path, b"\xff\xfea\x00,\x00b", encoding=None)[0]


def test_text_that_is_not_utf_8_is_read_as_latin_1_and_says_so(tmp_path):
    table = load_records(written(tmp_path, "age,region\n1,é\n".encode("latin-1")))
    assert table.facts("region").categories.values == ("é",)
    assert [(f.code, f.severity, f.row) for f in table.findings] == [
        ("read-as-latin-1", Severity.HINT, 2)
    ]


def test_names_in_another_encoding_than_said_are_told_with_their_own_row(tmp_path):
    content = b"\na,gr\xf6\xdfe\n1,x\n2,\xe9\n"
    with pytest.raises(InputError) as caught:
        load_records(written(tmp_path, content), RecordReading(encoding="utf-8"))
    assert [(f.code, f.row) for f in caught.value.findings] == [("bad-encoding", 2)]
    table = load_records(written(tmp_path, content))
    assert [(f.code, f.row) for f in table.findings if f.code == "read-as-latin-1"] == [
        ("read-as-latin-1", 2)
    ]


def test_an_encoding_that_does_not_exist(tmp_path):
    message = "There is no encoding “klingon”. Use for example utf-8 or latin-1."
    assert refused(tmp_path, GOOD, encoding="klingon") == [message]


def test_a_quote_that_is_never_closed(tmp_path):
    message = (
        "records.csv, row 3: A quoted field that begins in this row is never closed. "
        "Close the quote, or double quotes that belong to the text."
    )
    assert refused(tmp_path, 'age,region\n1,2\n"1,2\n1,2\n') == [message]
    assert "row 1: A quoted field" in refused(tmp_path, '"age,region\n1,2\n')[0]
    assert "row 2: A quoted field" in refused(tmp_path, 'age,region\n"1,2\n' + "1,2\n" * 200_000)[0]


def test_a_folder_instead_of_a_file(tmp_path):
    with pytest.raises(InputError, match=r"This is a folder, not a file\. Choose a file in it\."):
        load_records(tmp_path)


def test_a_file_that_does_not_exist(tmp_path):
    with pytest.raises(InputError, match=r"There is no such file\. Check the path\."):
        load_records(tmp_path / "absent.csv")


@pytest.mark.skipif(sys.platform == "win32", reason="links are made differently there")
def test_a_file_that_cannot_be_opened(tmp_path):
    path = tmp_path / "records.csv"
    path.symlink_to(path)
    with pytest.raises(InputError, match=r"The links on the path lead in a circle\. Check the path\."):
        load_records(path)


@pytest.mark.parametrize("delimiter", ["", ",,", '"', "\n", "é"])
def test_what_cannot_be_a_delimiter(tmp_path, delimiter):
    assert (
        "cannot be a delimiter. Use a single character"
        in refused(tmp_path, GOOD, delimiter=delimiter)[0]
    )


def test_reading_can_be_stopped(tmp_path):
    class Stop:
        def update(self, stage, fraction=None):
            raise Cancelled

    with pytest.raises(Cancelled):
        load_records(written(tmp_path, GOOD), progress=Stop())


class Choices:
    """A small table and its regions; `build` with other choices, `problems` for what is then wrong."""

    def __init__(self, tmp_path, content=GOOD, ids=("r1", "r2")):
        self.table = load_records(written(tmp_path, content), RecordReading(category_counts="no"))
        self.regions = Regions(ids, np.zeros((len(ids), 2)), CoordinateSystem(CoordinateKind.PLANAR))

    def build(self, **choices):
        usual = {"region_column": "region", "quasi_identifiers": ["age", "sex"], "k": 1}
        return build_problem(self.table, self.regions, **(usual | choices))

    def problems(self, **choices):
        with pytest.raises(InputError) as caught:
            self.build(**choices)
        file = f"{self.table.source.path}"
        return [
            str(finding).removeprefix(file).removeprefix(", ").removeprefix(": ")
            for finding in caught.value.findings
        ]


def test_k_below_one(tmp_path):
    assert Choices(tmp_path).problems(k=0) == ["k is 0; it must be 1 or more. Usual values are 3 to 20."]


def test_k_above_the_number_of_records(tmp_path):
    assert Choices(tmp_path).problems(k=4) == [
        "k is 4, but there are only 3 records. Choose a smaller k."
    ]


def test_k_above_the_number_of_records_of_known_regions(tmp_path):
    choices = Choices(tmp_path, ids=("r1",))
    assert choices.problems(k=3, unknown_regions="suppress")[0] == (
        "k is 3, but there are only 2 records. Choose a smaller k."
    )


def test_no_quasi_identifier(tmp_path):
    assert Choices(tmp_path).problems(quasi_identifiers=[]) == [
        "No quasi-identifier is chosen. Choose at least one column that others may know of a person, such as age."
    ]


def test_the_region_column_as_quasi_identifier(tmp_path):
    assert Choices(tmp_path).problems(quasi_identifiers=["age", "region"]) == [
        "column “region”: The region column cannot be a quasi-identifier too. Choose one of the two."
    ]


def test_a_quasi_identifier_named_twice(tmp_path):
    assert Choices(tmp_path).problems(quasi_identifiers=["age", "age"]) == [
        "column “age”: The quasi-identifier is named more than once. Name it once."
    ]


def test_another_delimiter_than_that_of_the_file_is_told_once_and_which_it_is(tmp_path):
    choices = Choices(tmp_path)
    choices.table = load_records(written(tmp_path, GOOD), RecordReading(delimiter=";"))
    assert choices.problems() == [
        "The column names seem to be separated by commas, but the file is read as separated by semicolons. "
        "Set --delimiter to “,”."
    ]


def test_a_name_with_a_comma_in_it_is_no_sign_of_another_delimiter():
    assert suggest_delimiter(["age", "sex, as told"], ";", "--delimiter") is None
    assert suggest_delimiter(["age"], ";", "--delimiter") is None
    assert suggest_delimiter(["age;sex|who", "a\tb\tc"], "|", "--delimiter") == (
        "The column names seem to be separated by tabs, but the file is read as separated by pipes.",
        "Set --delimiter to tab.",
    )


def test_columns_that_do_not_exist(tmp_path):
    choices = Choices(tmp_path)
    assert choices.problems(quasi_identifiers=["Agee"], region_column="tract") == [
        "There is no column “tract”. The columns are “age”, “sex”, “region”.",
        "There is no column “Agee”. Did you mean “age”?",
    ]
    assert choices.problems(groupings=[Grouping("income", {})]) == [
        "There is no column “income”. The columns are “age”, “sex”, “region”."
    ]


def test_a_quasi_identifier_with_a_value_for_every_record(tmp_path):
    problem = Choices(tmp_path, "id,region\nx1,r1\nx2,r2\nx3,r1\n").build(quasi_identifiers=["id"])
    assert [(f.code, f.severity, f.column) for f in problem.findings] == [
        ("identifier", Severity.HINT, "id")
    ]
    assert "is it an identifier?" in problem.findings[0].message


def test_unknown_regions_stop(tmp_path):
    choices = Choices(tmp_path, "age,sex,region\n1,F,r1\n2,M,r9\n1,M,\n1,M,r8\n")
    assert choices.problems()[0] == (
        "row 3, column “region”: 3 records name a region that the region file lacks (3 different ids, "
        "1 of them without any region id); first in rows 3, 4, 5. Ids of the region file look like “r1” and “r2”. "
        "Complete the region file, or let these records be suppressed (--unknown-regions suppress)."
    )


def test_unknown_regions_are_suppressed_on_request(tmp_path):
    problem = Choices(tmp_path, "age,sex,region\n1,F,r1\n1,F,r1\n2,M,r9\n").build(
        unknown_regions="suppress"
    )
    assert (problem.counts.records, problem.unknown_region_records, problem.records) == (2, 1, 3)
    assert problem.counts.combinations.tolist() == [0]
    assert [(f.code, f.severity) for f in problem.findings] == [
        ("unknown-region", Severity.WARNING),
        ("regions-without-records", Severity.WARNING),
    ]
    assert "They are suppressed and counted as such." in problem.findings[0].remedy


def test_no_region_is_known(tmp_path):
    choices = Choices(tmp_path, ids=("north", "south"))
    assert choices.problems(unknown_regions="suppress")[0] == (
        "column “region”: No value of this column is a region id of the region file, whose ids look like “north” and "
        "“south”. Choose the region column, or the region file that belongs to these records."
    )


def test_an_unknown_answer_about_unknown_regions(tmp_path):
    assert "Use stop or suppress." in Choices(tmp_path).problems(unknown_regions="maybe")[0]


def test_regions_without_records(tmp_path):
    problem = Choices(tmp_path, ids=("r1", "r2", "r3")).build()
    assert problem.counts.region_totals.tolist() == [2, 1, 0]
    assert [(f.code, f.message) for f in problem.findings] == [
        ("regions-without-records", "1 of 3 regions has no records.")
    ]


@pytest.mark.parametrize(
    ("in_records", "in_regions", "difference"),
    [
        ("7", "007", "leading zeros"),
        (" r1", "r1", "blanks"),
        ("R1", "r1", "upper and lower case"),
        ("7.0", "7", "a trailing “.0”"),
        (" 07", "7", "blanks, leading zeros, case or “.0”"),
    ],
)
def test_ids_that_are_only_written_differently(tmp_path, in_records, in_regions, difference):
    choices = Choices(
        tmp_path, f"age,sex,region\n1,F,{in_records}\n1,F,known\n", ids=(in_regions, "known")
    )
    assert choices.problems()[1] == (
        f"row 2, column “region”: 1 unknown region id differs from known ones only by {difference}. "
        "Write the ids the same way in both files (spreadsheets often drop leading zeros)."
    )


def test_ids_in_the_records_that_differ_only_in_writing(tmp_path):
    problem = Choices(tmp_path, "age,sex,region\n1,F,r1\n1,F,R1\n", ids=("r1", "R1")).build()
    assert [(f.code, f.severity) for f in problem.findings] == [("similar-id", Severity.HINT)]
    assert "only by upper and lower case" in problem.findings[0].message


def test_no_message_quotes_a_record(tmp_path):
    content = "age,sex,region\nyoung7,F,secret7\nyoung8,M, SECRET8\nyoung9,M,r1\n"
    assert Choices(tmp_path, content, ids=("r1", "secret8", "z")).problems() == [
        "row 2, column “region”: 2 records name a region that the region file lacks (2 different ids); "
        "first in rows 2, 3. Ids of the region file look like “r1” and “z”. "
        "Complete the region file, or let these records be suppressed (--unknown-regions suppress).",
        "column “age”: Every record has a value of its own in this quasi-identifier: is it an identifier? "
        "Identifiers belong to the columns that are dropped from the release.",
        "row 3, column “region”: 1 unknown region id differs from known ones only by blanks, leading zeros, case "
        "or “.0”. Write the ids the same way in both files (spreadsheets often drop leading zeros).",
        "2 of 3 regions have no records. This is allowed.",
    ]


def test_a_file_without_names_does_not_show_its_first_record(tmp_path):
    with pytest.raises(InputError) as caught:
        load_records(
            written(tmp_path, "41,F,r1\n41,M,r2\n17,F,r1\n"), RecordReading(category_counts="no")
        )
    text = str(caught.value).replace(str(tmp_path), "")
    assert "Line 1 looks like a record" in text
    assert "41" not in text


def test_a_first_record_of_which_only_one_value_recurs_is_not_shown(tmp_path):
    content = "Xanthippe,single,F,north\nPhilo,married,F,south\nDion,widowed,M,west\n"
    advice = "Line 1 looks like a record, not like names: put the names of the columns above it."
    assert Choices(tmp_path, content).problems(quasi_identifiers=["age"]) == [
        f"There is no column “region”. {advice}",
        f"There is no column “age”. {advice}",
    ]


@pytest.mark.parametrize(
    ("text", "row"), [("a,b\n1,\0\n", 2), ("\na,b\n1,\0\n", 3), ("a,b\n\n1,2\n3,\0\n", 4)]
)
def test_the_row_of_a_zero_byte_is_named(tmp_path, text, row):
    path = tmp_path / "records.csv"
    path.write_text(text)
    with pytest.raises(InputError, match="contains zero bytes") as caught:
        load_records(path)
    assert caught.value.findings[0].row == row


def test_the_first_rows_of_some_categories_are_found_beyond_one_piece(tmp_path, monkeypatch):
    path = tmp_path / "records.csv"
    path.write_text("a,b\n" + "".join(f"{'x' if number % 5 == 4 else 'y'},1\n" for number in range(30)))
    monkeypatch.setattr(record_table, "_CHUNK", 4)
    table = load_records(path, RecordReading(category_counts="no"))
    wanted = np.array([value == "x" for value in table.facts("a").categories.values])
    assert table.first_rows("a", wanted, 3) == [6, 11, 16]
    assert table.first_rows("a", wanted, 9) == [6, 11, 16, 21, 26, 31]


def test_missing_values_among_many_others_are_counted_once_in_a_wide_file(tmp_path):
    path = tmp_path / "records.csv"
    names = [f"c{number}" for number in range(400)]
    rows = [["" if number % 2 else f"value {number}", *["1"] * 399] for number in range(1200)]
    path.write_text("\n".join(",".join(row) for row in (names, *rows)) + "\n")
    facts = load_records(path, RecordReading(category_counts="no")).facts("c0")
    assert (facts.distinct, facts.missing) == (601, 600)
