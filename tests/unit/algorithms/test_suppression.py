"""Local suppression: the same whether all combinations or some at a time are looked at."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sensitive_making import counts_of, sensitive_of
from vbas_desktop.algorithms import suppression
from vbas_desktop.algorithms.suppression import (
    Aggregation,
    count_released,
    release_classes,
    suppress_locally,
)
from vbas_desktop.model.tiers import NOT_RELEASED, Tiers

REGIONS, CLASSES, VALUES = 7, 6, 3
CRITERIA = (
    "share:50",
    "distinct:2",
    "entropy:1.5",
    "recursive:2,2",
    "closeness:0.4",
    "ordered-closeness:0.3",
)
ROWS = st.lists(
    st.tuples(st.integers(0, REGIONS - 1), st.integers(0, CLASSES - 1), st.integers(0, VALUES - 1)),
    max_size=90,
)
GROUPS = 5
MEMBERSHIP = np.array([0, 1, 1, 2, 3, 4, 4], np.int32)
TIERS = (
    None,
    Tiers((np.zeros(GROUPS, np.int32),), ("", ""), (None, None)),
    Tiers((np.array([0, 0, 0, 1, 1], np.int32), np.zeros(2, np.int32)), ("",) * 3, (None,) * 3),
)
CHOSEN = {"k": st.integers(1, 5), "tiers": st.sampled_from(TIERS)}


@pytest.fixture(params=[3, 20, 2_000_000], ids=lambda classes: f"{classes} classes at a time")
def in_parts(request, monkeypatch):
    """Cuts small counts as large ones are cut."""
    monkeypatch.setattr(suppression, "_CLASSES_PER_PART", request.param)
    monkeypatch.setattr(suppression, "_CLASSES_PER_COUNT", request.param)


@pytest.mark.usefixtures("in_parts")
@settings(max_examples=80, deadline=None)
@given(rows=ROWS, criteria=st.lists(st.sampled_from(CRITERIA), unique=True, max_size=2), **CHOSEN)
def test_each_area_releases_as_many_records_under_any_criteria(rows, criteria, k, tiers):
    counts = counts_of(rows, REGIONS, CLASSES)
    sensitive = (
        (sensitive_of(rows, REGIONS, CLASSES, VALUES, criteria, benign=(0,)),) if criteria else ()
    )
    merged = Aggregation(counts, k, MEMBERSHIP, GROUPS, tiers, sensitive)
    found = count_released(merged)
    expected = [each.region_totals.tolist() for each in suppress_locally(merged).released]
    assert [each.tolist() for each in found] == expected


@pytest.mark.usefixtures("in_parts")
@settings(max_examples=80, deadline=None)
@given(rows=ROWS, sensitive=st.booleans(), **CHOSEN)
def test_released_classes_and_records_are_those_of_a_loop_over_the_records(rows, sensitive, k, tiers):
    counts = counts_of(rows, REGIONS, CLASSES)
    columns = (sensitive_of(rows, REGIONS, CLASSES, VALUES, ["distinct:2"]),) if sensitive else ()
    merged = Aggregation(counts, k, MEMBERSHIP, GROUPS, tiers, columns)
    whole = suppress_locally(merged)
    found = release_classes(merged)
    assert len(found.classes) == len(whole.released)
    assert all(mine.equals(other) for mine, other in zip(found.classes, whole.released, strict=True))
    areas = whole.aggregated.list_class_regions().tolist()
    kinds = whole.aggregated.combinations[whole.aggregated.table.indices].tolist()
    tier_of = dict(zip(zip(areas, kinds, strict=True), whole.tier_of.tolist(), strict=True))
    records = np.zeros((len(merged.n_areas), REGIONS), np.int64)
    pairs = np.zeros_like(records)
    log_sum = 0.0
    for (region, kind), number in Counter((region, kind) for region, kind, _ in rows).items():
        tier = tier_of[int(MEMBERSHIP[region]), kind]
        if tier != NOT_RELEASED:
            records[tier, region] += number
            pairs[tier, region] += math.comb(number, 2)
            log_sum += number * math.log(number)
    assert found.records.tolist() == records.tolist()
    assert found.pairs.tolist() == pairs.tolist()
    assert found.log_sum == pytest.approx(log_sum, rel=1e-12)
    assert whole.records == records.sum()
