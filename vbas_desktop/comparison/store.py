"""Finished combinations on disk until all are: one JSON file each, named by what went in, so that nothing is computed
twice when a comparison was stopped.

A file is written beside its place and renamed: whatever ends the program, each file is complete or not there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vbas_desktop import __version__
from vbas_desktop.io.output import make_own_folder, write_text
from vbas_desktop.io.solutions import solution_from_json, solution_to_json
from vbas_desktop.model.solution import RunResult

from .plan import Combination, Plan

FORMAT_VERSION = 1


def settings_of(
    plan: Plan, combination: Combination, counts: str, limits: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Everything that decides what comes of a combination, as plain data. ``counts`` is the problem's `fingerprint`,
    ``limits`` what its regions must keep to.
    """
    return {
        "format_version": FORMAT_VERSION,
        "program_version": __version__,
        "counts": counts,
        "k": combination.scenario.k,
        "approaches": combination.settings(),
        **plan.of_every_run,
        "pareto_measures": list(plan.pareto_measures),
        **(limits or {}),
    }


@dataclass(frozen=True)
class Store:
    """A folder of finished combinations."""

    folder: Path

    def path(self, settings: Mapping[str, Any]) -> Path:
        """Where a combination is or will be."""
        text = json.dumps(settings, sort_keys=True, allow_nan=False)
        return self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"

    def get(self, settings: Mapping[str, Any]) -> RunResult | None:
        """The kept result; None if there is none that can be used."""
        try:
            document = json.loads(self.path(settings).read_text(encoding="utf-8"))
            return _result(document) if document["settings"] == settings else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            # Whatever is in the way of reading it, computing it again gives the same.
            return None

    def put(self, settings: Mapping[str, Any], result: RunResult) -> RunResult:
        """Keep a result; hands it back as it will be read, so that fresh and kept results cannot differ."""
        document = {"settings": dict(settings), **{name: getattr(result, name) for name in RESULT}}
        document["solutions"] = [solution_to_json(solution) for solution in result.solutions]
        text = json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
        make_own_folder(self.folder)
        write_text(self.path(settings), text, private=True)
        return _result(json.loads(text))

    def forget(self) -> None:
        """Remove the folder: a finished comparison needs it no more. What somebody else put there stays."""
        for path in (*self.folder.glob("*.json"), *self.folder.glob(".*.part")):
            path.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()


class Memory:
    """Keeps results for the length of the program only."""

    def __init__(self) -> None:
        self._kept: dict[str, RunResult] = {}

    def get(self, settings: Mapping[str, Any]) -> RunResult | None:
        """The kept result, if there is one."""
        return self._kept.get(json.dumps(settings, sort_keys=True))

    def put(self, settings: Mapping[str, Any], result: RunResult) -> RunResult:
        """Keep a result."""
        return self._kept.setdefault(json.dumps(settings, sort_keys=True), result)

    def forget(self) -> None:
        """Nothing is left behind anyway."""


RESULT = ("approximated_sites", "globally_suppressed_records", "classes_present", "seconds")
"""What is kept of a result beside its solutions."""


def _result(document: Mapping[str, Any]) -> RunResult:
    solutions = tuple(solution_from_json(item) for item in document["solutions"])
    return RunResult(solutions, **{name: document[name] for name in RESULT})
