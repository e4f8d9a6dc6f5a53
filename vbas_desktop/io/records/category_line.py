"""Is line 2 of a record file a record, or does it hold the number of response categories of each column?

Left to itself (``auto``) the program takes it for numbers of categories only when that is certain: every field is a
positive integer, no column has more values than its number says, and a record would hardly look like that. How hardly
is measured: in a column that has exactly as many values as the number says, or whose other values are no numbers at
all, a record would have had that value with about the probability (times it occurs elsewhere + 1) / (records + 1). The
product over these columns is the chance that a record looks like category numbers; below one in ten thousand it is not
taken for a record.

Of a large file the beginning is judged, all columns of it, whichever are wanted; if it leaves a doubt, the whole file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from vbas_desktop.model.errors import Finding, Severity

from .raw import LineTwo, RawColumn, RawRecords

CERTAIN = 1e-4
_POSITIVE_INTEGER = re.compile(r" *[1-9][0-9]{0,17} *")
_NUMBER = re.compile(r" *[+-]?[0-9]+(?:[.,][0-9]*)? *")
_FORCE = (
    "Say --category-counts yes if it holds the numbers of response categories, --category-counts no if it is a record."
)


@dataclass(frozen=True)
class ColumnValues:
    """The values of a column with their numbers of records, line 2 among them, and the index of line 2's value.

    ``values`` is None if there are too many to be listed; ``distinct`` is then all that is known.
    """

    values: Sequence[str] | None
    counts: Sequence[int]
    distinct: int
    first: int


def settle_category_line(raw: RawRecords, choice: str, file: str) -> LineTwo:
    """Decide, unless the beginning of the file was judged before, and take a category line out of the columns."""
    if choice == "no":
        return LineTwo(None)
    if choice == "yes":
        verdict = read_numbers(raw.first_record, raw.dialect.header, raw.first_row, file)
    else:
        verdict = raw.verdict or judge_columns(raw.first_record, raw.columns, raw.rows, raw.first_row, file)
    if verdict.declared is None or raw.first_record is None:
        return verdict
    for column in raw.columns:
        column.drop_first(raw.first_record[column.place])
    raw.rows -= 1
    raw.lines.drop_first()
    return replace(verdict, findings=(*verdict.findings, *_exceeded(raw, verdict.declared, file)))


def looks_like_numbers(record: Sequence[str] | None) -> TypeGuard[Sequence[str]]:
    """Whether a record could at all be a line of category numbers."""
    return record is not None and all(_POSITIVE_INTEGER.fullmatch(value) for value in record)


def read_numbers(line: Sequence[str] | None, header: Sequence[str], row: int, file: str) -> LineTwo:
    """Read line 2 as numbers of categories, as the user says it is; the findings are errors if it cannot be."""
    if line is None:
        message = "The line after the names does not have a number of categories for each column."
        return LineTwo(None, (_finding(file, row, message, Severity.ERROR, "Give one number per column."),))
    wrong = [
        _finding(file, row, "The number of categories is not a positive integer.", Severity.ERROR, _FORCE, name)
        for name, value in zip(header, line, strict=True)
        if value.strip() and not _POSITIVE_INTEGER.fullmatch(value)
    ]
    if wrong:
        return LineTwo(None, tuple(wrong))
    return LineTwo(tuple(int(value) if value.strip() else None for value in line))


def judge_columns(line: Sequence[str] | None, columns: Sequence[RawColumn], rows: int, row: int, file: str) -> LineTwo:
    """Judge line 2 by the columns of a file that was read."""
    if not looks_like_numbers(line):
        return LineTwo(None)
    return judge(line, [_values_of(column) for column in columns], rows, row, file)


def _values_of(column: RawColumn) -> ColumnValues:
    if column.parts is None:
        return ColumnValues(None, (), column.distinct, 0)
    assert column.first is not None
    return ColumnValues(column.values, column.frequencies.tolist(), column.distinct, column.first)


def judge(line: Sequence[str] | None, columns: Sequence[ColumnValues], rows: int, row: int, file: str) -> LineTwo:
    """Judge line 2, which has this row number, by so many records, line 2 among them."""
    if not looks_like_numbers(line):
        return LineTwo(None)
    numbers = tuple(int(value) for value in line)
    chance, consistent = _evidence(columns, numbers, rows - 1)
    if consistent and chance <= CERTAIN:
        message = "Line 2 was taken for the numbers of response categories, not for a record."
        hint = _finding(file, row, message, Severity.HINT, "Say --category-counts no if it is a record.")
        return LineTwo(numbers, (hint,))
    if consistent:
        message = "Line 2 was taken for a record, but it could also hold the numbers of response categories."
        return LineTwo(None, (_finding(file, row, message, Severity.WARNING, _FORCE),), doubtful=True)
    if chance <= CERTAIN:
        message = (
            "Line 2 looks like the numbers of response categories, but a column has more values than it says; "
            "it was taken for a record."
        )
        return LineTwo(None, (_finding(file, row, message, Severity.WARNING, _FORCE),))
    return LineTwo(None)


def _evidence(columns: Sequence[ColumnValues], numbers: Sequence[int], others: int) -> tuple[float, bool]:
    """The chance that a record looks like this, and whether no column has more values than its number."""
    chance, consistent = 1.0, True
    for column, number in zip(columns, numbers, strict=True):
        if column.values is None:
            consistent = consistent and column.distinct <= number
            continue
        elsewhere = column.counts[column.first] - 1
        values = [value for i, value in enumerate(column.values) if value != "" and (elsewhere or i != column.first)]
        consistent = consistent and len(values) <= number
        if len(values) == number or (values and not any(_NUMBER.fullmatch(value) for value in values)):
            chance *= (elsewhere + 1) / (others + 1)
    return chance, consistent


def _exceeded(raw: RawRecords, declared: Sequence[int | None], file: str) -> list[Finding]:
    findings = []
    for column in raw.columns:
        present, number = column.distinct, declared[column.place]
        if column.parts is not None:
            unused = column.dropped is not None and column.frequencies[column.dropped] == 0
            present = len(column.values) - unused - ("" in column.values)
        if number is not None and present > number:
            findings.append(exceeded_number(column.name, present, number, raw.first_row, file))
    return findings


def exceeded_number(column: str, present: int, number: int, row: int, file: str) -> Finding:
    """Warn of a column that has more values than line 2 says."""
    message = f"There are {present:,} values, but the category line says {number:,}; the values present count."
    remedy = "Correct the category line or the values."
    return _finding(file, row, message, Severity.WARNING, remedy, column, "category-line-exceeded")


def _finding(
    file: str,
    row: int,
    message: str,
    severity: Severity,
    remedy: str = "",
    column: str | None = None,
    code: str = "category-line",
) -> Finding:
    return Finding(code, message, remedy, severity, file, row, column)
