"""Finished combinations and nodes on disk: a JSON file each, so that a comparison or search that was stopped goes on.

A file is written under another name and renamed: whatever ends the program, each file is complete or not there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from vbas_desktop.engine.lattice.search import NodeResult
from vbas_desktop.engine.result_cache import CacheKey, hash_key
from vbas_desktop.model.solution import RunResult

from ..output import make_own_folder, write_text
from .solutions import solution_from_json, solution_to_json

T = TypeVar("T")

RESULT_FIELDS = ("approximated_sites", "globally_suppressed_records", "classes_present", "seconds")
"""What is stored of a run's result beside its solutions."""


@dataclass(frozen=True)
class DiskCache(Generic[T]):
    """A folder of results; only the owner of the process may read it, since results tell of few records."""

    folder: Path
    to_json: Callable[[T], dict[str, Any]]
    from_json: Callable[[Mapping[str, Any]], T]

    def get_path(self, key: CacheKey) -> Path:
        """Return the file of a result, whether it exists or not."""
        return self.folder / f"{hash_key(key)}.json"

    def get(self, key: CacheKey) -> T | None:
        """Read the stored result; None if there is none that can be used."""
        try:
            document = json.loads(self.get_path(key).read_text(encoding="utf-8"))
            return self.from_json(document["result"]) if document["settings"] == key else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            # Whatever prevents reading it: computing it again gives the same.
            return None

    def put(self, key: CacheKey, result: T) -> T:
        """Write a result, and return it as it will be read."""
        document = {"settings": dict(key), "result": self.to_json(result)}
        text = json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
        make_own_folder(self.folder)
        write_text(self.get_path(key), text, private=True)
        return self.from_json(json.loads(text)["result"])

    def clear(self) -> None:
        """Remove the results, half-written ones included, and the folder unless it contains other files."""
        for path in (*self.folder.glob("*.json"), *self.folder.glob(".*.part")):
            path.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()


def open_run_cache(folder: Path) -> DiskCache[RunResult]:
    """Return the cache of a comparison: the result of each combination."""
    return DiskCache(folder, _run_to_json, _run_from_json)


def open_node_cache(folder: Path) -> DiskCache[NodeResult]:
    """Return the cache of a lattice search: the result of each node."""
    return DiskCache(folder, asdict, _node_from_json)


def _run_to_json(result: RunResult) -> dict[str, Any]:
    fields = {name: getattr(result, name) for name in RESULT_FIELDS}
    return {**fields, "solutions": [solution_to_json(solution) for solution in result.solutions]}


def _run_from_json(data: Mapping[str, Any]) -> RunResult:
    solutions = tuple(solution_from_json(item) for item in data["solutions"])
    return RunResult(solutions, **{name: data[name] for name in RESULT_FIELDS})


def _node_from_json(data: Mapping[str, Any]) -> NodeResult:
    return NodeResult(**{**data, "node": tuple(data["node"])})
