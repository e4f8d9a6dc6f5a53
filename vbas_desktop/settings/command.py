"""The settings of a run as ``run.json`` keeps them, and the command line that repeats it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vbas_desktop.model.errors import UsageError

from .approaches import approach_options, named_parameters, spelled
from .declaration import Setting, settings_of
from .forms import Form, Texts
from .release import ReleaseOptions
from .run import COMPONENTS, RunSettings
from .sensitive import check_sensitive

_TOLD = {
    *("region_column", "quasi_identifiers", "identifiers", "k", "coordinates", "columns", "rename", "class_size"),
    *("record_key", "aggregate", "aggregate_classes"),
    *("shuffle", "shuffle_seed", "release_delimiter", "escape_formulas", "format", "policy"),
}
"""Settings that a report describes in sentences of its own, or that it does not show."""

GROUPS_FILE, REQUIREMENT_FILE, CHECKLIST_FILE = "generalise.csv", "requirement.json", "checklist.json"
SEED_FILE = "shuffle-seed.txt"
_SEED = "shuffle_seed"
"""What a release keeps in its folder ``internal`` for whoever repeats it."""


def options_in_force(settings: RunSettings, release: ReleaseOptions, records: str, regions: str) -> dict[str, Any]:
    """All settings by the names of the command line, whoever chose them and wherever."""
    used = {name: dict(settings.groupings[name]) for name in settings.quasi_identifiers if name in settings.groupings}
    found = {
        **settings.options(),
        **approach_options(settings),
        **release.options(),
        "records": records,
        "regions": regions,
        "groupings": used,
        "generalise": [GROUPS_FILE] if used else [],
    }
    return dict(sorted(found.items()))


def check_columns(settings: RunSettings) -> None:
    """No column can have two roles."""
    roles = {
        "--quasi-identifiers": settings.quasi_identifiers,
        "--identifiers": settings.identifiers,
        "--sensitive": settings.sensitive,
    }
    for option, chosen in roles.items():
        if settings.region_column in chosen:
            raise UsageError(f"“{settings.region_column}” is the region column; take it out of {option}.")
    both = [name for name in settings.identifiers if name in settings.quasi_identifiers]
    if both:
        raise UsageError(f"“{both[0]}” is both a quasi-identifier and an identifier; choose one.")
    for name in settings.sensitive:
        if name in (*settings.quasi_identifiers, *settings.identifiers):
            other = "a quasi-identifier" if name in settings.quasi_identifiers else "an identifier"
            raise UsageError(f"“{name}” is both sensitive and {other}; choose one.")
    check_sensitive(settings.sensitive, settings)


def repeat_command(document: Mapping[str, Any], solution: int) -> str:
    """The command line that gives the release again; empty if the options of the run are not known.

    Files are named without their folders: where they lie in the organisation is nobody's business.
    """
    options = document.get("options") or {}
    if "region_column" not in options:
        return ""
    words = ["vbas", "run", *(_file(str(options[name])) for name in ("records", "regions"))]
    for declared in _settings():
        plain = options.get(declared.key, declared.plain_default)
        if declared.key == _SEED:
            # The secret stands in a file of its own, so that a copied report does not give it away.
            continue
        if declared.decides and (declared.required or not _usual(declared, plain)):
            words += declared.form.words(declared.option, plain)
    words += _approach_words(options)
    for option, file in files_to_repeat(document).items():
        words += [option, f"@{file}" if file == SEED_FILE else file]
    words += ["--solution", str(solution), "--out", "release-again"]
    return shlex.join(words)


def settings_in_words(options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Label and value of the settings that are not as usual and that reports do not tell by themselves."""
    others = [each for each in _settings() if each.key in options and each.key not in _TOLD and each.decides]
    chosen = [(each, options[each.key]) for each in others if not _usual(each, options[each.key])]
    return [(declared.title, declared.in_words(plain)) for declared, plain in chosen]


def files_to_repeat(document: Mapping[str, Any]) -> dict[str, str]:
    """The options that name a file besides the two of the run, and the file that a release keeps for each."""
    options = document.get("options") or {}
    there = {
        "--generalise": (GROUPS_FILE, options.get("groupings")),
        "--requirement": (REQUIREMENT_FILE, document.get("requirement")),
        "--checklist": (CHECKLIST_FILE, document.get("policy_checklist")),
        "--shuffle-seed": (SEED_FILE, (options.get("shuffle") or options.get("record_key")) and options.get(_SEED)),
    }
    return {option: file for option, (file, content) in there.items() if content}


def _settings() -> tuple[Setting, ...]:
    known = settings_of(RunSettings)
    return (*known, *(each for each in settings_of(ReleaseOptions) if each.key not in {one.key for one in known}))


def _usual(declared: Setting, plain: Any) -> bool:
    return plain == declared.plain_default or (plain in ([], None) and declared.plain_default in ([], None))


def _approach_words(options: Mapping[str, Any]) -> Iterator[str]:
    for key in (*COMPONENTS, *named_parameters()):
        if options.get(key) is not None:
            yield from Form().words(spelled(key), options[key])
    yield from Texts().words("--set", options.get("set") or ())


def _file(place: str) -> str:
    """A file without its folders, or of an address what leads to no machine and no folder."""
    path, mark, table = place.partition("#")
    name = Path(path.rstrip("/")).name + mark + table
    return f"./{name}" if name.startswith("-") else name
