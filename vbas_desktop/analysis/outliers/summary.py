"""Describe the small classes of a file, and a treated file, in numbers that do not tell of fewer than k records."""

from __future__ import annotations

from dataclasses import dataclass

from vbas_desktop.model.findings import Finding
from vbas_desktop.model.records import CodedRecords
from vbas_desktop.model.text import format_count, inflect

from ..representability.elements import is_reportable
from ..representability.record_classes import RecordClasses, count_outlier_records, find_outliers
from .treatments import TreatmentResult


@dataclass(frozen=True)
class TreatmentReport:
    """Numbers of records of a treated file. They may be below k: `in_words` gives those that may be reported."""

    k: int
    records: int
    outlier_records: int
    written: int
    fabricated: int
    smallest_class: int | None
    findings: tuple[Finding, ...] = ()
    deleted: int = 0
    changed: int = 0

    def in_words(self) -> str:
        """Describe the written file in numbers that do not tell of fewer than k records.

        Made-up records are as many as the small classes lack, so few of these hide them too. Where fewer than k are
        left out or changed, the other numbers would tell how many.
        """
        smallest = (
            "no class" if self.smallest_class is None else f"smallest class {self.smallest_class:,}"
        )
        if not is_reportable((self.outlier_records,), self.k):
            return f"{format_count(self.written, 'record')}, {smallest}"
        if not is_reportable((self.deleted, self.changed), self.k):
            return f"{smallest}; fewer than {self.k:,} records are left out or changed"
        numbers = {
            "left out": self.deleted,
            "with other values": self.changed,
            "made up": self.fabricated,
        }
        done = [f"{number:,} {words}" for words, number in numbers.items() if number]
        return (
            f"{format_count(self.written, 'record')} ({', '.join(done) or 'none changed'}), {smallest}"
        )


def describe_outliers(classes: RecordClasses, k: int) -> str:
    """Describe how many records are in classes below k; a number below k, and those it follows from, are left out."""
    n_outliers = find_outliers(classes, k).size
    n_records = count_outlier_records(classes, k)
    if not is_reportable((n_records,), k):
        return f"fewer than {k:,} records are in classes that have fewer than {k:,}"
    return (
        f"{format_count(classes.records, 'record')} in {format_count(len(classes.labels), 'class')}; "
        f"{format_count(n_outliers, 'class')} with {format_count(n_records, 'record')} "
        f"{inflect(n_outliers, 'has', 'have')} fewer than {k:,}"
    )


def describe_filtered_records(table: CodedRecords, k: int) -> str:
    """Describe how many records filters leave out, a number below k by its bound. Empty without filters."""
    if table.selection is None:
        return ""
    n_left_out = table.selection.records_left_out
    number = (
        format_count(n_left_out, "record") if n_left_out >= k else f"fewer than {k:,} records, or none,"
    )
    return f"; {number} left out by filters"


def count_changes(classes: RecordClasses, result: TreatmentResult) -> tuple[int, int]:
    """Count the records that are left out, and those that get other values."""
    deleted = 0
    changed = 0
    for before, after, size in zip(classes.labels, result.labels, classes.sizes.tolist(), strict=True):
        if after is None:
            deleted += size
        elif after != before:
            changed += size
    return deleted, changed
