"""What a spreadsheet might run is told alike by those who write it and by those who read it back."""

import csv

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from release_making import load, random_rows, write_records, write_regions

from vbas_desktop.audit.formulas import escape_formulas
from vbas_desktop.model.text import escape_formula
from vbas_desktop.releases.written_file import find_formulas
from vbas_desktop.settings.release import ReleaseOptions

RUN = [
    "=1",
    "@A1",
    "\tx",
    "\rx",
    " =1",
    '"=1',
    "\n=1",
    "+A1",
    "-A1",
    " -cmd|x",
    "-1+2",
    "+",
    "-5-3",
    "＝1",
    " ＠x",
    "－A",
    "\u00a0=1",
    "\u200b=1",
    "\ufeff=1",
    "\u3000@x",
    "\u2028 \u202e+A1",
    "\u1680\u180e\u205f\u2069\x0b\x0c\u0085\u00ad-cmd",
]
NOT_RUN = [
    "",
    "-5",
    "+3.2",
    "-1,234.5",
    " -5",
    "- 5",
    "x=1",
    "'=1",
    "5-3",
    "＃=1",
    "é",
    "\n5",
    "－5",
    "a\t=",
    '""',
    " ",
    "\u200b-5",
    "\u00a0x=1",
    "\u2010=1",
    "\u2030=1",
    "\u206a=1",
    "\u3001=1",
    "ï=1",
    "\u200b",
]


def told(value):
    """What each of those who tell says."""
    found = {escape_formulas([value]) == [f"'{value}"]}
    found.add(bool(find_formulas(pa.array([value], pa.string()))[0]))
    found.add(escape_formula(value) == f"'{value}")
    return found


@pytest.mark.parametrize("value", RUN)
def test_what_might_be_run_is_told(value):
    assert told(value) == {True}


@pytest.mark.parametrize("value", NOT_RUN)
def test_plain_numbers_and_texts_are_left_alone(value):
    assert told(value) == {False}


@settings(max_examples=600, deadline=None, derandomize=True)
@given(st.text(st.sampled_from("=+-@ \t\r\n\"'.,05ax＝＋－＠＃é\u200b\u00a0\u2028\ufeff"), max_size=6))
def test_all_who_tell_tell_the_same(value):
    assert len(told(value)) == 1


@pytest.mark.parametrize("escape", [True, False])
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_names_of_columns_and_ids_of_regions_are_escaped_too(tmp_path, escape, format):
    def regions(name):
        return f"={name}" if name == "r3" else name

    rows = [[*row[:3], regions(row[3]), row[4]] for row in random_rows(400)]
    records = write_records(tmp_path, rows, ["name", "age", "=sex", "@region", "note"])
    case = load(
        records,
        write_regions(tmp_path, [regions(f"r{number}") for number in range(16)]),
        ("age", "=sex"),
        region_column="@region",
    )
    options = ReleaseOptions(identifiers=("name",), escape_formulas=escape, format=format, pdf=False)
    report = case.release(tmp_path / "out", options)
    mark = "'" if escape else ""
    with (report.folder / "crosswalk.csv").open(encoding="utf-8", newline="") as file:
        assert f"{mark}=r3" in [row[0] for row in csv.reader(file)]
    file = report.folder / f"anonymized.{format}"
    header = (
        file.read_text().splitlines()[0].split(",") if format == "csv" else pq.read_schema(file).names
    )
    assert header == ["age", f"{mark}=sex", f"{mark}@region", "note"]
