"""Policies that a release is judged by: demands on figures that can be computed, and questions for a person."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

RECORDS, POPULATION = "records", "population"
BASES = (RECORDS, POPULATION)
"""What a figure is computed on: the released records, or the people that live in the regions."""


@dataclass(frozen=True)
class Measured:
    """A figure that policies can ask for, with a title for each base that it is computed on.

    ``told``: on these bases it follows from what the recipient gets, so he may be told.
    """

    titles: Mapping[str, str]
    unit: str = ""
    told: tuple[str, ...] = ()

    @property
    def bases(self) -> tuple[str, ...]:
        """What it can be computed on, the usual one first."""
        return tuple(self.titles)


def _of_both(text: str, more: str = "") -> dict[str, str]:
    return {RECORDS: text.format("records"), POPULATION: text.format("inhabitants") + more}


MEASURES: Mapping[str, Measured] = {
    "smallest_class": Measured(_of_both("Fewest {} with the same values in a released place"), told=(RECORDS,)),
    "smallest_region": Measured(_of_both("Fewest {} of a released place"), told=BASES),
    "highest_risk": Measured(
        _of_both("Highest chance that a record is recognised", " among all inhabitants"), told=(RECORDS,)
    ),
    "average_risk": Measured(
        _of_both("Average chance that a record is recognised", " among all inhabitants"), told=(RECORDS,)
    ),
    "suppressed_percent": Measured({RECORDS: "Suppressed records"}, " %"),
    "sampling_percent": Measured({POPULATION: "Records of the file among the inhabitants"}, " %"),
    "commonest_harmful_percent": Measured({RECORDS: "Share of the commonest harmful value in a class"}, " %"),
    "distinct_values": Measured({RECORDS: "Fewest different sensitive values in a class"}),
    "singled_out": Measured({RECORDS: "People singled out beside earlier releases of the audience"}),
}

COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "at least": operator.ge,
    "more than": operator.gt,
    "at most": operator.le,
    "less than": operator.lt,
}


@dataclass(frozen=True)
class Demand:
    """One criterion: a figure compared with a threshold, or a question that a person answers.

    Thresholds are never rounded. ``answer`` is one that the file of the policy brings along; ``note`` explains.
    """

    measure: str = ""
    of: str = RECORDS
    comparison: str = "at least"
    threshold: float = 0
    question: str = ""
    answer: str = ""
    note: str = ""

    @property
    def text(self) -> str:
        """The criterion in words."""
        if self.question:
            return self.question
        declared = MEASURES[self.measure]
        return f"{declared.titles[self.of]}: {self.comparison} {figure(self.threshold, declared.unit)}"

    @property
    def told(self) -> bool:
        """Whether the recipient may be told how it turned out."""
        return not self.question and self.of in MEASURES[self.measure].told

    def holds(self, value: float) -> bool:
        """Whether a figure keeps to it."""
        return COMPARISONS[self.comparison](value, self.threshold)


@dataclass(frozen=True)
class Policy:
    """Who asks for what, since when, and where that is written. ``place`` is its file, empty if it is a shipped one.

    ``check`` says what whoever relies on it has to look up first, where it could not be confirmed or may have changed.
    """

    id: str
    name: str
    authority: str
    citation: str
    date: str
    source: str
    criteria: tuple[Demand, ...]
    place: str = ""
    check: str = ""

    @property
    def origin(self) -> str:
        """Where it comes from, in a line."""
        return f"{self.authority}: {self.citation}, {self.date}"


def figure(value: float, unit: str = "") -> str:
    """A figure as people read it; never rounded across a threshold that has four digits or fewer."""
    number = f"{value:,.0f}" if float(value).is_integer() else f"{value:.6g}"
    return f"{number}{unit}"
