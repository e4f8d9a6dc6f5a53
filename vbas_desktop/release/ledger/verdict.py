"""What a check found: how a release fares beside each earlier one, and the refusal with what can be done instead."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vbas_desktop.io.regions.earlier import CROSSWALK
from vbas_desktop.io.runfile import read_run_file
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import RecordTable
from vbas_desktop.model.regions import Regions
from vbas_desktop.settings.forms import Names

from .entry import Entry
from .file import Ledger

DIFFERENCING = "differencing"
"""The code of findings about releases that expose people together."""
NEW = "NEW"
"""Stands for the folder that gets the new release."""


@dataclass(frozen=True, eq=False)
class Subject:
    """The release that is to be handed over, and the record file that it is made from.

    ``problem`` has its counts if they are at hand. Without ``rows``, these are counted from the table when needed.
    """

    entry: Entry
    table: RecordTable
    regions: Regions
    problem: Problem | None = None


@dataclass(frozen=True)
class Asked:
    """The release that was refused: its files and columns, who would have got it, and the ledger that was asked."""

    records: str
    regions: str
    source: str
    columns: tuple[str, ...]
    audience: str
    ledger: str


@dataclass(frozen=True, eq=False)
class Against:
    """How the release fares beside one earlier one. ``people``: how many would be singled out, as far as known."""

    entry: Entry
    safe: bool
    text: str
    people: int = 0


@dataclass(frozen=True, eq=False)
class Verdict:
    """The result of the check: safe beside all earlier releases of the audience, or not.

    ``k`` is the number of people that every group had to have.
    """

    audience: str
    against: tuple[Against, ...] = ()
    together: str = ""
    k: int = 0
    asked: Asked | None = None

    @property
    def safe(self) -> bool:
        """Whether nobody would be singled out."""
        return not self.together and all(each.safe for each in self.against)

    @property
    def people(self) -> int:
        """The most that one earlier release would expose."""
        return max((each.people for each in self.against), default=0)

    @property
    def words(self) -> list[str]:
        """What was found, one sentence or two for each earlier release that matters."""
        told = [each.text for each in self.against if not each.safe]
        return [*told, self.together] if self.together else told

    def as_dict(self, override: str = "", k_reason: str = "") -> dict[str, Any]:
        """The result as plain data, for run.json; ``k_reason`` is why another k was demanded than the largest one."""
        return {
            "audience": self.audience,
            "safe": self.safe,
            "compared_with": [
                {"release": each.entry.id, "safe": each.safe, "people": each.people, "text": each.text}
                for each in self.against
            ],
            "together": self.together,
            "override": override if not self.safe else "",
            "k": self.k,
            "k_reason": k_reason,
        }


class Exposing(InputError):
    """A release that would single people out; ``earlier`` is the release beside which it would."""

    def __init__(self, findings: Iterable[Finding], earlier: Entry | None = None) -> None:
        super().__init__(findings)
        self.earlier = earlier


def refuse(verdict: Verdict) -> Exposing:
    """The refusal, with the figures and what can be done instead."""
    texts = verdict.words
    findings = [Finding(DIFFERENCING, text) for text in texts[:-1]]
    unsafe = [each.entry for each in verdict.against if not each.safe] or [each.entry for each in verdict.against]
    return Exposing([*findings, Finding(DIFFERENCING, texts[-1], alternatives(unsafe[-1], verdict.asked))], unsafe[-1])


def asked_of(ledger: Ledger, subject: Subject, audience: str) -> Asked:
    """What alternatives need to know of the release that is compared."""
    regions, new = subject.regions.source, subject.entry
    place = "REGIONS" if regions is None else regions.path
    return Asked(subject.table.source.path, place, new.source, new.columns, audience, ledger.place)


def alternatives(earlier: Entry, asked: Asked | None) -> str:
    """What can be handed over instead, beside an earlier release, with the commands that make it."""
    found = () if asked is None else ways(earlier, asked)
    listed = [f"({number}) {way.text}: {way.command}" for number, way in enumerate(found, start=1)]
    despite = "Or hand it over all the same and say why: --despite-ledger REASON."
    if not listed:
        if _is_there(earlier):
            return f"Nothing else can be made from {earlier.title} for those who have it. {despite}"
        return f"The folder of {earlier.title} is not there any more, so nothing can be made from it. {despite}"
    return "\n".join(["Instead:", *listed, despite])


@dataclass(frozen=True)
class Way:
    """One alternative: what it is, and the command."""

    text: str
    command: str


def ways(earlier: Entry, asked: Asked) -> Iterator[Way]:
    """The alternatives beside an earlier release, best first; none if its folder is not there any more."""
    if not _is_there(earlier):
        return
    release = Path(earlier.folder) / "release"
    kept = _options(Path(earlier.folder))
    handing = ["--ledger", asked.ledger, *(["--audience", asked.audience] if asked.audience else [])]
    export = ["vbas", "export", earlier.folder]
    same = earlier.source == asked.source
    if same:
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
    fewer = _fewer_columns(earlier, asked.columns, same)
    if fewer:
        columns = ["--columns", Names().text(fewer)]
        yield _way("an extract of what was handed over, with fewer columns", [*export, *columns], handing)


def _is_there(earlier: Entry) -> bool:
    return bool(earlier.folder) and (Path(earlier.folder) / "release" / CROSSWALK).is_file()


def _fewer_columns(earlier: Entry, wanted: Sequence[str], offered: bool) -> tuple[str, ...]:
    """Columns of an extract that is less than what was handed over, and than all wanted ones if these are ``offered``.

    If no column has to go for that, places and quasi-identifiers are left; empty if that is no less either.
    """
    whole = [set(earlier.columns), *([set(_with_place(tuple(wanted), earlier))] if offered else [])]
    extract = extract_columns(earlier, wanted)
    core = tuple(name for name in extract if name in (earlier.region_column, *earlier.visible))
    return next((each for each in (extract, core) if set(each) not in whole), ())


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
