"""From coded records and regions to a `Problem`: checks the choices, joins by region id, counts. Never reads a file."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.domain.criteria import Sensitive
from vbas_desktop.domain.errors import Finding, InputError, Severity, stop_on_errors
from vbas_desktop.domain.problem import Problem
from vbas_desktop.domain.progress import Progress, Silent, Span
from vbas_desktop.domain.records import Categories, ColumnFacts, Grouping, category_order
from vbas_desktop.domain.regions import Regions
from vbas_desktop.domain.words import agreeing, counted
from vbas_desktop.files.records.table import Lookup, RecordTable, not_categorical, unknown_column

from .classes import CLASSES_LIMIT
from .sensitive import check_sensitive, count_sensitive, countable

_NAMED_ROWS = 5

_LIKENESSES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("blanks", str.strip),
    ("leading zeros", lambda value: value.lstrip("0") or "0"),
    ("upper and lower case", str.casefold),
    ("a trailing “.0”", lambda value: value.removesuffix(".0")),
    (
        "blanks, leading zeros, case or “.0”",
        lambda value: value.strip().removesuffix(".0").lstrip("0").casefold() or "0",
    ),
)


@dataclass(frozen=True)
class Join:
    """Which region each value of the region column means (-1: none), and the findings."""

    table: NDArray[np.int32]
    findings: tuple[Finding, ...]


def join_regions(table: RecordTable, facts: ColumnFacts, regions: Regions, unknown_regions: str) -> Join:
    """Match the region column's values with the region file's ids: exact text, nothing is guessed."""
    assert facts.categories is not None
    assert facts.frequencies is not None
    index = {region: i for i, region in enumerate(regions.ids)}
    values = facts.categories.values
    places = np.array([index.get(value, -1) for value in values], np.int32)
    findings = []
    unknown = np.flatnonzero(places < 0)
    if unknown.size:
        findings.append(_unknown(table, facts, places, unknown_regions, regions.ids))
        findings += _near_misses(table, facts, [values[i] for i in unknown], regions.ids)
        if unknown.size == len(values):
            findings.append(_none_known(table, facts))
    findings += _alike(table, facts)
    empty = len(regions) - int(np.unique(places[places >= 0]).size)
    if empty and unknown.size < len(values):
        findings.append(_without_records(regions, empty))
    return Join(places, tuple(findings))


def _unknown(
    table: RecordTable, facts: ColumnFacts, places: NDArray[np.int32], choice: str, ids: Sequence[str]
) -> Finding:
    assert facts.frequencies is not None
    lost = places < 0
    records = int(facts.frequencies[lost].sum())
    # A look-up on the codes, a block at a time: the first few rows are usually found at once.
    rows = table.first_rows(facts.name, lost, _NAMED_ROWS)
    named = ", ".join(f"{row:,}" for row in rows) + (" …" if records > len(rows) else "")
    where = f"; first in row{'s' if len(rows) > 1 else ''} {named}" if rows else ""
    blank = f", {facts.missing:,} of them without any region id" if facts.missing else ""
    message = (
        f"{counted(records, 'record names', 'records name')} a region that the region file lacks "
        f"({counted(int(lost.sum()), 'different id')}{blank}){where}. Expected are ids such as {_examples(ids)}."
    )
    if choice == "suppress":
        severity, remedy = Severity.WARNING, "They are suppressed and counted as such."
    else:
        severity = Severity.ERROR
        remedy = "Complete the region file, or let these records be suppressed (--unknown-regions suppress)."
    return Finding("unknown-region", message, remedy, severity, table.source.path, next(iter(rows), None), facts.name)


def _examples(ids: Sequence[str]) -> str:
    """The first and the last id of the region file; ids of the records stay in the house."""
    return " and ".join(f"“{region}”" for region in dict.fromkeys((ids[0], ids[-1])))


def _near_misses(table: RecordTable, facts: ColumnFacts, unknown: Sequence[str], ids: Sequence[str]) -> list[Finding]:
    """One hint for each way in which unknown ids would match if the difference were ignored."""
    assert facts.categories is not None
    findings, left = [], [value for value in unknown if value != ""]
    for what, normal in _LIKENESSES:
        known = {normal(region) for region in ids}
        found = [value for value in left if normal(value) in known]
        left = [value for value in left if normal(value) not in known]
        if found:
            differ = counted(len(found), "unknown region id differs", "unknown region ids differ")
            message = f"{differ} from known ones only by {what}."
            remedy = "Write the ids the same way in both files (spreadsheets often drop leading zeros)."
            row = next(iter(table.first_rows(facts.name, np.isin(facts.categories.values, found), 1)), None)
            findings.append(Finding("similar-id", message, remedy, Severity.HINT, table.source.path, row, facts.name))
    return findings


def _alike(table: RecordTable, facts: ColumnFacts) -> list[Finding]:
    """A hint if ids in the records differ from each other only in how they are written."""
    assert facts.categories is not None
    values = [value for value in facts.categories.values if value != ""]
    lines = "\n" + "\n".join(values)
    numbers = lines.isascii() and lines.replace("\n", "").isdecimal() and "\n0" not in lines
    if numbers or len({_LIKENESSES[-1][1](value) for value in values}) == len(values):
        return []
    for what, normal in _LIKENESSES:
        pairs = len(values) - len({normal(value) for value in values})
        if pairs:
            message = f"{counted(pairs, 'region id differs', 'region ids differ')} from another one only by {what}."
            remedy = "If they mean the same region, write them the same way."
            return [Finding("similar-id", message, remedy, Severity.HINT, table.source.path, column=facts.name)]
    return []


def _none_known(table: RecordTable, facts: ColumnFacts) -> Finding:
    message = "No record names a region of the region file."
    remedy = "Check that this is the region column and that the two files belong together."
    return Finding("no-known-region", message, remedy, file=table.source.path, column=facts.name)


def _without_records(regions: Regions, empty: int) -> Finding:
    message = f"{empty:,} of {counted(len(regions), 'region')} {agreeing(empty, 'has', 'have')} no records."
    file = regions.source.path if regions.source else None
    return Finding("regions-without-records", message, "This is allowed.", Severity.WARNING, file)


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
    sensitive: Sequence[Sensitive] = (),
    progress: Progress | None = None,
) -> Problem:
    """Count the records of each region and class; all problems with the choices are raised together."""
    progress = progress or Silent()
    findings = check_choices(table, region_column, quasi_identifiers, k, groupings)
    if unknown_regions not in UNKNOWN_REGIONS:
        message = f"“{unknown_regions}” does not say what to do with records of unknown regions."
        findings.append(Finding("bad-option", message, "Use stop or suppress."))
    findings += check_sensitive(table, sensitive, (region_column, *quasi_identifiers))
    region_facts = _categorical(table, region_column)
    join = None
    if region_facts is not None:
        join = join_regions(table, region_facts, regions, unknown_regions)
        findings += join.findings
    stop_on_errors(findings)
    assert join is not None
    categories, lookups = [], []
    for name in quasi_identifiers:
        grouped, lookup = _grouped(table, name, groupings)
        categories.append(grouped)
        lookups.append(Lookup(name, lookup, grouped.number))
    region = Lookup(region_column, join.table, len(regions))
    sensitive = countable(table, math.prod(each.number for each in categories), sensitive)
    counts, unknown = table.count(region, lookups, Span(progress, 0.0, 1 / (1 + len(sensitive))))
    values = tuple(
        count_sensitive(table, each, region, lookups, Span(progress, number / (1 + len(sensitive)), 1.0))
        for number, each in enumerate(sensitive, 1)
    )
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
        sensitive=values,
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


def _grouped(table: RecordTable, name: str, groupings: Sequence[Grouping]) -> tuple[Categories, NDArray[np.int32]]:
    """The categories of a column after its groupings, and the table that leads from its codes to them."""
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
    merged = Categories(name, tuple(ordered), declared, categories.labels)
    return merged, lookup
