"""What could undo the release: columns that name the person, the place or more than a category, and the rows' order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vbas_desktop.approaches.registry import revealed
from vbas_desktop.domain.errors import Finding, InputError, Severity
from vbas_desktop.domain.progress import Progress
from vbas_desktop.domain.records import ColumnFacts
from vbas_desktop.domain.solution import Solution
from vbas_desktop.domain.words import counted
from vbas_desktop.files.records.table import RecordTable
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.sources.table import SourceTable

from .column_counts import Ints, ReleasedRecords, Sample, SourceReleased, empty_code, pair_counts
from .column_pairs import percent, telling_pairs
from .column_tests import ALIKE, KNOWING, RARE_SHARE, Agreement, agreement, alike, merged, rare_share
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
        records: ReleasedRecords = SourceReleased(plan, table, whole, list(columns), progress)
    else:
        records = ReleasedRecords(plan, table, progress)
    findings = []
    facts = {column.name: column for column in table.columns}
    for name in columns:
        progress.update("Testing the released columns", 0.0)
        told = " ".join(_told(records, facts[name]))
        if told:
            findings.append(Finding(TELLTALE, told, _ways_out(name, "it", "it", "it"), column=name))
    telling = {finding.column for finding in findings}
    silent = [facts[name] for name in columns if name not in telling]
    for name, told in telling_pairs(records, silent, progress):
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


@dataclass(frozen=True, eq=False)
class _Column:
    """A column's values in the sampled records that have one, and these records."""

    values: Ints
    sample: Sample
    distinct: int

    @classmethod
    def of(cls, records: ReleasedRecords, facts: ColumnFacts) -> _Column:
        values = records.table.codes_at(facts.name, records.sample.rows).astype(np.int64)
        there = np.flatnonzero(values != empty_code(facts))
        return cls(values[there], records.sample.at(there), facts.distinct)


def _told(records: ReleasedRecords, facts: ColumnFacts) -> Iterator[str]:
    filled = records.rows - facts.missing
    if not filled:
        return
    if not facts.categorical:
        yield _too_many_values(facts, filled)
        return
    yield from _identifying(records, facts, filled)
    column = _Column.of(records, facts)
    yield from _refining_place(records.plan, column)
    yield from _refining_categories(records, column)


def _too_many_values(facts: ColumnFacts, filled: int) -> str:
    if not facts.distinct:
        return "Values of this kind cannot be tested: they may identify the person or the place."
    return (
        f"It has {facts.distinct:,} or more different values in {counted(filled, 'record')}: "
        "almost every one may identify a person."
    )


def _identifying(records: ReleasedRecords, facts: ColumnFacts, filled: int) -> Iterator[str]:
    k = records.plan.problem.k
    # If all values were rare, their records would be too few still: counting can be spared.
    if facts.distinct * (k - 1) < RARE_SHARE * (filled - records.plan.records_suppressed):
        return
    frequencies = records.frequencies(facts.name)
    if facts.missing:
        frequencies[empty_code(facts)] = 0
    share = rare_share(frequencies, k)
    if share >= RARE_SHARE:
        yield (
            f"In {percent(share)} of the released records the value is one that fewer than {k:,} of them have: "
            "it may identify the person."
        )


def _refining_place(plan: Plan, column: _Column) -> Iterator[str]:
    whole_of = plan.membership.astype(np.int64)
    found = agreement(pair_counts(column.sample.region, column.values, (whole_of.size, column.distinct)), whole_of)
    if found.refines:
        yield (
            "It reveals the place in more detail than the aggregated region: two of its records with the same value "
            f"come from the same initial region in {percent(found.with_value)} of the cases instead of "
            f"{percent(found.without)}; in {percent(found.single)} of the records the value occurs in a single "
            "initial region."
        )


def _refining_categories(records: ReleasedRecords, column: _Column) -> Iterator[str]:
    number = int(column.sample.classes.max(initial=0)) + 1
    by_class = pair_counts(column.sample.classes, column.values, (number, column.distinct))
    finer = alike(by_class) < ALIKE
    for q, name in enumerate(records.plan.problem.quasi_identifiers):
        category_of = np.zeros(number, np.int64)
        category_of[column.sample.classes] = column.sample.codes[q]
        categories = int(category_of.max(initial=0)) + 1
        known = agreement(merged(by_class, category_of), np.zeros(categories, np.int64))
        if finer and known.gain >= KNOWING and known.beyond_chance:
            yield (
                f"It reveals “{name}” in more detail than the released categories: two records with the same value "
                f"have the same category in {percent(known.with_value)} of the cases instead of "
                f"{percent(known.without)}, and the value divides the categories further."
            )
            continue
        within = _within_groups(records, column, q)
        if within is not None and within.refines:
            yield (
                f"It reveals “{name}” in more detail than the released groups: two records of a group with the same "
                f"value have the same “{name}” in {percent(within.with_value)} of the cases instead of "
                f"{percent(within.without)}."
            )


def _within_groups(records: ReleasedRecords, column: _Column, q: int) -> Agreement | None:
    """How well the value tells the category before grouping within its group; None if nothing was grouped."""
    group_of = records.categories_of[q].astype(np.int64)
    if np.unique(group_of).size == group_of.size:
        return None
    before = records.table.codes_at(records.plan.problem.quasi_identifiers[q], column.sample.rows).astype(np.int64)
    return agreement(pair_counts(before, column.values, (group_of.size, column.distinct)), np.maximum(0, group_of))


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
