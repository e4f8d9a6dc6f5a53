"""The shape of ``run.json`` as far as a run is repeated from it. More fields than these are allowed."""

from __future__ import annotations

from typing import Any

_TEXT = {"type": "string", "minLength": 1}
_TEXT_OR_NOTHING = {"type": ["string", "null"]}
_TEXTS = {"type": "array", "items": {"type": "string"}}
_WHOLE = {"type": "integer", "minimum": 0}
_INPUT = {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"sha256": {"type": "string"}}}]}

_NAMES = (
    *("id_column", "x_column", "y_column", "delimiter", "encoding", "regions_delimiter", "regions_encoding", "layer"),
    *("site_number", "site_location", "construction", "refinement", "tiers"),
)

_LATER = ("refinement", "tiers")
"""What runs that were kept before there were such components do not tell."""

_OPTIONS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "records": _TEXT,
        "regions": _TEXT,
        "region_column": _TEXT,
        "quasi_identifiers": {**_TEXTS, "minItems": 1},
        "identifiers": _TEXTS,
        "k": {"type": "integer", "minimum": 1},
        "range_step": {"type": "number", "exclusiveMinimum": 0},
        "range_reach": _WHOLE,
        "random_seed": _WHOLE,
        "workers": _WHOLE,
        "no_global_suppression": {"type": "boolean"},
        "pareto": _TEXTS,
        "set": _TEXTS,
        "generalise": _TEXTS,
        "groupings": {"type": "object", "additionalProperties": {"type": "object"}},
        "category_counts": {"enum": ["auto", "yes", "no"]},
        "coordinates": {"enum": ["auto", "planar", "degrees", "geographic"]},
        "unknown_regions": {"enum": ["stop", "suppress"]},
        "regions_decimal": {"enum": ["auto", "point", "comma"]},
        **dict.fromkeys(_NAMES, _TEXT_OR_NOTHING),
    },
    "required": [
        *("records", "regions", "quasi_identifiers", "identifiers", "k", "range_step", "range_reach", "random_seed"),
        *("workers", "no_global_suppression", "pareto", "set", "category_counts", "coordinates", "unknown_regions"),
        *(name for name in _NAMES if name not in _LATER),
    ],
}

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "A run of VBAS Desktop",
    "type": "object",
    "required": ["format_version", "options", "inputs", "solutions"],
    "properties": {
        "options": _OPTIONS,
        "inputs": {"type": "object", "properties": {"records": _INPUT, "regions": _INPUT}},
        "chosen_solution": {"type": ["integer", "null"]},
        "release": {"type": ["object", "null"]},
        "solutions": {
            "type": "array",
            "items": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}},
        },
    },
}
