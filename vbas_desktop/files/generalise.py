"""Which categories are taken together: read from ``column,value,group`` files or from one level of a hierarchy."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from vbas_desktop.domain.errors import Finding, Severity
from vbas_desktop.domain.records import Grouping
from vbas_desktop.domain.words import agreeing, counted

from .findings import FindingList
from .hierarchies import delimited_rows, read_levels
from .records.table import RecordTable

HEADER = ("column", "value", "group")


def read_generalisation(choice: str) -> tuple[Grouping, ...]:
    """The groupings that a person names.

    ``FILE`` has the columns column, value and group; ``COLUMN=FILE:LEVEL`` takes one level (1 unless it is said) of a
    hierarchy ``value;level1;level2…``.
    """
    column, equals, place = choice.partition("=")
    if not equals or Path(choice).exists():
        return read_groups(Path(choice))
    file, colon, level = place.rpartition(":")
    if not (colon and level.isdecimal()) or Path(place).exists():
        file, level = place, "1"
    return (read_levels(file, column).grouping(int(level)),)


def read_groups(path: Path) -> tuple[Grouping, ...]:
    """The groupings of a ``column,value,group`` file, in the order of their first line; all mistakes at once."""
    rows = delimited_rows(path)
    findings = FindingList(str(path))
    if not rows or tuple(name.strip().lower() for name in rows[0][1]) != HEADER:
        findings.add(
            "generalise-header",
            "The first line does not name the columns column, value and group.",
            "Write column,value,group on the first line; for a hierarchy say COLUMN=FILE:LEVEL.",
            row=1,
        )
        findings.stop_on_errors()
    groups: dict[str, dict[str, str]] = {}
    for number, row in rows[1:]:
        if len(row) != 3 or not row[0]:
            findings.add("ragged", "The line does not have a column, a value and a group.", "Complete it.", row=number)
            continue
        column, value, group = row
        if groups.setdefault(column, {}).setdefault(value, group) != group:
            findings.add(
                "two-groups", "The value has another group above.", "Give it one group.", row=number, column=column
            )
    findings.stop_on_errors()
    return tuple(Grouping(column, values) for column, values in groups.items())


def groups_text(groupings: Iterable[Grouping]) -> str:
    """The groupings as a ``column,value,group`` file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    for grouping in groupings:
        writer.writerows([grouping.column, value, group] for value, group in grouping.groups.items())
    return text.getvalue()


def as_plain(groupings: Iterable[Grouping]) -> dict[str, dict[str, str]]:
    """Groupings as plain JSON data; several of one column become what they come to together."""
    plain: dict[str, dict[str, str]] = {}
    for grouping in groupings:
        before = plain.setdefault(grouping.column, {})
        chained = {value: grouping.groups.get(group, group) for value, group in before.items()}
        # A value that an earlier grouping already moved is reached through its group only.
        fresh = {value: group for value, group in grouping.groups.items() if value not in before}
        plain[grouping.column] = {**chained, **fresh}
    return plain


def from_plain(plain: Mapping[str, Mapping[str, str]]) -> tuple[Grouping, ...]:
    """Groupings from plain data, empty ones left out."""
    return tuple(Grouping(column, dict(groups)) for column, groups in plain.items() if groups)


def relevant(groupings: Iterable[Grouping], columns: Sequence[str]) -> tuple[Grouping, ...]:
    """The groupings of these columns."""
    return tuple(grouping for grouping in groupings if grouping.column in columns)


def check_values(groupings: Iterable[Grouping], table: RecordTable, used: Sequence[str]) -> list[Finding]:
    """Remarks on groupings that do less than their owner may think: unused columns, values that do not occur."""
    findings = []
    for grouping in groupings:
        if grouping.column not in table.dialect.header:
            message = "Groups are given for a column that the records do not have."
            findings.append(
                _remark("no-such-column", message, "Check its name.", Severity.WARNING, table, grouping.column)
            )
            continue
        if grouping.column not in used:
            message = "The column is to be generalised but is no quasi-identifier; it stays as it is."
            findings.append(_remark("not-generalised", message, "", Severity.WARNING, table, grouping.column))
            continue
        categories = table.facts(grouping.column).categories
        absent = 0 if categories is None else len(set(grouping.groups) - set(categories.values))
        if absent:
            occur = agreeing(absent, "does", "do")
            message = f"{counted(absent, 'value is', 'values are')} given a group but {occur} not occur in the records."
            severity = Severity.WARNING if absent == len(grouping.groups) else Severity.HINT
            remedy = "Check that the groups were written for this file."
            findings.append(_remark("absent-value", message, remedy, severity, table, grouping.column))
    return findings


def _remark(code: str, message: str, remedy: str, severity: Severity, table: RecordTable, column: str) -> Finding:
    return Finding(code, message, remedy, severity, table.source.path, column=column)
