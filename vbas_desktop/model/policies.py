"""Policies for releases: criteria for figures that can be computed, and questions for a person."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

RECORDS = "records"
POPULATION = "population"
BASES = (RECORDS, POPULATION)
"""The base of a figure: the released records, or the people who live in the regions."""


@dataclass(frozen=True)
class PolicyMeasure:
    """A figure that policies can ask for, with a title for each base that it is computed on.

    ``public``: on these bases it follows from what the recipient gets, who may therefore know it.
    """

    titles: Mapping[str, str]
    unit: str = ""
    public: tuple[str, ...] = ()

    @property
    def bases(self) -> tuple[str, ...]:
        """Return the bases on which it can be computed, the default first."""
        return tuple(self.titles)


def _title_by_subject(text: str, addition: str = "") -> dict[str, str]:
    """Return the title of a measure by what it counts; ``{}`` in the text becomes records or inhabitants."""
    return {RECORDS: text.format("records"), POPULATION: text.format("inhabitants") + addition}


MEASURES: Mapping[str, PolicyMeasure] = {
    "smallest_class": PolicyMeasure(
        _title_by_subject("Fewest {} with the same values in a released place"), public=(RECORDS,)
    ),
    "smallest_region": PolicyMeasure(_title_by_subject("Fewest {} of a released place"), public=BASES),
    "highest_risk": PolicyMeasure(
        _title_by_subject("Highest chance that a record is recognised", " among all inhabitants"),
        public=(RECORDS,),
    ),
    "average_risk": PolicyMeasure(
        _title_by_subject("Average chance that a record is recognised", " among all inhabitants"),
        public=(RECORDS,),
    ),
    "suppressed_percent": PolicyMeasure({RECORDS: "Suppressed records"}, " %"),
    "sampling_percent": PolicyMeasure({POPULATION: "Records of the file among the inhabitants"}, " %"),
    "commonest_harmful_percent": PolicyMeasure(
        {RECORDS: "Share of the commonest harmful value in a class"}, " %"
    ),
    "distinct_values": PolicyMeasure({RECORDS: "Fewest different sensitive values in a class"}),
    "singled_out": PolicyMeasure(
        {RECORDS: "People singled out beside earlier releases of the audience"}
    ),
}

COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "at least": operator.ge,
    "more than": operator.gt,
    "at most": operator.le,
    "less than": operator.lt,
}


@dataclass(frozen=True)
class PolicyCriterion:
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
        """Describe the criterion in words."""
        if self.question:
            return self.question
        declared = MEASURES[self.measure]
        return f"{declared.titles[self.of]}: {self.comparison} {format_figure(self.threshold, declared.unit)}"

    @property
    def is_public(self) -> bool:
        """Tell whether the result follows from what the recipient gets; False for a question."""
        return not self.question and self.of in MEASURES[self.measure].public

    def holds(self, value: float) -> bool:
        """Tell whether a figure fulfils it."""
        return COMPARISONS[self.comparison](value, self.threshold)


@dataclass(frozen=True)
class Policy:
    """The criteria of an authority, with date and source. ``path`` is its file, empty if it comes with the program.

    ``check`` says what to look up before relying on it, where it could not be confirmed or may have changed.
    """

    id: str
    name: str
    authority: str
    citation: str
    date: str
    source: str
    criteria: tuple[PolicyCriterion, ...]
    path: str = ""
    check: str = ""

    @property
    def origin(self) -> str:
        """Return authority, citation and date in a line."""
        return f"{self.authority}: {self.citation}, {self.date}"


def format_figure(value: float, unit: str = "") -> str:
    """Format a figure; it is never rounded across a threshold that has four digits or fewer."""
    number = f"{value:,.0f}" if float(value).is_integer() else f"{value:.6g}"
    return f"{number}{unit}"
