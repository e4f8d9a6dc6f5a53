"""What can be handed over instead of a release that would single people out, as commands that make it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vbas_desktop.domain.errors import InputError
from vbas_desktop.files.regions.earlier import CROSSWALK
from vbas_desktop.files.runfile import read_run_file
from vbas_desktop.settings.forms import Names

from .entry import Entry

NEW = "NEW"
"""Stands for the folder that gets the new release."""


@dataclass(frozen=True)
class Asked:
    """The release that was refused: its files and columns, who would have got it, and the ledger that was asked."""

    records: str
    regions: str
    source: str
    columns: tuple[str, ...]
    audience: str
    ledger: str


@dataclass(frozen=True)
class Way:
    """One alternative: what it is, and the command."""

    text: str
    command: str


def ways(earlier: Entry, asked: Asked) -> Iterator[Way]:
    """The alternatives beside an earlier release, best first; none if its folder is not there any more."""
    release = Path(earlier.folder) / "release"
    if not earlier.folder or not (release / CROSSWALK).is_file():
        return
    kept = _options(Path(earlier.folder))
    handing = ["--ledger", asked.ledger, *(["--audience", asked.audience] if asked.audience else [])]
    export = ["vbas", "export", earlier.folder]
    if earlier.source == asked.source:
        columns = ["--columns", Names().text(_with_place(asked.columns, earlier))]
        yield _way("the same regions and quasi-identifiers, with the columns asked for", [*export, *columns], handing)
    elif not earlier.parents:
        text = "the same regions and quasi-identifiers for these records; who came and went is compared again"
        words = ["vbas", "run", asked.records, asked.regions, *_same_regions(earlier)]
        yield _way(text, [*words, *_dropped(kept), *_allowed(kept)], handing)
    if not earlier.parents:
        records = next(release.glob("anonymized.*"), release / "anonymized.csv")
        files = [str(records), str(release / "aggregated_regions.geojson")]
        own = ["--region-column", earlier.region_column, "--quasi-identifiers", Names().text(earlier.visible)]
        text = "its regions joined further; it is made from what was handed over and tells nothing else"
        yield _way(text, ["vbas", "run", *files, *own, "-k", str(earlier.k), *_allowed(kept)], handing)
    fewer = ["--columns", Names().text(extract_columns(earlier, asked.columns))]
    yield _way("an extract of what was handed over, with fewer columns", [*export, *fewer], handing)


def extract_columns(earlier: Entry, wanted: Sequence[str]) -> tuple[str, ...]:
    """Those of the wanted columns that were handed over, with the one that holds the places."""
    return _with_place(tuple(name for name in wanted if name in earlier.columns), earlier)


def _same_regions(earlier: Entry) -> list[str]:
    """Options of a run that makes the regions of the earlier release."""
    number = str(earlier.aggregated_regions)
    return [
        *("--region-column", earlier.region_column),
        *("--quasi-identifiers", Names().text(earlier.quasi_identifiers), "-k", str(earlier.k)),
        *("--construction", "coarsen", "--coarsen-from", earlier.folder, "--sites", number, "--range-reach", "0"),
    ]


def _options(folder: Path) -> Mapping[str, Any]:
    """The options of the earlier run; none if its run.json cannot be read."""
    try:
        return read_run_file(folder).get("options") or {}
    except InputError:
        return {}


def _dropped(kept: Mapping[str, Any]) -> list[str]:
    names = kept.get("identifiers")
    return ["--identifiers", Names().text(names)] if names else []


def _allowed(kept: Mapping[str, Any]) -> list[str]:
    """What was released knowingly then; those who have it learn nothing new from it."""
    names = kept.get("allow_column")
    return ["--allow-column", Names().text(names)] if names else []


def _with_place(columns: tuple[str, ...], earlier: Entry) -> tuple[str, ...]:
    return columns if earlier.region_column in columns else (earlier.region_column, *columns)


def _way(text: str, words: list[str], handing: list[str]) -> Way:
    return Way(text, shlex.join([*words, *handing, "--out", NEW]))
