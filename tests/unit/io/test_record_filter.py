"""Filters of records: which ones are considered, and what is said of files that cannot be filters."""

import csv

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from release_making import random_rows, write_records, write_regions

from vbas_desktop.engine.problem import build_problem
from vbas_desktop.io.record_filter import filter_records, read_record_filter
from vbas_desktop.io.records.file_format import ReadLimits
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.records.rows import read_column_texts, read_row_texts
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.model.findings import InputError, Severity
from vbas_desktop.settings.reading import RecordReading

HEADER = ["name", "age", "sex", "region", "note"]


@pytest.fixture
def table(tmp_path):
    path = write_records(tmp_path, random_rows(300))
    return load_records(path, RecordReading(category_counts="no"))


def written(folder, text, name="filter.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_record_filter(path)


def texts_of(table, *names):
    return list(zip(*(read_column_texts(table, name).tolist() for name in names), strict=True))


def findings_of(error):
    return [
        (finding.code, finding.row)
        for finding in error.value.findings
        if finding.severity is Severity.ERROR
    ]


def test_only_records_with_a_required_combination_are_considered(table, tmp_path):
    selected = filter_records(table, written(tmp_path, "age,sex\n10,f\n20,m\n"), None)
    every = texts_of(table, "name", "age", "sex")
    expected = [row for row in every if row[1:] in {("10", "f"), ("20", "m")}]
    assert texts_of(selected, "name", "age", "sex") == expected
    assert selected.rows == len(expected)
    assert selected.file_rows == 300
    assert selected.selection.records_left_out == 300 - len(expected)
    assert selected.facts("age").categories.values == ("10", "20"), (
        "values that nobody has any more are gone"
    )
    assert selected.facts("age").frequencies.tolist() == [
        sum(r[1] == age for r in expected) for age in ("10", "20")
    ]


def test_records_with_an_unwanted_combination_are_not_considered(table, tmp_path):
    required = written(tmp_path, "sex\nf\n", "keep.csv")
    unwanted = written(tmp_path, "region;age\nr3;10\nr4;20\n", "drop.csv")
    selected = filter_records(table, required, unwanted)
    every = texts_of(table, "name", "age", "sex", "region")
    expected = [r for r in every if r[2] == "f" and (r[3], r[1]) not in {("r3", "10"), ("r4", "20")}]
    assert texts_of(selected, "name", "age", "sex", "region") == expected


def test_rows_are_numbered_as_in_the_file(table, tmp_path):
    selected = filter_records(table, None, written(tmp_path, "age\n10\n"))
    rows = [number for number, (age,) in enumerate(texts_of(table, "age"), 2) if age != "10"]
    assert [selected.row_number(record) for record in range(selected.rows)] == rows
    wanted = np.array([value == "99" for value in selected.facts("age").categories.values])
    assert (
        selected.first_rows("age", wanted, 2)
        == [number for number, (age,) in enumerate(texts_of(table, "age"), 2) if age == "99"][:2]
    )


def test_rows_are_read_again_without_those_left_out(table, tmp_path):
    selected = filter_records(table, written(tmp_path, "sex\nm\n"), None)
    assert [row[0] for row in read_row_texts(selected)] == [
        name for name, sex in texts_of(table, "name", "sex") if sex == "m"
    ]


def test_the_identity_of_the_records_depends_on_the_filter(table, tmp_path):
    one = filter_records(table, written(tmp_path, "sex\nf\n"), None)
    other = filter_records(table, None, written(tmp_path, "sex\nf\n"))
    assert len({table.source.identity, one.source.identity, other.source.identity}) == 3
    assert len({table.rows_hash, one.rows_hash, other.rows_hash}) == 3
    assert one.source.sha256 == table.source.sha256
    assert filter_records(table, None, None) is table


def test_counts_cover_the_considered_records_only(table, tmp_path):
    selected = filter_records(table, written(tmp_path, "age\n10\n20\n"), None)
    problem = build_problem(
        selected,
        load_regions(write_regions(tmp_path)),
        region_column="region",
        quasi_identifiers=("age", "sex"),
        k=2,
    )
    assert problem.records == selected.rows
    assert problem.records_left_out == 300 - selected.rows
    assert problem.counts.n_categories == (2, 2)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from("xyz "), st.sampled_from("12")), min_size=1
    ),
    st.sets(st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz")), min_size=1),
    st.sets(st.tuples(st.sampled_from("123")), max_size=1),
)
def test_filters_agree_with_a_naive_one(tmp_path_factory, rows, required, unwanted):
    folder = tmp_path_factory.mktemp("filter")
    path = write_records(folder, rows, ["one", "two", "three"])
    table = load_records(path, RecordReading(category_counts="no"))
    keep = written(folder, "two,one\n" + "".join(f"{two},{one}\n" for one, two in required), "keep.csv")
    drop = (
        written(folder, "three\n" + "".join(f"{three}\n" for (three,) in unwanted), "drop.csv")
        if unwanted
        else None
    )
    expected = [row for row in rows if row[:2] in required and row[2:] not in unwanted]
    if not expected:
        with pytest.raises(InputError, match="leave no record"):
            filter_records(table, keep, drop)
        return
    assert texts_of(filter_records(table, keep, drop), "one", "two", "three") == expected


def test_a_missing_value_is_an_empty_field(tmp_path):
    path = write_records(tmp_path, [["a", "x"], ["", "y"], ["b", "z"]], ["one", "two"])
    table = load_records(path, RecordReading(category_counts="no"))
    selected = filter_records(table, written(tmp_path, 'one\n""\n'), None)
    assert texts_of(selected, "one", "two") == [("", "y")]
    assert selected.facts("one").missing == 1


def test_values_and_combinations_that_nobody_has_are_hints(table, tmp_path):
    selected = filter_records(
        table, written(tmp_path, 'age,note\n10,"x,y"\n011,"x,y"\n99,other\n'), None
    )
    told = [
        (each.code, each.row, each.column)
        for each in selected.findings
        if each.severity is Severity.HINT
    ]
    assert ("no-such-value", 3, "age") in told
    assert ("no-such-value", 4, "note") in told
    none = filter_records(
        table, written(tmp_path, "name,age\nperson 0,10\nperson 0,20\nperson 0,30\n"), None
    )
    assert sum(each.code == "no-such-combination" for each in none.findings) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [("empty-filter", None)]),
        ("age,sex\n", [("empty-filter", None)]),
        ("age,sex\n10,f\n10,f\n", [("repeated-combination", 3)]),
        ("age,age\n10,10\n", [("repeated-column", 1)]),
        ("age,sex\n10\n10,f,x\n", [("ragged", 2), ("ragged", 3)]),
        ('age\n"10\n', [("bad-quotes", None)]),
    ],
)
def test_files_that_are_no_filters_are_refused(tmp_path, text, expected):
    with pytest.raises(InputError) as error:
        written(tmp_path, text)
    assert findings_of(error) == expected


def test_unknown_columns_are_refused_without_quoting_them(table, tmp_path):
    with pytest.raises(InputError) as error:
        filter_records(table, written(tmp_path, "aeg,Jane Doe\n10,f\n"), None)
    assert findings_of(error) == [("unknown-column", 1), ("unknown-column", 1)]
    assert "Jane" not in str(error.value)
    assert "“age”" in error.value.findings[0].remedy


def test_filters_that_leave_nothing_are_refused(table, tmp_path):
    required = written(tmp_path, "sex\nf\n", "keep.csv")
    unwanted = written(tmp_path, "sex\nf\n", "drop.csv")
    with pytest.raises(InputError, match="leave no record"):
        filter_records(table, required, unwanted)


def test_filters_by_a_sensitive_column_are_warned_of(table, tmp_path):
    from vbas_desktop.model.criteria import SensitiveColumn

    selected = filter_records(table, written(tmp_path, "sex\nf\n"), None)
    problem = build_problem(
        selected,
        load_regions(write_regions(tmp_path)),
        region_column="region",
        quasi_identifiers=("age",),
        k=2,
        sensitive=(SensitiveColumn("sex"),),
    )
    assert [each.column for each in problem.findings if each.code == "chosen-by-sensitive"] == ["sex"]


def test_a_column_with_too_many_values_cannot_decide(tmp_path):
    path = write_records(tmp_path, [[f"p{n}", "x"] for n in range(50)], ["one", "two"])
    table = load_records(
        path, RecordReading(category_counts="no"), limits=ReadLimits(identifier_from=10)
    )
    with pytest.raises(InputError, match="too many for categories"):
        filter_records(table, written(tmp_path, "one\np1\n"), None)


def test_delimiters_and_marks_are_found_out(table, tmp_path):
    path = tmp_path / "filter.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file, delimiter="\t").writerows([["age", "note"], ["10", "x,y"]])
    assert read_record_filter(path).rows == (("10", "x,y"),)
    assert set(texts_of(filter_records(table, read_record_filter(path), None), "age")) == {("10",)}
