"""Generalisation hierarchies: what each value becomes on each level, read from CSV as ARX writes them."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vbas_desktop.files.access import check_readable
from vbas_desktop.files.findings import FindingList

SUPPRESSED = "***"
"""The top of every hierarchy: the value says nothing any more. ``*`` and an empty field mean the same."""
_TOPS = frozenset({SUPPRESSED, "*", ""})


@dataclass(frozen=True)
class Hierarchy:
    """One column's levels. ``ancestors[value]`` lists the value on level 1, 2, …; the last level is suppression.

    ``weights[h]`` is the weight of level h + 1, for precision weighted by level; empty: all alike.
    """

    column: str
    ancestors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    weights: tuple[float, ...] = ()

    @property
    def height(self) -> int:
        """The number of levels above the original values, suppression included; 1 without any hierarchy."""
        return max((len(levels) for levels in self.ancestors.values()), default=1)

    def level(self, original: str, released: str) -> int | None:
        """On which level a released value generalises an original one; None if it does not."""
        if original == released:
            return 0
        if released in _TOPS:
            return self.height
        levels = self.ancestors.get(original, ())
        return levels.index(released) + 1 if released in levels else None

    def on_level(self, value: str, level: int) -> str:
        """What a value becomes on a level."""
        if level <= 0:
            return value
        levels = self.ancestors.get(value, ())
        return levels[level - 1] if level <= len(levels) else SUPPRESSED

    def share(self, level: int) -> float:
        """How much of the hierarchy lies below a level: h/|DGH|, or the sum of the weights of the levels climbed."""
        if self.weights:
            return sum(self.weights[:level])
        return level / self.height


def flat(column: str) -> Hierarchy:
    """A hierarchy with nothing between the value and its suppression."""
    return Hierarchy(column)


def intervals(column: str, values: Sequence[str], widths: Sequence[int]) -> Hierarchy:
    """A hierarchy of whole numbers by intervals of growing widths, starting at 1, with suppression on top."""
    ancestors = {}
    for value in values:
        number = int(value)
        levels = [f"{(number - 1) // width * width + 1}-{((number - 1) // width + 1) * width}" for width in widths]
        ancestors[value] = (*levels, SUPPRESSED)
    return Hierarchy(column, ancestors)


def read_hierarchy(path: str | Path, column: str | None = None) -> Hierarchy:
    """A hierarchy from CSV: ``value;level1;level2…``, one line per value. The column is the file's name by default."""
    path = Path(path)
    check_readable(path)
    findings = FindingList(str(path))
    content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    delimiter = ";" if text.partition("\n")[0].count(";") >= text.partition("\n")[0].count(",") else ","
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    if not rows:
        findings.add("empty-hierarchy", "The hierarchy is empty.", "Write value;level1;level2… on each line.")
    width = max(map(len, rows), default=0)
    ancestors: dict[str, tuple[str, ...]] = {}
    parents: dict[tuple[int, str], str] = {}
    for number, row in enumerate(rows, 1):
        if len(row) != width:
            findings.add("ragged", f"The row has {len(row)} fields instead of {width}.", "Complete it.", row=number)
        elif row[0] in ancestors:
            findings.add("duplicate-value", "This value was listed before.", "List every value once.", row=number)
        else:
            ancestors[row[0]] = _topped(row[1:])
            _check_nesting(row, number, parents, findings)
    findings.stop_on_errors()
    return Hierarchy(column or path.stem, ancestors)


def _topped(levels: list[str]) -> tuple[str, ...]:
    """The levels with suppression as the last one, however the file writes it."""
    if levels and levels[-1] in _TOPS:
        levels = levels[:-1]
    return (*levels, SUPPRESSED)


def _check_nesting(row: list[str], number: int, parents: dict[tuple[int, str], str], findings: FindingList) -> None:
    """Values that are one on a level must be one on every higher level."""
    for level in range(1, len(row) - 1):
        above = parents.setdefault((level, row[level]), row[level + 1])
        if above != row[level + 1]:
            findings.add(
                "not-nested",
                f"A group of level {level} belongs to two different groups of level {level + 1}.",
                "Give it one group, or other names.",
                row=number,
            )


def read_hierarchies(folder: str | Path, columns: Sequence[str]) -> dict[str, Hierarchy]:
    """The hierarchies of a folder: ``COLUMN.csv`` for each column that has one, a flat one otherwise."""
    found = {}
    for column in columns:
        path = Path(folder) / f"{column}.csv"
        found[column] = read_hierarchy(path, column) if path.is_file() else flat(column)
    return found
