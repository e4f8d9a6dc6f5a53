"""What could undo the release: columns that name the person, the place or more than a category, and the rows' order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vbas_desktop.approaches.registry import revealed
from vbas_desktop.audit.column_tests import disclosing_columns, disclosing_pairs
from vbas_desktop.domain.errors import Finding, InputError, Severity
from vbas_desktop.domain.progress import Progress
from vbas_desktop.domain.solution import Solution
from vbas_desktop.files.records.table import RecordTable
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.sources.table import SourceTable

from .column_counts import SourceTableRecords, TableRecords
from .plan import Plan

TELLTALE = "telltale-column"
"""The code of findings about columns that tell too much."""
MIXED = 0.5
"""Rows count as mixed from this share of the changes of region that a random order would have."""


def telltale_partition(solution: Solution) -> tuple[Finding, ...]:
    """A warning if the way in which the regions were made shows where classes were small."""
    return tuple(
        Finding(
            "partition-tells",
            f"The released regions reveal something about the records. {text}",
            "If that matters, place the sites by density or balanced density.",
            Severity.WARNING,
        )
        for text in revealed(solution.approaches, solution.parameters)
    )


def check_columns(plan: Plan, table: RecordTable, options: ReleaseOptions, progress: Progress) -> tuple[Finding, ...]:
    """Refuse columns that would undo the release; warnings of those that are allowed knowingly all the same."""
    used = {plan.problem.region_column, *plan.problem.quasi_identifiers}
    columns = [name for name, _ in options.released_columns(table.dialect.header) if name not in used]
    found = telltale_columns(plan, table, columns, progress, options)
    refused = [finding for finding in found if not _allowed(finding.column or "", columns, options.allow_columns)]
    if refused:
        raise InputError(refused)
    return tuple(replace(finding, remedy="It was allowed knowingly.", severity=Severity.WARNING) for finding in found)


def telltale_columns(
    plan: Plan,
    table: RecordTable,
    columns: Sequence[str],
    progress: Progress,
    options: ReleaseOptions | None = None,
) -> tuple[Finding, ...]:
    """One finding for each column, and each pair of columns, that tells more than the release should, with its figures.

    A pair is named ``A+B``. Columns that tell too much alone are in no pair.
    """
    if isinstance(table, SourceTable):
        whole = options or ReleaseOptions()
        records: TableRecords = SourceTableRecords(plan, table, whole, list(columns), progress)
    else:
        records = TableRecords(plan, table, progress)
    tested = [records.column(table.facts(name)) for name in columns]
    findings = []
    for name, told in disclosing_columns(records, tested, progress):
        findings.append(Finding(TELLTALE, told, _ways_out(name, "it", "it", "it"), column=name))
    disclosing = {finding.column for finding in findings}
    others = [column for column in tested if column.name not in disclosing]
    for name, told in disclosing_pairs(records, others, progress):
        findings.append(Finding(TELLTALE, told, _ways_out(name, "one of the two", "one", "the pair"), column=name))
    return tuple(findings)


def _allowed(name: str, columns: Sequence[str], allowed: Sequence[str]) -> bool:
    """Whether a column, or a pair by its name in either order or by both columns, is allowed."""
    if name in allowed:
        return True
    return any(
        name == f"{one}+{other}" and (f"{other}+{one}" in allowed or (one in allowed and other in allowed))
        for one in columns
        for other in columns
    )


def _ways_out(name: str, left_out: str, made: str, allowed: str) -> str:
    shown = f'"{name}"' if " " in name or "," in name else name
    return (
        f"Leave {left_out} out (as an identifier); make {made} a quasi-identifier; group its values or make them "
        f"coarser; or allow {allowed} knowingly: --allow-column {shown}."
    )


def telltale_order(plan: Plan, table: RecordTable) -> tuple[Finding, ...]:
    """A warning if rows that are released in their order stand together by initial region."""
    region = plan.problem.region_column
    frequencies, codes = table.facts(region).frequencies, table.codes(region)
    if frequencies is None or table.rows < 2:
        return ()
    together = float(((frequencies / table.rows) ** 2).sum())
    if np.count_nonzero(codes[1:] != codes[:-1]) >= MIXED * (1 - together) * table.rows:
        return ()
    return (
        Finding(
            "order-released",
            "The rows are released in the order of the record file, in which those of a region stand together: "
            "neighbouring rows reveal the place in more detail than the aggregated region.",
            "Shuffle the rows.",
            Severity.WARNING,
        ),
    )
