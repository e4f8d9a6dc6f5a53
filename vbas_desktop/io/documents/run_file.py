"""``run.json``: what was run, on which files, and what came of it. No record is ever in it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vbas_desktop import __version__
from vbas_desktop.approaches.selection import is_file_assignment
from vbas_desktop.model.findings import InputError, input_error
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import SourceFile
from vbas_desktop.model.solution import RunResult
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.run import COMPONENTS, ColumnRoles, PrivacySettings, RunSettings
from vbas_desktop.settings.sensitive import SensitiveSettings

from ..input_checks import check_named_file, check_readable, is_on_other_computer
from ..output import write_text

RUN_FILE = "run.json"
"""The file by which a folder is known as the result of an earlier run, which a new one may replace."""

_TEXT = {"type": "string", "minLength": 1}
_TEXTS = {"type": "array", "items": {"type": "string"}}
_INPUT = {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"sha256": {"type": "string"}}}]}

_OPTIONS: dict[str, Any] = {
    "type": "object",
    "properties": {
        **{component: {"type": ["string", "null"]} for component in COMPONENTS},
        "records": _TEXT,
        "regions": _TEXT,
        "set": _TEXTS,
        "generalise": _TEXTS,
        "groupings": {
            "type": "object",
            "additionalProperties": {"type": "object", "additionalProperties": {"type": "string"}},
        },
    },
    "required": [
        *("records", "regions", "set", *COMPONENTS),
        *(item.name for group in (ColumnRoles, PrivacySettings, SensitiveSettings) for item in group.options()),
    ],
}
"""What is not declared in a group of options, and what must be there. Another option that is missing came with a later
version of the program: its default changes nothing."""


def _objects(*names: str) -> dict[str, Any]:
    """Describe a list of objects that all have these texts."""
    texts = {name: {"type": "string"} for name in names}
    return {"type": "array", "items": {"type": "object", "required": list(names), "properties": texts}}


CHECKLIST_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["choices", "points", "signed_by", "signed_on"],
    "properties": {
        "choices": _objects("question", "answer"),
        "points": _objects("id", "title", "state", "evidence", "note"),
        "signed_by": {"type": "string"},
        "signed_on": {"type": "string"},
    },
}
"""A filled-in policy checklist, as the internal report prints it."""

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "A run of VBAS Desktop",
    "type": "object",
    "required": ["format_version", "options", "inputs", "solutions"],
    "properties": {
        "options": _OPTIONS,
        "inputs": {"type": "object", "properties": dict.fromkeys(("records", "regions", "region_map"), _INPUT)},
        "chosen_solution": {"type": ["integer", "null"]},
        "release": {"type": ["object", "null"]},
        "policy_checklist": CHECKLIST_SCHEMA,
        "solutions": {
            "type": "array",
            "items": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}},
        },
    },
}


FORMAT_VERSION = 1

_NAMED_FILES = ("codebook", "coarsen_from", "region_map", "population", "policy", "keep_records", "drop_records")
"""Options that name one further file each."""


def build_run_document(
    problem: Problem, result: RunResult, options: Mapping[str, Any], chosen: int | None = None
) -> dict[str, Any]:
    """Build the content of ``run.json`` from all options in force; ``chosen`` is the solution that is released."""
    findings = (*problem.findings, *result.findings)
    selected = {} if problem.selection is None else {"selection": problem.selection.as_dict()}
    return {
        "format_version": FORMAT_VERSION,
        "program_version": __version__,
        "options": dict(options),
        "inputs": _inputs(problem),
        **selected,
        "problem": {
            "records": problem.records,
            "records_left_out": problem.records_left_out,
            "regions": len(problem.regions),
            "equivalence_classes": problem.counts.max_combinations,
            "classes_present": result.classes_present,
            "k": problem.k,
            "quasi_identifiers": list(problem.quasi_identifiers),
            "region_column": problem.region_column,
            "category_numbers": list(problem.counts.n_categories),
            "unknown_region_records": problem.unknown_region_records,
            "globally_suppressed_records": result.globally_suppressed_records,
            "coordinates": str(problem.regions.system.kind),
            "distance_unit": problem.regions.system.unit,
        },
        "approximated_sites": result.approximated_sites,
        "chosen_solution": result.chosen.id if chosen is None else chosen,
        "allowed_loss_percent": result.allowed_loss_percent,
        "advice": None if result.advice is None else asdict(result.advice),
        "recommended_solution": None if result.recommended is None else result.recommended.id,
        "warnings": [finding.as_dict() for finding in dict.fromkeys(findings)],
        "solutions": [
            {
                **solution.as_dict(),
                "parameters": {name: dict(values) for name, values in solution.parameters.items()},
                "suppressed_globally": solution.suppressed_global,
                "suppressed_locally": solution.suppressed_local,
                **solution.facts(),
            }
            for solution in result.solutions
        ],
        "seconds": result.seconds,
        "total_seconds": result.total_seconds,
    }


def format_document(document: Mapping[str, Any]) -> str:
    """Format the document as it is written and printed; what is undefined is null, never NaN."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write_run_file(folder: Path, document: Mapping[str, Any]) -> Path:
    """Write ``run.json`` into the folder."""
    path = folder / RUN_FILE
    write_text(path, format_document(document), private=True)
    return path


def read_run_file(folder: Path) -> dict[str, Any]:
    """Read the document of an earlier run. Raises `InputError` if the folder has none that this program understands."""
    path = folder / RUN_FILE
    if path.exists():
        check_readable(path)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        version = document["format_version"]
    except FileNotFoundError:
        raise _unusable(path, "There is no run.json in this folder.") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _unusable(path, "This is not a run.json of this program.") from None
    if version != FORMAT_VERSION:
        raise _unusable(path, f"It has format {version}, this program reads format {FORMAT_VERSION}.")
    # Only those who read a run need it, and loading it takes long.
    import jsonschema

    try:
        jsonschema.validate(document, SCHEMA, cls=jsonschema.Draft202012Validator)
    except jsonschema.ValidationError as error:
        place = "/".join(map(str, error.absolute_path))
        raise _unusable(
            path, f"It is damaged at “{place}”." if place else "It is damaged: a part is missing."
        ) from None
    try:
        for group in (RunSettings, ReleaseOptions):
            group.from_dict(document["options"])
    except InputError as error:
        raise _unusable(path, f"It is damaged: {error.findings[0].message}") from None
    return dict(document)


def _unusable(path: Path, message: str) -> InputError:
    return input_error("run-file", message, "Choose a folder that `vbas run --out` wrote.", file=path)


def _inputs(problem: Problem) -> dict[str, Any]:
    """List the files that were read, with their hashes."""
    mapping = problem.regions.mapping
    found = {"records": _source(problem.records_source), "regions": _source(problem.regions_source)}
    return found if mapping is None else {**found, "region_map": _source(mapping.source)}


def _source(source: SourceFile | None) -> dict[str, Any] | None:
    if source is None:
        return None
    return {"path": source.path, "size_bytes": source.size_bytes, "sha256": source.sha256}


def check_named_inputs(folder: Path, options: Mapping[str, Any], named_again: Collection[str]) -> None:
    """Refuse records and regions in a run file that are no regular local files, and other files of another computer.

    The run file may come from elsewhere, so nothing but a local file is opened on its word. ``named_again`` are the
    options that the user has given for this use.
    """
    document = folder / RUN_FILE
    for name in {"records", "regions"}.difference(named_again):
        check_named_file(options[name], document, f"If it is to be used, name it yourself: --{name} ADDRESS.")
    others = [*(options.get("obstacles") or ())]
    others += [options.get(name) for name in _NAMED_FILES if name not in named_again]
    others += [text.partition("=")[2] for text in options.get("set") or () if is_file_assignment(text)]
    for path in others:
        if path and is_on_other_computer(path, str(document.absolute())):
            message = f"{RUN_FILE} names this, and it is on another computer: nothing is opened there unasked."
            raise input_error("not-named-again", message, "Run it again with `vbas run`.", file=path)
