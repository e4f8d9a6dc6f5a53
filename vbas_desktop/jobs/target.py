"""Putting a release that is written and verified into another place, too: a table, a file or a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.progress import Progress, Silent, Span
from vbas_desktop.settings.reading import RecordOptions
from vbas_desktop.sources.targets import Target, target_of

if TYPE_CHECKING:
    from vbas_desktop.audit.copies import Original


@dataclass(frozen=True)
class TargetJob:
    """Copy a released file to the place that a text names; it gets its name there when it was read back."""

    address: str
    format: str

    @property
    def target(self) -> Target:
        """The place, if it takes such a file."""
        found = target_of(self.address)
        if self.format not in found.formats:
            message = f"This target takes no {self.format.upper()} file, since it has types."
            raise InputError(
                Finding("release-option", message, "Choose the format parquet for the release.", file=self.address)
            )
        return found

    def check(self, records: str = "", progress: Progress = Silent()) -> None:  # noqa: B008 (Silent has no state)
        """Refuse a target that would be refused in the end, before anything is computed."""
        plain = [text.removeprefix("duckdb:").partition("#")[0] for text in (self.address, records)]
        if records and Path(plain[0]).is_file() and Path(plain[1]).is_file() and Path(plain[0]).samefile(plain[1]):
            message = "The records are read from this very file, so nothing is written to it."
            raise InputError(Finding("target-taken", message, "Choose another file.", file=self.address))
        self.target.check(progress)

    def execute(self, original: Original, progress: Progress = Silent()) -> int:  # noqa: B008
        """Copy, read back, put in place; the number of rows."""
        from vbas_desktop.audit.copies import check_copy
        from vbas_desktop.sources.table import open_engine

        reading = RecordOptions(original.delimiter, original.encoding, "no")
        with self.target.staged(original.file, Span(progress, 0.0, 0.5)) as address:
            engine = open_engine(address, reading, Span(progress, 0.5, 0.6))
            try:
                with engine.steady(progress):
                    return check_copy(engine, original, Span(progress, 0.6, 1.0))
            finally:
                engine.close()
