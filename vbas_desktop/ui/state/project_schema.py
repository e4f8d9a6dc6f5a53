"""The shape of a project file of the newest format. More fields than these are allowed and kept.

Files of earlier formats are brought to it step by step; one of every format is kept in the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from vbas_desktop.model.records import Role

FORMAT = 1
"""Raise it whenever older programs would misread a file, and add a step to `migrations`."""

Shape = dict[str, Any]

_TEXT: Shape = {"type": "string"}
_WHOLE: Shape = {"type": "integer"}
_NUMBER: Shape = {"type": "number"}
_YES_OR_NO: Shape = {"type": "boolean"}
_NAMED: Shape = {"type": "string", "minLength": 1}


def _object(*required: str, **properties: Shape) -> Shape:
    """An object with these fields, of which some must be there; others may be."""
    return {"type": "object", **({"required": list(required)} if required else {}), "properties": properties}


def _map(values: Shape) -> Shape:
    """An object whose keys are the user's own."""
    return {"type": "object", "additionalProperties": values}


def _list(items: Shape, **more: Any) -> Shape:
    return {"type": "array", "items": items, **more}


def _or_null(kind: str) -> Shape:
    return {"type": [kind, "null"]}


def _from(low: int) -> Shape:
    """A whole number that is not below this one."""
    return {**_WHOLE, "minimum": low}


_ARRAY = _object("type", "shape", "data", type={"enum": ["int32", "float64"]}, shape=_list(_from(0)), data=_TEXT)
_ARRAY_OR_NULL = {"anyOf": [_ARRAY, {"type": "null"}]}
_FILE = _object("path", path=_NAMED, size_bytes=_from(0), sha256={"type": "string", "pattern": "^[0-9a-f]{64}$"})
_SOLUTION = _object(
    *("number", "id", "site_count", "approximated_sites", "owner", "measures", "seconds"),
    number=_from(1),
    id=_WHOLE,
    site_count=_from(1),
    approximated_sites=_from(1),
    owner=_ARRAY,
    sites=_ARRAY_OR_NULL,
    unrefined=_object("owner", owner=_ARRAY, sites=_ARRAY_OR_NULL),
    measures=_map(_or_null("number")),
    seconds=_NUMBER,
    suppressed_global=_WHOLE,
    suppressed_local=_WHOLE,
    pareto=_YES_OR_NO,
    pinned=_YES_OR_NO,
)
_GROUPINGS = _map(_map(_TEXT))
_PARAMETERS = _map({"type": "object"})
"""Approach → parameter → value."""

_TEXTS = _list(_TEXT)
_PROBLEM = _object(
    *("region_column", "quasi_identifiers", "unknown_regions", "k"),
    region_column=_TEXT,
    quasi_identifiers=_list(_TEXT, minItems=1),
    unknown_regions={"enum": ["stop", "suppress"]},
    k=_from(1),
    groupings=_GROUPINGS,
    sensitive=_list(_object("column", "benign", "criteria", column=_TEXT, benign=_TEXTS, criteria=_TEXTS)),
)
_RUN = _object(
    *("id", "title", "problem", "approaches", "solutions"),
    id=_from(1),
    title=_TEXT,
    approaches=_map(_or_null("string")),
    problem=_PROBLEM,
    records_sha256=_or_null("string"),
    region_ids_sha256=_TEXT,
    solutions=_list(_SOLUTION),
)
_ROLE = {"type": "array", "prefixItems": [_TEXT, {"enum": [str(role) for role in Role]}], "minItems": 2, "maxItems": 2}
_CHOICES = _object(
    roles=_list(_ROLE),
    decided=_TEXTS,
    groupings=_GROUPINGS,
    approaches=_map(_TEXT),
    parameters=_map(_PARAMETERS),
)
_POLICY = _object(
    choices=_map(_TEXT),
    notes=_map(_TEXT),
    signed_by=_TEXT,
    signed_on=_TEXT,
    policy=_TEXT,
    population=_TEXT,
    export=_object(shuffle=_YES_OR_NO, renames=_from(0), record_key=_YES_OR_NO, aggregated=_from(0)),
)
_LAYER = _object("path", path=_NAMED, colour=_TEXT, visible=_YES_OR_NO, land=_YES_OR_NO)

SCHEMA: Shape = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "VBAS Desktop project",
    **_object(
        *("format", "files", "choices", "runs"),
        format={"const": FORMAT},
        program=_TEXT,
        files=_object("records", "regions", records=_FILE, regions=_FILE),
        choices=_CHOICES,
        runs=_list(_RUN),
        requirement={"type": "object"},
        policy=_POLICY,
        map=_object(names=_or_null("string"), labels=_or_null("string"), outlines=_TEXTS, context=_list(_LAYER)),
        view=_object(
            coloured_by=_or_null("string"),
            layers={"anyOf": [_TEXTS, {"type": "null"}]},
            chart=_or_null("string"),
        ),
        selection=_object(solution=_or_null("integer"), region=_or_null("integer")),
    ),
}


Document = dict[str, Any]


def _from_0(old: Document) -> Document:
    """Format 0 had no number, named its files by bare paths and listed region column and quasi-identifiers apart."""
    new = {name: value for name, value in old.items() if name not in ("records", "regions", "settings")}
    settings: Mapping[str, Any] = old.get("settings", {})
    roles = [[name, "quasi-identifier"] for name in settings.get("quasi_identifiers", [])]
    if settings.get("region_column"):
        roles.append([settings["region_column"], "region"])
    roles += [[name, "identifier"] for name in settings.get("identifiers", [])]
    kept = {
        name: value
        for name, value in settings.items()
        if name not in ("quasi_identifiers", "region_column", "identifiers")
    }
    new["files"] = {"records": {"path": old["records"]}, "regions": {"path": old["regions"]}}
    new["choices"] = {**kept, "roles": roles}
    new.setdefault("runs", [])
    new["format"] = 1
    return new


STEPS: dict[int, Callable[[Document], Document]] = {0: _from_0}


def migrate(document: Document) -> Document:
    """The document in the newest format."""
    while (found := document.get("format", 0)) < FORMAT:
        document = STEPS[found](document)
    return document
