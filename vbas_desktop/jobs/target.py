"""Putting a release that is written and verified into a table of a server, too."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vbas_desktop.domain.errors import UsageError
from vbas_desktop.domain.progress import Progress, Silent
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.run import RunSettings
from vbas_desktop.sources.address import Address, Kind, record_place


@dataclass(frozen=True)
class TargetJob:
    """Copy the released Parquet file of a folder to the table of an address; recounted there before it has its name."""

    address: str
    settings: RunSettings
    options: ReleaseOptions

    @property
    def target(self) -> Address:
        """The address, if it is one of a server's table."""
        place = record_place(self.address)
        if not isinstance(place, Address) or place.kind is not Kind.POSTGRESQL:
            raise UsageError("--target: name a table as postgresql://user@host/database#schema.table.")
        if self.options.format != "parquet":
            raise UsageError("--target needs --format parquet, since a table has types.")
        return place

    def check(self, progress: Progress = Silent()) -> None:  # noqa: B008 (Silent has no state)
        """Refuse a target that would be refused in the end, before anything is computed."""
        from vbas_desktop.sources.postgres_target import check_table

        check_table(self.target, progress)

    def execute(self, folder: Path, progress: Progress = Silent()) -> int:  # noqa: B008
        """Copy, recount, rename; the number of rows."""
        from vbas_desktop.sources.postgres_target import release_table

        named = {name: self.options.renames.get(name, name) for name in self.settings.quasi_identifiers}
        kept = self.options.columns
        released = [new for old, new in named.items() if kept is None or old in kept]
        region = self.settings.region_column
        places = [self.options.renames.get(region, region)] if kept is None or region in kept else []
        file = folder / "release" / "anonymized.parquet"
        return release_table(self.target, file, [*places, *released], self.settings.k, progress)
