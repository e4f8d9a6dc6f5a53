"""Criteria for sensitive values: against pycanon, and against their definitions."""

from __future__ import annotations

import types
from collections import Counter

import numpy as np
import pandas as pd
import pycanon.anonymity._l_diversity as pycanon_diversity
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycanon import anonymity

from tests.sensitive_making import by_class, counts_of, sensitive_of
from tests.unit.algorithms.naive_criteria import meets
from vbas_desktop.algorithms.diversity import list_class_values, shares_of
from vbas_desktop.algorithms.suppression import Aggregation, suppress_locally
from vbas_desktop.audit.criteria import ValueDistribution, evaluate_criteria
from vbas_desktop.audit.expected import released_codes
from vbas_desktop.audit.sensitive import SensitiveDistribution, find_barred, remove_until_stable
from vbas_desktop.audit.tiers import recounted_tiers
from vbas_desktop.model.criteria import (
    CLOSENESS,
    DISTINCT,
    ENTROPY,
    ORDERED,
    RECURSIVE,
    SHARE,
    parse_criterion,
)
from vbas_desktop.model.tiers import NOT_RELEASED, Tiers

CRITERIA = [
    *(
        "distinct:2",
        "distinct:3",
        "entropy:1.5",
        "entropy:2",
        "entropy:3",
        "recursive:1,2",
        "recursive:2,3",
    ),
    *(
        "recursive:1.5,2",
        "closeness:0.2",
        "closeness:0.5",
        "ordered-closeness:0.2",
        "ordered-closeness:0.1",
    ),
    *("share:50", "share:33.3", "share:80"),
]


def random_table(seed: int) -> tuple[pd.DataFrame, list[tuple[int, int, int]]]:
    draw = np.random.default_rng(seed)
    size, values = int(draw.integers(2, 60)), int(draw.integers(2, 6))
    weights = draw.dirichlet(np.full(values, 0.7))
    rows = np.column_stack(
        (draw.integers(0, 3, size), draw.integers(0, 3, size), draw.choice(values, size, p=weights))
    ).tolist()
    frame = pd.DataFrame(rows, columns=["region", "kind", "number"])
    frame["word"] = pd.Series([f"v{number}" for number in frame["number"]], dtype=object)
    return frame, [tuple(row) for row in rows]


@pytest.mark.parametrize("chunk", range(4))
def test_200_random_tables_have_the_figures_of_pycanon(chunk, monkeypatch):
    # pycanon sorts the frequencies of (c,l)-diversity upwards, so that r1 is that of the rarest value. In the
    # definition r1 is the commonest: its own loop is used here with a sort that goes down.
    downwards = types.SimpleNamespace(
        **{
            name: getattr(np, name)
            for name in ("array", "unique", "floor", "max", "nan", "concatenate", "delete")
        },
        sort=lambda numbers: -np.sort(-np.asarray(numbers)),
    )
    for seed in range(50 * chunk, 50 * chunk + 50):
        frame, rows = random_table(seed)
        keys = ["region", "kind"]
        found = list_class_values(column := sensitive_of(rows, 3, 3, 6, ()), column.cells)
        shares = shares_of(column.totals)
        least = int(found.compute_figures(DISTINCT, 0.0, shares).min())
        assert least == anonymity.l_diversity(frame, keys, ["word"])
        entropy = float(found.compute_figures(ENTROPY, 0.0, shares).min())
        theirs = anonymity.entropy_l_diversity(frame, keys, ["word"])
        # e to the power of the logarithm of 3 may be a little less than 3, of which pycanon takes the whole part.
        assert theirs == int(entropy) or (
            abs(entropy - round(entropy)) < 1e-9 and theirs in (round(entropy) - 1,)
        )
        assert float(found.compute_figures(CLOSENESS, 0.0, shares).max()) == pytest.approx(
            anonymity.t_closeness(frame, keys, ["word"]), abs=1e-12
        )
        if frame["number"].nunique() > 1:
            assert float(found.compute_figures(ORDERED, 0.0, shares).max()) == pytest.approx(
                anonymity.t_closeness(frame, keys, ["number"]), abs=1e-12
            )
        alpha, _ = anonymity.alpha_k_anonymity(frame, keys, ["word"])
        assert float(found.compute_figures(SHARE, 0.0, shares).max()) == pytest.approx(
            100 * alpha, abs=1e-9
        )
        with monkeypatch.context() as patch:
            patch.setattr(pycanon_diversity, "np", downwards)
            c, of_l = anonymity.recursive_c_l_diversity(frame, keys, ["word"])
        assert of_l == least
        if least > 1:
            # c is the smallest whole number above every r1 / (r_l + … + r_m).
            ratio = float(found.compute_figures(RECURSIVE, least, shares).max())
            assert c == int(np.floor(ratio + 1))


rows_of = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=60
)


@settings(max_examples=150, deadline=None)
@given(
    rows=rows_of,
    criteria=st.lists(st.sampled_from(CRITERIA), min_size=1, max_size=2, unique=True),
    benign=st.sets(st.integers(0, 4), max_size=2),
    membership=st.lists(st.integers(0, 1), min_size=5, max_size=5),
    k=st.integers(1, 4),
)
def test_what_is_released_is_what_the_definitions_say(rows, criteria, benign, membership, k):
    used = {group: number for number, group in enumerate(sorted(set(membership)))}
    owner = np.array([used[group] for group in membership], np.int32)
    counts = counts_of(rows, 5, 3)
    found = suppress_locally(
        Aggregation(
            counts, k, owner, len(used), None, [sensitive_of(rows, 5, 3, 5, criteria, sorted(benign))]
        )
    )
    place = found.aggregated.list_class_regions()
    columns = found.aggregated.table.indices
    released = {
        (int(region), int(counts.combinations[column]))
        for region, column, tier in zip(place, columns, found.tier_of, strict=True)
        if tier != NOT_RELEASED
    }
    assert released == literally_released(rows, owner, criteria, {str(value) for value in benign}, k)


def literally_released(rows, owner, criteria, benign, k) -> set:
    """First judged by all records, then by those that are left, until nothing more has to go."""
    classes = by_class(rows, owner)
    rules = [parse_criterion(text) for text in criteria]
    everybody = Counter(str(value) for _, _, value in rows)
    kept = {
        key
        for key, values in classes.items()
        if sum(values.values()) >= k and all(meets(values, rule, benign, everybody) for rule in rules)
    }
    while True:
        everybody = sum((classes[key] for key in kept), Counter())
        left = {
            key for key in kept if all(meets(classes[key], rule, benign, everybody) for rule in rules)
        }
        if left == kept:
            return kept
        kept = left


@settings(max_examples=150, deadline=None)
@given(rows=rows_of, criterion=st.sampled_from(CRITERIA), benign=st.sets(st.integers(0, 4), max_size=2))
def test_engine_auditor_and_definition_agree(rows, criterion, benign):
    column = sensitive_of(rows, 5, 3, 5, [criterion], sorted(benign))
    found = list_class_values(column, column.cells)
    mine = found.meet_criteria(column.chosen.criteria, shares_of(column.totals))
    spread = spread_of(found, column)
    theirs = ~spread.failing(column.chosen.criteria, spread.totals)
    everybody = Counter(str(value) for _, _, value in rows)
    classes = by_class(rows, range(5))
    keys = list(zip(found.areas.tolist(), found.combinations.tolist(), strict=True))
    rule, harmless = parse_criterion(criterion), {str(value) for value in benign}
    literal = [meets(classes[key], rule, harmless, everybody) for key in keys]
    assert mine.tolist() == literal
    assert theirs.tolist() == literal
    told = evaluate_criteria("s", spread, column.chosen.criteria)
    assert told.missing[criterion][0] == literal.count(False)


def spread_of(found, column):
    group = np.repeat(np.arange(len(found)), found.lengths)
    order = np.arange(column.harmful.size)
    return ValueDistribution(
        len(found), group, found.codes.astype(np.int64), found.sizes, column.harmful, order
    )


WHOLE = Tiers((np.zeros(6, np.int32),), ("", ""), (None, None))


def test_in_tiers_a_class_goes_up_until_it_meets_both():
    # Five records of one value in the first region: enough for k = 5, but not two values. Three of another value in
    # each of the others: too few. Together they are as many as may be told of the whole area: 5 · (k − 1).
    rows = [(0, 0, 0)] * 5 + [(region, 0, 1) for region in range(1, 6) for _ in range(3)]
    counts, owner = counts_of(rows, 6, 1), np.arange(6, dtype=np.int32)
    plain = suppress_locally(Aggregation(counts, 5, owner, 6, WHOLE))
    assert plain.tier_of.tolist() == [0, 1, 1, 1, 1, 1]
    found = suppress_locally(
        Aggregation(counts, 5, owner, 6, WHOLE, [sensitive_of(rows, 6, 1, 2, ["distinct:2"])])
    )
    assert found.tier_of.tolist() == [1] * 6
    assert found.records == 20
    harsh = suppress_locally(
        Aggregation(counts, 5, owner, 6, WHOLE, [sensitive_of(rows, 6, 1, 2, ["distinct:3"])])
    )
    assert harsh.tier_of.tolist() == [NOT_RELEASED] * 6
    # With one record more the whole area would tell that the first region has some.
    more = [*rows, (0, 0, 0)]
    values = [sensitive_of(more, 6, 1, 2, ["distinct:2"])]
    above = suppress_locally(Aggregation(counts_of(more, 6, 1), 5, owner, 6, WHOLE, values))
    assert above.tier_of.tolist() == [NOT_RELEASED] * 6


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 7), st.integers(0, 1), st.integers(0, 3)), min_size=1, max_size=80
    ),
    criterion=st.sampled_from(CRITERIA),
    benign=st.sets(st.integers(0, 3), max_size=1),
    k=st.integers(1, 5),
)
def test_in_tiers_the_auditor_comes_to_the_same(rows, criterion, benign, k):
    parents = (np.array([0, 0, 0, 1, 1, 1, 2, 2], np.int32), np.zeros(3, np.int32))
    tiers = Tiers(parents, ("", "", ""), (None,) * 3)
    column = sensitive_of(rows, 8, 2, 4, [criterion], sorted(benign))
    counts, owner = counts_of(rows, 8, 2), np.arange(8, dtype=np.int32)
    found = suppress_locally(Aggregation(counts, k, owner, 8, tiers, [column]))
    values = found.values[0]
    spread = spread_of(values, column)
    columns = [SensitiveDistribution("s", column.chosen.criteria, spread)]
    place, kind, numbers = (
        counts.list_class_regions(),
        counts.table.indices.astype(np.int64),
        counts.sizes,
    )
    wide = [each.astype(np.int64) for each in parents]
    tier, last = recounted_tiers(place, kind, numbers, wide, k, find_barred(columns))
    cell = released_codes(place, tier, wide) * 2 + kind
    tier = np.where(remove_until_stable(columns, cell, tier <= last), tier, NOT_RELEASED)
    assert np.where(tier > last, NOT_RELEASED, tier).tolist() == found.tier_of.tolist()


def test_a_class_of_benign_values_alone_passes_everything():
    rows = [(0, 0, 1)] * 4 + [(0, 1, 0), (0, 1, 2), (1, 0, 0)]
    for criterion in CRITERIA:
        column = sensitive_of(rows, 2, 2, 3, [criterion], benign=[1])
        assert list_class_values(column, column.cells).meet_criteria(
            column.chosen.criteria, shares_of(column.totals)
        )[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("often:3", "is not a valid criterion"),
        ("share", "is not a valid criterion"),
        ("share:", "is not a number"),
        ("share:100", "between 0 and 100"),
        ("distinct:1", "whole number from 2"),
        ("distinct:2.5", "whole number from 2"),
        ("entropy:1", "above 1"),
        ("recursive:3", "two numbers"),
        ("recursive:0,2", "C must be above 0"),
        ("closeness:1.5", "between 0 and 1"),
        ("closeness:nan", "is not a number"),
        ("share:1,2", "one number"),
    ],
)
def test_what_is_no_criterion_is_refused_in_words(text, words):
    with pytest.raises(ValueError, match=words):
        parse_criterion(text)


@pytest.mark.parametrize("text", CRITERIA)
def test_a_criterion_is_written_as_it_is_read(text):
    assert parse_criterion(text).text == text
    assert parse_criterion(parse_criterion(text).text) == parse_criterion(text)
