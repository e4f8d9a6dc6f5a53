"""A requirement as the texts of a form, and back. No Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vbas_desktop.assessment.representability.requirement import (
    FORMAT_VERSION,
    OVERALL,
    Requirement,
    requirement_from,
)
from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.listing import listed

from .results import Entry

_SAME_WITHIN = 0.002
"""Shares that differ by less are read as the same number."""


def unvarying(entries: Sequence[Entry]) -> dict[str, float | None]:
    """The measures that are (nearly) the same for all solutions, or defined for none, with that value."""
    if len({entry.solution.aggregated_regions for entry in entries}) < 2:
        return {}
    found: dict[str, float | None] = {}
    for name in OVERALL:
        values = [entry.solution.representability.get(name) for entry in entries]
        known = [float(value) for value in values if isinstance(value, int | float)]
        if not known:
            found[name] = None
        elif len(known) == len(values) and max(known) - min(known) <= _SAME_WITHIN * max(1.0, abs(max(known))):
            found[name] = known[0]
    return found


def alike_in_words(same: Mapping[str, float | None]) -> str:
    """Why some measures are not offered."""
    told = [OVERALL[name] + (" (not defined)" if value is None else f" ({value:.3g})") for name, value in same.items()]
    return f"Not offered, because all solutions are alike in it: {', '.join(told)}." if told else ""


def names_of(text: str) -> tuple[str, ...]:
    """Names separated by commas."""
    return tuple(name for name in listed(text) if name)


def numbers_of(text: str) -> dict[str, list[float]]:
    """``age=0.5/0.3, job=1`` as numbers by name; `InputError` if it is something else."""
    found: dict[str, list[float]] = {}
    for part in names_of(text):
        name, equals, value = part.partition("=")
        try:
            found[name.strip()] = [float(number) for number in value.split("/")]
        except ValueError:
            equals = ""
        if not equals:
            finding = Finding("form", f"“{part}” is not understood.", "Write name=number, separated by commas.")
            raise InputError(finding) from None
    return found


def texts_by_name(text: str) -> dict[str, str]:
    """``phone=identifies, income=confidential`` as texts by name; `InputError` if it is something else."""
    found = {}
    for part in names_of(text):
        name, _, value = (each.strip() for each in part.partition("="))
        if not name or not value:
            finding = Finding("form", f"“{part}” is not understood.", "Write name=text, separated by commas.")
            raise InputError(finding)
        found[name] = value
    return found


def requirement_of(texts: Mapping[str, str], bounds: Mapping[str, tuple[str, str]], aggregated_ok: bool) -> Requirement:
    """The requirement that a form states; every field that cannot be understood is named."""
    data: dict[str, Any] = {"format_version": FORMAT_VERSION}
    overall = {name: _bounds(OVERALL[name], *bounds[name]) for name in OVERALL if name in bounds}
    levels = {name: int(values[0]) for name, values in numbers_of(texts.get("levels", "")).items()}
    stated = {
        "title": texts.get("title", "").strip(),
        "overall": {name: given for name, given in overall.items() if given},
        "required_quasi_identifiers": list(names_of(texts.get("quasi_identifiers", ""))),
        "highest_level": levels,
        "required_classes": [_class(line) for line in texts.get("classes", "").splitlines() if line.strip()],
        "no_aggregation": not aggregated_ok,
        "required_sensitive": list(names_of(texts.get("sensitive", ""))),
        "minimum_sample_ratio": _number("Share of records", texts.get("ratio", "")),
        "k": _bounds("k", texts.get("k_min", ""), texts.get("k_max", "")),
        "weights": {name: values[0] for name, values in numbers_of(texts.get("weights", "")).items()},
    }
    data |= {name: value for name, value in stated.items() if value not in ("", None, False, [], {})}
    return requirement_from(data)


def texts_of(requirement: Requirement) -> tuple[dict[str, str], dict[str, tuple[str, str]], bool]:
    """The fields of a form that states this requirement."""
    texts = {
        "title": requirement.title,
        "quasi_identifiers": ", ".join(requirement.required_quasi_identifiers),
        "levels": ", ".join(f"{name}={level}" for name, level in requirement.highest_level.items()),
        "classes": "\n".join(
            ", ".join(f"{name}={value}" for name, value in wanted.items()) for wanted in requirement.required_classes
        ),
        "sensitive": ", ".join(requirement.required_sensitive),
        "weights": ", ".join(f"{name}={weight:g}" for name, weight in requirement.weights.items()),
        "k_min": _text(requirement.k.get("min")),
        "k_max": _text(requirement.k.get("max")),
        "ratio": _text(requirement.minimum_sample_ratio),
    }
    given = requirement.overall
    bounds = {n: (_text(given.get(n, {}).get("min")), _text(given.get(n, {}).get("max"))) for n in OVERALL}
    return texts, bounds, not requirement.no_aggregation


def _text(value: float | None) -> str:
    return "" if value is None else f"{value:.12g}"


def _number(name: str, text: str) -> float | None:
    if not text.strip():
        return None
    try:
        return float(text)
    except ValueError:
        raise InputError(Finding("form", f"{name}: “{text}” is no number.", "Write 0.8 for example.")) from None


def _bounds(name: str, low: str, high: str) -> dict[str, float]:
    found = {"min": _number(name, low), "max": _number(name, high)}
    given = {side: value for side, value in found.items() if value is not None}
    if len(given) == 2 and given["min"] > given["max"]:
        raise InputError(Finding("form", f"{name}: the minimum is above the maximum.", "Exchange them."))
    return given


def _class(line: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in names_of(line)]
    if not all(equals and name.strip() and value.strip() for name, equals, value in pairs):
        message = "A required class is not understood."
        raise InputError(Finding("form", message, "Write column=value, column=value on each line."))
    return {name.strip(): value.strip() for name, _, value in pairs}
