"""What a check found: how a release fares beside each earlier one, and the refusal with what can be done instead."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.problem import Problem
from vbas_desktop.domain.regions import Regions
from vbas_desktop.files.records.table import RecordTable

from .entry import Entry
from .file import Ledger
from .ways import Asked, ways

DIFFERENCING = "differencing"
"""The code of findings about releases that expose people together."""


@dataclass(frozen=True, eq=False)
class Subject:
    """The release that is to be handed over, and the record file that it is made from.

    ``problem`` has its counts if they are at hand. Without ``rows``, these are counted from the table when needed.
    """

    entry: Entry
    table: RecordTable
    regions: Regions
    problem: Problem | None = None


@dataclass(frozen=True, eq=False)
class Against:
    """How the release fares beside one earlier one. ``people``: how many would be singled out, as far as known."""

    entry: Entry
    safe: bool
    text: str
    people: int = 0


@dataclass(frozen=True, eq=False)
class Verdict:
    """The result of the check: safe beside all earlier releases of the audience, or not."""

    audience: str
    against: tuple[Against, ...] = ()
    together: str = ""
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

    def as_dict(self, override: str = "") -> dict[str, Any]:
        """The result as plain data, for run.json."""
        return {
            "audience": self.audience,
            "safe": self.safe,
            "compared_with": [
                {"release": each.entry.id, "safe": each.safe, "people": each.people, "text": each.text}
                for each in self.against
            ],
            "together": self.together,
            "override": override if not self.safe else "",
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
        return f"The folder of {earlier.title} is not there any more, so nothing can be made from it. {despite}"
    return "\n".join(["Instead:", *listed, despite])
