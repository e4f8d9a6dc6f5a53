"""Decide how the values of copied columns are written: in one way, so that who typed them does not show.

The categories of quasi-identifiers are written as they were counted. docs/release.md has the rules; the auditor states
them once more in other words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.findings import Finding, Severity
from vbas_desktop.model.records import RecordTable
from vbas_desktop.model.text import format_count, inflect
from vbas_desktop.model.value_notation import canonical_values, is_text, plain_value
from vbas_desktop.settings.release import ReleaseOptions

from .plan import ReleasePlan

Notation = Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
"""The values of the columns that are rewritten, and what is written for each.

A value that no released record has stands for itself: it is never written.
"""


class CountableRecords(Protocol):
    """The released records of a plan, in a loaded table or behind an address."""

    @property
    def plan(self) -> ReleasePlan:
        """Return the plan that releases them."""

    @property
    def table(self) -> RecordTable:
        """Return the table that they are in."""

    def count_values(self, name: str) -> NDArray[np.int64]:
        """Count the released records with each value of a column."""


def values_of_texts(table: RecordTable, columns: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the values of those columns that are text in the record file and have few enough to be known."""
    values = {
        facts.name: facts.categories.values for facts in table.columns if facts.categories is not None
    }
    schema = table.schema()
    return {name: values[name] for name in columns if name in values and is_text(schema, name)}


def copied_texts(
    plan: ReleasePlan, table: RecordTable, options: ReleaseOptions
) -> dict[str, tuple[str, ...]]:
    """Return the values of the released columns that are copied from the record file and are text there."""
    used = {plan.problem.region_column, *plan.problem.quasi_identifiers}
    released = options.released_columns(table.file_format.header)
    return values_of_texts(table, [name for name, _ in released if name not in used])


def released_notation(records: CountableRecords, options: ReleaseOptions) -> Notation:
    """Decide how values are written, and return the columns in which a released one is not written as it is.

    Only values of released records have a say, since what is written would tell of suppressed records otherwise.
    """
    notation = {}
    for name, values in copied_texts(records.plan, records.table, options).items():
        if not any(plain_value(value) != value for value in values):
            continue
        present = np.flatnonzero(records.count_values(name)).tolist()
        texts = canonical_values([values[code] for code in present])
        if texts is not None:
            written = list(values)
            for code, text in zip(present, texts, strict=True):
                written[code] = text
            notation[name] = (values, tuple(written))
    return notation


def notation_hints(notation: Notation) -> tuple[Finding, ...]:
    """Say of each column that is not copied as it is how many of its values are written otherwise."""
    findings = []
    for name, (values, written) in notation.items():
        changed = sum(before != after for before, after in zip(values, written, strict=True))
        message = (
            f"{changed:,} of {format_count(len(values), 'value')} {inflect(changed, 'is', 'are')} written "
            "otherwise than "
            "in the record file, so that numbers, dates and blanks look the same whoever entered them."
        )
        findings.append(Finding("uniform-notation", message, severity=Severity.HINT, column=name))
    return tuple(findings)
