"""Groups of categories: read from files, checked against the records, and what they do to counts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.engine.problem import build_problem
from vbas_desktop.io.documents.hierarchies import (
    check_groupings,
    format_groups,
    groupings_from_json,
    groupings_to_json,
    read_groupings,
    read_groups,
    read_hierarchy_file,
)
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.records import Grouping


def written(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def codes_of(error):
    return [(finding.code, finding.row) for finding in error.value.findings]


def test_groups_are_read_column_by_column(tmp_path):
    path = written(
        tmp_path, "g.csv", 'column,value,group\nage,1,young\nsex,f,"all, both"\nage,2,young\n'
    )
    assert read_groups(path) == (
        Grouping("age", {"1": "young", "2": "young"}),
        Grouping("sex", {"f": "all, both"}),
    )


def test_groups_survive_being_written_and_read_again(tmp_path):
    groupings = (Grouping("age", {"": "none", "a;b": 'x"y'}), Grouping("sex", {"f": "f, m"}))
    assert read_groups(written(tmp_path, "g.csv", format_groups(groupings))) == groupings


def test_every_mistake_in_a_group_file_is_told_with_its_row(tmp_path):
    path = written(tmp_path, "g.csv", "column,value,group\nage,1\nage,1,a\nage,1,b\n,1,a\n")
    with pytest.raises(InputError) as error:
        read_groups(path)
    assert codes_of(error) == [("ragged", 2), ("two-groups", 4), ("ragged", 5)]


@pytest.mark.parametrize("text", ["", "a,b,c\n1,2,3\n", "age;young\n"])
def test_a_file_without_the_three_names_is_refused(tmp_path, text):
    with pytest.raises(InputError) as error:
        read_groups(written(tmp_path, "g.csv", text))
    assert codes_of(error) == [("generalise-header", 1)]


def test_a_level_of_a_hierarchy_becomes_a_grouping(tmp_path):
    path = written(tmp_path, "ages.csv", "1;1-2;*\n2;1-2;*\n3;3-4;*\n")
    first = Grouping("age", {"1": "1-2", "2": "1-2", "3": "3-4"})
    assert read_groupings(f"age={path}") == (first,)
    assert read_groupings(f"age={path}:1") == (first,)
    assert read_groupings(f"age={path}:2") == (Grouping("age", {"1": "*", "2": "*", "3": "*"}),)
    assert read_hierarchy_file(path).column == "ages"
    assert read_hierarchy_file(path).height == 2
    assert read_hierarchy_file(path).grouping(0) == Grouping("ages", {})


def test_a_level_that_is_not_there_is_refused(tmp_path):
    path = written(tmp_path, "ages.csv", "1;1-2\n")
    with pytest.raises(InputError, match="no level 3"):
        read_groupings(f"age={path}:3")


def test_mistakes_in_a_hierarchy_are_told_with_their_rows(tmp_path):
    path = written(tmp_path, "ages.csv", "1;a;x\n1;a;x\n2;a;y\n3;b\n")
    with pytest.raises(InputError) as error:
        read_hierarchy_file(path)
    assert codes_of(error) == [("duplicate-value", 2), ("not-nested", 3), ("ragged", 4)]


@pytest.mark.parametrize(
    ("text", "code"), [("", "empty-hierarchy"), ("1\n2\n", "no-levels"), ('"1;2\n', "bad-quotes")]
)
def test_what_is_no_hierarchy_is_refused(tmp_path, text, code):
    with pytest.raises(InputError) as error:
        read_hierarchy_file(written(tmp_path, "ages.csv", text))
    assert error.value.findings[0].code == code


def test_plain_data_say_what_several_groupings_of_a_column_come_to(tmp_path):
    chain = [
        Grouping("age", {"1": "low", "2": "low"}),
        Grouping("age", {"low": "all", "1": "never", "3": "all"}),
    ]
    assert groupings_to_json(chain) == {"age": {"1": "all", "2": "all", "low": "all", "3": "all"}}
    assert groupings_from_json({"age": {"1": "a"}, "sex": {}}) == (Grouping("age", {"1": "a"}),)


@pytest.fixture
def files(tmp_path):
    records = written(
        tmp_path, "records.csv", "region,age,sex\n" + "a,1,f\na,2,f\nb,2,m\nb,3,m\nb,3,f\n"
    )
    regions = written(tmp_path, "regions.csv", "id,x,y\na,0,0\nb,1,1\n")
    return load_records(records), load_regions(regions)


def test_remarks_tell_of_groups_without_effect(files):
    table, _ = files
    groupings = [
        Grouping("age", {"1": "x", "9": "x"}),
        Grouping("sex", {"f": "x"}),
        Grouping("none", {}),
    ]
    remarks = [
        (finding.code, finding.column, str(finding.severity))
        for finding in check_groupings(groupings, table, ["age"])
    ]
    assert remarks == [
        ("absent-value", "age", "hint"),
        ("not-generalised", "sex", "warning"),
        ("no-such-column", "none", "warning"),
    ]


def dense(problem):
    counts, numbers = problem.counts, problem.counts.n_categories
    matrix = np.zeros((counts.n_regions, int(np.prod(numbers))), np.int64)
    indptr, columns, values = counts.table.indptr, counts.table.indices, counts.table.data
    matrix[np.repeat(np.arange(counts.n_regions), np.diff(indptr)), counts.combinations[columns]] = (
        values
    )
    return matrix.reshape(counts.n_regions, *numbers)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["low", "mid", "2", "1"]), min_size=3, max_size=3))
def test_merging_categories_adds_their_counts(tmp_path_factory, groups):
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(len("".join(groups)))
    rows = [
        f"{r},{a},{s}" for r, a, s in zip(*(rng.integers(1, n + 1, 200) for n in (4, 3, 2)), strict=True)
    ]
    table = load_records(written(folder, "records.csv", "region,age,sex\n" + "\n".join(rows) + "\n"))
    regions = load_regions(written(folder, "regions.csv", "id,x,y\n1,0,0\n2,1,0\n3,0,1\n4,1,1\n"))
    shared = {"region_column": "region", "quasi_identifiers": ["age", "sex"], "k": 2}
    plain = build_problem(table, regions, **shared)
    grouping = Grouping("age", dict(zip("123", groups, strict=True)))
    merged = build_problem(table, regions, groupings=[grouping], **shared)
    before, after = dense(plain), dense(merged)
    for code, group in enumerate(merged.categories[0].values):
        members = [
            index
            for index, value in enumerate(plain.categories[0].values)
            if grouping.groups[value] == group
        ]
        assert (after[:, code] == before[:, members].sum(axis=1)).all()
    assert merged.records == plain.records
