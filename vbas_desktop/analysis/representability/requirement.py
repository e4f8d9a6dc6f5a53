"""A researcher's requirement of a release, in the form of the vector, and its check against a vector."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
    model_validator,
)

from vbas_desktop.io.input_checks import check_readable
from vbas_desktop.io.output import write_text
from vbas_desktop.model.findings import Finding, InputError

from .elements import OVERALL_MEASURES

FORMAT_VERSION: Literal[1] = 1

BOUNDED_MEASURES = {name: title for name, (title, _) in OVERALL_MEASURES.items()} | {
    "mean_distance": "Distance moved (km or map units)"
}
"""Titles of the overall elements that may be bounded."""


def _simplify(number: float) -> float | int:
    """Return a whole number as an integer, so that files have 3 and not 3.0."""
    return int(number) if number.is_integer() else number


Number = Annotated[float, Field(strict=True, allow_inf_nan=False), PlainSerializer(_simplify)]
Values = Annotated[dict[StrictStr, StrictStr], Field(min_length=1)]
"""The values of a class by column."""


class Bounds(BaseModel):
    """A smallest and a largest value, at least one of them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    min: Number | None = None
    max: Number | None = None

    @model_validator(mode="after")
    def _check(self) -> Bounds:
        if self.min is None and self.max is None:
            raise ValueError("it needs min, max or both")
        return self

    def contains(self, value: float) -> bool:
        """Tell if a value is within the bounds."""
        is_large_enough = self.min is None or self.min <= value
        return is_large_enough and (self.max is None or value <= self.max)

    def __str__(self) -> str:
        sides = (("least", self.min), ("most", self.max))
        return " and ".join(f"at {word} {bound:g}" for word, bound in sides if bound is not None)


class Requirement(BaseModel):
    """A researcher's requirement; what is not stated is not required. Fields of later versions are kept.

    ``unwanted_classes`` are classes that the study does not need: none of their records is to be released.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    format_version: Literal[1] = FORMAT_VERSION
    title: StrictStr = ""
    overall: dict[StrictStr, Bounds] = {}
    required_quasi_identifiers: tuple[StrictStr, ...] = ()
    highest_level: dict[StrictStr, Annotated[StrictInt, Field(ge=0)]] = {}
    required_classes: tuple[Values, ...] = ()
    unwanted_classes: tuple[Values, ...] = ()
    no_aggregation: StrictBool = False
    required_sensitive: tuple[StrictStr, ...] = ()
    minimum_sample_ratio: Annotated[Number, Field(ge=0, le=1)] | None = None
    k: Bounds | None = None
    weights: dict[StrictStr, Annotated[Number, Field(gt=0)]] = {}

    @model_validator(mode="after")
    def _check(self) -> Requirement:
        unknown = [name for name in self.overall if name not in BOUNDED_MEASURES]
        if unknown:
            raise ValueError(f"overall has no measure “{unknown[0][:80]}”")
        total = sum(self.weights.values())
        if self.weights and abs(total - 1.0) > 1e-6:
            raise ValueError(f"the weights add up to {total:g}, not to 1")
        return self

    def as_dict(self) -> dict[str, Any]:
        """Return the requirement as it is written to a file: only what is stated."""
        return {"format_version": FORMAT_VERSION, **self.model_dump(mode="json", exclude_defaults=True)}


def parse_requirement(data: Any, file: str = "") -> Requirement:
    """Parse the JSON data of a requirement. Raises `InputError` with all mistakes, each with its position."""
    remedy = "See the documentation of requirement files."
    try:
        requirement = Requirement.model_validate(data)
    except ValidationError as error:
        findings = []
        for mistake in error.errors(include_url=False, include_input=False):
            position = "/".join(map(str, mistake["loc"])) or "the whole"
            message = f"“{position}” is not valid: {mistake['msg'].removeprefix('Value error, ')[:160]}."
            findings.append(Finding("requirement", message, remedy, file=file or None))
        raise InputError(findings) from None
    if "format_version" not in requirement.model_fields_set:
        raise InputError(
            Finding("requirement", "“format_version” is missing.", remedy, file=file or None)
        )
    return requirement


def read_requirement(path: str | Path) -> Requirement:
    """Read a requirement file. Raises `InputError` if it cannot be read."""
    check_readable(Path(path))
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        row = getattr(error, "lineno", None)
        finding = Finding(
            "not-json",
            "The file is not valid JSON.",
            "Mend it or choose another.",
            file=str(path),
            row=row,
        )
        raise InputError(finding) from None
    return parse_requirement(data, str(path))


def write_requirement(path: str | Path, requirement: Requirement) -> None:
    """Write a requirement file."""
    write_text(Path(path), json.dumps(requirement.as_dict(), indent=2, ensure_ascii=False) + "\n")


class RequirementStatus(StrEnum):
    """Status of a criterion after the check."""

    OK = "ok"
    NOT_MET = "not met"
    NOT_CHECKABLE = "not checkable"


@dataclass(frozen=True)
class CriterionOutcome:
    """Result of checking one criterion: the actual state as text, and the status."""

    actual: str
    status: RequirementStatus

    @classmethod
    def of(cls, is_met: bool | None, if_met: str, if_missed: str) -> CriterionOutcome:
        """Choose the text by the result; None: it cannot be checked."""
        if is_met is None:
            return cls("—", RequirementStatus.NOT_CHECKABLE)
        return cls(if_met, RequirementStatus.OK) if is_met else cls(if_missed, RequirementStatus.NOT_MET)

    @classmethod
    def uncheckable(cls, reason: str) -> CriterionOutcome:
        """Give the reason why a criterion cannot be checked."""
        return cls(reason, RequirementStatus.NOT_CHECKABLE)

    @classmethod
    def of_required_class(cls, is_released: bool | None) -> CriterionOutcome:
        """Check a class that has to be released; None: it is not known if it is."""
        return cls.of(is_released, "released", "not released")

    @classmethod
    def of_unwanted_class(cls, is_absent: bool | None) -> CriterionOutcome:
        """Check a class that must not be released; None: it is not known if it is."""
        return cls.of(is_absent, "not released", "released: leave its records out (--drop-records)")


@dataclass(frozen=True)
class RequirementRow:
    """One row of the check: a criterion, what is required, and the outcome."""

    name: str
    required: str
    outcome: CriterionOutcome

    @property
    def actual(self) -> str:
        """The actual state as text."""
        return self.outcome.actual

    @property
    def status(self) -> RequirementStatus:
        """The status of the criterion."""
        return self.outcome.status


class ClassLookup(Protocol):
    """Tells if classes are released."""

    def check_required(self, values: Mapping[str, str]) -> CriterionOutcome:
        """Check that a class with these values by column is released."""

    def check_unwanted(self, values: Mapping[str, str]) -> CriterionOutcome:
        """Check that no record of a class with these values by column is released."""


@dataclass(frozen=True)
class VectorLookup:
    """Looks classes up in a vector, which lists those of at least k records."""

    vector: Mapping[str, Any]

    def check_required(self, values: Mapping[str, str]) -> CriterionOutcome:
        """Check that a listed class has these values."""
        return CriterionOutcome.of_required_class(self._is_listed(values))

    def check_unwanted(self, values: Mapping[str, str]) -> CriterionOutcome:
        """Check that no listed class has these values. Classes below k are not listed, so they leave it open."""
        others = [
            name for name in values if name not in self.vector.get("included_quasi_identifiers", ())
        ]
        if others:
            return CriterionOutcome.uncheckable(f"{others[0]} is no quasi-identifier")
        is_listed = self._is_listed(values)
        if is_listed is None:
            return CriterionOutcome.of_unwanted_class(None)
        if is_listed:
            return CriterionOutcome.of_unwanted_class(False)
        has_small_classes = not self.vector.get("classes_below_k", {}).get("k_anonymous")
        return CriterionOutcome.of_unwanted_class(None if has_small_classes else True)

    def _is_listed(self, values: Mapping[str, str]) -> bool | None:
        """Tell if a listed class has these values; None without a list."""
        rows = self.vector.get("per_class")
        if rows is None:
            return None
        return any(
            all(row["class"].get(column) == value for column, value in values.items()) for row in rows
        )


def check_requirement(
    requirement: Requirement, vector: Mapping[str, Any], lookup: ClassLookup | None = None
) -> list[RequirementRow]:
    """Check every stated criterion against the vector of two files, or against that of a solution.

    ``lookup`` tells if classes are released; without it, the vector's list of classes does.
    """
    overall = vector.get("overall", {})
    lookup = lookup or VectorLookup(vector)
    rows = [_check_measure(name, bounds, overall) for name, bounds in requirement.overall.items()]
    included = vector.get("included_quasi_identifiers")
    rows += _check_names("Quasi-identifier", requirement.required_quasi_identifiers, included)
    rows += [_check_level(name, highest, vector) for name, highest in requirement.highest_level.items()]
    for values in requirement.required_classes:
        rows.append(RequirementRow(_name_class(values), "released", lookup.check_required(values)))
    for values in requirement.unwanted_classes:
        rows.append(RequirementRow(_name_class(values), "not released", lookup.check_unwanted(values)))
    if requirement.no_aggregation:
        is_aggregated = vector.get("sensitive_aggregated")
        outcome = CriterionOutcome.of(
            None if is_aggregated is None else not is_aggregated, "as recorded", "aggregated"
        )
        rows.append(RequirementRow("Sensitive values", "not aggregated", outcome))
    rows += _check_names(
        "Sensitive column", requirement.required_sensitive, vector.get("sensitive_columns")
    )
    if requirement.minimum_sample_ratio is not None:
        rows.append(
            _check_measure("sample_size_ratio", Bounds(min=requirement.minimum_sample_ratio), overall)
        )
    if requirement.k is not None:
        k = vector.get("general", {}).get("k")
        rows.append(RequirementRow("k", str(requirement.k), _check_bounds(requirement.k, k)))
    if requirement.weights:
        weights = vector.get("weights", {}).get("quasi_identifiers")
        rows.append(_check_weights(requirement.weights, weights))
    return rows


def is_requirement_met(rows: Sequence[RequirementRow]) -> bool:
    """Tell if no criterion is missed."""
    return all(row.status is not RequirementStatus.NOT_MET for row in rows)


def rows_as_dicts(rows: Sequence[RequirementRow]) -> list[dict[str, str]]:
    """Return the check as plain JSON data."""
    return [
        {
            "criterion": row.name,
            "required": row.required,
            "actual": row.actual,
            "verdict": str(row.status),
        }
        for row in rows
    ]


def _check_measure(name: str, bounds: Bounds, overall: Mapping[str, Any]) -> RequirementRow:
    """Check a bounded measure of the whole release; where it has no value, the row says why."""
    return RequirementRow(BOUNDED_MEASURES[name], str(bounds), _judge_measure(name, bounds, overall))


def _judge_measure(name: str, bounds: Bounds, overall: Mapping[str, Any]) -> CriterionOutcome:
    actual = overall.get(name)
    if actual is not None or not overall:
        return _check_bounds(bounds, actual)
    if overall.get("sample_size_ratio") == 0:
        return CriterionOutcome("nothing is released", RequirementStatus.NOT_MET)
    lower_bound = overall.get(f"{name}_at_least")
    if lower_bound is not None:
        if bounds.max is None and (bounds.min or -math.inf) <= lower_bound:
            return CriterionOutcome(f"at least {lower_bound:g}", RequirementStatus.OK)
        return CriterionOutcome.uncheckable(
            f"at least {lower_bound:g}; more would tell of fewer than k records"
        )
    reason = overall.get("davies_bouldin_reason") if name.startswith("davies_bouldin") else None
    return CriterionOutcome.uncheckable(f"not defined: {reason}" if reason else "—")


def _check_bounds(bounds: Bounds, actual: float | None) -> CriterionOutcome:
    if actual is None:
        return CriterionOutcome.of(None, "", "")
    return CriterionOutcome.of(bounds.contains(actual), f"{actual:.4g}", f"{actual:.4g}")


def _check_names(
    kind: str, required: Sequence[str], present: Sequence[str] | None
) -> list[RequirementRow]:
    """Check that columns are there; ``present`` None: the columns are not known."""
    rows = []
    for name in required:
        is_present = None if present is None else name in present
        rows.append(
            RequirementRow(
                f"{kind} {name}", "present", CriterionOutcome.of(is_present, "present", "missing")
            )
        )
    return rows


def _check_level(name: str, highest: int, vector: Mapping[str, Any]) -> RequirementRow:
    """Check that no record has a column on a higher level of its hierarchy."""
    coding = vector.get("coding", {}).get(name)
    if coding is None:
        outcome = CriterionOutcome.uncheckable("—")
    elif "replaced" in coding["records_by_level"]:
        outcome = CriterionOutcome("values replaced", RequirementStatus.NOT_MET)
    else:
        actual = max((int(level.split()[1]) for level in coding["records_by_level"]), default=0)
        outcome = CriterionOutcome.of(actual <= highest, str(actual), str(actual))
    return RequirementRow(f"Level of {name}", f"at most {highest}", outcome)


def _name_class(values: Mapping[str, str]) -> str:
    return "Class " + ", ".join(f"{column} = {value}" for column, value in values.items())


def _check_weights(required: Mapping[str, float], used: Mapping[str, float] | None) -> RequirementRow:
    text = _format_weights(required)
    if used is None:
        return RequirementRow("Weights", text, CriterionOutcome.of(None, "", ""))
    is_same = set(required) == set(used) and all(
        abs(required[name] - used[name]) < 1e-6 for name in required
    )
    actual = _format_weights(used)
    return RequirementRow("Weights", text, CriterionOutcome.of(is_same, actual, actual))


def _format_weights(weights: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {weight:g}" for name, weight in weights.items())
