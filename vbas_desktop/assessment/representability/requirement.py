"""What a researcher needs of a release, in the form of the vector, and whether a vector meets it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from vbas_desktop.io.access import check_readable
from vbas_desktop.io.output import write_text
from vbas_desktop.model.errors import Finding, InputError

from .words import OVERALL as TITLED

FORMAT_VERSION = 1

OVERALL = {name: title for name, (title, _) in TITLED.items()} | {"mean_distance": "Distance moved (km or map units)"}
"""The overall elements that may be bounded, with their names for people."""

_BOUNDS = {
    "type": "object",
    "properties": {"min": {"type": "number"}, "max": {"type": "number"}},
    "additionalProperties": False,
    "minProperties": 1,
}
_NAMES = {"type": "array", "items": {"type": "string"}}
_CLASSES = {
    "type": "array",
    "items": {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1},
}
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "VBAS requirement",
    "type": "object",
    "required": ["format_version"],
    "properties": {
        "format_version": {"const": FORMAT_VERSION},
        "title": {"type": "string"},
        "overall": {"type": "object", "properties": dict.fromkeys(OVERALL, _BOUNDS), "additionalProperties": False},
        "required_quasi_identifiers": _NAMES,
        "highest_level": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
        "required_classes": _CLASSES,
        "unwanted_classes": _CLASSES,
        "no_aggregation": {"type": "boolean"},
        "required_sensitive": _NAMES,
        "minimum_sample_ratio": {"type": "number", "minimum": 0, "maximum": 1},
        "k": _BOUNDS,
        "weights": {"type": "object", "additionalProperties": {"type": "number", "exclusiveMinimum": 0}},
    },
}


class Verdict(StrEnum):
    """How a criterion fares."""

    OK = "ok"
    NOT_MET = "not met"
    NOT_CHECKABLE = "not checkable"


@dataclass(frozen=True)
class Criterion:
    """One line of the check."""

    name: str
    required: str
    actual: str
    verdict: Verdict


@dataclass(frozen=True)
class Requirement:
    """A researcher's requirement; what is not stated is not required. ``extra`` keeps fields of later versions.

    ``unwanted_classes`` are classes that the study does not need: none of their records is to be released.
    """

    title: str = ""
    overall: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    required_quasi_identifiers: tuple[str, ...] = ()
    highest_level: Mapping[str, int] = field(default_factory=dict)
    required_classes: tuple[Mapping[str, str], ...] = ()
    unwanted_classes: tuple[Mapping[str, str], ...] = ()
    no_aggregation: bool = False
    required_sensitive: tuple[str, ...] = ()
    minimum_sample_ratio: float | None = None
    k: Mapping[str, float] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The requirement as it is written to a file: only what is stated."""
        stated = {
            "title": self.title,
            "overall": {name: dict(bounds) for name, bounds in self.overall.items()},
            "required_quasi_identifiers": list(self.required_quasi_identifiers),
            "highest_level": dict(self.highest_level),
            "required_classes": [dict(wanted) for wanted in self.required_classes],
            "unwanted_classes": [dict(unwanted) for unwanted in self.unwanted_classes],
            "no_aggregation": self.no_aggregation,
            "required_sensitive": list(self.required_sensitive),
            "minimum_sample_ratio": self.minimum_sample_ratio,
            "k": dict(self.k),
            "weights": dict(self.weights),
        }
        kept = {name: value for name, value in stated.items() if value not in ("", None, False, [], {})}
        return {"format_version": FORMAT_VERSION, **kept, **self.extra}


def requirement_from(data: Any, file: str = "") -> Requirement:
    """A requirement from JSON data; every problem is named by its place in the file."""
    # Only who brings a requirement waits for it to be loaded.
    from jsonschema import Draft202012Validator

    problems = sorted(Draft202012Validator(SCHEMA).iter_errors(data), key=lambda error: list(error.path))
    if problems:
        raise InputError(
            Finding(
                "requirement",
                f"“{'/'.join(map(str, error.path)) or 'the whole'}” is not as it should be: {error.message[:160]}.",
                "See the documentation of requirement files.",
                file=file or None,
            )
            for error in problems
        )
    if data.get("weights") and abs(sum(data["weights"].values()) - 1.0) > 1e-6:
        total = sum(data["weights"].values())
        raise InputError(
            Finding("weights", f"The weights add up to {total:g}.", "They must add up to 1.", file=file or None)
        )
    known = {name: data[name] for name in SCHEMA["properties"] if name in data and name != "format_version"}
    for name in ("required_quasi_identifiers", "required_classes", "unwanted_classes", "required_sensitive"):
        if name in known:
            known[name] = tuple(known[name])
    extra = {name: value for name, value in data.items() if name not in SCHEMA["properties"]}
    return replace(Requirement(**known), extra=extra)


def read_requirement(path: str | Path) -> Requirement:
    """Read a requirement file."""
    check_readable(Path(path))
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        row = getattr(error, "lineno", None)
        finding = Finding(
            "not-json", "The file is not valid JSON.", "Mend it or choose another.", file=str(path), row=row
        )
        raise InputError(finding) from None
    return requirement_from(data, str(path))


def write_requirement(path: str | Path, requirement: Requirement) -> None:
    """Write a requirement file."""
    write_text(Path(path), json.dumps(requirement.as_dict(), indent=2, ensure_ascii=False) + "\n")


ClassFinder = Callable[[Mapping[str, str]], tuple[str, Verdict]]
"""Whether a class is released, and how that is said."""


def check(
    requirement: Requirement,
    vector: Mapping[str, Any],
    has_class: ClassFinder | None = None,
    lacks_class: ClassFinder | None = None,
) -> list[Criterion]:
    """Check every stated criterion against a vector of `representability`, or against that of a solution.

    A solution looks classes up itself: ``has_class`` for required ones, ``lacks_class`` for unwanted ones.
    """
    overall = vector.get("overall", {})
    rows = [_measure(name, bounds, overall) for name, bounds in requirement.overall.items()]
    rows += _names("Quasi-identifier", requirement.required_quasi_identifiers, vector.get("included_quasi_identifiers"))
    rows += [_level(name, top, vector) for name, top in requirement.highest_level.items()]
    finder = has_class or partial(_listed, vector.get("per_class"))
    rows += [_class(wanted, finder) for wanted in requirement.required_classes]
    lacks = lacks_class or partial(_is_not_listed, vector)
    rows += [_unwanted_class(unwanted, lacks) for unwanted in requirement.unwanted_classes]
    if requirement.no_aggregation:
        rows.append(_not_aggregated(vector.get("sensitive_aggregated")))
    rows += _names("Sensitive column", requirement.required_sensitive, vector.get("sensitive_columns"))
    if requirement.minimum_sample_ratio is not None:
        rows.append(_measure("sample_size_ratio", {"min": requirement.minimum_sample_ratio}, overall))
    if requirement.k:
        rows.append(_bounded("k", requirement.k, vector.get("general", {}).get("k")))
    if requirement.weights:
        rows.append(_weights(requirement.weights, vector.get("weights", {}).get("quasi_identifiers")))
    return rows


def none_missed(criteria: Sequence[Criterion]) -> bool:
    """Whether no criterion is missed."""
    return all(row.verdict is not Verdict.NOT_MET for row in criteria)


def as_rows(criteria: Sequence[Criterion]) -> list[dict[str, str]]:
    """The check as plain JSON data."""
    return [
        {"criterion": row.name, "required": row.required, "actual": row.actual, "verdict": str(row.verdict)}
        for row in criteria
    ]


def _measure(name: str, bounds: Mapping[str, float], overall: Mapping[str, Any]) -> Criterion:
    """A bounded measure of the whole release; where it has no value, why."""
    actual = overall.get(name)
    if actual is not None or not overall:
        return _bounded(OVERALL[name], bounds, actual)
    words = _in_words(bounds)
    if overall.get("sample_size_ratio") == 0:
        return Criterion(OVERALL[name], words, "nothing is released", Verdict.NOT_MET)
    certain = overall.get(f"{name}_at_least")
    if certain is not None:
        fine = bounds.get("min", 0) <= certain and "max" not in bounds
        actual = f"at least {certain:g}" if fine else f"at least {certain:g}; more would tell of fewer than k records"
        return Criterion(OVERALL[name], words, actual, Verdict.OK if fine else Verdict.NOT_CHECKABLE)
    reason = overall.get("davies_bouldin_reason") if name.startswith("davies_bouldin") else None
    return Criterion(OVERALL[name], words, f"not defined: {reason}" if reason else "—", Verdict.NOT_CHECKABLE)


def _in_words(bounds: Mapping[str, float]) -> str:
    sides = (("min", "least"), ("max", "most"))
    return " and ".join(f"at {word} {bounds[side]:g}" for side, word in sides if side in bounds)


def _bounded(name: str, bounds: Mapping[str, float], actual: float | None) -> Criterion:
    words = _in_words(bounds)
    if actual is None:
        return Criterion(name, words, *_told(None, "", ""))
    fine = bounds.get("min", float("-inf")) <= actual <= bounds.get("max", float("inf"))
    return Criterion(name, words, *_told(fine, f"{actual:.4g}", f"{actual:.4g}"))


def _names(kind: str, wanted: Sequence[str], present: Sequence[str] | None) -> list[Criterion]:
    there = {name: None if present is None else name in present for name in wanted}
    return [Criterion(f"{kind} {name}", "present", *_told(there[name], "present", "missing")) for name in wanted]


def _told(fine: bool | None, yes: str, no: str) -> tuple[str, Verdict]:
    """What is said of something that is so, is not so, or is not known."""
    if fine is None:
        return "—", Verdict.NOT_CHECKABLE
    return (yes, Verdict.OK) if fine else (no, Verdict.NOT_MET)


def _level(name: str, top: int, vector: Mapping[str, Any]) -> Criterion:
    title, words = f"Level of {name}", f"at most {top}"
    coding = vector.get("coding", {}).get(name)
    if coding is None:
        return Criterion(title, words, "—", Verdict.NOT_CHECKABLE)
    levels = coding["records_by_level"]
    if "replaced" in levels:
        return Criterion(title, words, "values replaced", Verdict.NOT_MET)
    actual = max((int(level.split()[1]) for level in levels), default=0)
    return Criterion(title, words, str(actual), Verdict.OK if actual <= top else Verdict.NOT_MET)


def _class(wanted: Mapping[str, str], finder: ClassFinder) -> Criterion:
    return Criterion(_class_name(wanted), "released", *finder(wanted))


def _unwanted_class(unwanted: Mapping[str, str], finder: ClassFinder) -> Criterion:
    return Criterion(_class_name(unwanted), "not released", *finder(unwanted))


def _class_name(values: Mapping[str, str]) -> str:
    return "Class " + ", ".join(f"{column} = {value}" for column, value in values.items())


def _is_not_listed(vector: Mapping[str, Any], unwanted: Mapping[str, str]) -> tuple[str, Verdict]:
    """Check that no listed class has these values. Classes below k are not listed, so they leave it open."""
    strange = [name for name in unwanted if name not in vector.get("included_quasi_identifiers", ())]
    if strange:
        return f"{strange[0]} is no quasi-identifier", Verdict.NOT_CHECKABLE
    present = vector.get("per_class")
    if present is None:
        return not_released(None)
    if any(all(each["class"].get(c) == v for c, v in unwanted.items()) for each in present):
        return not_released(False)
    return not_released(True if vector.get("classes_below_k", {}).get("k_anonymous") else None)


def _listed(present: Sequence[Mapping[str, Any]] | None, wanted: Mapping[str, str]) -> tuple[str, Verdict]:
    if present is None:
        return released(None)
    return released(any(all(each["class"].get(c) == v for c, v in wanted.items()) for each in present))


def released(there: bool | None) -> tuple[str, Verdict]:
    """What is said of a required class that is released, is not, or of which that is not known."""
    return _told(there, "released", "not released")


def not_released(absent: bool | None) -> tuple[str, Verdict]:
    """Say of an unwanted class that it is not released, that it is, or that this is not known."""
    return _told(absent, "not released", "released: leave its records out (--drop-records)")


def _not_aggregated(aggregated: bool | None) -> Criterion:
    fine = None if aggregated is None else not aggregated
    return Criterion("Sensitive values", "not aggregated", *_told(fine, "as recorded", "aggregated"))


def _weights(wanted: Mapping[str, float], used: Mapping[str, float] | None) -> Criterion:
    words = ", ".join(f"{name} {weight:g}" for name, weight in wanted.items())
    if used is None:
        return Criterion("Weights", words, *_told(None, "", ""))
    same = set(wanted) == set(used) and all(abs(wanted[name] - used[name]) < 1e-6 for name in wanted)
    actual = ", ".join(f"{name} {weight:g}" for name, weight in used.items())
    return Criterion("Weights", words, *_told(same, actual, actual))
