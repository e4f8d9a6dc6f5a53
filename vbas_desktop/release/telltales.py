"""What could undo the release: columns that name the person, the place or more than a category, and the rows' order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np

from vbas_desktop.approaches.registry import revealed
from vbas_desktop.audit.column_tests import (
    Disclosure,
    combinations_to_try,
    disclosing_columns,
    disclosing_combinations,
)
from vbas_desktop.model.errors import Finding, InputError, Severity
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import RecordTable
from vbas_desktop.model.solution import Solution
from vbas_desktop.settings.release import ReleaseOptions

from .column_counts import column_statistics
from .notation import CountableRecords
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


def check_columns(records: CountableRecords, options: ReleaseOptions, progress: Progress) -> tuple[Finding, ...]:
    """Refuse columns that would undo the release; return warnings of those that are allowed knowingly all the same."""
    problem = records.plan.problem
    header = records.table.dialect.header
    used = {problem.region_column, *problem.quasi_identifiers}
    exempt = options.class_columns(header, used)
    columns = [name for name, _ in options.released_columns(header) if name not in {*used, *exempt}]
    found = find_disclosures(records, columns, progress, options)
    refuse_disclosures(found, options)
    allowed = (_finding(disclosure) for disclosure in found)
    return tuple(replace(one, remedy="It was allowed knowingly.", severity=Severity.WARNING) for one in allowed)


def refuse_disclosures(found: Sequence[Disclosure], options: ReleaseOptions) -> None:
    """Raise `InputError` for columns, pairs and triples that disclose too much and are not allowed."""
    refused = [_finding(disclosure) for disclosure in found if not _allowed(disclosure.columns, options.allow_columns)]
    if refused:
        raise InputError(refused)


def telltale_columns(
    records: CountableRecords, columns: Sequence[str], progress: Progress, options: ReleaseOptions | None = None
) -> tuple[Finding, ...]:
    """Return a finding for each column, pair (``A+B``) and triple of columns that discloses too much."""
    return tuple(map(_finding, find_disclosures(records, columns, progress, options)))


def find_disclosures(
    records: CountableRecords, columns: Sequence[str], progress: Progress, options: ReleaseOptions | None = None
) -> list[Disclosure]:
    """Test columns, pairs and triples; a column that discloses too much alone is in no pair.

    All pairs are tested; triples only with those of the written file, which `combinations_to_try` chooses.
    """
    options = options or ReleaseOptions()
    statistics = column_statistics(records, columns, progress)
    tested = [statistics.column(records.table.facts(name)) for name in columns]
    found = list(disclosing_columns(statistics, tested, progress))
    disclosing = {name for disclosure in found for name in disclosure.columns}
    others = [column for column in tested if column.name not in disclosing]
    tried = combinations_to_try(others, every_pair=True).tried
    if not options.pair_tests:
        tried = tuple(combination for combination in tried if len(combination) == 2)
    return [*found, *disclosing_combinations(statistics, tried, progress)]


def _finding(disclosure: Disclosure) -> Finding:
    name = "+".join(disclosure.columns)
    words = {
        1: ("it", "it", "it"),
        2: ("one of the two", "one", "the pair"),
        3: ("one of the three", "one", "the three"),
    }
    return Finding(TELLTALE, disclosure.text, _ways_out(name, *words[len(disclosure.columns)]), column=name)


def _allowed(columns: Sequence[str], allowed: Sequence[str]) -> bool:
    """Return whether all the columns are allowed, or the combination of them is, in any order."""
    if all(name in allowed for name in columns):
        return True
    return any("+".join(order) in allowed for order in permutations(columns))


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
