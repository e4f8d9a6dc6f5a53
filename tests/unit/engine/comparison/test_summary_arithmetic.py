"""The arithmetic of a summary, against cases worked out by hand."""

from vbas_desktop.engine.comparison.summary import (
    ApproachRank,
    PairwiseComparison,
    compare_pair,
    describe_measure,
    describe_pair,
    format_ratio,
    rank_approaches,
)

GROUPS = [
    {"a": 10, "b": 20, "c": 10},  # a and c share
    {"a": 30, "b": 20, "c": 40},  # b alone
    {"a": 5, "b": 10, "c": 6},  # a alone
    {"a": None, "b": 8, "c": 4},  # c alone; a has nothing to rate
]


def test_wins_shared_wins_and_sums_are_those_worked_out_by_hand():
    contest = rank_approaches("site_location", "suppressed_records", ["a", "b", "c"], GROUPS)
    assert (contest.comparisons, contest.complete) == (4, 3)
    # Sums run over the three comparisons in which all have a value: a 45, b 50, c 56.
    assert contest.standings == (
        ApproachRank("a", 2, 1, 45),
        ApproachRank("c", 2, 1, 56),
        ApproachRank("b", 1, 0, 50),
    )


def test_a_duel_counts_pairs_sums_and_ratios():
    # a against b: 10/20, 30/20, 5/10; the fourth has no a. Sums 45 and 50; ratios 0.5, 1.5, 0.5.
    assert compare_pair("a", "b", GROUPS) == PairwiseComparison("a", "b", 2, 0, 1, 45 / 50, 0.5)
    # a against c: equal, lower, lower. Sums 45 and 56; ratios 1, 0.75, 5/6.
    assert compare_pair("a", "c", GROUPS) == PairwiseComparison("a", "c", 2, 1, 0, 45 / 56, 5 / 6)


def test_zeros_and_missing_values_make_no_ratio():
    assert compare_pair("a", "b", [{"a": 0, "b": 0}, {"a": 1, "b": 0}]) == PairwiseComparison(
        "a", "b", 0, 1, 1, None, None
    )
    assert compare_pair("a", "b", [{"a": None, "b": 1}]) == PairwiseComparison(
        "a", "b", 0, 0, 0, None, None
    )


def test_the_sentence_names_the_winner_the_next_and_the_difference():
    contest = rank_approaches("site_location", "suppressed_records", ["a", "b", "c"], GROUPS)
    assert describe_measure(contest) == (
        "Suppressed records: a is lowest in 2 of 4 comparisons (1 shared). "
        "Against b it is lower in 2 of 3 pairs; in sum 10.0 % lower."
    )


def test_differences_read_as_percent():
    assert format_ratio(0.5) == "50.0 % lower"
    assert format_ratio(1.031) == "3.1 % higher"
    assert format_ratio(1.0001) == "the same within 0.05 %"
    assert (
        describe_pair(PairwiseComparison("a", "b", 0, 0, 0, None, None))
        == "There is no pair of a and b."
    )


def test_nothing_to_compare_is_said():
    contest = rank_approaches("site_location", "precision_loss", ["a", "b"], [{"a": None, "b": None}])
    assert describe_measure(contest) == "Precision loss: nothing can be compared."
