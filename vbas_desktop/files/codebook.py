"""Codebooks: what the codes in a record file mean, read from a small table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from .findings import FindingList
from .generalise import delimited_rows

Codebook = Mapping[str, Mapping[str, str]]
"""Column → value → label."""

_COLUMN = ("column", "attribute", "variable")
_VALUE = ("value", "code")
_LABEL = ("label", "meaning")


def read_codebook(path: str | Path) -> dict[str, dict[str, str]]:
    """The labels of a table with the columns column, value and label; further ones are not read.

    ``attribute`` or ``variable`` may stand for column, ``code`` for value (where there is no value) and ``meaning`` for
    label. All mistakes are told at once.
    """
    path = Path(path)
    rows = delimited_rows(path)
    findings = FindingList(str(path))
    names = [name.strip().lower() for name in rows[0][1]] if rows else []
    places = [next((names.index(each) for each in known if each in names), None) for known in (_COLUMN, _VALUE, _LABEL)]
    if None in places:
        findings.add(
            "codebook-header",
            "The first line does not name the columns column, value and label.",
            "Write column,value,label on the first line and one line for each category below.",
            row=1,
        )
        findings.stop_on_errors()
    column_at, value_at, label_at = (place for place in places if place is not None)
    book: dict[str, dict[str, str]] = {}
    for number, row in rows[1:]:
        if len(row) != len(names):
            message = f"The row has {len(row)} fields instead of {len(names)}."
            findings.add("ragged", message, "Complete it.", row=number)
            continue
        labels, value, label = book.setdefault(row[column_at], {}), row[value_at], row[label_at].strip()
        if labels.setdefault(value, label) != label:
            message = "The value has another label above."
            findings.add("two-labels", message, "Give it one label.", row=number, column=row[column_at])
    findings.stop_on_errors()
    return book
