"""Decide whether line 2 of a record file is a record, or holds the number of response categories of each column.

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
from dataclasses import dataclass
from typing import TypeGuard

from vbas_desktop.model.findings import Finding, Severity

CERTAIN = 1e-4
_POSITIVE_INTEGER = re.compile(r" *[1-9][0-9]{0,17} *")
_NUMBER = re.compile(r" *[+-]?[0-9]+(?:[.,][0-9]*)? *")
_FORCE = (
    "Say --category-counts yes if it holds the numbers of response categories, "
    "--category-counts no if it is a record."
)


@dataclass(frozen=True)
class LineTwo:
    """The verdict on line 2: the declared number of each column (None: it is a record), with findings.

    ``doubtful``: more records could lead to another verdict.
    """

    declared: tuple[int | None, ...] | None
    findings: tuple[Finding, ...] = ()
    doubtful: bool = False


@dataclass(frozen=True)
class ValueFrequencies:
    """The values of a column with their numbers of records, line 2 among them, and the index of line 2's value.

    ``values`` is None if there are too many to be listed; ``distinct`` is then all that is known.
    """

    values: Sequence[str] | None
    counts: Sequence[int]
    distinct: int
    first: int


def looks_like_numbers(record: Sequence[str] | None) -> TypeGuard[Sequence[str]]:
    """Tell whether a record could at all be a line of category numbers."""
    return record is not None and all(_POSITIVE_INTEGER.fullmatch(value) for value in record)


def read_numbers(line: Sequence[str] | None, header: Sequence[str], row: int, file: str) -> LineTwo:
    """Read line 2 as numbers of categories, as the user says it is; the findings are errors if it cannot be."""
    if line is None:
        message = "The line after the names does not have a number of categories for each column."
        return LineTwo(
            None, (_finding(file, row, message, Severity.ERROR, "Give one number per column."),)
        )
    wrong = [
        _finding(
            file,
            row,
            "The number of categories is not a positive integer.",
            Severity.ERROR,
            _FORCE,
            name,
        )
        for name, value in zip(header, line, strict=True)
        if value.strip() and not _POSITIVE_INTEGER.fullmatch(value)
    ]
    if wrong:
        return LineTwo(None, tuple(wrong))
    return LineTwo(tuple(int(value) if value.strip() else None for value in line))


def judge_line(
    line: Sequence[str] | None, columns: Sequence[ValueFrequencies], rows: int, row: int, file: str
) -> LineTwo:
    """Judge line 2, whose row number is ``row``, by ``rows`` records, line 2 among them."""
    if not looks_like_numbers(line):
        return LineTwo(None)
    numbers = tuple(int(value) for value in line)
    chance, consistent = _weigh_evidence(columns, numbers, rows - 1)
    if consistent and chance <= CERTAIN:
        message = "Line 2 was taken for the numbers of response categories, not for a record."
        hint = _finding(file, row, message, Severity.HINT, "Say --category-counts no if it is a record.")
        return LineTwo(numbers, (hint,))
    if consistent:
        message = (
            "Line 2 was taken for a record, but it could also hold the numbers of response categories."
        )
        return LineTwo(None, (_finding(file, row, message, Severity.WARNING, _FORCE),), doubtful=True)
    if chance <= CERTAIN:
        message = (
            "Line 2 looks like the numbers of response categories, but a column has more values than it says; "
            "it was taken for a record."
        )
        return LineTwo(None, (_finding(file, row, message, Severity.WARNING, _FORCE),))
    return LineTwo(None)


def _weigh_evidence(
    columns: Sequence[ValueFrequencies], numbers: Sequence[int], others: int
) -> tuple[float, bool]:
    """Return the chance that a record looks like this, and whether no column has more values than its number."""
    chance = 1.0
    consistent = True
    for column, number in zip(columns, numbers, strict=True):
        if column.values is None:
            consistent = consistent and column.distinct <= number
            continue
        elsewhere = column.counts[column.first] - 1
        values = [
            value
            for i, value in enumerate(column.values)
            if value != "" and (elsewhere or i != column.first)
        ]
        consistent = consistent and len(values) <= number
        if len(values) == number or (values and not any(_NUMBER.fullmatch(value) for value in values)):
            chance *= (elsewhere + 1) / (others + 1)
    return chance, consistent


def exceeded_number(column: str, present: int, number: int, row: int, file: str) -> Finding:
    """Warn of a column that has more values than line 2 says."""
    message = (
        f"There are {present:,} values, but the category line says {number:,}; the values present count."
    )
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
