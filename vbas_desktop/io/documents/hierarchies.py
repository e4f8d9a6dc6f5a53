"""Which categories are taken together, read from ``column,value,group`` files or from one level of a hierarchy; and
what codes in a record file mean, read from a codebook.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from vbas_desktop.model.findings import Finding, FindingList, Severity, input_error
from vbas_desktop.model.records import Grouping, RecordTable
from vbas_desktop.model.text import count_formulas, describe_formulas, format_count, inflect

from ..text_files import read_text_file

Codebook = Mapping[str, Mapping[str, str]]
"""Column → value → label."""

_NAMED_ROWS = 5
_COLUMN = ("column", "attribute", "variable")
_VALUE = ("value", "code")
_LABEL = ("label", "meaning")


@dataclass(frozen=True)
class HierarchyFile:
    """One column's hierarchy: ``above[value]`` lists what the value becomes on level 1, 2, … as the file writes it."""

    column: str
    above: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    file: str = ""
    delimiter: str = ";"

    def row_form(self, value: str = "value") -> str:
        """Write the row of a value as the file has it: ``value;level1;level2``."""
        delimiter = "<Tab>" if self.delimiter == "\t" else self.delimiter
        return delimiter.join([value, *(f"level{level}" for level in range(1, self.height + 1))])

    @property
    def height(self) -> int:
        """The number of levels above the original values."""
        return max((len(levels) for levels in self.above.values()), default=0)

    def grouping(self, level: int) -> Grouping:
        """Build the grouping of one level; level 0 leaves every value as it is."""
        if not 0 <= level <= self.height:
            raise input_error(
                "no-such-level",
                f"The hierarchy has no level {level}.",
                f"Choose 0 to {self.height}.",
                column=self.column,
            )
        return Grouping(
            self.column, {value: levels[level - 1] for value, levels in self.above.items() if level}
        )


def read_hierarchy_file(path: str | Path, column: str | None = None) -> HierarchyFile:
    """Read a hierarchy from a CSV file; the column is the file's name unless given.

    Raises `InputError` with all mistakes together.
    """
    path = Path(path)
    rows = read_delimited_rows(path)
    findings = FindingList(str(path))
    if rows and _lists_groups(rows[0][1]):
        message = "This is no hierarchy: it lists groups under the names column, value and group."
        remedy = "Name the file alone, without COLUMN= and :LEVEL; a hierarchy has value;level1;level2… on each line."
        findings.add("not-a-hierarchy", message, remedy, row=1)
        findings.stop_on_errors()
    if not rows:
        findings.add(
            "empty-hierarchy", "The hierarchy is empty.", "Write value;level1;level2… on each line."
        )
    width = max((len(row) for _, row in rows), default=0)
    if width == 1:
        findings.add(
            "no-levels",
            "There is no level beside the values.",
            "Write value;level1;level2… on each line.",
        )
    above: dict[str, tuple[str, ...]] = {}
    parents: dict[tuple[int, str], str] = {}
    for number, row in rows:
        if len(row) != width:
            findings.add(
                "ragged",
                f"The row has {len(row)} fields instead of {width}.",
                "Complete it.",
                row=number,
            )
        elif row[0] in above:
            findings.add(
                "duplicate-value", "This value was listed before.", "List every value once.", row=number
            )
        else:
            above[row[0]] = tuple(row[1:])
            _check_nesting(row, number, parents, findings)
    findings.stop_on_errors()
    return HierarchyFile(column or path.stem, above, str(path), _delimiter_of(read_text_file(path)))


def check_hierarchy(levels: HierarchyFile, table: RecordTable) -> None:
    """Refuse a hierarchy that has no row for some value of its column; the message names rows of the records only."""
    facts = table.facts(levels.column)
    if facts.categories is None or facts.frequencies is None:
        return
    values = facts.categories.values
    lacking = np.array([value not in levels.above for value in values]) & (facts.frequencies > 0)
    number = int(lacking.sum())
    if not number:
        return
    rows = table.first_rows(levels.column, lacking, _NAMED_ROWS)
    more = " …" if int(facts.frequencies[lacking].sum()) > len(rows) else ""
    listed = ", ".join(f"{row:,}" for row in rows)
    where = f" (first in {inflect(len(rows), 'row', 'rows')} {listed}{more})" if rows else ""
    message = f"The hierarchy has no row for {format_count(number, 'value')} of the records{where}."
    remedy = f"Add a row {levels.row_form()} for each of them."
    if any(value == "" for value, lacks in zip(values, lacking, strict=True) if lacks):
        remedy = f"{remedy} Empty fields need one, too: {levels.row_form('')}."
    raise input_error("incomplete-hierarchy", message, remedy, file=levels.file, column=levels.column)


def read_delimited_rows(path: Path) -> list[tuple[int, list[str]]]:
    """Read the rows of a small table with their line numbers, without blank ones; the delimiter is detected."""
    text = read_text_file(path)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter_of(text), strict=True)
        return [(reader.line_num, row) for row in reader if any(row)]
    except csv.Error:
        raise input_error(
            "bad-quotes", "A quoted field is not closed.", "Correct the quotes.", file=path
        ) from None


def _delimiter_of(text: str) -> str:
    """Find out what separates the fields, from the first line."""
    return max(";,\t", key=text.partition("\n")[0].count)


def _check_nesting(
    row: list[str], number: int, parents: dict[tuple[int, str], str], findings: FindingList
) -> None:
    """Note a finding where values with one group on a level have several on the next; ``parents`` is added to."""
    for level in range(1, len(row) - 1):
        if parents.setdefault((level, row[level]), row[level + 1]) != row[level + 1]:
            findings.add(
                "not-nested",
                f"A group of level {level} belongs to two different groups of level {level + 1}.",
                "Give it one group, or other names.",
                row=number,
            )


HEADER = ("column", "value", "group")


def _lists_groups(names: Sequence[str]) -> bool:
    """Tell whether these are the column names of a file of groups."""
    return tuple(name.strip().lower() for name in names) == HEADER


def read_groupings(choice: str) -> tuple[Grouping, ...]:
    """Read the groupings that a person names.

    ``FILE`` has the columns column, value and group; ``COLUMN=FILE:LEVEL`` takes one level (1 unless it is said) of a
    hierarchy ``value;level1;level2…``.
    """
    named = _read_named_level(choice)
    if named is None:
        return read_groups(Path(choice))
    levels, level = named
    return (levels.grouping(level),)


def _read_named_level(choice: str) -> tuple[HierarchyFile, int] | None:
    """Read the hierarchy of ``COLUMN=FILE:LEVEL``; None if the choice names a file of groups."""
    column, equals, location = choice.partition("=")
    if not equals or Path(choice).exists():
        return None
    file, colon, level = location.rpartition(":")
    if not (colon and level.isdecimal()) or Path(location).exists():
        file = location
        level = "1"
    return read_hierarchy_file(file, column), int(level)


def check_hierarchies(choices: Iterable[str], table: RecordTable, columns: Container[str]) -> None:
    """Refuse named hierarchies (``COLUMN=FILE:LEVEL``) that lack values of these columns.

    What comes after another grouping of the same column lists the groups of that one, not the values.
    """
    grouped: set[str] = set()
    for choice in choices:
        named = _read_named_level(choice)
        if named is None:
            grouped |= {grouping.column for grouping in read_groups(Path(choice))}
            continue
        levels, _ = named
        if levels.column in columns and levels.column not in grouped:
            check_hierarchy(levels, table)
        grouped.add(levels.column)


def read_groups(path: Path) -> tuple[Grouping, ...]:
    """Read the groupings of a ``column,value,group`` file, in the order of their first line.

    Raises `InputError` with all mistakes together.
    """
    rows = read_delimited_rows(path)
    findings = FindingList(str(path))
    if not rows or not _lists_groups(rows[0][1]):
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
            findings.add(
                "ragged",
                "The line does not have a column, a value and a group.",
                "Complete it.",
                row=number,
            )
            continue
        column, value, group = row
        if groups.setdefault(column, {}).setdefault(value, group) != group:
            findings.add(
                "two-groups",
                "The value has another group above.",
                "Give it one group.",
                row=number,
                column=column,
            )
    findings.stop_on_errors()
    return tuple(Grouping(column, values) for column, values in groups.items())


def format_groups(groupings: Iterable[Grouping]) -> str:
    """Write groupings as the text of a ``column,value,group`` file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    for grouping in groupings:
        writer.writerows([grouping.column, value, group] for value, group in grouping.groups.items())
    return text.getvalue()


def find_formulas(file: str, groupings: Iterable[Grouping]) -> list[Finding]:
    """Warn of formulas in a file of groups: it is written as it is, because the program reads it again."""
    pairs = ((grouping.column, pair) for grouping in groupings for pair in grouping.groups.items())
    count = count_formulas(text for column, (value, group) in pairs for text in (column, value, group))
    remedy = (
        "They stay as they are, because the program reads the file again. "
        "Do not open it with a spreadsheet program."
    )
    message = describe_formulas(count, "cell")
    return [Finding("formula", message, remedy, Severity.WARNING, file)] if count else []


def groupings_to_json(groupings: Iterable[Grouping]) -> dict[str, dict[str, str]]:
    """Write groupings as plain JSON data; several of one column are combined."""
    plain: dict[str, dict[str, str]] = {}
    for grouping in groupings:
        before = plain.setdefault(grouping.column, {})
        chained = {value: grouping.groups.get(group, group) for value, group in before.items()}
        # A value that an earlier grouping already moved is reached through its group only.
        fresh = {value: group for value, group in grouping.groups.items() if value not in before}
        plain[grouping.column] = {**chained, **fresh}
    return plain


def groupings_from_json(plain: Mapping[str, Mapping[str, str]]) -> tuple[Grouping, ...]:
    """Read groupings from plain data, without empty ones."""
    return tuple(Grouping(column, dict(groups)) for column, groups in plain.items() if groups)


def check_groupings(
    groupings: Iterable[Grouping], table: RecordTable, used: Sequence[str]
) -> tuple[Finding, ...]:
    """Find groupings without effect: unused columns, values that do not occur."""
    findings = FindingList(table.source.path)
    for grouping in groupings:
        column = grouping.column
        if column not in table.file_format.header:
            message = "Groups are given for a column that the records do not have."
            findings.warn("no-such-column", message, "Check its name.", column=column)
        elif column not in used:
            message = "The column is to be generalised but is no quasi-identifier; it stays as it is."
            findings.warn("not-generalised", message, column=column)
        elif (categories := table.facts(column).categories) is not None:
            absent = len(set(grouping.groups) - set(categories.values))
            values = f"{format_count(absent, 'value is', 'values are')} given a group"
            message = f"{values} but {inflect(absent, 'does', 'do')} not occur in the records."
            remark = findings.warn if absent == len(grouping.groups) else findings.hint
            if absent:
                remark(
                    "absent-value",
                    message,
                    "Check that the groups were written for this file.",
                    column=column,
                )
    return findings.all()


def read_codebook(path: str | Path) -> dict[str, dict[str, str]]:
    """Read the labels of a table with the columns column, value and label; further ones are not read.

    ``attribute`` or ``variable`` may stand for column, ``code`` for value (where there is no value) and ``meaning`` for
    label. Raises `InputError` with all mistakes together.
    """
    path = Path(path)
    rows = read_delimited_rows(path)
    findings = FindingList(str(path))
    names = [name.strip().lower() for name in rows[0][1]] if rows else []
    positions = [
        next((names.index(name) for name in possible_names if name in names), None)
        for possible_names in (_COLUMN, _VALUE, _LABEL)
    ]
    if None in positions:
        findings.add(
            "codebook-header",
            "The first line does not name the columns column, value and label.",
            "Write column,value,label on the first line and one line for each category below.",
            row=1,
        )
        findings.stop_on_errors()
    column_at, value_at, label_at = (position for position in positions if position is not None)
    book: dict[str, dict[str, str]] = {}
    for number, row in rows[1:]:
        if len(row) != len(names):
            message = f"The row has {len(row)} fields instead of {len(names)}."
            findings.add("ragged", message, "Complete it.", row=number)
            continue
        labels = book.setdefault(row[column_at], {})
        value = row[value_at]
        label = row[label_at].strip()
        if labels.setdefault(value, label) != label:
            message = "The value has another label above."
            findings.add("two-labels", message, "Give it one label.", row=number, column=row[column_at])
    findings.stop_on_errors()
    return book
