"""The tests of released columns: what refines or identifies is stopped, what is harmless is not."""

from __future__ import annotations

import csv
from datetime import date, datetime, timedelta
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.audit import released_records
from vbas_desktop.audit.agreement import alike, measure_agreement, rare_share, tabulate_pairs
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.model.records import Grouping
from vbas_desktop.releases import column_statistics as column_counts
from vbas_desktop.releases.disclosure_checks import find_disclosive_columns
from vbas_desktop.releases.plan import build_plan
from vbas_desktop.releases.records import find_released_records
from vbas_desktop.settings.reading import RecordReading
from vbas_desktop.settings.run import RunSettings

SAMPLE = Path(__file__).parents[3] / "sample_data"
HARMLESS = [f"random {values}" for values in (2, 10, 50, 200, 500)] + [
    "day of the year", "weight", "skewed", "age and sex", "sex in letters", "diagnosis", "housing", "plan", "empty",
]  # fmt: skip
TELLING = {
    "postal code": "the place",
    "clinic": "the place",
    "distance": "the place",
    "nearly the place": "the place",
    "place of a few": "the place",
    "birth date": "“age”",
    "birth year": "“age”",
    "exact age": "“age”",
    "serial number": "the person",
    "time of the visit": "the person",
    "random number": "the person",
    "note of a few": "the person",
}


def made_up(rows):
    """The columns that are added to the sample, each from the truth of the record or by chance."""
    generator, number = np.random.default_rng(5), len(rows)
    tracts = sorted({row["tract"] for row in rows})
    place = np.array([tracts.index(row["tract"]) for row in rows])
    low = np.array([int(row["age"].split("-")[0].rstrip("+")) for row in rows])
    high = np.array(
        [int(row["age"].split("-")[-1].rstrip("+")) if "-" in row["age"] else 95 for row in rows]
    )
    age = low + (generator.random(number) * (high - low + 1)).astype(int)
    born = 2020 - age - (generator.random(number) < 0.5)
    days = generator.integers(0, 365, (2, number))
    few = generator.random(number) < 0.05
    columns = {
        "postal code": [f"{13000 + tract}" for tract in place],
        "clinic": [f"clinic {tract // 4}" for tract in place],
        "distance": (generator.random(len(tracts)) * 40).round(1)[place],
        "nearly the place": np.where(
            generator.random(number) < 0.9, place, generator.integers(0, 281, number)
        ),
        "place of a few": np.where(few, place.astype(str), "elsewhere"),
        "birth date": [
            date(year, 1, 1) + timedelta(int(day)) for year, day in zip(born, days[0], strict=True)
        ],
        "birth year": born,
        "exact age": age,
        "serial number": np.arange(number),
        "time of the visit": [
            datetime(2020, 1, 1) + timedelta(seconds=int(second))
            for second in generator.integers(0, 366 * 86400, number)
        ],
        "random number": generator.random(number),
        "note of a few": [f"note {row}" if one else "" for row, one in enumerate(few)],
        "day of the year": [date(2020, 1, 1) + timedelta(int(day)) for day in days[1]],
        "weight": generator.normal(70, 12, number).round(1),
        "skewed": np.minimum(500, generator.zipf(1.4, number)),
        "age and sex": [row["age"] + row["sex"] for row in rows],
        "sex in letters": [row["sex"][0] for row in rows],
        "empty": [""] * number,
    }
    for values in (2, 10, 50, 200, 500):
        columns[f"random {values}"] = generator.integers(0, values, number)
    return {name: [str(value) for value in values] for name, values in columns.items()}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Every third record of the sample with more columns."""
    with (SAMPLE / "records.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))[::3]
    added = made_up(rows)
    path = tmp_path_factory.mktemp("columns") / "records.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*rows[0], *added])
        writer.writerows(
            [*row.values(), *more]
            for row, more in zip(rows, zip(*added.values(), strict=True), strict=True)
        )
    return load_records(path, RecordReading(category_counts="no"))


def plan_of(table, quasi_identifiers=("age", "sex", "marital_status"), sites=20, groupings=()):
    problem = build_problem(
        table,
        load_regions(SAMPLE / "regions.geojson"),
        region_column="tract",
        quasi_identifiers=quasi_identifiers,
        k=5,
        groupings=groupings,
    )
    request = Request(
        problem,
        create_approach("site_number", "fixed", {"sites": sites}),
        create_approach("site_location", "balanced-density"),
        create_approach("construction", "voronoi"),
        settings=RunSettings(range_reach=0),
    )
    return build_plan(problem, run(request).chosen)


def told(plan, table, columns):
    """What is told of single columns; of pairs see test_column_pairs.py."""
    found = find_disclosive_columns(
        find_released_records(plan, table, NO_PROGRESS), columns, NO_PROGRESS
    )
    return {finding.column: finding.message for finding in found if finding.column in columns}


@pytest.mark.parametrize("sites", [8, 20, 60])
@pytest.mark.parametrize("sampled", [True, False])
def test_telling_columns_are_found_and_harmless_ones_are_not(table, sites, sampled, monkeypatch):
    if sampled:
        monkeypatch.setattr(released_records, "SAMPLE_ROWS", 12_000)
        monkeypatch.setattr(column_counts, "CHUNK_ROWS", 1000)
    found = told(plan_of(table, sites=sites), table, [*TELLING, *HARMLESS])
    assert set(found) == set(TELLING)
    for name, what in TELLING.items():
        assert what in found[name]


def test_a_column_that_tells_more_than_the_groups_of_a_quasi_identifier(table):
    ages = table.facts("age").categories.values
    grouping = Grouping("age", {age: "young" if age in ages[:3] else "old" for age in ages})
    plan = plan_of(table, groupings=[grouping])
    found = told(
        plan,
        table,
        ["exact age", "birth year", "age and sex", "diagnosis", "random 500", "sex in letters"],
    )
    assert set(found) == {"exact age", "birth year", "age and sex"}


def test_sample_columns_are_harmless_whatever_is_chosen(table):
    for chosen in (("age",), ("age", "sex"), ("sex", "housing"), ("plan",)):
        for sites in (3, 40):
            columns = [name for name in table.file_format.header[2:8] if name not in chosen]
            assert told(plan_of(table, chosen, sites), table, columns) == {}


small = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=25)


@given(small)
def test_agreement_is_the_chance_that_two_records_agree(records):
    """By listing all pairs of records: part 0 … 5, two of them to a whole, the last two alone."""
    whole_of = np.array([0, 0, 1, 1, 2, 3])
    part, value = (np.array(one, np.int64) for one in zip(*records, strict=True))
    found = measure_agreement(tabulate_pairs(part, value, (6, 4)), whole_of)
    shares, chances, single = [], [], []
    for i, (here, told_value) in enumerate(records):
        of_whole = [
            j for j, (other, _) in enumerate(records) if j != i and whole_of[other] == whole_of[here]
        ]
        same = [j for j in of_whole if records[j][1] == told_value]
        parts = {records[j][0] for j in [i, *of_whole]}
        if not same or len(parts) < 2:
            continue
        shares.append(np.mean([records[j][0] == here for j in same]))
        members = [records[j][0] for j in [i, *of_whole]]
        chances.append(np.mean([a == b for a, b in combinations(members, 2)]))
        single.append(len({records[j][0] for j in [i, *same]}) == 1)
    assert found.records == len(shares)
    if shares:
        assert found.with_value == pytest.approx(np.mean(shares))
        assert found.without == pytest.approx(np.mean(chances))
        assert found.single == pytest.approx(np.mean(single))


@pytest.mark.parametrize("size", [2, 3, 38, 39, 40, 41])
def test_the_chance_that_all_records_of_a_value_are_in_one_part(size):
    """So many records with one value in one part, and a single record with another value in the other part."""
    part, value = np.append(np.zeros(size, np.int64), 1), np.append(np.zeros(size, np.int64), 1)
    found = measure_agreement(tabulate_pairs(part, value, (2, 2)), np.zeros(2, np.int64))
    assert (found.records, found.single) == (size, 1.0)
    exact = (size / (size + 1)) ** size + (1 / (size + 1)) ** size
    assert found.single_by_chance == pytest.approx(exact, rel=1e-12)


@given(small, st.booleans())
def test_pairs_are_counted_dense_or_sparse_alike(records, dense):
    first, second = (np.array(one, np.int64) for one in zip(*records, strict=True))
    pairs = tabulate_pairs(first, second, (6, 4) if dense else (6, 1 << 40))
    found = dict(
        zip(
            zip(pairs.first.tolist(), pairs.second.tolist(), strict=True),
            pairs.counts.tolist(),
            strict=True,
        )
    )
    assert found == {pair: records.count(pair) for pair in records}


def test_alike_is_the_chance_that_two_of_a_class_have_one_value():
    pairs = tabulate_pairs(np.array([0, 0, 0, 1]), np.array([7, 7, 8, 9]), (2, 10))
    assert alike(pairs) == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)


@pytest.mark.parametrize(
    ("frequencies", "share"),
    [
        ([1] * 10, 1.0),
        ([4, 4, 92], 0.08),
        ([5, 95], 0.0),
        ([4, 96], 0.0),
        ([3, 3, 0, 94], 0.06),
        ([3, 2, 95], 0.05),
    ],
)
def test_the_share_of_rare_values(frequencies, share):
    assert rare_share(np.array(frequencies), 5) == pytest.approx(share)


def test_chance_does_not_make_a_harmless_column_telling():
    """500 columns of pure chance on small files of all kinds: none refines."""
    generator = np.random.default_rng(11)
    for _ in range(500):
        number, parts, values = (
            int(generator.integers(low, high)) for low, high in ((50, 3000), (2, 60), (2, 600))
        )
        whole_of = np.sort(generator.integers(0, max(1, parts // 4), parts))
        part, value = generator.integers(0, parts, number), generator.integers(0, values, number)
        assert not measure_agreement(tabulate_pairs(part, value, (parts, values)), whole_of).refines


def test_cells_are_numbered_by_the_place_of_the_tier_that_records_are_released_in():
    draw = np.random.default_rng(3)
    memberships = (np.arange(12) // 2, np.arange(12) // 6)
    region, tier, classes = draw.integers(0, 12, 300), draw.integers(0, 2, 300), draw.integers(0, 3, 300)
    none = np.zeros((0, 300), np.int64)
    sample = released_records.Sample(np.arange(300), region, tier, none, (), classes)
    cells = released_records.released_cells(sample, memberships)
    named = [(t, int(memberships[t][r]), c) for r, t, c in zip(region, tier, classes, strict=True)]
    assert (
        len(set(cells.tolist())) == len(set(named)) == len(set(zip(cells.tolist(), named, strict=True)))
    )


def test_whole_cells_are_drawn_and_at_least_one():
    cells = np.repeat([7, 3, 5], 10)
    assert released_records.whole_cells(cells, 30).tolist() == list(range(30))
    for most, drawn in ((5, 1), (11, 1), (21, 2), (29, 2)):
        chosen = released_records.whole_cells(cells, most)
        assert (np.unique(cells[chosen]).size, chosen.size) == (drawn, 10 * drawn)
