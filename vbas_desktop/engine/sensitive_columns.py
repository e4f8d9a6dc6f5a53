"""Check sensitive columns, and count the records by region, class and sensitive value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from vbas_desktop.model.counts import MAX_COMBINATIONS
from vbas_desktop.model.criteria import SensitiveColumn
from vbas_desktop.model.findings import FindingList, InputError, input_error
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import (
    MISSING,
    CodeMap,
    ColumnFacts,
    RecordTable,
    category_order,
    finite_number,
    not_categorical,
)
from vbas_desktop.model.sensitive import SensitiveCounts
from vbas_desktop.model.value_notation import BLANKS, is_text, plain_value, possible_values

_SHOWN = 5


def note_unknown_column(table: RecordTable, name: str, findings: FindingList) -> None:
    """Note that the records have no column of this name."""
    try:
        table.check_name(name)
    except InputError as error:
        for finding in error.findings:
            findings.note(finding)


def check_sensitive(
    table: RecordTable, sensitive: Sequence[SensitiveColumn], used: Sequence[str], findings: FindingList
) -> None:
    """Note all that is wrong or odd about the sensitive columns; ``used`` are region column and quasi-identifiers."""
    for name, times in Counter(chosen.column for chosen in sensitive).items():
        if name in used:
            message = "The column cannot be sensitive and a quasi-identifier, or the region column, too."
            findings.add("sensitive-twice", message, "Choose one of the two.", column=name)
        elif times > 1:
            message = "The sensitive column is named more than once."
            findings.add("sensitive-twice", message, "Name it once.", column=name)
    for chosen in sensitive:
        if chosen.column not in table.file_format.header:
            note_unknown_column(table, chosen.column, findings)
        elif (facts := table.facts(chosen.column)).categorical:
            _check_values(table, facts, chosen, findings)
        elif chosen.criteria:
            findings.note(not_categorical(table, facts))
        else:
            # Too many values stop what was asked of a column; if nothing was, its figures are left out.
            message = "The sensitive column has too many different values: nothing is told of how they are spread."
            remedy = "Take its values together in the record file, or give it no criterion."
            findings.hint("sensitive-too-many", message, remedy, column=chosen.column)


def _check_values(
    table: RecordTable, facts: ColumnFacts, chosen: SensitiveColumn, findings: FindingList
) -> None:
    values, written = _find_spellings(table, facts)
    spellings = {form for value in values for form in possible_values(value)} | (
        {MISSING} if "" in written else set()
    )
    strange = [value for value in chosen.benign if value not in spellings]
    if strange:
        names = ", ".join(f"“{value}”" for value in strange[:_SHOWN])
        message = f"No record has the benign value{'s' if len(strange) > 1 else ''} {names}."
        remedy = "Write them as in the file; upper and lower case count."
        findings.add("benign-unknown", message, remedy, column=chosen.column)
    asks_order = any(rule.kind == "ordered-closeness" for rule in chosen.criteria)
    if asks_order and any(finite_number(value) is None for value in written):
        message = (
            "Not all values of the column are numbers (an empty one is none), so they have no order."
        )
        remedy = "Use closeness instead of ordered-closeness."
        findings.add("sensitive-not-ordered", message, remedy, column=chosen.column)
    different = set(written)
    harmful = any(not _benign(chosen, value, value) for value in different)
    for criterion in chosen.criteria:
        if (
            criterion.kind in ("distinct", "entropy", "recursive")
            and criterion.limit > len(different)
            and harmful
        ):
            message = f"The column has only {len(different):,} different values: no class can meet {criterion.text}."
            findings.warn("criterion-out-of-reach", message, "Ask for less.", column=chosen.column)


def _find_spellings(table: RecordTable, facts: ColumnFacts) -> tuple[Sequence[str], Sequence[str]]:
    """Return the values of a column, and a text for each: those that a release may write alike have the same one.

    How a release writes them depends on which records it has, and that may depend on the criteria. So values that
    differ in notation alone count as one in any case.
    """
    assert facts.categories is not None
    values = facts.categories.values
    if not is_text(table.schema(), facts.name):
        return values, values
    plain = [plain_value(value) for value in values]
    times = Counter(plain)
    return values, [
        text if times[text] > 1 else value.strip(BLANKS)
        for value, text in zip(values, plain, strict=True)
    ]


def _benign(chosen: SensitiveColumn, value: str, written: str) -> bool:
    return any(chosen.is_benign(form) for form in (*possible_values(value), written))


def count_sensitive(
    table: RecordTable,
    chosen: SensitiveColumn,
    region: CodeMap,
    quasi_identifiers: Sequence[CodeMap],
    progress: Progress,
) -> SensitiveCounts:
    """Count the records of each region, class and value: the column counts as one more quasi-identifier."""
    values, written = _find_spellings(table, table.facts(chosen.column))
    ordered = category_order(sorted(set(written)))
    code_of = {value: code for code, value in enumerate(ordered)}
    lookup = np.array([code_of[value] for value in written], np.int32)
    harmful = np.ones(len(ordered), np.bool_)
    for value, as_written in zip(values, written, strict=True):
        if _benign(chosen, value, as_written):
            harmful[code_of[as_written]] = False
    column = CodeMap(chosen.column, lookup, len(ordered))
    cells, unknown = table.count(region, [*quasi_identifiers, column], progress)
    frequencies = table.facts(chosen.column).frequencies
    if unknown or frequencies is None:
        codes = cells.combinations % len(ordered)
        numbers = cells.combination_totals
    else:
        codes = lookup.astype(np.int64)
        numbers = frequencies
    totals = np.bincount(codes, numbers, minlength=len(ordered)).astype(np.int64)
    return SensitiveCounts(chosen, tuple(ordered), harmful, cells, totals)


def list_countable(
    table: RecordTable, classes: int, sensitive: Sequence[SensitiveColumn]
) -> tuple[SensitiveColumn, ...]:
    """List the sensitive columns that are counted; refuse one with which there are more combinations than can be."""
    countable = tuple(column for column in sensitive if table.facts(column.column).categorical)
    for column in countable:
        cells = classes * table.facts(column.column).distinct
        if cells > MAX_COMBINATIONS:
            message = (
                f"With this column there are {cells:.1e} combinations; more than 2^63 cannot be counted."
            )
            remedy = "Choose fewer quasi-identifiers or group values."
            raise input_error(
                "too-many-classes", message, remedy, file=table.source.path, column=column.column
            )
    return countable
