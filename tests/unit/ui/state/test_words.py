"""Numbers as people read them."""

from __future__ import annotations

import pytest

from vbas_desktop.model.text import capitalise, format_count, format_share, inflect
from vbas_desktop.ui.state.words import (
    product_in_words,
    seconds_in_words,
    time_left_in_words,
    vector_in_words,
)


def test_a_line_begins_with_a_capital_unless_it_begins_with_the_name_of_a_file():
    assert (
        capitalise("the columns are those that were chosen") == "The columns are those that were chosen"
    )
    assert (
        capitalise("regions.geojson: no two shapes overlap") == "regions.geojson: no two shapes overlap"
    )
    assert capitalise("") == ""


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (3, "a few seconds left"),
        (33, "30 s left"),
        (60, "about a minute left"),
        (600, "10 min left"),
        (7200, "2.0 h left"),
    ],
)
def test_time_left_is_no_more_exact_than_can_be_known(seconds, words):
    assert time_left_in_words(seconds) == words


def test_numbers_are_grouped_and_agree_with_their_noun():
    assert format_count(1, "record") == "1 record"
    assert format_count(2_433_221, "record") == "2,433,221 records"
    assert format_count(2, "class") == "2 classes"
    assert format_count(0, "category") == "0 categories"
    assert format_count(5, "day") == "5 days"
    assert format_count(1, "person") == "1 person"
    assert format_count(3, "person") == "3 people"
    assert format_count(2, "record is", "records are") == "2 records are"
    assert inflect(1, "is", "are") == "is"


def test_category_numbers_are_multiplied():
    assert product_in_words((7, 2), 14) == "7 × 2 = 14 classes"
    assert product_in_words((7,), 7) == "7 classes"


@pytest.mark.parametrize(
    ("part", "whole", "words"),
    [
        (0, 10, "0 %"),
        (10, 10, "100 %"),
        (1, 2, "50.0 %"),
        (104_954, 105_000, "99.96 %"),
        (9_999_999, 10_000_000, "99.99 %"),
        (1, 10_000_000, "0.01 %"),
    ],
)
def test_a_share_never_rounds_to_all_or_nothing(part, whole, words):
    assert format_share(part, whole) == words


def test_short_times_are_not_told_as_nothing():
    assert seconds_in_words(0.02) == "less than 0.1 s"
    assert seconds_in_words(12.34) == "12.3 s"


def test_a_vector_is_told_up_to_k_and_the_rest_as_one_number():
    assert (
        vector_in_words((3, 0, 2, 0, 7, 1), k=4)
        == "3 of 1 record, 0 of 2 records, 2 of 3 records, 8 of 4 or more"
    )
    assert vector_in_words((2,), k=3) == "2 of 1 record, 0 of 2 records, 0 of 3 or more"
    assert vector_in_words((2, 1, 0, 4, 1, 1), k=6).endswith(
        "0 of 3 records, 5 of 4 to 5, 1 of 6 or more"
    )
    assert vector_in_words((2, 1, 0, 4, 1, 1), k=5).endswith("0 of 3 records, 4 of 4, 2 of 5 or more")
    assert vector_in_words((2, 1), k=1) == "3 of 1 or more"
