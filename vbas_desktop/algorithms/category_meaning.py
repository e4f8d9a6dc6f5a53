"""Groups of categories that make sense: neighbours of an order, branches of a classification, kinds of one state."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from .value_groups import name_interval

_MIN_CATEGORIES = 3
"""Fewer categories than this can only be taken together as a whole."""

_MIN_GROUPS = 2

_SCALES: tuple[tuple[str, ...], ...] = (
    ("none", "very mild", "mild", "moderate", "severe", "very severe"),
    ("never", "rarely", "sometimes", "often", "usually", "always"),
    ("never", "former", "current"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("very bad", "bad", "fair", "good", "very good"),
    ("very low", "low", "medium", "high", "very high"),
    ("low", "moderate", "high"),
    ("extra small", "small", "medium", "large", "extra large"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("underweight", "normal weight", "overweight", "obese"),
    ("underweight", "normal", "overweight", "obese"),
    ("infant", "child", "adolescent", "adult", "elderly"),
    ("no education", "primary", "secondary", "tertiary"),
    ("primary", "lower secondary", "upper secondary", "tertiary"),
    ("none", "primary school", "secondary school", "bachelor", "master", "doctorate"),
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    (
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december",
    ),
)  # fmt: skip
"""Known ordinal scales; categories that are some of the steps of one are in its order."""

_STATES: tuple[Mapping[str, tuple[str, ...]], ...] = (
    {
        "with a partner": (
            "married", "remarried", "registered partnership", "civil partnership", "civil union", "domestic partner",
            "domestic partnership", "cohabiting", "cohabitating", "common law", "common-law", "living together",
            "with partner", "partnered", "married-civ-spouse", "married-af-spouse",
        ),
        "without a partner": (
            "single", "unmarried", "not married", "never married", "never-married", "divorced", "separated", "widowed",
            "widow", "widower", "married-spouse-absent",
        ),
    },
)  # fmt: skip
"""Known nominal categories and the group of each; Widowed never stands with Married."""

_NUMBER = re.compile(
    r"\s*(?P<below><|≤|under|below|less than|up to)?\s*(?P<number>-?\d+(?:\.\d+)?)", re.IGNORECASE
)
"""The number that a category begins with; “<5” comes before 5."""

_CODE = re.compile(r"[A-Za-z][0-9]{1,3}(?:\.?[0-9A-Za-z]{1,4})?\Z")
"""A code of a classification of diagnoses, such as ICD-10: a letter, digits, and perhaps more behind a point."""

_OF_A_CHAPTER = 1
_OF_A_BLOCK = 3


def propose_levels(labels: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yield levels of groups, each joining groups of the one before; nothing if no groups make sense.

    labels: of each category, in the order of the categories, what it means; the category itself if nobody says.
    """
    if len(labels) < _MIN_CATEGORIES:
        return
    ordered = _order_by_number(labels) or _order_by_scale(labels)
    if ordered:
        yield from _merge_neighbours(ordered)
    elif all(_CODE.match(label.strip()) for label in labels.values()):
        yield from _cut_codes(labels)
    else:
        yield from _group_by_state(labels)


def _merge_neighbours(named: Sequence[tuple[str, str]]) -> Iterator[dict[str, str]]:
    """Yield levels that merge 2, 4, 8 … neighbours; ``named`` are the categories with their labels, in order."""
    width = 2
    while -(-len(named) // width) >= _MIN_GROUPS:
        level = {}
        for start in range(0, len(named), width):
            members = named[start : start + width]
            group = name_interval(members[0][1], members[-1][1])
            level.update(dict.fromkeys((category for category, _ in members), group))
        yield level
        width *= 2


def _order_by_number(labels: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return categories with their labels in the order of their numbers; empty if not all are numbers or intervals.

    As text, 10-14 would come before 5-9.
    """
    numbers: dict[str, tuple[float, bool]] = {}
    for category, label in labels.items():
        match = _NUMBER.match(label)
        if match is None:
            return []
        numbers[category] = (float(match["number"]), not match["below"])
    return sorted(labels.items(), key=lambda item: numbers[item[0]])


def _order_by_scale(labels: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return categories with their labels in the order of a known scale; empty if they are no steps of one."""
    step_of_category = {category: label.strip().casefold() for category, label in labels.items()}
    steps = set(step_of_category.values())
    for scale in _SCALES:
        if len(steps) == len(labels) and steps <= set(scale):
            return sorted(labels.items(), key=lambda item: scale.index(step_of_category[item[0]]))
    return []


def _cut_codes(labels: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yield levels with the blocks (A01) and the chapters (A) of codes such as A01.1, where these join any."""
    for length in (_OF_A_BLOCK, _OF_A_CHAPTER):
        level = {category: f"{label.strip()[:length].upper()}*" for category, label in labels.items()}
        if _MIN_GROUPS <= len(set(level.values())) < len(labels):
            yield level


def _group_by_state(labels: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yield one level with the known groups of nominal categories, if all of them are known and in two groups."""
    for groups in _STATES:
        group_of_state = {state: group for group, states in groups.items() for state in states}
        level = {
            category: group_of_state.get(label.strip().casefold(), "")
            for category, label in labels.items()
        }
        if "" not in level.values() and len(set(level.values())) >= _MIN_GROUPS:
            yield level
