"""Pairs of released columns: what two tell together is stopped, what neither tells is not."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.audit import released_records
from vbas_desktop.audit.agreement import agreeing, measure_agreement, tabulate_pairs
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.model.records import Grouping
from vbas_desktop.releases import column_statistics as column_counts
from vbas_desktop.releases.column_statistics import TableRecords
from vbas_desktop.releases.disclosure_checks import check_disclosure, find_disclosive_columns
from vbas_desktop.releases.plan import build_plan
from vbas_desktop.releases.records import find_released_records
from vbas_desktop.settings.reading import RecordReading
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.run import RunSettings

SAMPLE = Path(__file__).parents[3] / "sample_data"
PLAIN = ["housing", "plan", "diagnosis", "random 2", "random 10", "random 50"]


def made_up(rows):
    """Columns of which two together tell the place, the person or the age."""
    generator, number = np.random.default_rng(7), len(rows)
    tracts = sorted({row["tract"] for row in rows})
    place = np.array([tracts.index(row["tract"]) for row in rows])
    ages = sorted({row["age"] for row in rows})
    age = np.array([ages.index(row["age"]) for row in rows])
    # Numbers that look like chance and give the secret when one is taken from the other.
    blind = generator.integers(0, 7, number)
    columns = {
        "block one": generator.integers(0, 12, len(tracts))[place],
        "first share": blind,
        "second share": (blind + place) % 7,
        "age one": generator.integers(0, 40, number),
        "birth year": 1930 + generator.integers(0, 70, number),
        "birth day": generator.integers(1, 366, number),
    }
    columns["age two"] = (columns["age one"] + 3 * age + generator.integers(0, 3, number)) % 40
    for values in (2, 10, 50):
        columns[f"random {values}"] = generator.integers(0, values, number)
    columns["gaps"] = np.where(
        generator.random(number) < 0.3, "", generator.integers(0, 9, number).astype(str)
    )
    return {
        name: [str(value) for value in values] for name, values in columns.items() if name != "block one"
    }


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Every third record of the sample with more columns."""
    with (SAMPLE / "records.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))[::3]
    added = made_up(rows)
    path = tmp_path_factory.mktemp("pairs") / "records.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*rows[0], *added])
        writer.writerows(
            [*row.values(), *more]
            for row, more in zip(rows, zip(*added.values(), strict=True), strict=True)
        )
    return load_records(path, RecordReading(category_counts="no"))


def plan_of(table, quasi_identifiers=("age", "sex"), sites=40, groupings=()):
    regions = load_regions(SAMPLE / "regions.geojson")
    names = {"region_column": "tract", "quasi_identifiers": quasi_identifiers}
    problem = build_problem(table, regions, **names, k=5, groupings=groupings)
    chosen = {"site_location": "balanced-density", "construction": "voronoi"}
    request = Request(
        problem,
        create_approach("site_number", "fixed", {"sites": sites}),
        **{part: create_approach(part, name) for part, name in chosen.items()},
        settings=RunSettings(range_reach=0),
    )
    return build_plan(problem, run(request).chosen)


@pytest.fixture(scope="module")
def plan(table):
    return plan_of(table)


def told(plan, table, columns):
    released = find_released_records(plan, table, NO_PROGRESS)
    return {one.column: one.message for one in find_disclosive_columns(released, columns, NO_PROGRESS)}


def test_pairs_that_tell_are_found_and_no_others(plan, table):
    columns = [
        *PLAIN,
        "gaps",
        "first share",
        "second share",
        "birth year",
        "birth day",
        "age one",
        "age two",
    ]
    found = told(plan, table, columns)
    expected = {
        "first share+second share": "the place",
        "birth year+birth day": "the person",
        "age one+age two": "“age”",
    }
    assert set(found) >= set(expected)
    for pair, what in expected.items():
        assert what in found[pair]
    # Of the others, some have so many values together that they name persons, and none tells place or age.
    others = {pair: message for pair, message in found.items() if pair not in expected}
    assert all("birth day" in pair for pair in others)
    assert not any("the place" in message or "“age”" in message for message in others.values())


@pytest.mark.parametrize("chosen", [("age",), ("age", "sex"), ("sex", "housing"), ("plan",)])
def test_pairs_of_the_sample_are_harmless(table, chosen):
    for sites in (3, 60):
        columns = [name for name in [*table.file_format.header[2:8], *PLAIN[3:]] if name not in chosen]
        assert told(plan_of(table, chosen, sites), table, columns) == {}


def test_two_columns_that_tell_the_value_within_a_group(table):
    ages = table.facts("age").categories.values
    grouping = Grouping("age", {age: "young" if age in ages[:4] else "old" for age in ages})
    found = told(
        plan_of(table, groupings=[grouping]), table, ["age one", "age two", "random 50", "diagnosis"]
    )
    assert list(found) == ["age one+age two"]
    assert "released groups" in found["age one+age two"]


@pytest.mark.parametrize(
    ("allowed", "stopped"),
    [
        ((), True),
        (("first share",), True),
        (("random 2+first share",), True),
        (("first share+second share",), False),
        (("second share+first share",), False),
        (("first share", "second share"), False),
    ],
)
def test_a_pair_is_allowed_by_its_name_or_by_both_columns(plan, table, allowed, stopped):
    columns = ("tract", "age", "sex", "first share", "second share", "random 2")
    options = ReleaseOptions(columns=columns, allow_columns=allowed)
    if stopped:
        with pytest.raises(InputError) as caught:
            check_disclosure(find_released_records(plan, table, NO_PROGRESS), options, NO_PROGRESS)
        (finding,) = caught.value.findings
        assert finding.column == "first share+second share"
        assert '--allow-column "first share+second share"' in finding.remedy
        assert "make one a quasi-identifier" in finding.remedy
    else:
        (finding,) = check_disclosure(
            find_released_records(plan, table, NO_PROGRESS), options, NO_PROGRESS
        )
        assert finding.remedy == "It was allowed knowingly."


def test_a_pair_of_columns_that_are_not_there_is_refused(table):
    with pytest.raises(InputError, match="no such column"):
        ReleaseOptions(allow_columns=("age+nothing",)).released_columns(table.file_format.header)


@pytest.mark.parametrize("pair_rows", [1 << 18, 1 << 12])
def test_rare_pairs_are_counted_in_all_released_records(plan, table, pair_rows, monkeypatch):
    monkeypatch.setattr(released_records, "COMBINATION_ROWS", pair_rows)
    monkeypatch.setattr(column_counts, "CHUNK_ROWS", 5000)
    released = find_released_records(plan, table, NO_PROGRESS)
    records = TableRecords(released, NO_PROGRESS)
    one, other = table.facts("birth day"), table.facts("gaps")
    kept = released.classes >= 0
    first, second = table.codes("birth day")[kept].astype(int), table.codes("gaps")[kept].astype(int)
    there = second != other.categories.values.index("")
    _, counts = np.unique(first[there] * 1000 + second[there], return_counts=True)
    expected = counts[counts < 9].sum() / there.sum()
    assert 0.1 < expected < 0.9
    exact = pair_rows > table.rows
    records.k = 9
    found = records.rare_combinations([records.column(one), records.column(other)], blanks=False)
    assert found == pytest.approx(expected, rel=1e-9 if exact else 0.25)


records = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=40)


@given(records, st.sampled_from([1, 1 << 20, 1 << 59]))
def test_agreeing_is_the_agreement_of_the_counts(records, apart):
    whole_of = np.array([0, 0, 1, 1, 2, 3])
    part, value = (np.array(one, np.int64) for one in zip(*records, strict=True))
    expected = measure_agreement(tabulate_pairs(part, value, (6, 4)), whole_of)
    found = agreeing(part, whole_of[part], value * apart)
    assert found.records == expected.records
    assert found.with_value == pytest.approx(expected.with_value)
    assert found.without == pytest.approx(expected.without)
