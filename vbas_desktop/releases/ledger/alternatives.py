"""Verdicts of the check, and what can be released instead of a refused release, with the commands."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vbas_desktop.io.documents.run_file import read_run_file
from vbas_desktop.io.regions.crosswalk import CROSSWALK
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import RecordTable
from vbas_desktop.model.regions import Regions
from vbas_desktop.settings.codecs import format_names

from .entry import LedgerEntry
from .ledger_file import Ledger

DIFFERENCING = "differencing"
"""The code of findings about releases that expose people together."""
NEW_FOLDER = "NEW"
"""Stands for the folder that gets the new release in suggested commands."""


@dataclass(frozen=True, eq=False)
class ReleaseCandidate:
    """The release that is to be handed over, and the record file that it is made from.

    ``problem`` has its counts if they are at hand.
    """

    entry: LedgerEntry
    table: RecordTable
    regions: Regions
    problem: Problem | None = None


@dataclass(frozen=True)
class RefusedRelease:
    """Facts about a refused release from which other releases are suggested.

    records, regions: paths of the files. source_sha256: of the records. columns: that were to be released.
    ledger: path of the ledger.
    """

    records: str
    regions: str
    source_sha256: str
    columns: tuple[str, ...]
    audience: str
    ledger: str


@dataclass(frozen=True, eq=False)
class ReleaseComparison:
    """The release compared with an earlier one. ``people``: how many would be singled out, as far as known."""

    entry: LedgerEntry
    is_safe: bool
    text: str
    people: int = 0


@dataclass(frozen=True, eq=False)
class LedgerVerdict:
    """Result of the check of a release against all that its audience has.

    joint_risk: what all releases disclose together although no two of them do; empty if nothing.
    k: least number of people that every group had to have.
    """

    audience: str
    comparisons: tuple[ReleaseComparison, ...] = ()
    joint_risk: str = ""
    k: int = 0
    refused: RefusedRelease | None = None

    @property
    def is_safe(self) -> bool:
        """True if nobody would be singled out."""
        return not self.joint_risk and all(comparison.is_safe for comparison in self.comparisons)

    @property
    def people(self) -> int:
        """The largest number of people that the release would expose together with one earlier release."""
        return max((comparison.people for comparison in self.comparisons), default=0)

    def list_risks(self) -> list[str]:
        """List what is unsafe, one or two sentences for each earlier release concerned."""
        texts = [comparison.text for comparison in self.comparisons if not comparison.is_safe]
        return [*texts, self.joint_risk] if self.joint_risk else texts

    def as_dict(self, override: str = "", k_reason: str = "") -> dict[str, Any]:
        """Return the result as plain data for run.json; ``k_reason``: why another k than the largest was demanded."""
        return {
            "audience": self.audience,
            "safe": self.is_safe,
            "compared_with": [
                {
                    "release": comparison.entry.id,
                    "safe": comparison.is_safe,
                    "people": comparison.people,
                    "text": comparison.text,
                }
                for comparison in self.comparisons
            ],
            "together": self.joint_risk,
            "override": override if not self.is_safe else "",
            "k": self.k,
            "k_reason": k_reason,
        }


class DifferencingRisk(InputError):
    """A release that would single people out; ``earlier`` is the release together with which it would."""

    def __init__(self, findings: Iterable[Finding], earlier: LedgerEntry | None = None) -> None:
        super().__init__(findings)
        self.earlier = earlier


def differencing_error(verdict: LedgerVerdict) -> DifferencingRisk:
    """Make the error of an unsafe verdict, with the figures and what can be done instead."""
    texts = verdict.list_risks()
    comparisons = verdict.comparisons
    unsafe = [comparison for comparison in comparisons if not comparison.is_safe] or list(comparisons)
    earlier = unsafe[-1].entry
    findings = [Finding(DIFFERENCING, text) for text in texts[:-1]]
    remedy = describe_alternatives(earlier, verdict.refused)
    return DifferencingRisk([*findings, Finding(DIFFERENCING, texts[-1], remedy)], earlier)


def describe_refused(ledger: Ledger, candidate: ReleaseCandidate, audience: str) -> RefusedRelease:
    """Collect what suggestions for another release need to know of the one that is checked."""
    regions = candidate.regions.source
    return RefusedRelease(
        records=candidate.table.source.path,
        regions="REGIONS" if regions is None else regions.path,
        source_sha256=candidate.entry.source_sha256,
        columns=candidate.entry.columns,
        audience=audience,
        ledger=ledger.path,
    )


def describe_alternatives(earlier: LedgerEntry, refused: RefusedRelease | None) -> str:
    """Say what can be handed over together with an earlier release instead, with the commands."""
    alternatives = () if refused is None else list_alternatives(earlier, refused)
    lines = [
        f"({number}) {text}: {command}" for number, (text, command) in enumerate(alternatives, start=1)
    ]
    override = "Or hand it over all the same and say why: --despite-ledger REASON."
    if lines:
        return "\n".join(["Instead:", *lines, override])
    if _has_folder(earlier):
        return f"Nothing else can be made from {earlier.title} for those who have it. {override}"
    return f"The folder of {earlier.title} no longer exists, so nothing can be made from it. {override}"


def list_alternatives(earlier: LedgerEntry, refused: RefusedRelease) -> Iterator[tuple[str, str]]:
    """List what can be released together with an earlier release, best first: description and command.

    Yields nothing if the folder of the earlier release is gone.
    """
    if not _has_folder(earlier):
        return
    folder = Path(earlier.folder)
    handover = ["--ledger", refused.ledger]
    if refused.audience:
        handover += ["--audience", refused.audience]
    handover += ["--out", NEW_FOLDER]
    options = _read_options(folder)
    allowed_columns = _format_option("--allow-column", options.get("allow_columns"))
    export = ["vbas", "export", earlier.folder]
    has_same_source = earlier.source_sha256 == refused.source_sha256
    if has_same_source:
        columns = format_names(_add_region_column(refused.columns, earlier))
        command = [*export, "--columns", columns, *handover]
        yield "the same regions and quasi-identifiers, with the columns asked for", shlex.join(command)
    elif not earlier.parents:
        text = "the same regions and quasi-identifiers for these records; who came and went is compared again"
        identifiers = _format_option("--identifiers", options.get("identifiers"))
        command = ["vbas", "run", refused.records, refused.regions, *_list_region_options(earlier)]
        yield text, shlex.join([*command, *identifiers, *allowed_columns, *handover])
    if not earlier.parents:
        release = folder / "release"
        records = next(release.glob("anonymized.*"), release / "anonymized.csv")
        command = ["vbas", "run", str(records), str(release / "aggregated_regions.geojson")]
        command += ["--region-column", earlier.region_column]
        command += [
            "--quasi-identifiers",
            format_names(earlier.released_quasi_identifiers),
            "-k",
            str(earlier.k),
        ]
        text = "its regions joined further; it is made from what was handed over and tells nothing else"
        yield text, shlex.join([*command, *allowed_columns, *handover])
    fewer = _choose_fewer_columns(earlier, refused.columns, has_same_source)
    if fewer:
        command = [*export, "--columns", format_names(fewer), *handover]
        yield "an extract of what was handed over, with fewer columns", shlex.join(command)


def _has_folder(earlier: LedgerEntry) -> bool:
    """Return True if the files of an earlier release are still where they were recorded."""
    return bool(earlier.folder) and (Path(earlier.folder) / "release" / CROSSWALK).is_file()


def _choose_fewer_columns(
    earlier: LedgerEntry, requested: Sequence[str], can_have_all: bool
) -> tuple[str, ...]:
    """Choose columns of an extract that is less than what was handed over; empty if there is none.

    If it would be all requested columns, and these are suggested already (``can_have_all``), only the regions and
    quasi-identifiers are left.
    """
    excluded = [set(earlier.columns)]
    if can_have_all:
        excluded.append(set(_add_region_column(tuple(requested), earlier)))
    extract = columns_of_extract(earlier, requested)
    core_columns = (earlier.region_column, *earlier.released_quasi_identifiers)
    core = tuple(name for name in extract if name in core_columns)
    return next((columns for columns in (extract, core) if set(columns) not in excluded), ())


def columns_of_extract(earlier: LedgerEntry, requested: Sequence[str]) -> tuple[str, ...]:
    """List the requested columns that were handed over, and the region column."""
    return _add_region_column(tuple(name for name in requested if name in earlier.columns), earlier)


def _add_region_column(columns: tuple[str, ...], earlier: LedgerEntry) -> tuple[str, ...]:
    return columns if earlier.region_column in columns else (earlier.region_column, *columns)


def _list_region_options(earlier: LedgerEntry) -> list[str]:
    """List the options of a run that makes the regions of the earlier release."""
    return [
        *("--region-column", earlier.region_column),
        *("--quasi-identifiers", format_names(earlier.quasi_identifiers)),
        *("-k", str(earlier.k)),
        *("--construction", "coarsen"),
        *("--coarsen-from", earlier.folder),
        *("--sites", str(earlier.aggregated_regions)),
        *("--range-reach", "0"),
    ]


def _read_options(folder: Path) -> Mapping[str, Any]:
    """Read the options of the earlier run; none if its run.json cannot be read."""
    try:
        return read_run_file(folder).get("options") or {}
    except InputError:
        return {}


def _format_option(flag: str, names: Sequence[str] | None) -> list[str]:
    return [flag, format_names(names)] if names else []
