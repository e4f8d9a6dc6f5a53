"""The words of a spec file: which keys its tables have and of what kind their values are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from vbas_desktop.model.findings import FindingList


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_list(value: Any, check: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(map(check, value))


def _is_whole(value: Any, low: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= low


NAME, TEXT, FLAG, TEXTS, NUMBERS = "a name", "a text", "true or false", "a list of texts", "a list of numbers"
NUMBER, SHARE = "a number", "a number of at least 0"
WHOLE, COUNT = "a whole number of at least 0", "a whole number of at least 1"
_KINDS: Mapping[str, Callable[[Any], bool]] = {
    NAME: lambda value: isinstance(value, str) and value != "",
    TEXT: lambda value: isinstance(value, str),
    FLAG: lambda value: isinstance(value, bool),
    TEXTS: lambda value: _is_list(value, _KINDS[TEXT]),
    NUMBERS: lambda value: _is_list(value, _is_number),
    NUMBER: _is_number,
    SHARE: lambda value: _is_number(value) and value >= 0,
    WHOLE: lambda value: _is_whole(value, 0),
    COUNT: lambda value: _is_whole(value, 1),
}
_ANY = "*"
"""Stands for keys that are the user's own."""

SHAPE: Mapping[str, Any] = {
    **{"title": TEXT, "seed": WHOLE, "records": COUNT, "labels": TEXT, "category_counts": FLAG, "columns": TEXTS},
    "identifiers": [{"name": NAME, "pattern": TEXT}],
    "regions": {
        **{"column": TEXT, "file": TEXT, "id_column": TEXT, "count": COUNT},
        **{"records_per_region": NUMBERS, "population_column": TEXT},
        "geography": {"centre": NUMBERS, "extent_km": NUMBERS, "towns": COUNT, "rural": SHARE, "first_id": WHOLE},
    },
    "attributes": [
        {
            **{"name": NAME, "labels": TEXTS, "count": COUNT, "groups": TEXTS, "weights": NUMBERS},
            **{"role": TEXT, "variation": SHARE},
            "rules": [{"when": {_ANY: TEXTS}, "weights": NUMBERS, "multiply": {_ANY: SHARE}}],
            "tilts": [{"column": NAME, "strength": NUMBER, "scores": NUMBERS}],
        }
    ],
}
"""The tables of a spec: key → kind of its value, a table, or an array of tables. What has a name must have it."""


@dataclass(frozen=True)
class Place:
    """A place in a spec, for telling what is wrong there."""

    findings: FindingList
    path: str = ""
    column: str | None = None

    def wrong(self, why: str) -> None:
        """Note that a value is not right."""
        self.findings.add("wrong-value", f"{self.path}: {why}.", "Correct the spec.", column=self.column)

    def inside(self, key: str) -> Place:
        """The place of a key of this table."""
        return replace(self, path=f"{self.path}.{key}" if self.path else key)

    def entry(self, key: str, number: int, entry: Any) -> Place:
        """The place of a table in an array; one that has a name is about that column."""
        name = entry.get("name") if isinstance(entry, dict) else None
        return replace(self.inside(f"{key} {number}"), column=name if isinstance(name, str) else self.column)


def sound(data: Any, place: Place, shape: Any = SHAPE) -> dict[str, Any]:
    """The keys of a table that are known; what is not as the shape says is noted, and its value is None."""
    if not isinstance(data, dict):
        place.wrong("a table is expected")
        return {}
    for key in shape:
        if shape[key] == NAME and key not in data:
            place.inside(key).wrong("is missing")
    for key in data:
        if key not in shape and _ANY not in shape:
            place.inside(key).wrong("this key is not known")
    known = {key: kind for key in data if (kind := shape.get(key, shape.get(_ANY))) is not None}
    return {key: _sound_value(key, data[key], place, kind) for key, kind in known.items()}


def _sound_value(key: str, value: Any, place: Place, kind: Any) -> Any:
    if isinstance(kind, dict):
        return sound(value, place.inside(key), kind)
    if isinstance(kind, list) and isinstance(value, list):
        return [sound(each, place.entry(key, number, each), kind[0]) for number, each in enumerate(value, 1)]
    if isinstance(kind, str) and _KINDS[kind](value):
        return value
    place.inside(key).wrong(f"{'an array of tables' if isinstance(kind, list) else kind} is expected")
    return None
