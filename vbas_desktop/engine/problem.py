"""Build a `Problem` from coded records and regions: check the choices, join by region id, count. No file is read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.counts import MAX_COMBINATIONS
from vbas_desktop.model.criteria import SensitiveColumn
from vbas_desktop.model.findings import Finding, FindingList, InputError, Severity, stop_on_errors
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import NO_PROGRESS, Progress, SubProgress
from vbas_desktop.model.records import (
    Categories,
    CodeMap,
    ColumnFacts,
    Grouping,
    RecordTable,
    category_order,
    group_sizes,
    not_categorical,
)
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.text import format_count, inflect
from vbas_desktop.model.value_notation import count_joinable, join_by_blanks

from .region_map import map_regions
from .sensitive_columns import check_sensitive, count_sensitive, list_countable, note_unknown_column

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


def join_regions(
    table: RecordTable, facts: ColumnFacts, regions: Regions, unknown_regions: str, findings: FindingList
) -> NDArray[np.int32]:
    """Find the region that each value of the region column means (-1: none), by exact text: nothing is guessed."""
    assert facts.categories is not None
    index = {region: i for i, region in enumerate(regions.ids)}
    values = facts.categories.values
    region_of_value = np.array([index.get(value, -1) for value in values], np.int32)
    unknown = np.flatnonzero(region_of_value < 0)
    if unknown.size:
        if unknown.size < len(values):
            _note_unknown(table, facts, region_of_value, unknown_regions, regions.ids, findings)
        _note_near_misses(table, facts, [values[i] for i in unknown], regions.ids, findings)
        if unknown.size == len(values):
            name = "the region file" if regions.source is None else Path(regions.source.path).name
            examples = " and ".join(
                f"“{region}”" for region in dict.fromkeys((regions.ids[0], regions.ids[-1]))
            )
            message = (
                f"No value of this column is a region id of {name}, whose ids look like {examples}."
            )
            remedy = "Choose the region column, or the region file that belongs to these records."
            findings.add("no-known-region", message, remedy, column=facts.name)
    _note_alike(facts, findings)
    empty = len(regions) - int(np.unique(region_of_value[region_of_value >= 0]).size)
    if empty and unknown.size < len(values):
        message = f"{empty:,} of {format_count(len(regions), 'region')} {inflect(empty, 'has', 'have')} no records."
        file = regions.source.path if regions.source else None
        findings.note(
            Finding("regions-without-records", message, "This is allowed.", Severity.WARNING, file)
        )
    return region_of_value


def _note_unknown(
    table: RecordTable,
    facts: ColumnFacts,
    region_of_value: NDArray[np.int32],
    choice: str,
    ids: Sequence[str],
    findings: FindingList,
) -> None:
    assert facts.frequencies is not None
    is_unknown = region_of_value < 0
    records = int(facts.frequencies[is_unknown].sum())
    # A look-up on the codes, a block at a time: the first few rows are usually found at once.
    rows = table.first_rows(facts.name, is_unknown, _NAMED_ROWS)
    named = ", ".join(f"{row:,}" for row in rows) + (" …" if records > len(rows) else "")
    where = f"; first in row{'s' if len(rows) > 1 else ''} {named}" if rows else ""
    blank = f", {facts.missing:,} of them without any region id" if facts.missing else ""
    # Ids of the region file are examples; those of the records stay in the house.
    examples = " and ".join(f"“{region}”" for region in dict.fromkeys((ids[0], ids[-1])))
    message = (
        f"{format_count(records, 'record names', 'records name')} a region that the region file lacks "
        f"({format_count(int(is_unknown.sum()), 'different id')}{blank}){where}. "
        f"Ids of the region file look like {examples}."
    )
    row = next(iter(rows), None)
    remedy = "They are suppressed and counted as such."
    if choice == "suppress":
        findings.warn("unknown-region", message, remedy, row=row, column=facts.name)
    else:
        remedy = (
            "Complete the region file, or let these records be suppressed (--unknown-regions suppress)."
        )
        findings.add("unknown-region", message, remedy, row=row, column=facts.name)


def _note_near_misses(
    table: RecordTable,
    facts: ColumnFacts,
    unknown: Sequence[str],
    ids: Sequence[str],
    findings: FindingList,
) -> None:
    """Hint at each way in which unknown ids would match if the difference were ignored."""
    assert facts.categories is not None
    left = [value for value in unknown if value != ""]
    for what, normal in _LIKENESSES:
        normal_ids = {normal(region) for region in ids}
        similar = [value for value in left if normal(value) in normal_ids]
        left = [value for value in left if normal(value) not in normal_ids]
        if similar:
            differ = format_count(len(similar), "unknown region id differs", "unknown region ids differ")
            remedy = "Write the ids the same way in both files (spreadsheets often drop leading zeros)."
            row = next(
                iter(table.first_rows(facts.name, np.isin(facts.categories.values, similar), 1)), None
            )
            message = f"{differ} from known ones only by {what}."
            findings.hint("similar-id", message, remedy, row=row, column=facts.name)


def _note_alike(facts: ColumnFacts, findings: FindingList) -> None:
    """Hint at ids of the records that differ from each other only in how they are written."""
    assert facts.categories is not None
    values = [value for value in facts.categories.values if value != ""]
    lines = "\n" + "\n".join(values)
    numbers = lines.isascii() and lines.replace("\n", "").isdecimal() and "\n0" not in lines
    if numbers or len({_LIKENESSES[-1][1](value) for value in values}) == len(values):
        return
    alike = (
        (what, len(values) - len({normal(value) for value in values})) for what, normal in _LIKENESSES
    )
    what, pairs = next((what, pairs) for what, pairs in alike if pairs)
    message = f"{format_count(pairs, 'region id differs', 'region ids differ')} from another one only by {what}."
    findings.hint(
        "similar-id",
        message,
        "If they mean the same region, write them the same way.",
        column=facts.name,
    )


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
    sensitive: Sequence[SensitiveColumn] = (),
    progress: Progress | None = None,
) -> Problem:
    """Count the records of each region and class; all problems with the choices are raised together."""
    progress = progress or NO_PROGRESS
    findings = FindingList(table.source.path)
    table = map_regions(table, region_column, regions.mapping)
    _check_choices(table, region_column, quasi_identifiers, k, groupings, findings)
    if unknown_regions not in UNKNOWN_REGIONS:
        message = f"“{unknown_regions}” is not a way to treat records of unknown regions."
        findings.note(Finding("bad-option", message, "Use stop or suppress."))
    check_sensitive(table, sensitive, (region_column, *quasi_identifiers), findings)
    _note_selection(table, sensitive, findings)
    region_facts = next((column for column in table.columns if column.name == region_column), None)
    region_of_value = None
    if region_facts is not None and region_facts.categorical:
        region_of_value = join_regions(table, region_facts, regions, unknown_regions, findings)
    findings.stop_on_errors()
    assert region_of_value is not None
    categories = []
    lookups = []
    for name in quasi_identifiers:
        grouped, lookup = _group_categories(table, name, groupings)
        categories.append(grouped)
        lookups.append(CodeMap(name, lookup, grouped.number))
        _note_blanks(table, name, groupings, findings)
    region = CodeMap(region_column, region_of_value, len(regions))
    sensitive = list_countable(table, math.prod(category.number for category in categories), sensitive)
    counts, unknown = table.count(region, lookups, SubProgress(progress, 0.0, 1 / (1 + len(sensitive))))
    values = tuple(
        count_sensitive(
            table,
            sensitive_column,
            region,
            lookups,
            SubProgress(progress, number / (1 + len(sensitive)), 1.0),
        )
        for number, sensitive_column in enumerate(sensitive, 1)
    )
    _check_k(k, table.rows - unknown, findings)
    return Problem(
        regions=regions,
        counts=counts,
        k=k,
        quasi_identifiers=tuple(quasi_identifiers),
        categories=tuple(categories),
        region_column=region_column,
        unknown_region_records=unknown,
        groupings=tuple(groupings),
        category_sizes=_category_sizes(table, quasi_identifiers, groupings),
        sensitive=values,
        records_source=table.source,
        regions_source=regions.source,
        findings=stop_on_errors((*table.findings, *regions.findings, *findings.all())),
        selection=table.selection,
    )


def _note_selection(
    table: RecordTable, sensitive: Sequence[SensitiveColumn], findings: FindingList
) -> None:
    """Warn of filters by sensitive columns: that somebody is in the release tells of the value."""
    if table.selection is None:
        return
    for name in table.selection.columns:
        if name in [column.column for column in sensitive]:
            message = (
                "Records are chosen by a sensitive column: "
                "whoever is known to be in the release has a value of it."
            )
            remedy = "Choose records by other columns, or see to it that nobody can know who is in the release."
            findings.warn("chosen-by-sensitive", message, remedy, column=name)


def _category_sizes(
    table: RecordTable, quasi_identifiers: Sequence[str], groupings: Sequence[Grouping]
) -> dict[str, dict[str, int]]:
    """Count the values that each category of the grouped quasi-identifiers stands for."""
    sizes = {}
    for name in dict.fromkeys(
        grouping.column for grouping in groupings if grouping.column in quasi_identifiers
    ):
        categories = table.facts(name).categories
        sizes[name] = group_sizes(groupings, name, () if categories is None else categories.values)
    return sizes


def _check_choices(
    table: RecordTable,
    region_column: str,
    quasi_identifiers: Sequence[str],
    k: int,
    groupings: Sequence[Grouping],
    findings: FindingList,
) -> None:
    """Note everything that is wrong or odd about the chosen columns and k, without counting."""
    _check_column(table, region_column, findings)
    if not quasi_identifiers:
        remedy = "Choose at least one column that others may know of a person, such as age."
        findings.add("no-quasi-identifier", "No quasi-identifier is chosen.", remedy)
    for name, times in Counter(quasi_identifiers).items():
        if name == region_column:
            message = "The region column cannot be a quasi-identifier too."
            findings.add("region-as-quasi-identifier", message, "Choose one of the two.", column=name)
            continue
        _check_column(table, name, findings, quasi_identifier=True)
        if times > 1:
            message = "The quasi-identifier is named more than once."
            findings.add("repeated-quasi-identifier", message, "Name it once.", column=name)
    for grouping in groupings:
        if grouping.column not in table.file_format.header:
            note_unknown_column(table, grouping.column, findings)
    if k < 1:
        findings.add("bad-k", f"k is {k:,}; it must be 1 or more.", "Usual values are 3 to 20.")
    _check_k(k, table.rows, findings)
    if not any(finding.severity is Severity.ERROR for finding in findings.all()):
        possible = math.prod(count_categories(table, quasi_identifiers, groupings))
        if possible > MAX_COMBINATIONS:
            message = f"The quasi-identifiers have {possible:.1e} combinations; more than 2^63 cannot be counted."
            findings.add("too-many-classes", message, "Choose fewer quasi-identifiers or group values.")


def _note_blanks(
    table: RecordTable, name: str, groupings: Sequence[Grouping], findings: FindingList
) -> None:
    """Warn of categories that differ from others only by blanks around them."""
    categories = table.facts(name).categories
    if name not in table.padded_categories or categories is None:
        return
    groups = {value: value for value in categories.values}
    for grouping in groupings:
        if grouping.column == name:
            groups = {value: grouping.groups.get(group, group) for value, group in groups.items()}
    number = count_joinable(categories.values, groups)
    if not number:
        return
    joined = join_by_blanks(set(groups.values()))
    is_joined = np.array([groups[value] in joined for value in categories.values], np.bool_)
    rows = [f"{row:,}" for row in table.first_rows(name, is_joined, _NAMED_ROWS)]
    where = f" (first in row{'s' if len(rows) > 1 else ''} {', '.join(rows)})" if rows else ""
    message = (
        f"{format_count(number, 'category differs', 'categories differ')} from others only by blanks or invisible "
        f"characters around {inflect(number, 'it', 'them')}{where} and {inflect(number, 'counts', 'count')} "
        "separately."
    )
    remedy = (
        "To join them, name a file with the columns column,value,group by --generalise FILE, in which each value with "
        "its blanks has the value without them as its group."
    )
    findings.warn("blank-categories", message, remedy, column=name)


def _check_column(
    table: RecordTable, name: str, findings: FindingList, quasi_identifier: bool = False
) -> None:
    if name not in table.file_format.header:
        note_unknown_column(table, name, findings)
    elif not (facts := table.facts(name)).categorical:
        findings.note(not_categorical(table, facts))
    elif quasi_identifier and facts.distinct == table.rows > 1:
        message = "Every record has a value of its own in this quasi-identifier: is it an identifier?"
        remedy = "Identifiers belong to the columns that are dropped from the release."
        findings.hint("identifier", message, remedy, column=name)


def _check_k(k: int, records: int, findings: FindingList) -> None:
    if k > records:
        there = f"there {inflect(records, 'is', 'are')} only {format_count(records, 'record')}"
        findings.add("bad-k", f"k is {k:,}, but {there}.", "Choose a smaller k.")


def count_categories(
    table: RecordTable, quasi_identifiers: Sequence[str], groupings: Sequence[Grouping] = ()
) -> tuple[int, ...]:
    """Count the categories of each quasi-identifier; their product is the number of combinations (MaxCombs)."""
    return tuple(_group_categories(table, name, groupings)[0].number for name in quasi_identifiers)


def _group_categories(
    table: RecordTable, name: str, groupings: Sequence[Grouping]
) -> tuple[Categories, NDArray[np.int32]]:
    """Find the categories of a column after its groupings, and the category of each of its codes."""
    categories = table.facts(name).categories
    if categories is None:
        raise InputError(not_categorical(table, table.facts(name)))
    values: Sequence[str] = categories.values
    declared = categories.declared
    for grouping in groupings:
        if grouping.column == name:
            values = [grouping.groups.get(value, value) for value in values]
            declared = None
    ordered = category_order(sorted(set(values)))
    code_of = {value: code for code, value in enumerate(ordered)}
    lookup = np.array([code_of[value] for value in values], np.int32)
    return Categories(name, tuple(ordered), declared, categories.labels), lookup
