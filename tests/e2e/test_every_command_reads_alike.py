"""Commands that read records take line 2 for the same thing, have the same options and read rows again alike."""

import csv
import importlib
import io
import json
from collections import Counter
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.cli.arguments import OptionParser
from vbas_desktop.cli.main import main
from vbas_desktop.io.databases import loading
from vbas_desktop.io.records.file_format import ReadLimits
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.records.rows import read_column_texts, read_row_texts
from vbas_desktop.settings.reading import RecordReading

READERS = (
    "run",
    "compare",
    "reproduce_thesis",
    "verify",
    "representability",
    "outliers",
    "risky",
    "appointments",
)


@pytest.fixture(scope="module")
def eastern(tmp_path_factory):
    folder = tmp_path_factory.mktemp("eastern") / "e"
    sizes = ["--records", "20000", "--regions", "40"]
    assert main(["generate", "--like", "eastern", *sizes, "--out", str(folder), "--quiet"]) == 0
    return folder / "records.csv"


@pytest.mark.parametrize("command", READERS)
def test_every_reader_has_the_same_reading_options(command):
    parser = OptionParser()
    importlib.import_module(f"vbas_desktop.cli.{command}").configure(parser)
    known = {name: action for action in parser._actions for name in action.option_strings}
    assert tuple(known["--category-counts"].choices) == ("auto", "yes", "no")
    assert known["--category-counts"].default == "auto"
    assert known["--delimiter"].default is None
    assert known["--encoding"].default is None


def test_outliers_does_not_take_the_category_line_for_a_person(eastern, tmp_path, capsys):
    target = tmp_path / "eo.csv"
    options = ["--quasi-identifiers", "age,gender,marital", "-k", "71", "--quiet"]
    assert main(["outliers", str(eastern), *options, "--out", str(target)]) == 0
    assert capsys.readouterr().out.startswith("20,000 records in ")
    with target.open(newline="") as stream:
        sizes = Counter((row["age"], row["gender"], row["marital"]) for row in csv.DictReader(stream))
    with eastern.open(newline="") as stream:
        rows = list(csv.DictReader(stream))[1:]
    assert sizes == {
        label: size
        for label, size in Counter((row["age"], row["gender"], row["marital"]) for row in rows).items()
        if size >= 71
    }
    assert main(["outliers", str(eastern), *options, "--category-counts", "no"]) == 0
    assert capsys.readouterr().out.startswith("20,001 records in ")


def test_representability_does_not_compare_the_category_line(eastern, capsys):
    options = ["--key", "region", "--quasi-identifiers", "age,gender", "-k", "5", "--json", "--quiet"]
    rows = eastern.read_text().splitlines(keepends=True)
    assert len(rows) == 20002
    alone = eastern.with_name("small.csv")
    keyed = [f"key,{rows[0]}", f"20000,{rows[1]}", *(f"k{n},{row}" for n, row in enumerate(rows[2:]))]
    alone.write_text("".join(keyed))
    options[1] = "key"
    assert main(["representability", str(alone), str(alone), *options]) == 0
    assert json.loads(capsys.readouterr().out)["general"]["original_records"] == 20000


def test_verify_does_not_count_the_category_line(eastern, capsys):
    options = ["--quasi-identifiers", "gender", "--region-column", "region", "-k", "1"]
    assert main(["verify", str(eastern), *options]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["records"] == 20000
    assert "Line 2 was taken for the numbers of response categories" in told.err
    assert main(["verify", str(eastern), *options, "--category-counts", "no", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["records"] == 20001


def odd_files():
    """Files that a plain csv reader trips over, and their rows."""
    long = "x" * 140_000
    rows = [
        ["1", "a", "é"],
        ["2", long, 'say "so", he said'],
        ["3", "one\rtwo", "line\nbreak"],
        ["4", "", "end\r"],
    ]
    quoted = [[f'"{field.replace(chr(34), chr(34) * 2)}"' for field in row] for row in rows]
    text = "\n".join(["id,text,more", *(",".join(row) for row in quoted)])
    old = "\r".join(["id,text,more", "1,a,b", "2,c,d", ""])
    return {
        "utf-16 with a mark": (text.encode("utf-16"), rows),
        "utf-16-be with a mark": (b"\xfe\xff" + text.encode("utf-16-be"), rows),
        "utf-8 with a mark": (text.encode("utf-8-sig"), rows),
        "old line ends": (old.encode(), [["1", "a", "b"], ["2", "c", "d"]]),
    }


@pytest.mark.parametrize("name", odd_files())
def test_rows_are_read_again_as_they_were_loaded(tmp_path, name):
    content, rows = odd_files()[name]
    path = tmp_path / "odd.csv"
    path.write_bytes(content)
    table = load_records(path, RecordReading(category_counts="no"))
    assert list(read_row_texts(table)) == rows
    for place, column in enumerate(table.file_format.header):
        assert read_column_texts(table, column).tolist() == [row[place] for row in rows]
        values = table.facts(column).categories.values
        assert [values[code] for code in table.codes(column)] == [row[place] for row in rows]


@pytest.mark.parametrize("size", [60, 97, 1009])
def test_blocks_may_end_anywhere(tmp_path, size):
    content, rows = odd_files()["utf-16 with a mark"]
    path = tmp_path / "odd.csv"
    path.write_bytes(content)
    table = load_records(path, RecordReading(category_counts="no"), limits=ReadLimits(block_bytes=size))
    assert list(read_row_texts(table)) == rows


@pytest.mark.parametrize("name", odd_files())
def test_risky_and_outliers_write_what_run_would_read(tmp_path, name):
    content, rows = odd_files()[name]
    path, target, coarse = tmp_path / "odd.csv", tmp_path / "out.csv", tmp_path / "coarse"
    path.write_bytes(content)
    same = [
        "--quasi-identifiers",
        "id",
        "-k",
        "1",
        "--handle",
        "delete",
        "--out",
        str(target),
        "--quiet",
    ]
    assert main(["outliers", str(path), *same]) == 0
    assert sorted(read_row_texts(load_records(target, RecordReading(category_counts="no")))) == sorted(
        rows
    )
    chosen = ["--columns", "more", "-k", "1", "--apply", "--out", str(coarse), "--quiet"]
    assert main(["risky", str(path), *chosen]) == 0
    written = load_records(coarse / "anonymized.csv", RecordReading(category_counts="no"))
    assert sorted(read_row_texts(written)) == sorted(rows)


def test_appointments_read_people_and_slots_in_utf_16(tmp_path, monkeypatch):
    # As if there were so many people that their ids are not kept in memory.
    monkeypatch.setattr(
        loading, "load_records", partial(load_records, limits=ReadLimits(identifier_from=3))
    )
    people = "id,sex\n" + "".join(f"é{n},{'f' if n % 2 else 'm'}\n" for n in range(8))
    (tmp_path / "people.csv").write_bytes(people.encode("utf-16"))
    (tmp_path / "slots.csv").write_bytes("centre,time,capacity\nA,8:00,4\nB,9:00,4\n".encode("utf-16"))
    options = [
        "--quasi-identifiers",
        "sex",
        "--id-column",
        "id",
        "--out",
        str(tmp_path / "plan"),
        "--quiet",
    ]
    assert (
        main(["appointments", str(tmp_path / "people.csv"), str(tmp_path / "slots.csv"), *options]) == 0
    )
    with (tmp_path / "plan" / "appointments.csv").open(encoding="utf-8", newline="") as stream:
        assert [row["id"] for row in csv.DictReader(stream)] == [f"é{n}" for n in range(8)]


TEXTS = st.text(st.sampled_from('ab,"\r\n;\té'), max_size=6)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(rows=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6), mark=st.booleans())
def test_any_rows_are_read_again_as_they_were_loaded(tmp_path_factory, rows, mark):
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows([("one", "two"), *rows])
    path.write_bytes(text.getvalue().encode("utf-16" if mark else "utf-8"))
    table = load_records(path, RecordReading(delimiter=",", category_counts="no"))
    assert [tuple(row) for row in read_row_texts(table)] == rows
