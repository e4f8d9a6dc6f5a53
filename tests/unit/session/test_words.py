"""Numbers as people read them."""

from __future__ import annotations

import pytest

from vbas_desktop.session.words import counted, product_in_words, time_left_in_words


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
    assert counted(1, "record") == "1 record"
    assert counted(2_433_221, "record") == "2,433,221 records"
    assert counted(2, "class", "classes") == "2 classes"


def test_category_numbers_are_multiplied():
    assert product_in_words((7, 2), 14) == "7 × 2 = 14 classes"
    assert product_in_words((7,), 7) == "7 classes"
