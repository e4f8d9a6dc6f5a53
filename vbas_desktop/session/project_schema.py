"""The shape of a project file of the newest format. More fields than these are allowed and kept.

Files of earlier formats are brought to it step by step; one of every format is kept in the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from vbas_desktop.assessment.representability.requirement import SCHEMA as REQUIREMENT
from vbas_desktop.domain.records import Role
from vbas_desktop.settings.declaration import settings_of

from .choices import Choices

FORMAT = 1
"""Raise it whenever older programs would misread a file, and add a step to `migrations`."""

_ARRAY = {
    "type": "object",
    "required": ["type", "shape", "data"],
    "properties": {
        "type": {"enum": ["int32", "float64"]},
        "shape": {"type": "array", "items": {"type": "integer", "minimum": 0}},
        "data": {"type": "string"},
    },
}

_FILE = {
    "type": "object",
    "required": ["path"],
    "properties": {
        "path": {"type": "string", "minLength": 1},
        "size_bytes": {"type": "integer", "minimum": 0},
        "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    },
}

_SOLUTION = {
    "type": "object",
    "required": ["number", "id", "site_count", "approximated_sites", "owner", "measures", "seconds"],
    "properties": {
        "number": {"type": "integer", "minimum": 1},
        "id": {"type": "integer"},
        "site_count": {"type": "integer", "minimum": 1},
        "approximated_sites": {"type": "integer", "minimum": 1},
        "owner": _ARRAY,
        "sites": {"anyOf": [_ARRAY, {"type": "null"}]},
        "unrefined": {
            "type": "object",
            "required": ["owner"],
            "properties": {"owner": _ARRAY, "sites": {"anyOf": [_ARRAY, {"type": "null"}]}},
        },
        "measures": {"type": "object", "additionalProperties": {"type": ["number", "null"]}},
        "seconds": {"type": "number"},
        "suppressed_global": {"type": "integer"},
        "suppressed_local": {"type": "integer"},
        "pareto": {"type": "boolean"},
        "pinned": {"type": "boolean"},
    },
}

_GROUPINGS = {
    "type": "object",
    "additionalProperties": {"type": "object", "additionalProperties": {"type": "string"}},
}

_PARAMETERS = {"type": "object", "additionalProperties": {"type": "object"}}
"""Approach → parameter → value."""

_TEXTS = {"type": "array", "items": {"type": "string"}}

_SENSITIVE = {
    "type": "object",
    "required": ["column", "benign", "criteria"],
    "properties": {"column": {"type": "string"}, "benign": _TEXTS, "criteria": _TEXTS},
}

_RUN = {
    "type": "object",
    "required": ["id", "title", "problem", "approaches", "solutions"],
    "properties": {
        "id": {"type": "integer", "minimum": 1},
        "title": {"type": "string"},
        "approaches": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
        "problem": {
            "type": "object",
            "required": ["region_column", "quasi_identifiers", "unknown_regions", "k"],
            "properties": {
                "region_column": {"type": "string"},
                "quasi_identifiers": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                "unknown_regions": {"enum": ["stop", "suppress"]},
                "k": {"type": "integer", "minimum": 1},
                "groupings": _GROUPINGS,
                "sensitive": {"type": "array", "items": _SENSITIVE},
            },
        },
        "records_sha256": {"type": ["string", "null"]},
        "region_ids_sha256": {"type": "string"},
        "solutions": {"type": "array", "items": _SOLUTION},
    },
}

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "VBAS Desktop project",
    "type": "object",
    "required": ["format", "files", "choices", "runs"],
    "properties": {
        "format": {"const": FORMAT},
        "program": {"type": "string"},
        "files": {
            "type": "object",
            "required": ["records", "regions"],
            "properties": {"records": _FILE, "regions": _FILE},
        },
        "choices": {
            "type": "object",
            "properties": {
                "roles": {
                    "type": "array",
                    "items": {
                        "type": "array",
                        "prefixItems": [
                            {"type": "string"},
                            {"enum": [str(role) for role in Role]},
                        ],
                        "minItems": 2,
                        "maxItems": 2,
                    },
                },
                "groupings": _GROUPINGS,
                "approaches": {"type": "object", "additionalProperties": {"type": "string"}},
                "parameters": {"type": "object", "additionalProperties": _PARAMETERS},
                **{each.name: each.schema for each in settings_of(Choices)},
            },
        },
        "runs": {"type": "array", "items": _RUN},
        "requirement": {"anyOf": [REQUIREMENT, {"type": "object", "maxProperties": 0}]},
        "policy": {
            "type": "object",
            "properties": {
                "choices": {"type": "object", "additionalProperties": {"type": "string"}},
                "notes": {"type": "object", "additionalProperties": {"type": "string"}},
                "signed_by": {"type": "string"},
                "signed_on": {"type": "string"},
                "policy": {"type": "string"},
                "population": {"type": "string"},
                "export": {
                    "type": "object",
                    "properties": {"shuffle": {"type": "boolean"}, "renames": {"type": "integer", "minimum": 0}},
                },
            },
        },
        "map": {
            "type": "object",
            "properties": {
                "names": {"type": ["string", "null"]},
                "labels": {"type": ["string", "null"]},
                "outlines": {"type": "array", "items": {"type": "string"}},
                "context": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["path"],
                        "properties": {
                            "path": {"type": "string", "minLength": 1},
                            "colour": {"type": "string"},
                            "visible": {"type": "boolean"},
                            "land": {"type": "boolean"},
                        },
                    },
                },
            },
        },
        "selection": {
            "type": "object",
            "properties": {"solution": {"type": ["integer", "null"]}, "region": {"type": ["integer", "null"]}},
        },
    },
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
