"""What differs between two prepared solutions, as rows of words. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.matching import changed_owner
from vbas_desktop.domain.regions import CoordinateSystem
from vbas_desktop.domain.solution import Solution
from vbas_desktop.session.choices import title_of
from vbas_desktop.ui.numbers import (
    SECONDS,
    MeasureWords,
    Value,
    measure_names,
    measure_words,
    unit_of,
    value_text,
)
from vbas_desktop.ui.panel.results_columns import location_words

from .geometry import BaseGeometry

_COMPONENTS = {
    "site_number": "Number of sites",
    "site_location": "Locations",
    "construction": "Construction",
    "refinement": "Refinement",
    "tiers": "Tiers",
}


@dataclass(frozen=True)
class Difference:
    """One line of the comparison; ``better`` is −1 if the left one is better, 1 if the right one, 0 if neither."""

    what: str
    left: str
    right: str
    change: str
    better: int = 0


def changed_regions(base: BaseGeometry, left: Solution, right: Solution) -> NDArray[np.bool_]:
    """The initial regions that are in another aggregated region than the counterpart of theirs."""
    return changed_owner(left.membership, right.membership, base.records)


def differences(base: BaseGeometry, left: Solution, right: Solution, changed: int) -> list[Difference]:
    """Numbers and measures side by side."""
    rows = [
        *(
            Difference(title, _approach(left, component), _approach(right, component), "")
            for component, title in _COMPONENTS.items()
            if _approach(left, component) != _approach(right, component)
        ),
        _counts("Sites", left.site_count, right.site_count),
        _counts("Aggregated regions", left.aggregated_regions, right.aggregated_regions),
    ]
    both = (left.measures, right.measures)
    system = base.regions.system
    for name in measure_names([list(measures) for measures in both]):
        words = measure_words(name)
        unit = unit_of(words, system)
        one, other = (_value(solution, name) for solution in (left, right))
        better = 0 if one is None or other is None or one == other or name == SECONDS else (-1 if one < other else 1)
        rows.append(
            Difference(
                f"{words.title}, {unit}" if unit and unit not in words.title.lower() else words.title,
                value_text(words, one, system),
                value_text(words, other, system),
                _change(one, other, partial(_text, words, system)),
                better,
            )
        )
    rows.append(
        Difference("Initial regions in another aggregated region", "", f"{changed:,} of {len(base.regions):,}", "")
    )
    return rows


def _approach(solution: Solution, component: str) -> str:
    if component == "site_location":
        return location_words(solution)
    name = solution.approaches.get(component)
    return title_of(component, name) if name else "–"


def _text(words: MeasureWords, system: CoordinateSystem, value: Value) -> str:
    return value_text(words, value, system)


def _value(solution: Solution, name: str) -> Value:
    return solution.seconds if name == SECONDS and name not in solution.measures else solution.measures.get(name)


def _counts(what: str, one: int, other: int) -> Difference:
    return Difference(what, f"{one:,}", f"{other:,}", _change(one, other, lambda value: f"{value:,}"))


def _change(one: Value, other: Value, text: Callable[[Any], str]) -> str:
    if one is None or other is None:
        return ""
    if one == other:
        return "equal"
    sign = "+" if other > one else "−"
    percent = f" ({sign}{100 * abs((other - one) / one):.1f} %)" if one else ""
    return f"{sign}{text(abs(other - one))}{percent}"
