"""Released rows are the same whether a column is coded or read again, and say nothing of suppressed records."""

from dataclasses import replace
from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from release_making import load, random_rows, without_codes, write_regions, write_rows
from test_nasty_files import REGIONS, SETTINGS, nasty_files, solution_of

from vbas_desktop.engine.problem import build_problem
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.model.records import Grouping
from vbas_desktop.releases import records as released_records
from vbas_desktop.releases.plan import build_plan
from vbas_desktop.releases.records import find_released_records
from vbas_desktop.settings.reading import RecordReading
from vbas_desktop.settings.release import ReleaseOptions

CHOICES = [
    ReleaseOptions(),
    ReleaseOptions(shuffle_seed="3"),
    ReleaseOptions(shuffle=False),
    ReleaseOptions(shuffle_seed="3", class_size="size", escape_formulas=True),
    ReleaseOptions(shuffle_seed="3", record_key="key", class_size="size"),
    ReleaseOptions(shuffle_seed="4", release_delimiter="|", columns=("note", "region")),
    ReleaseOptions(shuffle=False, columns=("note",), escape_formulas=True),
    ReleaseOptions(shuffle_seed="5", format="parquet", escape_formulas=True),
]


def planned(folder, data, groupings=(), **reading):
    (folder / "records.csv").write_bytes(data)
    table = load_records(folder / "records.csv", RecordReading(**{"category_counts": "no", **reading}))
    problem = build_problem(
        table, load_regions(write_regions(folder, REGIONS)), region_column="region", quasi_identifiers=("age",), k=2,
        groupings=groupings,
    )  # fmt: skip
    return table, build_plan(problem, solution_of(problem, 3))


@settings(SETTINGS, max_examples=100)
@given(nasty_files(), st.sampled_from(CHOICES), st.booleans())
def test_columns_that_are_read_again_give_the_same_bytes(tmp_path_factory, nasty, options, grouped):
    folder = tmp_path_factory.mktemp("coded")
    groupings = [Grouping("age", {"5": "=low", "": "none"})] if grouped else []
    table, plan = planned(
        folder, nasty.bytes, groupings, delimiter=nasty.delimiter, encoding=nasty.encoding
    )
    options = options.with_secret_drawn()
    from_codes = write_rows(plan, table, options, folder, as_they_are=True)
    again = write_rows(
        plan, without_codes(table, "id", "größe", "note"), options, folder, as_they_are=True
    )
    assert from_codes == again


@pytest.mark.parametrize(
    ("encoding", "newline"),
    [
        ("utf-8-sig", "\n"),
        ("utf-8-sig", "\r"),
        ("utf-16", "\n"),
        ("utf-16", "\r\n"),
        ("latin-1", "\r"),
        ("cp1252", "\r\n"),
    ],
)
def test_marks_encodings_and_line_ends_are_kept(tmp_path, encoding, newline):
    rows = [
        f"{age},é{number % 5},{region}"
        for number, (age, region) in enumerate([("5", "12"), ("05", "0012")] * 40)
    ]
    text = newline.join(["age,note,region", *rows, ""])
    # What is not UTF-8 and has no mark must be named.
    table, plan = planned(
        tmp_path, text.encode(encoding), encoding="cp1252" if encoding == "cp1252" else None
    )
    said, data = write_rows(plan, table, ReleaseOptions(shuffle=False), tmp_path)
    codes = {name: plan.codes[plan.membership[REGIONS.index(name)]] for name in ("12", "0012")}
    expected = [",".join([*row.split(",")[:2], codes[row.split(",")[2]]]) for row in rows]
    new = "utf-8-sig" if encoding == "utf-16" else encoding
    assert data == newline.join(["age,note,region", *expected, ""]).encode(new)
    assert said.encoding in (encoding, "utf-8")


def test_a_file_of_ascii_alone_is_said_to_be_utf_8(tmp_path):
    text = "age,note,region\n5,a,12\n5,b,12\n7,é,12\n"
    table, plan = planned(tmp_path, text.encode("latin-1"), encoding="latin-1")
    said, data = write_rows(plan, table, ReleaseOptions(shuffle=False), tmp_path)
    assert data.isascii()
    assert said.encoding == "utf-8"


@pytest.mark.parametrize("again", [False, True])
def test_formulas_in_rewritten_and_grouped_columns_are_counted(tmp_path, again):
    rows = ["5, =1+1,12", "5,=1+1,12", "5,x ,12", "5,@a,12"]
    data = "\n".join(["age,note,region", *rows, ""]).encode()
    table, plan = planned(tmp_path, data, [Grouping("age", {"5": "+five"})])
    if again:
        table = without_codes(table, "note")
    assert write_rows(plan, table, ReleaseOptions(shuffle=False), tmp_path)[0].formulas == {
        "age": 4,
        "note": 3,
    }


@pytest.mark.parametrize("again", [False, True])
def test_a_file_that_changed_since_it_was_loaded_is_refused(tmp_path, again):
    table, plan = planned(tmp_path, b"age,note,region\n5,a,12\n5,b,12\n")
    if again:
        table = without_codes(table, "note")
    (tmp_path / "records.csv").write_bytes(b"age,note,region\n5,a,12\n5,c,12\n")
    with pytest.raises(InputError, match="changed since it was loaded"):
        write_rows(plan, table, ReleaseOptions(), tmp_path)


def test_a_file_with_fewer_rows_than_were_loaded_is_refused_when_it_is_read_again(tmp_path):
    table, plan = planned(tmp_path, b"age,note,region\n5,a,12\n5,b,12\n")
    (tmp_path / "records.csv").write_bytes(b"age,note,region\n5,a,12\n")
    with pytest.raises(InputError, match="changed since it was loaded"):
        write_rows(plan, without_codes(table, "note"), ReleaseOptions(), tmp_path)


@pytest.mark.parametrize("direct", [1 << 24, 0], ids=["by a table", "by searching"])
def test_the_released_records_are_those_of_classes_that_are_large_enough(tmp_path, monkeypatch, direct):
    """The class of every record, decided naively."""
    monkeypatch.setattr(released_records, "_MOST_DIRECT", direct)
    rows = random_rows(500, seed=3)
    path = tmp_path / "records.csv"
    path.write_text(
        "\n".join(["name,age,sex,region,note", *(",".join([*row[:4], "x"]) for row in rows), ""])
    )
    case = load(path, write_regions(tmp_path))
    plan = build_plan(case.problem, case.solution)
    found = find_released_records(plan, case.table, NO_PROGRESS)
    place = {name: plan.membership[number] for number, name in enumerate(case.problem.regions.ids)}
    keys = [(place[row[3]], row[1], row[2]) for row in rows]
    sizes = [keys.count(key) for key in keys]
    assert (found.classes >= 0).tolist() == [size >= 5 for size in sizes]
    assert found.rows.tolist() == [number for number, size in enumerate(sizes) if size >= 5]
    released = [
        (plan.every_code[code], size)
        for code, size in zip(found.places(found.rows), sizes, strict=False)
    ]
    assert [code for code, _ in released] == [plan.codes[keys[row][0]] for row in found.rows]
    assert plan.class_sizes[found.classes[found.rows]].tolist() == [size for size in sizes if size >= 5]
    expected = np.zeros(case.table.facts("age").distinct, int)
    values = case.table.facts("age").categories.values
    for row in found.rows:
        expected[values.index(rows[row][1])] += 1
    assert found.count_values("age").tolist() == expected.tolist()


TYPES = {
    "whole": ([1, None, -3, 1 << 40], pa.int64()),
    "small": ([0, 200, None], pa.uint8()),
    "real": ([0.1, float("nan"), None, 1e300, -0.0, float("inf")], pa.float64()),
    "single": ([0.1, 3.25, None], pa.float32()),
    "yes": ([True, False, None], pa.bool_()),
    "day": ([date(2020, 1, 31), None], pa.date32()),
    "moment": ([1, None, 1_600_000_000_123_456], pa.timestamp("us", tz="UTC")),
    "nanoseconds": ([1, None, 1_600_000_000_123_456_789], pa.timestamp("ns")),
    "decimal": ([None, 12345, -1], pa.decimal128(20, 2)),
    "empty or missing": (["", None, "a"], pa.string()),
    "missing": ([None, "a"], pa.large_string()),
    "empty": (["", "a"], pa.string()),
    "codes": (["x", None, "y"], pa.dictionary(pa.int32(), pa.string())),
    "views": (["x", None, "y"], pa.string_view()),
    "bytes": ([b"ab", None], pa.binary()),
    "list": ([[1], None, []], pa.list_(pa.int64())),
    "nothing": ([None], pa.null()),
}


@pytest.mark.parametrize("statistics", [True, False])
@pytest.mark.parametrize("shuffle", [True, False])
def test_parquet_keeps_values_of_every_type_with_their_records(tmp_path, shuffle, statistics):
    rows = random_rows(400)
    columns = {
        name: [row[place] for row in rows] for place, name in enumerate(("name", "age", "sex", "region"))
    }
    for name, (values, kind) in TYPES.items():
        columns[name] = pa.array([values[number % len(values)] for number in range(400)], kind)
    table = pa.table(columns)
    pq.write_table(table, tmp_path / "records.parquet", write_statistics=statistics)
    case = load(tmp_path / "records.parquet", write_regions(tmp_path))
    report = case.release(tmp_path / "out", ReleaseOptions(format="parquet", pdf=False, shuffle=shuffle))
    out = pq.read_table(report.folder / "anonymized.parquet")
    plain = {pa.dictionary(pa.int32(), pa.string()): pa.string(), pa.string_view(): pa.string()}
    assert [out.schema.field(name).type for name in TYPES] == [
        plain.get(kind, kind) for _, kind in TYPES.values()
    ]
    before = {row["name"]: row for row in table.to_pylist()}
    assert 300 < out.num_rows < 400
    for row in out.to_pylist():
        expected = before[row["name"]]
        for name in TYPES:
            value = expected[name]
            # That a number is missing is said in one way.
            assert row[name] == (None if value != value else value), name


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("source", ["csv", "parquet", "parquet with codes"])
def test_no_file_of_the_release_holds_a_value_that_only_suppressed_records_have(tmp_path, source, form):
    """Neither rows nor dictionaries nor statistics: the bytes of the file are searched."""
    rows = [[*row[:4], "plain"] for row in random_rows(400) if row[1] != "99"]
    rows[0][1:5] = ["99", "f", "r3", "000-only-suppressed"]
    rows[1][1:5] = ["98", "f", "r3", "zzz-only-suppressed"]
    names = ("name", "age", "sex", "region", "note")
    table = pa.table({name: [row[place] for row in rows] for place, name in enumerate(names)})
    if source == "parquet with codes":
        table = table.set_column(4, "note", table["note"].dictionary_encode())
    path = tmp_path / f"records.{source.split()[0]}"
    if source == "csv":
        path.write_text("\n".join([",".join(names), *map(",".join, rows), ""]))
    else:
        pq.write_table(table, path)
    assert b"only-suppressed" in path.read_bytes()
    case = load(path, write_regions(tmp_path))
    for again in (False, True):
        if again:
            case = replace(case, table=without_codes(case.table, "note"))
        options = ReleaseOptions(format=form, pdf=False, identifiers=("name",))
        report = case.release(tmp_path / str(again), options)
        assert report.records_suppressed >= 2
        data = (report.folder / f"anonymized.{form}").read_bytes()
        if form == "csv":
            assert b"plain" in data
        else:
            assert set(pq.read_table(pa.BufferReader(data))["note"].to_pylist()) == {"plain"}
        for value in (b"only-suppressed", b"000-only", b"zzz-only"):
            assert value not in data
