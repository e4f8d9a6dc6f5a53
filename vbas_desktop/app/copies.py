"""Copies a released file to a folder, a database or another engine, and reads the copy back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from vbas_desktop.audit.copies import Original, check_copy
from vbas_desktop.io.databases.opening import open_engine
from vbas_desktop.io.databases.targets import ReleaseTarget, parse_target
from vbas_desktop.io.output import refuse_inputs
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import NO_PROGRESS, Progress, SubProgress
from vbas_desktop.settings.reading import RecordReading

from .inputs import local_paths


@dataclass(frozen=True)
class CopyRequest:
    """Ask for a copy of a released file at an address; it gets its name there when it was read back."""

    address: str
    format: str

    @property
    def target(self) -> ReleaseTarget:
        """Return the target; raise `InputError` if it does not take such a file."""
        found = parse_target(self.address)
        if self.format not in found.formats:
            message = f"This target takes no {self.format.upper()} file, since it has types."
            raise InputError(
                Finding(
                    "release-option",
                    message,
                    "Choose the format parquet for the release.",
                    file=self.address,
                )
            )
        return found


def check_copy_target(
    request: CopyRequest, inputs: Iterable[Path] = (), progress: Progress = NO_PROGRESS
) -> None:
    """Refuse a target that would be refused in the end, before anything is computed."""
    target = request.target
    for path in local_paths(request.address):
        refuse_inputs(path, inputs)
    target.check(progress)


def copy_release(request: CopyRequest, original: Original, progress: Progress = NO_PROGRESS) -> int:
    """Copy the file, read the copy back, give it its name, and return the number of rows."""
    reading = RecordReading(
        delimiter=original.delimiter, encoding=original.encoding, category_counts="no"
    )
    with request.target.stage(original.file, SubProgress(progress, 0.0, 0.5)) as address:
        engine = open_engine(address, reading, SubProgress(progress, 0.5, 0.6))
        try:
            with engine.snapshot(progress):
                return check_copy(engine, original, SubProgress(progress, 0.6, 1.0))
        finally:
            engine.close()
