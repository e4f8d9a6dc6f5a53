"""Intervals of categories and their names."""

import pytest

from vbas_desktop.algorithms.value_groups import count_groups, group_into_intervals, name_interval


@pytest.mark.parametrize(
    ("first", "last", "name"),
    [
        ("0-4", "5-9", "0-9"),
        ("1", "3", "1-3"),
        ("65-79", "80+", "65+"),
        ("75-79", "85 and over", "75 and over"),
        ("15", "18-19", "15-19"),
        ("-5", "0.5", "-5-0.5"),
        ("Single", "Widowed", "Single – Widowed"),
        ("1", "many", "1 – many"),
        ("x", "x", "x"),
    ],
)
def test_an_interval_is_called_from_its_first_to_its_last_category(first, last, name):
    assert name_interval(first, last) == name


def test_neighbours_are_taken_together_and_missing_values_stay_apart():
    groups = group_into_intervals(["", "1", "2", "3", "4", "5"], 2)
    assert groups == {"1": "1-2", "2": "1-2", "3": "3-4", "4": "3-4", "5": "5"}
    assert count_groups(["", "1", "2", "3", "4", "5"], groups) == 4
