"""The folder of a release: which folder may be replaced by one, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.analysis.policy_evaluation import PolicyEvaluation
from vbas_desktop.io.documents.run_file import RUN_FILE
from vbas_desktop.io.documents.run_options import (
    CHECKLIST_FILE,
    GROUPS_FILE,
    REQUIREMENT_FILE,
    SEED_FILE,
)
from vbas_desktop.io.output import check_target
from vbas_desktop.model.findings import Check, Finding
from vbas_desktop.model.text import format_count

if TYPE_CHECKING:
    from .column_coverage import ColumnCoverage

_OUTSIDE = (
    "anonymized.csv", "anonymized.parquet", "crosswalk.csv", "aggregated_regions.csv", "aggregated_regions.geojson",
    "aggregated_regions.gpkg", "class_counts.csv", "representability.json", "report.html", "report.pdf", "SHA256SUMS",
)  # fmt: skip
_INSIDE = (
    "aggregated_regions.csv",
    "record_index.csv",
    "report.html",
    "report.pdf",
    GROUPS_FILE,
    REQUIREMENT_FILE,
    CHECKLIST_FILE,
    SEED_FILE,
)

NAMES = (RUN_FILE, *(f"release/{name}" for name in _OUTSIDE), *(f"internal/{name}" for name in _INSIDE))
"""Every file that a release may consist of. A folder with any other in it is not replaced."""


def check_release_target(target: Path, inputs: Iterable[Path] = ()) -> None:
    """Refuse a target that holds an input, or anything but an earlier release."""
    check_target(target, NAMES, inputs)


@dataclass(frozen=True)
class ReleasedFile:
    """A file of the release, by its path below the target."""

    path: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True)
class ReleaseReport:
    """The numbers of a release that is in place. Counts may be below k: it stays in the organisation."""

    target: Path
    records: int
    records_released: int
    records_suppressed: int
    aggregated_regions: int
    anonymity: int | None
    checks: tuple[Check, ...]
    files: tuple[ReleasedFile, ...]
    findings: tuple[Finding, ...] = ()
    policy: PolicyEvaluation | None = None
    population: Mapping[str, Any] | None = None
    regions_with_records: int | None = None
    in_tiers: bool = False
    columns: ColumnCoverage | None = None
    last_look: Mapping[str, Any] | None = None

    @property
    def regions_in_words(self) -> str:
        """In how many aggregated regions there are released records, and of how many if some have none."""
        number = self.aggregated_regions
        there = self.regions_with_records
        some = "" if there is None or there == number else f"{there:,} of "
        larger = " and in larger areas" if self.in_tiers else ""
        return f"{some}{format_count(number, 'aggregated region')}{larger}"

    @property
    def folder(self) -> Path:
        """The folder that may leave the organisation."""
        return self.target / "release"
