"""Proposed groups make sense: neighbours of an order, branches of a classification, known states, else nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbas_desktop.algorithms.category_meaning import propose_levels
from vbas_desktop.engine.lattice.hierarchies import build_hierarchy, end_in_one_group, propose_hierarchy
from vbas_desktop.model.records import Categories, ColumnFacts

STATES = ("Single", "Married", "Divorced", "Widowed", "Separated", "Cohabiting")
WORDS = st.sampled_from(
    (*STATES, "low", "medium", "high", "A01.1", "A02", "B10", "0-4", "5-9", "10-14", "80+", "<5", "cook")
)


def levels_of(*categories: str) -> list[dict[str, str]]:
    return list(propose_levels({category: category for category in categories}))


def facts_of(values: list[str]) -> ColumnFacts:
    return ColumnFacts(
        "x",
        len(values),
        0,
        True,
        Categories("x", tuple(values), None, {}),
        np.ones(len(values), np.int64),
    )


def test_intervals_are_merged_in_the_order_of_their_numbers():
    assert levels_of("10-14", "15-19", "5-9", "<5") == [
        {"<5": "<5 – 5-9", "5-9": "<5 – 5-9", "10-14": "10-19", "15-19": "10-19"}
    ]


def test_steps_of_a_known_scale_are_merged_with_their_neighbours():
    assert levels_of("High", "Low", "Medium", "Very high") == [
        {
            "Low": "Low – Medium",
            "Medium": "Low – Medium",
            "High": "High – Very high",
            "Very high": "High – Very high",
        }
    ]


def test_codes_are_cut_to_blocks_and_chapters():
    assert levels_of("A01.1", "A01.2", "A02", "B10") == [
        {"A01.1": "A01*", "A01.2": "A01*", "A02": "A02*", "B10": "B10*"},
        {"A01.1": "A*", "A01.2": "A*", "A02": "A*", "B10": "B*"},
    ]


def test_labels_of_a_codebook_say_what_codes_mean():
    assert next(iter(propose_levels({"1": "high", "2": "low", "3": "medium"}))) == {
        "2": "low – medium",
        "3": "low – medium",
        "1": "high",
    }


@pytest.mark.parametrize(
    "others", [("Single",), ("Single", "Divorced"), ("Never married", "Separated", "Cohabiting")]
)
def test_married_never_stands_with_widowed(others):
    levels = levels_of("Married", "Widowed", *others)
    assert [set(level.values()) for level in levels] == [{"with a partner", "without a partner"}]
    assert levels[0]["Married"] != levels[0]["Widowed"]


@pytest.mark.parametrize(
    "categories", [("cook", "smith", "tailor"), ("red", "green", "blue", "Married"), ("f", "m")]
)
def test_categories_without_known_groups_are_not_grouped(categories):
    assert levels_of(*categories) == []


@given(st.lists(WORDS | st.text(max_size=4), unique=True, max_size=12))
def test_proposed_hierarchies_are_nested_and_end_in_one_group(values):
    hierarchy = propose_hierarchy(facts_of(values))
    assert hierarchy.levels[0] == tuple(values)
    for below, above in zip(hierarchy.levels, hierarchy.levels[1:], strict=False):
        assert len(set(zip(below, above, strict=True))) == len(set(below)), (
            "a level parts what was joined"
        )
    assert len(set(hierarchy.levels[-1])) <= 1 or len(values) <= 1
    for level in hierarchy.levels[1:-1]:
        group_of = dict(zip(values, level, strict=True))
        assert group_of.get("Married", 0) != group_of.get("Widowed", 1), (
            "Married and Widowed are never taken together"
        )


@given(st.lists(st.sampled_from("abcdefgh"), min_size=2, unique=True), st.data())
def test_a_hierarchy_of_given_levels_ends_in_one_group_too(values, data):
    level = {value: data.draw(st.sampled_from(("x", "y", "all"))) for value in values}
    hierarchy = end_in_one_group(build_hierarchy(facts_of(values), [level]))
    assert len(set(hierarchy.levels[-1])) == 1
