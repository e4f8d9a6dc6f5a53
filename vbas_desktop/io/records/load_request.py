"""The request for loading a record file, and what the loaders of CSV and Parquet share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vbas_desktop.model.findings import Finding
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import ColumnFacts
from vbas_desktop.settings.reading import RecordReading

from .category_line import LineTwo, ValueFrequencies, exceeded_number
from .coding import ColumnCoder
from .file_format import ReadLimits

READING = "Reading records"
ORDERING = "Ordering categories"


@dataclass(frozen=True)
class RecordLoadRequest:
    """A request to load columns of a record file.

    ``columns`` are the names of the columns that are needed (None: all), ``unlimited`` of those among them that may
    have any number of values.
    """

    path: Path
    options: RecordReading
    columns: Collection[str] | None
    unlimited: Collection[str]
    limits: ReadLimits
    progress: Progress

    def is_needed(self, name: str) -> bool:
        """Tell whether a column is needed."""
        return self.columns is None or name in self.columns

    def make_coder(self, encode: Callable[[Any], Any], *names: str) -> ColumnCoder:
        """Make the coder of a column, by each name that it may have."""
        is_unlimited = any(name in self.unlimited for name in names)
        return ColumnCoder(encode, None if is_unlimited else self.limits.distinct)

    def judge_beginning(self, judge_rows: Callable[[int | None], LineTwo]) -> LineTwo:
        """Judge line 2 by the first rows of the file, or if that leaves a doubt, by all (None)."""
        verdict = judge_rows(self.limits.beginning_rows)
        return judge_rows(None) if verdict.doubtful else verdict

    def check_rows(self, rows: int) -> list[Finding]:
        """Return the error that there are no records, if so."""
        if rows:
            return []
        message = "The file has column names but no records."
        return [Finding("no-records", message, "Choose another file.", file=str(self.path))]

    def find_exceeded(
        self, columns: Iterable[ColumnFacts], verdict: LineTwo, header: Sequence[str], row: int
    ) -> list[Finding]:
        """Warn of columns that have more values than the category line, which is in this row, declares."""
        if verdict.declared is None:
            return []
        findings = []
        for facts in columns:
            declared = verdict.declared[header.index(facts.name)]
            present = facts.distinct - (facts.missing > 0)
            if declared is not None and present > declared:
                findings.append(exceeded_number(facts.name, present, declared, row, str(self.path)))
        return findings


def take_rows(batches: Iterable[Any], number: int | None) -> Iterator[Any]:
    """Yield the first rows of the batches; all with None."""
    remaining = number
    for batch in batches:
        if remaining is None:
            yield batch
            continue
        yield batch.slice(0, remaining)
        remaining -= batch.num_rows
        if remaining <= 0:
            return


def drop_first_row(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the batches without the first row of the first one."""
    is_first = True
    for batch in batches:
        yield batch.slice(1) if is_first else batch
        is_first = False


def list_values(coder: ColumnCoder) -> ValueFrequencies:
    """Return the values of a column in the order of their first appearance: that of line 2 is the first."""
    values, counts = coder.count_values("iso8859-1")
    if not coder.is_coded:
        return ValueFrequencies(None, (), coder.distinct, 0)
    return ValueFrequencies(values, counts.tolist(), coder.distinct, 0)
