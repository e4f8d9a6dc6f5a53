"""From coded records and regions to a `Problem`: checks the choices, joins by region id, counts. Never reads a file."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from vbas_desktop.domain.errors import Finding, InputError, Severity, stop_on_errors
from vbas_desktop.domain.problem import Problem
from vbas_desktop.domain.progress import Progress, Silent
from vbas_desktop.domain.records import Categories, ColumnFacts, Grouping, category_order
from vbas_desktop.domain.regions import Regions
from vbas_desktop.domain.words import agreeing, counted
from vbas_desktop.files.records.table import RecordTable, not_categorical, unknown_column

from .classes import CLASSES_LIMIT, CodedColumn, count
from .join import join_regions

UNKNOWN_REGIONS = ("stop", "suppress")


def build_problem(
    table: RecordTable,
    regions: Regions,
    *,
    region_column: str,
    quasi_identifiers: Sequence[str],
    k: int,
    unknown_regions: str = "stop",
    groupings: Sequence[Grouping] = (),
    progress: Progress | None = None,
) -> Problem:
    """Count the records of each region and class; all problems with the choices are raised together."""
    progress = progress or Silent()
    findings = check_choices(table, region_column, quasi_identifiers, k, groupings)
    if unknown_regions not in UNKNOWN_REGIONS:
        message = f"“{unknown_regions}” does not say what to do with records of unknown regions."
        findings.append(Finding("bad-option", message, "Use stop or suppress."))
    region_facts = _categorical(table, region_column)
    join = None
    if region_facts is not None:
        join = join_regions(table, region_facts, regions, unknown_regions)
        findings += join.findings
    stop_on_errors(findings)
    assert join is not None
    region = CodedColumn(table.codes(region_column), join.table, len(regions))
    categories, columns = [], []
    for name in quasi_identifiers:
        grouped, column = _grouped(table, name, groupings)
        categories.append(grouped)
        columns.append(column)
    counts, unknown = count(region, columns, progress)
    if k > table.rows - unknown:
        findings.append(_k_above(k, table.rows - unknown, table.source.path))
    return Problem(
        regions=regions,
        counts=counts,
        k=k,
        quasi_identifiers=tuple(quasi_identifiers),
        categories=tuple(categories),
        region_column=region_column,
        unknown_region_records=unknown,
        groupings=tuple(groupings),
        records_source=table.source,
        regions_source=regions.source,
        findings=stop_on_errors((*table.findings, *regions.findings, *findings)),
    )


def check_choices(
    table: RecordTable, region_column: str, quasi_identifiers: Sequence[str], k: int, groupings: Sequence[Grouping] = ()
) -> list[Finding]:
    """Everything that is wrong or odd about the chosen columns and k, without counting."""
    file = table.source.path
    findings = _check_column(table, region_column, "region column")
    if not quasi_identifiers:
        remedy = "Choose at least one column that others may know of a person, such as age."
        findings.append(Finding("no-quasi-identifier", "No quasi-identifier is chosen.", remedy, file=file))
    for name, times in Counter(quasi_identifiers).items():
        if name == region_column:
            message = "The region column cannot be a quasi-identifier too."
            findings.append(
                Finding("region-as-quasi-identifier", message, "Choose one of the two.", file=file, column=name)
            )
            continue
        findings += _check_column(table, name, "quasi-identifier")
        if times > 1:
            message = "The quasi-identifier is named more than once."
            findings.append(Finding("repeated-quasi-identifier", message, "Name it once.", file=file, column=name))
    for grouping in groupings:
        if grouping.column not in table.dialect.header:
            findings.append(unknown_column(table, grouping.column))
    if k < 1:
        message = f"k is {k:,}; it must be 1 or more."
        findings.append(Finding("bad-k", message, "Usual values are 3 to 20.", file=file))
    elif k > table.rows:
        findings.append(_k_above(k, table.rows, file))
    if not any(finding.severity is Severity.ERROR for finding in findings):
        findings += _check_classes(table, quasi_identifiers, groupings)
    return findings


def category_numbers(
    table: RecordTable, quasi_identifiers: Sequence[str], groupings: Sequence[Grouping] = ()
) -> tuple[int, ...]:
    """How many categories each quasi-identifier has: their product is the number of classes (MaxCombs)."""
    return tuple(_grouped(table, name, groupings)[0].number for name in quasi_identifiers)


def _check_column(table: RecordTable, name: str, purpose: str) -> list[Finding]:
    if name not in table.dialect.header:
        return [unknown_column(table, name)]
    facts = table.facts(name)
    if not facts.categorical:
        return [not_categorical(table, facts)]
    if purpose == "quasi-identifier" and facts.distinct == table.rows > 1:
        message = "Every record has a value of its own in this quasi-identifier: is it an identifier?"
        remedy = "Identifiers belong to the columns that are dropped from the release."
        return [Finding("identifier", message, remedy, Severity.HINT, table.source.path, column=name)]
    return []


def _check_classes(table: RecordTable, names: Sequence[str], groupings: Sequence[Grouping]) -> list[Finding]:
    possible = math.prod(category_numbers(table, names, groupings))
    if possible <= CLASSES_LIMIT:
        return []
    message = f"The quasi-identifiers have {possible:.1e} combinations; more than 2^63 cannot be counted."
    return [
        Finding("too-many-classes", message, "Choose fewer quasi-identifiers or group values.", file=table.source.path)
    ]


def _k_above(k: int, records: int, file: str) -> Finding:
    return Finding(
        "bad-k",
        f"k is {k:,}, but there {agreeing(records, 'is', 'are')} only {counted(records, 'record')}.",
        "Choose a smaller k.",
        file=file,
    )


def _categorical(table: RecordTable, name: str) -> ColumnFacts | None:
    facts = next((column for column in table.columns if column.name == name), None)
    return facts if facts is not None and facts.categorical else None


def _grouped(table: RecordTable, name: str, groupings: Sequence[Grouping]) -> tuple[Categories, CodedColumn]:
    """The categories of a column after its groupings, and its codes with the table that leads to them."""
    categories = table.facts(name).categories
    if categories is None:
        raise InputError(not_categorical(table, table.facts(name)))
    values: Sequence[str] = categories.values
    declared = categories.declared
    for grouping in groupings:
        if grouping.column == name:
            values, declared = [grouping.groups.get(value, value) for value in values], None
    ordered = category_order(sorted(set(values)))
    place = {value: code for code, value in enumerate(ordered)}
    lookup = np.array([place[value] for value in values], np.int32)
    merged = Categories(name, tuple(ordered), declared)
    return merged, CodedColumn(table.codes(name), lookup, merged.number)
