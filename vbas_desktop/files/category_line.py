"""Is line 2 of a record file a record, or does it hold the number of response categories of each column?

Left to itself (``auto``) the program takes it for numbers of categories only when that is certain: every field is a
positive integer, no column has more values than its number says, and a record would hardly look like that. How hardly
is measured: in a column that has exactly as many values as the number says, or whose other values are no numbers at
all, a record would have had that value with about the probability (times it occurs elsewhere + 1) / (records + 1). The
product over these columns is the chance that a record looks like category numbers; below one in ten thousand it is not
taken for a record.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from vbas_desktop.domain.errors import Finding, Severity

from .raw_records import RawColumn, RawRecords

CERTAIN = 1e-4
_POSITIVE_INTEGER = re.compile(r" *[1-9][0-9]{0,17} *")
_NUMBER = re.compile(r" *[+-]?[0-9]+(?:[.,][0-9]*)? *")
_FORCE = (
    "Say --category-counts yes if it holds the numbers of response categories, --category-counts no if it is a record."
)


def settle_category_line(raw: RawRecords, choice: str, file: str) -> tuple[list[int | None] | None, list[Finding]]:
    """The declared numbers if line 2 holds them (its row is then taken out of the columns), and what to say."""
    if choice == "no":
        return None, []
    declared, findings = _forced(raw, file) if choice == "yes" else _judged(raw, file)
    if declared is not None and raw.first_record is not None:
        for column, value in zip(raw.columns, raw.first_record, strict=True):
            column.drop_first(value)
        raw.rows -= 1
        raw.lines.drop_first()
        findings += _exceeded(raw, declared, file) if choice == "yes" else []
    return declared, findings


def _forced(raw: RawRecords, file: str) -> tuple[list[int | None] | None, list[Finding]]:
    if raw.first_record is None:
        message = "The line after the names does not have a number of categories for each column."
        return None, [_finding(file, raw.first_row, message, Severity.ERROR, "Give one number per column.")]
    wrong = [
        _finding(
            file, raw.first_row, "The number of categories is not a positive integer.", Severity.ERROR, _FORCE, name
        )
        for name, value in zip(raw.dialect.header, raw.first_record, strict=True)
        if value.strip() and not _POSITIVE_INTEGER.fullmatch(value)
    ]
    if wrong:
        return None, wrong
    return [int(value) if value.strip() else None for value in raw.first_record], []


def _judged(raw: RawRecords, file: str) -> tuple[list[int | None] | None, list[Finding]]:
    if raw.first_record is None or not all(_POSITIVE_INTEGER.fullmatch(value) for value in raw.first_record):
        return None, []
    numbers = [int(value) for value in raw.first_record]
    chance, consistent = _evidence(raw.columns, numbers, raw.rows - 1)
    row = raw.first_row
    if consistent and chance <= CERTAIN:
        message = "Line 2 was taken for the numbers of response categories, not for a record."
        return list(numbers), [
            _finding(file, row, message, Severity.HINT, "Say --category-counts no if it is a record.")
        ]
    if consistent:
        message = "Line 2 was taken for a record, but it could also hold the numbers of response categories."
        return None, [_finding(file, row, message, Severity.WARNING, _FORCE)]
    if chance <= CERTAIN:
        message = (
            "Line 2 looks like the numbers of response categories, but a column has more values than it says; "
            "it was taken for a record."
        )
        return None, [_finding(file, row, message, Severity.WARNING, _FORCE)]
    return None, []


def _evidence(columns: Sequence[RawColumn], numbers: Sequence[int], others: int) -> tuple[float, bool]:
    """The chance that a record looks like this, and whether no column has more values than its number."""
    chance, consistent = 1.0, True
    for column, number in zip(columns, numbers, strict=True):
        if column.parts is None:
            consistent = consistent and column.distinct <= number
            continue
        code = column.first
        assert code is not None
        elsewhere = int(column.frequencies[code]) - 1
        values = [value for i, value in enumerate(column.values) if value != "" and (elsewhere or i != code)]
        consistent = consistent and len(values) <= number
        if len(values) == number or (values and not any(_NUMBER.fullmatch(value) for value in values)):
            chance *= (elsewhere + 1) / (others + 1)
    return chance, consistent


def _exceeded(raw: RawRecords, declared: Sequence[int | None], file: str) -> list[Finding]:
    findings = []
    for column, number in zip(raw.columns, declared, strict=True):
        present = column.distinct
        if column.parts is not None:
            unused = column.dropped is not None and column.frequencies[column.dropped] == 0
            present = len(column.values) - unused - ("" in column.values)
        if number is not None and present > number:
            message = f"There are {present:,} values, but the category line says {number:,}; the values present count."
            findings.append(
                _finding(
                    file,
                    raw.first_row,
                    message,
                    Severity.WARNING,
                    "Correct the category line or the values.",
                    column.name,
                    "category-line-exceeded",
                )
            )
    return findings


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
