"""Generalisation hierarchies as ARX writes them: ``value;level1;level2…``, one line per value."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.records import Grouping

from .findings import FindingList
from .whole_text import whole_text


@dataclass(frozen=True)
class Levels:
    """One column's hierarchy: ``above[value]`` lists what the value becomes on level 1, 2, … as the file writes it."""

    column: str
    above: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def height(self) -> int:
        """The number of levels above the original values."""
        return max((len(levels) for levels in self.above.values()), default=0)

    def grouping(self, level: int) -> Grouping:
        """The generalisation to one level; level 0 leaves every value as it is."""
        if not 0 <= level <= self.height:
            raise InputError(
                Finding(
                    "no-such-level",
                    f"The hierarchy has no level {level}.",
                    f"Choose 0 to {self.height}.",
                    column=self.column,
                )
            )
        return Grouping(self.column, {value: levels[level - 1] for value, levels in self.above.items() if level})


def read_levels(path: str | Path, column: str | None = None) -> Levels:
    """A hierarchy from a CSV file; the column is the file's name unless it is said. All mistakes are told at once."""
    path = Path(path)
    rows = delimited_rows(path)
    findings = FindingList(str(path))
    if not rows:
        findings.add("empty-hierarchy", "The hierarchy is empty.", "Write value;level1;level2… on each line.")
    width = max((len(row) for _, row in rows), default=0)
    if width == 1:
        findings.add("no-levels", "There is no level beside the values.", "Write value;level1;level2… on each line.")
    above: dict[str, tuple[str, ...]] = {}
    parents: dict[tuple[int, str], str] = {}
    for number, row in rows:
        if len(row) != width:
            findings.add("ragged", f"The row has {len(row)} fields instead of {width}.", "Complete it.", row=number)
        elif row[0] in above:
            findings.add("duplicate-value", "This value was listed before.", "List every value once.", row=number)
        else:
            above[row[0]] = tuple(row[1:])
            _check_nesting(row, number, parents, findings)
    findings.stop_on_errors()
    return Levels(column or path.stem, above)


def delimited_rows(path: Path) -> list[tuple[int, list[str]]]:
    """The lines of a small table with their numbers, without blank ones; semicolon, comma or tab is found out."""
    text = whole_text(path)
    first = text.partition("\n")[0]
    delimiter = max(";,\t", key=first.count)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        return [(reader.line_num, row) for row in reader if any(row)]
    except csv.Error:
        finding = Finding("bad-quotes", "A quoted field is not closed.", "Correct the quotes.", file=str(path))
        raise InputError(finding) from None


def _check_nesting(row: list[str], number: int, parents: dict[tuple[int, str], str], findings: FindingList) -> None:
    """Values that are one on a level must be one on every higher level."""
    for level in range(1, len(row) - 1):
        if parents.setdefault((level, row[level]), row[level + 1]) != row[level + 1]:
            findings.add(
                "not-nested",
                f"A group of level {level} belongs to two different groups of level {level + 1}.",
                "Give it one group, or other names.",
                row=number,
            )
