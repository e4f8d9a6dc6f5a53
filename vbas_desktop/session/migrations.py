"""Steps from each earlier project format to the next one. A file of every earlier format is kept in the tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .project_schema import FORMAT

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
