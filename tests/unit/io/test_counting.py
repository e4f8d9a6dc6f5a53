"""Counts of regions × classes against a naive counter over the records."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.algorithms import contingency
from vbas_desktop.engine.problem import build_problem, count_categories
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.records import Grouping
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem, Regions
from vbas_desktop.settings.reading import RecordReading


def regions_named(*ids):
    points = np.arange(2.0 * len(ids)).reshape(-1, 2)
    return Regions(tuple(ids), points, CoordinateSystem(CoordinateKind.PLANAR))


def table_of(folder, rows, names=("a", "b", "c", "region"), category_counts="no"):
    path = folder / "records.csv"
    path.write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n")
    return load_records(path, RecordReading(category_counts=category_counts))


def counted(problem):
    """Counts by region id and category values, through the public face of the counts."""
    counts = problem.counts
    found = {}
    for region, column, size in zip(
        counts.list_class_regions(), counts.table.indices, counts.sizes, strict=True
    ):
        codes = counts.decode_combination(int(column))
        key = tuple(c.values[code] for c, code in zip(problem.categories, codes, strict=True))
        found[problem.regions.ids[region], key] = int(size)
    return found


VALUE = st.sampled_from(["", "1", "2", "10", "x"])
ROW = st.tuples(VALUE, VALUE, VALUE, st.sampled_from(["r1", "r2", "r3", "lost", "r4"]))


@settings(max_examples=120, deadline=None)
@given(
    rows=st.lists(ROW, min_size=1, max_size=60).filter(
        lambda rows: any(row[3] != "lost" for row in rows)
    ),
    names=st.permutations(["a", "b", "c"]).flatmap(lambda p: st.integers(1, 3).map(lambda n: p[:n])),
    few_bins=st.sampled_from([0, 25, 60, 1 << 20]),
    bins_per_record=st.sampled_from([0, 2]),
    largest=st.sampled_from([0, 1 << 63]),
    groups=st.dictionaries(VALUE, st.sampled_from(["g", "1", ""]), max_size=3),
)
def test_counts_agree_with_a_naive_counter(
    tmp_path_factory, rows, names, few_bins, bins_per_record, largest, groups
):
    table = table_of(tmp_path_factory.mktemp("count"), rows)
    regions = regions_named("r3", "empty", "r1", "r2", "r4")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contingency, "_FEW_BINS", few_bins)
        patch.setattr(contingency, "_BINS_PER_RECORD", bins_per_record)
        patch.setattr(contingency, "MAX_COMBINATIONS", largest)
        patch.setattr(contingency, "_RECORDS_PER_CHUNK", 7)
        patch.setattr(contingency, "_RECORDS_PER_SORT", 11)
        problem = build_problem(
            table,
            regions,
            region_column="region",
            quasi_identifiers=names,
            k=1,
            unknown_regions="suppress",
            groupings=[Grouping("a", groups)],
        )
    place = {"a": 0, "b": 1, "c": 2}
    expected = Counter()
    for row in rows:
        if row[3] != "lost":
            key = tuple(
                groups.get(row[0], row[0]) if name == "a" else row[place[name]] for name in names
            )
            expected[row[3], key] += 1
    assert counted(problem) == expected
    assert problem.unknown_region_records == sum(row[3] == "lost" for row in rows)
    assert problem.records == len(rows)
    assert (np.diff(problem.counts.combinations) > 0).all()
    assert problem.counts.region_totals[1] == 0


def test_thousands_of_classes_beyond_the_size_of_a_table_are_counted(tmp_path, monkeypatch):
    draw = np.random.default_rng(1)
    rows = [(*map(str, draw.integers(10, 50, 3)), f"r{draw.integers(3)}") for _ in range(20_000)]
    for name in ("_FEW_BINS", "_BINS_PER_RECORD"):
        monkeypatch.setattr(contingency, name, 0)
    table = table_of(tmp_path, rows)
    regions = regions_named("r0", "r1", "r2")
    problem = build_problem(
        table, regions, region_column="region", quasi_identifiers=["a", "b", "c"], k=1
    )
    assert problem.counts.n_combinations > 16_000
    assert counted(problem) == Counter((row[3], row[:3]) for row in rows)


def test_classes_are_numbered_row_major_in_the_given_order(tmp_path):
    table = table_of(tmp_path, [("10", "x", "", "r1"), ("9", "y", "", "r1"), ("9", "x", "", "r1")])
    problem = build_problem(
        table, regions_named("r1"), region_column="region", quasi_identifiers=["b", "a"], k=1
    )
    assert problem.categories[1].values == ("9", "10")
    assert problem.counts.combinations.tolist() == [0, 1, 2]
    assert [problem.counts.decode_combination(i) for i in range(3)] == [(0, 0), (0, 1), (1, 0)]


def test_declared_numbers_of_categories_count_for_the_classes(tmp_path):
    rows = [("9", "4", "2", "1"), ("1", "1", "x", "r1"), ("2", "2", "y", "r1")]
    table = table_of(tmp_path, rows, category_counts="yes")
    problem = build_problem(
        table, regions_named("r1"), region_column="region", quasi_identifiers=["a", "b"], k=1
    )
    assert problem.counts.max_combinations == 36
    assert problem.counts.combinations.tolist() == [0, 5]
    assert count_categories(table, ["a", "b", "c"]) == (9, 4, 2)
    grouped = [Grouping("a", {"1": "all", "2": "all"})]
    assert count_categories(table, ["a", "b"], grouped) == (1, 4)


def test_more_classes_than_can_be_numbered_are_refused(tmp_path):
    names = ("a", "b", "c", "region")
    many = str(2**21)
    rows = [(many, many, many, "1"), ("1", "1", "1", "r1"), ("2", "2", "2", "r1")]
    table = table_of(tmp_path, rows, names, "yes")
    problem = build_problem(
        table, regions_named("r1"), region_column="region", quasi_identifiers=["a", "b", "c"], k=1
    )
    assert problem.counts.max_combinations == 2**63
    assert problem.counts.combinations.tolist() == [0, (2**21 + 1) * 2**21 + 1]
    rows[0] = (str(2**21 + 1), many, many, "1")
    table = table_of(tmp_path, rows, names, "yes")
    with pytest.raises(InputError, match=r"more than 2\^63 cannot be counted"):
        build_problem(
            table, regions_named("r1"), region_column="region", quasi_identifiers=["a", "b", "c"], k=1
        )


def test_the_categories_of_a_column_without_categories_cannot_be_counted(tmp_path):
    lists = pa.array([[1], [2]], pa.list_(pa.int64()))
    pq.write_table(pa.table({"a": pa.array(["x", "y"]), "l": lists}), tmp_path / "records.parquet")
    table = load_records(tmp_path / "records.parquet")
    assert count_categories(table, ["a"]) == (2,)
    with pytest.raises(InputError) as caught:
        count_categories(table, ["a", "l"])
    assert [finding.column for finding in caught.value.findings] == ["l"]


@pytest.mark.parametrize(("rows", "warned"), [(1, False), (2, True)])
def test_a_quasi_identifier_that_differs_in_every_record_is_warned_of_from_two_records_on(
    tmp_path, rows, warned
):
    table = table_of(tmp_path, [(str(number), "x", "y", "r1") for number in range(rows)])
    problem = build_problem(
        table, regions_named("r1"), region_column="region", quasi_identifiers=["a"], k=1
    )
    assert any(finding.column == "a" for finding in problem.findings) == warned
