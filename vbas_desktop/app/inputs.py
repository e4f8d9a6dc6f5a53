"""Find the files that a command reads: none of them may become its target."""

from __future__ import annotations

import glob
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vbas_desktop.io.databases.address import EngineKind, parse_address
from vbas_desktop.io.documents.run_file import RUN_FILE
from vbas_desktop.io.output import check_target

INPUTS = frozenset({
    "records", "regions", "generalise", "obstacles", "coarsen_from", "region_map", "set", "policy", "population",
    "ledger", "codebook", "requirement", "checklist", "run_folder", "ladder", "reference", "file", "like", "original",
    "anonymised", "hierarchies", "distances", "crosswalk", "worst", "domain_rules", "filter_rules", "people",
    "slots", "plan", "keep_records", "drop_records",
})  # fmt: skip
"""The options, by the names of `argparse`, that name something to be read."""

_RECORDS = ("records", "file", "original", "anonymised", "worst", "people", "reference")
"""Of these, addresses are possible, too."""

_TABLES = ("hierarchies", "distances")
"""Of these folders the files ``COLUMN.csv`` are read."""


def input_paths(options: Mapping[str, Any]) -> list[Path]:
    """List the files and folders that exist on this machine and that the options name as inputs."""
    named = [(name, text) for name in sorted(INPUTS) for text in _list_texts(options.get(name))]
    candidates = [path for name, text in named for path in _paths(name, text)]
    return [path for path in dict.fromkeys(candidates) if path.exists()]


def check_saved_file(path: Path, options: Mapping[str, Any]) -> None:
    """Refuse to save over a file that the options name; whoever chose the place has agreed to replace any other."""
    check_target(path, inputs=input_paths(options), replace=True)


def _list_texts(value: Any) -> list[str]:
    """List the texts of an option's value: of a text or path, or of several; none of any other value."""
    if isinstance(value, str | Path):
        return [str(value)]
    return [str(item) for item in value] if isinstance(value, list | tuple) else []


def _paths(name: str, text: str) -> list[Path]:
    if name in _TABLES:
        return sorted(Path(text).glob("*.csv"))
    if name == "run_folder":
        return [Path(text) / RUN_FILE]
    if name in _RECORDS:
        return local_paths(text)
    # COLUMN=FILE, COLUMN=FILE:LEVEL and APPROACH.PARAMETER=FILE name a file after the sign.
    file = text.partition("=")[2]
    candidates = [Path(each) for each in (text, file, file.rpartition(":")[0]) if each]
    return [path for path in candidates if path.is_file()]


def local_paths(address: str) -> list[Path]:
    """List what an address of records means on this machine: a file, a folder, or the files of a pattern."""
    found = parse_address(address)
    if isinstance(found, Path):
        return [found]
    if found.kind is EngineKind.POSTGRESQL or (found.kind is EngineKind.SPARK and found.table):
        return []
    place = found.location if found.kind is EngineKind.DUCKDB else found.location.partition(" ")[2]
    if glob.has_magic(place) and not Path(place).exists():
        return sorted(map(Path, glob.glob(place, recursive=True)))
    return [Path(place)]
