"""What came of a release, for the window and the command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vbas_desktop.domain.errors import Check, Finding


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
    policy_met: bool | None = None

    @property
    def folder(self) -> Path:
        """The folder that may leave the organisation."""
        return self.target / "release"
