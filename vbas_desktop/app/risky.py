"""Search a table for combinations of values that single people out, as the beginning of coarsening it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from vbas_desktop.analysis.minimal_uniques.distinct_rows import DistinctRows
from vbas_desktop.analysis.minimal_uniques.recoding_loop import RecodingPlan, RecodingSession
from vbas_desktop.io.databases.loading import load_records_at
from vbas_desktop.io.hashing import require_unchanged
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.records import RecordTable


@dataclass(frozen=True, eq=False)
class RiskyRequest:
    """Columns to search, of records in a file or behind an address.

    ``references`` are public tables: values that are rare in any of them are risky, too.
    """

    records: RecordTable
    columns: tuple[str, ...]
    plan: RecodingPlan
    references: tuple[Path, ...] = ()


def start_recoding(request: RiskyRequest, progress: Progress = NO_PROGRESS) -> RecodingSession:
    """Join equal records, and return a session without steps, which searches and coarsens.

    Raises `InputError` for columns that cannot be searched, and for files that changed since they were loaded.
    """
    records = request.records
    table = DistinctRows.from_records(records.load_codes(progress), request.columns, progress)
    references = []
    for path in request.references:
        public = load_records_at(path, progress=progress)
        references.append(DistinctRows.from_reference(public, request.columns))
        require_unchanged(public.source)
    require_unchanged(records.source)
    return RecodingSession.create(request.plan, table, references)


def describe_unsearched_columns(header: Sequence[str], covered: Collection[str]) -> str:
    """Describe the written columns that were not searched, for which k does not hold; empty if there are none."""
    unsearched = [name for name in header if name not in covered]
    if not unsearched:
        return ""
    return (
        f"written without having been searched: {', '.join(unsearched)}. With these, people may still "
        "stand out. Search them too (--columns), or leave them out (--identifiers)."
    )
