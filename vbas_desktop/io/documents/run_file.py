"""``run.json``: what was run, on which files, and what came of it. No record is ever in it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

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

FORMAT_VERSION = 1


class _Part(BaseModel):
    """An object of a document; values are never converted, and fields that are not declared may be there."""

    model_config = ConfigDict(extra="allow", strict=True, defer_build=True)


class _Choice(_Part):
    question: str
    answer: str


class _Point(_Part):
    id: str
    title: str
    state: str
    evidence: str
    note: str


class ChecklistDocument(_Part):
    """A filled-in policy checklist, as the internal report prints it."""

    choices: list[_Choice]
    points: list[_Point]
    signed_by: str
    signed_on: str


class _Source(_Part):
    sha256: str = ""


class _Sources(_Part):
    records: _Source | None = None
    regions: _Source | None = None
    region_map: _Source | None = None


class _Options(_Part):
    """The options that are not declared in a group."""

    records: Annotated[str, Field(min_length=1)]
    regions: Annotated[str, Field(min_length=1)]
    set: list[str]
    generalise: list[str] = []
    groupings: dict[str, dict[str, str]] = {}

    @model_validator(mode="after")
    def _require_all(self) -> Self:
        """Raise `ValueError` if an approach or what protects is missing.

        Another option that is missing came with a later version of the program: its default changes nothing.
        """
        written = self.model_extra or {}
        groups = (ColumnRoles, PrivacySettings, SensitiveSettings)
        names = [option.name for group in groups for option in group.options()]
        if any(name not in written for name in (*COMPONENTS, *names)):
            raise ValueError("an option is missing")
        if not all(isinstance(written[component], str | None) for component in COMPONENTS):
            raise ValueError("an approach is not a name")
        return self


class _Solution(_Part):
    id: int


class RunDocument(_Part):
    """What must be in ``run.json`` for a run to be repeated."""

    format_version: int
    options: _Options
    inputs: _Sources
    solutions: list[_Solution]
    chosen_solution: int | None = None
    release: dict[str, Any] | None = None
    policy_checklist: ChecklistDocument | None = None


_NAMED_FILES = (
    "codebook",
    "coarsen_from",
    "region_map",
    "population",
    "policy",
    "keep_records",
    "drop_records",
)
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
    try:
        RunDocument.model_validate(document)
    except ValidationError as error:
        part = "/".join(map(str, error.errors(include_input=False, include_url=False)[0]["loc"]))
        raise _unusable(path, f"It is damaged at “{part}”.") from None
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
        check_named_file(
            options[name], document, f"If it is to be used, name it yourself: --{name} ADDRESS."
        )
    others = [*(options.get("obstacles") or ())]
    others += [options.get(name) for name in _NAMED_FILES if name not in named_again]
    others += [text.partition("=")[2] for text in options.get("set") or () if is_file_assignment(text)]
    for path in others:
        if path and is_on_other_computer(path, str(document.absolute())):
            message = (
                f"{RUN_FILE} names this, and it is on another computer: nothing is opened there unasked."
            )
            raise input_error("not-named-again", message, "Run it again with `vbas run`.", file=path)
