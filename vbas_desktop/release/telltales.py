"""What looks as if it could undo the release: columns that name the person or the place, and the order of the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.domain.errors import Finding, Severity
from vbas_desktop.domain.records import ColumnFacts
from vbas_desktop.files.records import RecordTable

from .plan import Plan

SAMPLE_ROWS = 2_000_000
PAIR_CELLS = 1 << 26
MIXED = 0.5
"""Rows count as mixed from this share of the changes of region that a random order would have."""
ONE_REGION_EACH = 1.02
"""Pairs of value and initial region per value up to which a column tells the region: a few slips are allowed."""


def telltale_columns(plan: Plan, table: RecordTable, columns: Sequence[str]) -> tuple[Finding, ...]:
    """Warnings about released columns that are neither the region column nor quasi-identifiers."""
    used = {plan.problem.region_column, *plan.problem.quasi_identifiers}
    facts = {column.name: column for column in table.columns}
    return tuple(finding for name in columns if name not in used for finding in _of(plan, table, facts[name]))


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
            "neighbours in the file tell the place more finely than the aggregated region does.",
            "Let the rows be shuffled.",
            Severity.WARNING,
        ),
    )


def _of(plan: Plan, table: RecordTable, facts: ColumnFacts) -> Iterator[Finding]:
    name, filled = facts.name, table.rows - facts.missing
    values = facts.distinct - (facts.missing > 0)
    if filled > 1 and (values >= filled or not facts.categorical):
        yield Finding(
            "identifier-released",
            "Nearly every record has a value of its own in this released column: it may name the person.",
            "If so, put it among the identifiers, which are dropped.",
            Severity.WARNING,
            column=name,
        )
    elif facts.categorical and values > len(plan.codes) and _tells_region(table, name, plan.problem.region_column):
        yield Finding(
            "place-released",
            "Each value of this released column occurs in one initial region only: it tells the place more finely than "
            "the aggregated region does.",
            "Leave the column out, unless nobody can know what its values stand for.",
            Severity.WARNING,
            column=name,
        )


def _tells_region(table: RecordTable, name: str, region_column: str) -> bool:
    step = max(1, table.rows // SAMPLE_ROWS)
    facts, regions = table.facts(name), table.facts(region_column).distinct
    values, places = table.codes(name)[::step].astype(np.int64), table.codes(region_column)[::step].astype(np.int64)
    if facts.missing and facts.categories is not None:
        there = values != facts.categories.values.index("")
        values, places = values[there], places[there]
    return _occurring(values * regions + places, facts.distinct * regions) <= ONE_REGION_EACH * _occurring(
        values, facts.distinct
    )


def _occurring(numbers: NDArray[np.int64], possible: int) -> int:
    """How many different numbers there are."""
    if possible <= PAIR_CELLS:
        return int(np.count_nonzero(np.bincount(numbers, minlength=1)))
    return int(np.unique(numbers).size)
