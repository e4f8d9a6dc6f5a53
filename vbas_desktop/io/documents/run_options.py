"""The settings of a run as ``run.json`` keeps them, and the command line that repeats it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vbas_desktop.approaches.selection import (
    approach_options,
    format_flag,
    is_file_assignment,
    list_flag_parameters,
)
from vbas_desktop.settings.generated import repeat_arguments
from vbas_desktop.settings.generated import report_lines as group_report_lines
from vbas_desktop.settings.option import OptionGroup, join_flag
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.run import COMPONENTS, RunSettings

_TOLD = {
    *(
        "region_column",
        "quasi_identifiers",
        "identifiers",
        "k",
        "coordinates",
        "columns",
        "renames",
        "class_size",
    ),
    *("record_key", "aggregate", "aggregate_classes"),
    *("shuffle", "shuffle_seed", "release_delimiter", "escape_formulas", "format", "policy"),
}
"""Settings that a report describes in sentences of its own, or that it does not show."""

GROUPS_FILE, REQUIREMENT_FILE, CHECKLIST_FILE = "generalise.csv", "requirement.json", "checklist.json"
SEED_FILE = "shuffle-seed.txt"
_SEED = "shuffle_seed"
_LEFT_OUT: Mapping[type[OptionGroup], tuple[str, ...]] = {
    RunSettings: (),
    ReleaseOptions: ("identifiers", _SEED),
}
"""What the command that repeats a run does not say: options of both, and the secret, which stands in a file of its own
so that a copied report does not give it away."""


def options_in_force(
    settings: RunSettings, release: ReleaseOptions, records: str, regions: str
) -> dict[str, Any]:
    """Collect all settings by the names of the command line, whoever chose them and wherever."""
    used = {
        name: dict(settings.groupings[name])
        for name in settings.quasi_identifiers
        if name in settings.groupings
    }
    found = {
        **settings.as_dict(),
        **approach_options(settings),
        **release.as_dict(),
        "records": records,
        "regions": regions,
        "groupings": used,
        "generalise": [GROUPS_FILE] if used else [],
    }
    return dict(sorted(found.items()))


def repeat_command(document: Mapping[str, Any], solution: int) -> str:
    """Format the command that gives the release again; empty if the options of the run are not known.

    Files are named without their folders: where they lie in the organisation is nobody's business.
    """
    options = document.get("options") or {}
    if "region_column" not in options:
        return ""
    words = ["vbas", "run", *(_file(str(options[name])) for name in ("records", "regions"))]
    for group in (RunSettings, ReleaseOptions):
        words += repeat_arguments(group.from_dict(options), without=_LEFT_OUT[group])
    words += _approach_words(options)
    for option, file in files_to_repeat(document).items():
        words += [option, f"@{file}" if file == SEED_FILE else file]
    words += ["--solution", str(solution), "--out", "release-again"]
    return shlex.join(words)


def report_lines(options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Label and value of the settings that are not as usual and that reports do not tell by themselves."""
    lines = (
        line
        for group in (RunSettings, ReleaseOptions)
        for line in group_report_lines(group.from_dict(options), without=_TOLD)
    )
    return list(dict(lines).items())


def files_to_repeat(document: Mapping[str, Any]) -> dict[str, str]:
    """List the options that name a file besides the two of the run, and the file that a release keeps for each."""
    options = document.get("options") or {}
    there = {
        "--generalise": (GROUPS_FILE, options.get("groupings")),
        "--requirement": (REQUIREMENT_FILE, document.get("requirement")),
        "--checklist": (CHECKLIST_FILE, document.get("policy_checklist")),
        "--shuffle-seed": (
            SEED_FILE,
            (options.get("shuffle") or options.get("record_key")) and options.get(_SEED),
        ),
    }
    return {option: file for option, (file, content) in there.items() if content}


def _approach_words(options: Mapping[str, Any]) -> Iterator[str]:
    for key in (*COMPONENTS, *list_flag_parameters()):
        if options.get(key) is not None:
            yield from join_flag(format_flag(key), str(options[key]))
    for assignment in options.get("set") or ():
        parameter, _, value = assignment.partition("=")
        named = f"{parameter}={_file(value)}" if is_file_assignment(assignment) else assignment
        yield from join_flag("--set", named)


def _file(place: str) -> str:
    """Name a file without its folders, or an address without what leads to a machine or folder."""
    path, mark, table = place.partition("#")
    name = Path(path.rstrip("/")).name + mark + table
    return f"./{name}" if name.startswith("-") else name
