"""Project files (`.vbas`): which files, which choices, which solutions. No record is ever in them."""

from __future__ import annotations

import json
import math
import operator
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from vbas_desktop import __version__
from vbas_desktop.analysis.representability.requirement import parse_requirement
from vbas_desktop.io.documents.result_cache import RESULT_FIELDS
from vbas_desktop.io.documents.solutions import solution_from_json, solution_to_json
from vbas_desktop.io.output import write_text
from vbas_desktop.model.criteria import SensitiveColumn, parse_criterion
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.records import SourceFile
from vbas_desktop.model.solution import RunResult

from .choices import Choices, choices_from_json, choices_to_json
from .map_style import MapStyle, from_folder
from .project_schema import FORMAT, ProjectDocument
from .scenario import ResultRow, RunEntry, Scenario, grouping_entries, split_sensitive
from .view_settings import ViewSettings

SUFFIX = ".vbas"
LARGEST_BYTES = 1 << 30
"""What a project file, and what is packed in it, may take in memory."""


@dataclass(frozen=True, eq=False)
class ProjectState:
    """A snapshot of what a project file holds. ``document`` is the file that was read, with fields unknown to us."""

    records: SourceFile
    regions: SourceFile
    choices: Choices
    entries: tuple[ResultRow, ...] = ()
    selected: int | None = None
    chosen_region: int | None = None
    document: Mapping[str, Any] = field(default_factory=dict)
    requirement: Mapping[str, Any] = field(default_factory=dict)
    policy: Mapping[str, Any] = field(default_factory=dict)
    map_style: MapStyle = field(default_factory=MapStyle)
    view: ViewSettings = field(default_factory=ViewSettings)

    def write(self, path: Path, progress: Progress = NO_PROGRESS) -> None:
        """Write beside the target and rename: a crash leaves the old file."""
        text = json.dumps(self.as_document(path.parent), ensure_ascii=False, indent=1, allow_nan=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text + "\n", private=True)

    def holds_all_of(self, later: ProjectState) -> bool:
        """Say if nothing was chosen, found or noted between this snapshot and a later one."""
        same = len(self.entries) == len(later.entries) and all(
            map(operator.is_, self.entries, later.entries)
        )
        mine, others = (
            (state.choices, state.requirement, state.policy, state.map_style) for state in (self, later)
        )
        return same and mine == others

    def as_document(self, folder: Path) -> dict[str, Any]:
        """Return the JSON data, with the hashes that are known; paths are relative to ``folder``."""
        runs = {entry.run.id: entry.run for entry in self.entries}
        new = {
            "format": FORMAT,
            "program": __version__,
            "files": {"records": _file(self.records, folder), "regions": _file(self.regions, folder)},
            "choices": choices_to_json(self.choices, partial(from_folder, folder)),
            "runs": [
                _run_to_json(run, [e for e in self.entries if e.run.id == run.id], folder)
                for run in runs.values()
            ],
            "selection": {"solution": self.selected, "region": self.chosen_region},
            "requirement": dict(self.requirement),
            "policy": dict(self.policy),
            "map": self.map_style.as_json(folder.absolute()),
            "view": self.view.as_json(),
        }
        return keeping_unknown(self.document, new)


def keeping_unknown(old: Mapping[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """``new`` with the fields of ``old`` that it does not have. Runs and solutions are matched by their numbers.

    Maps whose keys are the user's own (parameters, approaches, measures) are replaced as a whole: a key that is gone
    was removed on purpose.
    """
    result = dict(old)
    for name, value in new.items():
        before = old.get(name)
        if name in ("files", "choices", "selection", "records", "regions", "problem") and isinstance(
            before, dict
        ):
            result[name] = keeping_unknown(before, value)
        elif name in ("runs", "solutions") and isinstance(before, list):
            by_id = {item.get("id"): item for item in before if isinstance(item, dict)}
            result[name] = [keeping_unknown(by_id.get(item["id"], {}), item) for item in value]
        else:
            result[name] = value
    return result


def read_project(path: Path) -> ProjectState:
    """Read the snapshot in a file. Raises `InputError` that says what is wrong with it."""
    if path.stat().st_size > LARGEST_BYTES:
        raise _refusal(path, f"No project is larger than {LARGEST_BYTES >> 20:,} MB.")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise _refusal(path, "This is not a project file, or it is damaged.") from None
    if not isinstance(document, dict) or not isinstance(document.get("format"), int):
        raise _refusal(path, "This is not a project file, or it is damaged.")
    if document["format"] > FORMAT:
        raise _refusal(
            path, "This project was saved by a newer version of the program.", "Install that version."
        )
    try:
        ProjectDocument.model_validate(document)
        if _claimed_bytes(document) > LARGEST_BYTES:
            raise _refusal(path, f"The project claims more than {LARGEST_BYTES >> 20:,} MB of results.")
        return _state(document, path)
    except ValidationError as error:
        part = "/".join(map(str, error.errors(include_input=False, include_url=False)[0]["loc"]))
        raise _refusal(path, f"The project is damaged at “{part}”.") from None
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _refusal(path, "The project is damaged.") from None


def _claimed_bytes(document: Mapping[str, Any]) -> int:
    """Sum the memory that the stored arrays claim to need, without unpacking them."""
    solutions = [solution for run in document["runs"] for solution in run["solutions"]]
    both = [*solutions, *(solution.get("unrefined") or {} for solution in solutions)]
    arrays = [solution.get(name) for solution in both for name in ("owner", "sites")]
    return sum(8 * math.prod(array["shape"]) for array in arrays if array)


def _refusal(
    path: Path, message: str, remedy: str = "Choose another file or an earlier copy."
) -> InputError:
    return InputError(Finding("project", message, remedy, file=path.name))


def _file(source: SourceFile, folder: Path) -> dict[str, Any]:
    fingerprint = {"size_bytes": source.size_bytes, "sha256": source.sha256} if source.sha256 else {}
    return {"path": from_folder(folder, source.path), **fingerprint}


def _named_in(project: Path, path: str) -> str:
    """Locate a file that the project names."""
    return os.path.normpath(project.parent.absolute() / path)


def _source(data: Mapping[str, Any], project: Path) -> SourceFile:
    path = _named_in(project, data["path"])
    return SourceFile(path, data.get("size_bytes", 0), data.get("sha256", ""))


def _run_to_json(run: RunEntry, entries: list[ResultRow], folder: Path) -> dict[str, Any]:
    result = run.result
    return {
        "id": run.id,
        "title": run.title,
        "problem": {
            "region_column": run.key.region_column,
            "quasi_identifiers": list(run.key.quasi_identifiers),
            "unknown_regions": run.key.unknown_regions,
            "k": run.key.k,
            "groupings": run.key.groups,
            "sensitive": [_sensitive_to_json(column) for column in run.key.sensitive],
        },
        "choices": choices_to_json(run.choices, partial(from_folder, folder)),
        "records_sha256": run.records_sha256,
        "region_ids_sha256": run.region_ids_sha256,
        "result": None if result is None else {name: getattr(result, name) for name in RESULT_FIELDS},
        "solutions": [
            {"number": e.number, "pinned": e.pinned, **solution_to_json(e.solution)} for e in entries
        ],
    }


def _sensitive_to_json(chosen: SensitiveColumn) -> dict[str, Any]:
    criteria = [criterion.text for criterion in chosen.criteria]
    return {"column": chosen.column, "benign": list(chosen.benign), "criteria": criteria}


def _sensitive(data: Mapping[str, Any]) -> SensitiveColumn:
    criteria = tuple(parse_criterion(text).of(data["column"]) for text in data["criteria"])
    return SensitiveColumn(data["column"], tuple(data["benign"]), criteria)


def _state(document: Mapping[str, Any], path: Path) -> ProjectState:
    selection = document.get("selection", {})
    if document.get("requirement"):
        parse_requirement(document["requirement"], path.name)
    return ProjectState(
        _source(document["files"]["records"], path),
        _source(document["files"]["regions"], path),
        _read_choices(document["choices"], path),
        tuple(entry for run in document["runs"] for entry in _entries(run, path)),
        selection.get("solution"),
        selection.get("region"),
        document,
        document.get("requirement", {}),
        document.get("policy", {}),
        MapStyle.from_json(document.get("map", {}), path.parent.absolute()),
        ViewSettings.from_json(document.get("view", {})),
    )


def _read_choices(data: Mapping[str, Any], path: Path) -> Choices:
    try:
        return choices_from_json(data, partial(_named_in, path))
    except InputError as error:
        raise _refusal(path, f"The project is damaged: {error.findings[0].message}") from None


def _entries(data: Mapping[str, Any], path: Path) -> list[ResultRow]:
    solutions = [(item, solution_from_json(item)) for item in data["solutions"]]
    facts = data.get("result")
    problem = data["problem"]
    run = RunEntry(
        id=data["id"],
        title=data["title"],
        key=Scenario(
            problem["region_column"],
            tuple(problem["quasi_identifiers"]),
            problem["unknown_regions"],
            problem["k"],
            grouping_entries(problem.get("groupings", {})),
            *split_sensitive([_sensitive(column) for column in problem.get("sensitive", ())]),
        ),
        choices=_read_choices(data["choices"], path),
        result=None
        if facts is None
        else RunResult(
            tuple(solution for _, solution in solutions), **{name: facts[name] for name in RESULT_FIELDS}
        ),
        records_sha256=data.get("records_sha256"),
        region_ids_sha256=data.get("region_ids_sha256", ""),
    )
    return [
        ResultRow(item["number"], run, solution, item.get("pinned", False))
        for item, solution in solutions
    ]
