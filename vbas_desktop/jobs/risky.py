"""Searching a table for combinations of values that single people out, and coarsening it: the beginning of both."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vbas_desktop.assessment.risky.loop import Coarsener, Plan
from vbas_desktop.assessment.risky.table import Table
from vbas_desktop.io.databases.records import load_records_at
from vbas_desktop.io.hashing import require_unchanged
from vbas_desktop.model.progress import Progress, Silent
from vbas_desktop.model.records import RecordTable


@dataclass(frozen=True, eq=False)
class RiskyJob:
    """Search these columns of records in a file or behind an address.

    ``references`` are public tables: values that are rare in any of them are risky, too.
    """

    records: RecordTable
    columns: tuple[str, ...]
    plan: Plan
    references: tuple[Path, ...] = ()

    def execute(self, progress: Progress = Silent()) -> Coarsener:  # noqa: B008 (Silent has no state)
        """The table with nothing coarsened yet, from which steps are made."""
        table = Table.of_records(self.records.load_codes(progress), self.columns, progress)
        references = []
        for path in self.references:
            public = load_records_at(path, progress=progress)
            references.append(Table.of_public(public, self.columns))
            require_unchanged(public.source)
        require_unchanged(self.records.source)
        return Coarsener.of(self.plan, table, references)
