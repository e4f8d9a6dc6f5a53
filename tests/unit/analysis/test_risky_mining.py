"""Minimal risky combinations against brute force, and the coarsening that removes them."""

import math
from collections import Counter
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.analysis.minimal_uniques import recoding_loop
from vbas_desktop.analysis.minimal_uniques.distinct_rows import DistinctRows
from vbas_desktop.analysis.minimal_uniques.recoding import measure_detail
from vbas_desktop.analysis.minimal_uniques.recoding_loop import (
    STRATEGIES,
    RecodingPlan,
    RecodingSession,
    build_exemption,
)
from vbas_desktop.analysis.minimal_uniques.results import count_records_by_score, score_records
from vbas_desktop.analysis.minimal_uniques.rules import DomainRule, FilterRule
from vbas_desktop.analysis.minimal_uniques.search import SearchLimits, find_minimal_uniques
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import NO_PROGRESS, Cancelled

NAMES = ["a", "b", "c", "d", "e"]
CELLS = st.sampled_from(["", "x", "y", "zz"])


@st.composite
def small_tables(draw, most_rows=25):
    width = draw(st.integers(1, 4))
    return draw(
        st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=most_rows)
    )


def brute_force(rows, k, reference=None):
    """Every combination that occurs and has fewer than k records while no combination within it has."""
    risky, minimal = set(), set()
    for size in range(1, len(rows[0]) + 1):
        for columns in combinations(range(len(rows[0])), size):
            for values in {tuple(row[c] for c in columns) for row in rows}:
                count = sum(
                    all(row[c] == v for c, v in zip(columns, values, strict=True)) for row in rows
                )
                public = k
                if reference is not None:
                    public = sum(
                        all(row[c] == v for c, v in zip(columns, values, strict=True))
                        for row in reference
                    )
                if count < k or public < k:
                    risky.add((columns, values))
                    inner = [
                        (columns[:j] + columns[j + 1 :], values[:j] + values[j + 1 :])
                        for j in range(size)
                    ]
                    if not any(each in risky for each in inner):
                        minimal.add((columns, values, count))
    return minimal


def found_in(table, search):
    return {
        (found.columns, tuple(table.values[c][table.codes[c][row]] for c in found.columns), int(count))
        for level in search.levels
        for found in level.combinations
        for row, count in zip(found.rows, found.counts, strict=True)
    }


@settings(max_examples=150, deadline=None)
@given(small_tables(), st.integers(1, 6))
def test_the_same_combinations_as_by_brute_force(rows, k):
    table = DistinctRows.from_rows(NAMES[: len(rows[0])], rows)
    search = find_minimal_uniques(table, k)
    assert search.complete
    assert found_in(table, search) == brute_force(rows, k)
    assert (search.number == 0) == (table.anonymity >= k)


@settings(max_examples=60, deadline=None)
@given(small_tables(), small_tables(), st.integers(1, 4))
def test_a_public_table_makes_what_is_rare_there_risky(rows, public, k):
    width = min(len(rows[0]), len(public[0]))
    rows, public = [row[:width] for row in rows], [row[:width] for row in public]
    table, reference = (
        DistinctRows.from_rows(NAMES[:width], rows),
        DistinctRows.from_rows(NAMES[:width], public),
    )
    assert found_in(table, find_minimal_uniques(table, k, references=[reference])) == brute_force(
        rows, k, public
    )


@settings(max_examples=60, deadline=None)
@given(small_tables(), st.integers(1, 5))
def test_the_score_of_a_row_is_the_number_of_combinations_it_is_in(rows, k):
    table = DistinctRows.from_rows(NAMES[: len(rows[0])], rows)
    search = find_minimal_uniques(table, k)
    minimal = brute_force(rows, k)
    for record, row in enumerate(rows):
        expected = sum(
            all(row[c] == v for c, v in zip(columns, values, strict=True))
            for columns, values, _ in minimal
        )
        assert search.scores[table.row_of[record]] == expected
        assert score_records(table, search)[record] == expected
    assert count_records_by_score(table, search) == dict(Counter(score_records(table, search).tolist()))


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=60, deadline=None)
@given(rows=small_tables(), k=st.integers(1, 5), share=st.sampled_from([0.0, 0.3]))
def test_coarsening_always_ends_k_anonymous(strategy, rows, k, share):
    table = DistinctRows.from_rows(NAMES[: len(rows[0])], rows)
    if len(rows) < k:
        with pytest.raises(InputError, match="fewer than k"):
            RecodingSession.create(RecodingPlan(k, strategy), table)
        return
    session = RecodingSession.create(RecodingPlan(k, strategy, suppression_share=share), table)
    session.run()
    state = session.state.table
    assert state.records + session.state.suppressed == len(rows)
    assert session.state.suppressed <= share * len(rows)
    assert state.anonymity >= k
    assert find_minimal_uniques(state, k).number == 0
    released = [
        tuple(state.values[c][state.codes[c][row]] for c in range(len(state.columns)))
        for row in state.row_of
        if row >= 0
    ]
    assert state.anonymity == min(Counter(released).values())


def test_more_records_of_a_row_are_one_row_with_a_weight():
    table = DistinctRows.from_rows(["a"], [["x"]] * 5 + [["y"]])
    assert table.rows == 2
    assert sorted(table.weights.tolist()) == [1, 5]
    assert table.anonymity == 1


def test_the_postal_code_loses_a_third_of_its_length():
    rows = [[code] for code in ["N5Y2N3", "N5Y2K1", "N5Y2A9", "N6A1B2", "N6A1C3", "N6A1D4"]]
    session = RecodingSession.create(RecodingPlan(3), DistinctRows.from_rows(["postal code"], rows))
    session.run()
    assert session.state.table.values == (("N5Y2", "N6A1"),)
    assert session.steps[0].changes[0].description == "last 2 characters cut"


def test_numbers_are_joined_in_pairs():
    rows = [[str(number)] for number in (1, 2, 10, 11)]
    session = RecodingSession.create(RecodingPlan(2), DistinctRows.from_rows(["n"], rows))
    session.run()
    assert set(session.state.table.values[0]) == {"1–2", "10–11"}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_filter_rules_are_used_in_order_one_a_step_even_if_nothing_is_merged(strategy):
    rules = (FilterRule("A", "cut", cut=1), FilterRule("a", "cut", cut=2), FilterRule("a", "null"))
    rows = [["p111"], ["p222"], ["p333"], ["q1"]]
    session = RecodingSession.create(
        RecodingPlan(2, strategy, filter_rules=rules), DistinctRows.from_rows(["a"], rows)
    )
    session.run()
    words = [change.description for step in session.steps for change in step.changes]
    assert words == ["last character cut", "last 2 characters cut", "emptied"]
    values = [step.state.table.values[0] for step in session.steps]
    assert values == [("p11", "p22", "p33", "q"), ("", "p"), ("",)]
    assert session.without_last_step().state.table.values == (("", "p"),)


LISTING_4_REGION = (*[FilterRule("region", "cut", cut=1)] * 3, FilterRule("region", "null"))


def test_the_region_of_listing_4_loses_a_character_three_times_and_is_then_emptied():
    rows = [["LONDON"], ["RURAL"], ["DISTANCE"], ["OTHER"]]
    session = RecodingSession.create(
        RecodingPlan(3, "paper", filter_rules=LISTING_4_REGION), DistinctRows.from_rows(["Region"], rows)
    )
    session.run()
    assert [step.state.table.values[0] for step in session.steps] == [
        ("DISTANC", "LONDO", "OTHE", "RURA"),
        ("DISTAN", "LOND", "OTH", "RUR"),
        ("DISTA", "LON", "OT", "RU"),
        ("",),
    ]


def test_the_divisor_says_how_much_of_a_text_is_cut():
    rows = [["N5Y2N3"], ["N5Y2K1"], ["N5YABC"], ["N5YDEF"]]
    cut = {}
    for divisor in (1, 2, 3, 6):
        session = RecodingSession.create(
            RecodingPlan(2, "paper", trim_divisor=divisor), DistinctRows.from_rows(["code"], rows)
        )
        session.step()
        cut[divisor] = session.steps[0].changes[0].description, session.state.table.values[0]
    assert cut[1] == ("emptied", ("",))
    assert cut[2] == ("last 3 characters cut", ("N5Y",))
    assert cut[3] == ("last 2 characters cut", ("N5Y2", "N5YA", "N5YD"))
    assert cut[6] == ("last 2 characters cut", ("N5Y2", "N5YA", "N5YD")), (
        "one character alone merges nothing"
    )


@pytest.mark.parametrize(
    ("strategy", "numbers", "words"),
    [
        ("paper", None, "emptied"),
        ("paper", "pairs", "neighbouring values joined"),
        ("cover", None, "neighbouring values joined"),
        ("gentle", None, "neighbouring values joined"),
        ("gentle", "null", "emptied"),
    ],
)
def test_numbers_without_a_rule_are_emptied_or_joined_in_pairs(strategy, numbers, words):
    rows = [[str(number)] for number in (1, 2, 10, 11)]
    session = RecodingSession.create(
        RecodingPlan(2, strategy, numbers=numbers), DistinctRows.from_rows(["n"], rows)
    )
    session.run()
    assert session.steps[0].changes[0].description == words


def test_numbers_with_a_rule_are_coarsened_by_it_before_they_are_emptied():
    rows = [["ID"], ["10001"], ["10002"], ["10101"], ["10102"]][1:]
    rule = FilterRule("id", "cut", cut=2)
    session = RecodingSession.create(
        RecodingPlan(3, "paper", filter_rules=(rule,)), DistinctRows.from_rows(["id"], rows)
    )
    session.run()
    assert [step.state.table.values[0] for step in session.steps] == [("100", "101"), ("",)]


def test_groups_of_values_are_used_and_values_without_a_group_stay():
    rule = FilterRule(
        "a", "groups", groups=(("1", "low"), ("2", "low"), ("3", "low")), source="levels.csv"
    )
    rows = [[value] for value in ("1", "2", "3", "9", "9", "9")]
    session = RecodingSession.create(
        RecodingPlan(3, filter_rules=(rule,)), DistinctRows.from_rows(["a"], rows)
    )
    session.run()
    assert session.state.table.values == (("9", "low"),)
    assert session.steps[0].changes[0].description == "grouped by levels.csv"


def test_one_rare_cell_does_not_destroy_a_column_when_records_may_be_suppressed():
    rows = [["x"]] * 50 + [["y"]] * 49 + [["z"]]
    session = RecodingSession.create(
        RecodingPlan(3, suppression_share=0.01), DistinctRows.from_rows(["a"], rows)
    )
    session.run()
    assert session.state.suppressed == 1
    assert session.state.table.anonymity == 49
    detail = measure_detail(session.start.table, session.state.table)
    assert [(column.values_before, column.values_after) for column in detail.columns] == [(3, 2)]
    bits = 50 * math.log2(100 / 50) + 49 * math.log2(100 / 49) + math.log2(100)
    assert detail.information_loss == pytest.approx(math.log2(100) / bits)


def test_exempted_combinations_are_counted_and_do_not_hide_larger_ones():
    rows = [["x", "1"], ["x", "1"], ["y", "1"], ["y", "2"], ["z", "1"]]
    table = DistinctRows.from_rows(["a", "b"], rows)
    rules = [DomainRule("a", "candidate", 1)]
    search = find_minimal_uniques(table, 2, exempt=build_exemption(["a", "b"], rules))
    assert search.exempted == 1  # the single z
    assert found_in(table, search) == {
        ((1,), ("2",), 1),
        ((0, 1), ("z", "1"), 1),
        ((0, 1), ("y", "1"), 1),
    }


def search_with(rows, k, *rules, max_size=None):
    table = DistinctRows.from_rows(NAMES[: len(rows[0])], rows)
    session = RecodingSession.create(RecodingPlan(k, domain_rules=rules), table)
    return table, session.search(NO_PROGRESS, max_size, first_level_only=False)


@settings(max_examples=80, deadline=None)
@given(
    rows=small_tables(),
    k=st.integers(1, 5),
    feature=st.sampled_from(["ALL", "a", "b"]),
    kind=st.sampled_from(["greater", "less"]),
    threshold=st.integers(0, 12),
)
def test_thresholds_count_the_combinations_of_all_sizes(rows, k, feature, kind, threshold):
    k = min(k, len(rows))
    minimal = brute_force(rows, k)
    appearances = Counter(column for columns, _, _ in minimal for column in columns)
    beyond = set()
    for column in range(len(rows[0])):
        exceeds = (
            appearances[column] > threshold if kind == "greater" else appearances[column] < threshold
        )
        if feature in ("ALL", NAMES[column]) and exceeds:
            beyond.add(column)
    table, search = search_with(rows, k, DomainRule(feature, kind, threshold))
    assert search.thresholds.appearances == appearances
    assert search.thresholds.limitation == ""
    assert found_in(table, search) == {each for each in minimal if beyond.isdisjoint(each[0])}
    assert search.exempted == sum(not beyond.isdisjoint(each[0]) for each in minimal)


# Column b is in one combination of size 1 and in four of size 2.
TWO_SIZES = [
    ["p", "1"],
    ["p", "2"],
    ["q", "1"],
    ["q", "2"],
    ["r", "1"],
    ["r", "1"],
    ["s", "2"],
    ["s", "2"],
    ["s", "3"],
]


@pytest.mark.parametrize(
    ("kind", "threshold", "left", "exempted"),
    [("greater", 4, 0, 5), ("greater", 5, 5, 0), ("less", 5, 5, 0), ("less", 6, 0, 5)],
)
def test_a_threshold_of_4_is_exceeded_by_1_combination_of_one_size_and_4_of_another(
    kind, threshold, left, exempted
):
    _, search = search_with(TWO_SIZES, 2, DomainRule("b", kind, threshold))
    assert search.thresholds.appearances == {0: 4, 1: 5}
    assert (search.number, search.exempted) == (left, exempted)


def test_a_bounded_search_says_that_thresholds_count_small_combinations_only():
    _, search = search_with(TWO_SIZES, 2, DomainRule("b", "greater", 4), max_size=1)
    assert search.thresholds.appearances == {1: 1}
    assert (
        search.thresholds.limitation
        == "thresholds of domain rules count combinations of at most 1 column"
    )
    assert (search.number, search.exempted) == (1, 0)


def test_a_feature_beyond_its_threshold_is_not_coarsened_and_the_result_says_that_it_is_not_anonymous():
    session = RecodingSession.create(
        RecodingPlan(2, "paper", domain_rules=(DomainRule("b", "greater", 4),)),
        DistinctRows.from_rows(["a", "b"], TWO_SIZES),
    )
    session.run()
    assert session.steps == []
    assert session.exempted == 5
    assert session.state.table.anonymity == 1


@settings(max_examples=60, deadline=None)
@given(small_tables(), small_tables(), small_tables(), st.integers(1, 4))
def test_what_is_rare_in_any_of_several_public_tables_is_risky(rows, one, other, k):
    width = min(len(rows[0]), len(one[0]), len(other[0]))
    rows, one, other = ([row[:width] for row in table] for table in (rows, one, other))
    table = DistinctRows.from_rows(NAMES[:width], rows)
    references = [DistinctRows.from_rows(NAMES[:width], public) for public in (one, other)]
    together = found_in(table, find_minimal_uniques(table, k, references=references))
    risky = brute_force(rows, k, one) | brute_force(rows, k, other)
    items = {
        frozenset(zip(columns, values, strict=True)): each
        for each in risky
        for columns, values, _ in [each]
    }
    assert together == {each for key, each in items.items() if not any(less < key for less in items)}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_coarsening_ends_with_public_tables_of_fewer_than_k_records(strategy):
    rows = [["x", "1"]] * 5 + [["y", "2"]] * 5
    references = [DistinctRows.from_rows(["a"], [["x"]]), DistinctRows.from_rows(["b"], [["1"], ["2"]])]
    session = RecodingSession.create(
        RecodingPlan(3, strategy), DistinctRows.from_rows(["a", "b"], rows), references
    )
    session.run()
    assert session.state.table.values == (("",), ("",))


@pytest.mark.parametrize(
    "rows",
    [
        [[str(n), str(-n)] for n in range(40)],
        [["same", "same"]] * 9,
        [[""]] * 4,
        [["", str(n % 2)] for n in range(7)],
    ],
)
def test_adversarial_tables_end(rows):
    for strategy in STRATEGIES:
        session = RecodingSession.create(
            RecodingPlan(3, strategy), DistinctRows.from_rows(NAMES[: len(rows[0])], rows)
        )
        session.run()
        assert session.state.table.anonymity >= 3


def test_a_search_that_would_take_too_long_says_so_instead():
    rng = np.random.default_rng(0)
    table = DistinctRows.from_rows(NAMES, rng.integers(0, 3, (60, 5)).astype(str).tolist())
    search = find_minimal_uniques(table, 2, limits=SearchLimits(row_visits=400))
    assert not search.complete
    assert "search fewer columns" in search.why_incomplete
    small = find_minimal_uniques(table, 2, limits=SearchLimits(mask_bytes=6 * (table.rows // 8 + 1)))
    assert [level.size for level in small.levels] == [1]
    assert small.why_incomplete.startswith("size 2 alone has 10 sets of columns over")
    bounded = find_minimal_uniques(table, 2, limits=SearchLimits(max_size=2))
    assert not bounded.complete
    assert bounded.why_incomplete == "sizes above 2 were not searched"


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=40, deadline=None)
@given(rows=small_tables(), k=st.integers(1, 5), share=st.sampled_from([0.0, 0.3]))
def test_coarsening_ends_k_anonymous_even_if_no_size_can_be_searched(strategy, rows, k, share):
    table = DistinctRows.from_rows(NAMES[: len(rows[0])], rows * 2)
    k = min(k, table.records)
    session = RecodingSession.create(RecodingPlan(k, strategy, suppression_share=share), table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recoding_loop, "SearchLimits", partial(SearchLimits, row_visits=0))
        session.run()
    assert session.state.table.anonymity >= k
    assert session.state.suppressed <= share * 2 * len(rows)


def test_a_search_can_be_stopped():
    class Stop:
        def update(self, stage, fraction=None):
            raise Cancelled

    with pytest.raises(Cancelled):
        find_minimal_uniques(DistinctRows.from_rows(["a"], [["x"], ["y"]]), 2, progress=Stop())
