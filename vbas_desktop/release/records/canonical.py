"""One way of writing for every value: who typed it, and with which program, must not show in the release.

Only columns that are copied are meant; the categories of quasi-identifiers are what was counted. docs/release.md has
the rules. `expected_values` states them once more in other words, for the verification.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.errors import Finding, Severity
from vbas_desktop.model.records import RecordTable
from vbas_desktop.model.value_notation import canonical_values, is_text, plain_value
from vbas_desktop.model.words import agreeing, counted

Canonical = Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
"""The values of the columns that are rewritten, and what is written for each.

A value that no released record has stands for itself: it is never written.
"""


def values_of_texts(table: RecordTable, columns: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The values of those columns that are text in the record file and have few enough to be known."""
    known = {facts.name: facts.categories.values for facts in table.columns if facts.categories is not None}
    schema = table.schema()
    return {name: known[name] for name in columns if name in known and is_text(schema, name)}


def may_be_rewritten(values: Sequence[str]) -> bool:
    """Whether a release may write a value of these otherwise than it is, whichever of them are released."""
    return any(plain_value(value) != value for value in values)


def canonical_columns(values: Mapping[str, tuple[str, ...]], released: Callable[[str], NDArray[np.bool_]]) -> Canonical:
    """Decide how values are written, and return the columns in which a released one is not written as it is.

    ``released`` says of each value of a column whether a released record has it: no other value has a say, since what
    is written would tell of suppressed records. It is asked only for columns in which it matters.
    """
    found = {}
    for name, of_column in values.items():
        if not may_be_rewritten(of_column):
            continue
        present = np.flatnonzero(released(name)).tolist()
        new = canonical_values([of_column[place] for place in present])
        if new is not None:
            written = list(of_column)
            for place, text in zip(present, new, strict=True):
                written[place] = text
            found[name] = (of_column, tuple(written))
    return found


def canonical_hints(columns: Canonical) -> tuple[Finding, ...]:
    """What the person who releases should know of columns that are not copied as they are."""
    return tuple(
        Finding(
            "written-in-one-way",
            f"{changed:,} of {counted(len(values), 'value')} {agreeing(changed, 'is', 'are')} written otherwise than "
            "in the record file, so that numbers, dates and blanks look the same whoever entered them.",
            severity=Severity.HINT,
            column=name,
        )
        for name, (values, written) in columns.items()
        for changed in (sum(before != after for before, after in zip(values, written, strict=True)),)
    )
