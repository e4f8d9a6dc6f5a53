"""The join of records and regions by id, and what is odd about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.domain.errors import Finding, Severity
from vbas_desktop.domain.records import ColumnFacts
from vbas_desktop.domain.regions import Regions
from vbas_desktop.domain.words import agreeing, counted
from vbas_desktop.files.records.table import RecordTable

_NAMED_ROWS = 5

_LIKENESSES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("blanks", str.strip),
    ("leading zeros", lambda value: value.lstrip("0") or "0"),
    ("upper and lower case", str.casefold),
    ("a trailing “.0”", lambda value: value.removesuffix(".0")),
    (
        "blanks, leading zeros, case or “.0”",
        lambda value: value.strip().removesuffix(".0").lstrip("0").casefold() or "0",
    ),
)


@dataclass(frozen=True)
class Join:
    """Which region each value of the region column means (-1: none), and the findings."""

    table: NDArray[np.int32]
    findings: tuple[Finding, ...]


def join_regions(table: RecordTable, facts: ColumnFacts, regions: Regions, unknown_regions: str) -> Join:
    """Match the region column's values with the region file's ids: exact text, nothing is guessed."""
    assert facts.categories is not None
    assert facts.frequencies is not None
    index = {region: i for i, region in enumerate(regions.ids)}
    values = facts.categories.values
    places = np.array([index.get(value, -1) for value in values], np.int32)
    findings = []
    unknown = np.flatnonzero(places < 0)
    if unknown.size:
        findings.append(_unknown(table, facts, places, unknown_regions, regions.ids))
        findings += _near_misses(table, facts, [values[i] for i in unknown], regions.ids)
        if unknown.size == len(values):
            findings.append(_none_known(table, facts))
    findings += _alike(table, facts)
    empty = len(regions) - int(np.unique(places[places >= 0]).size)
    if empty and unknown.size < len(values):
        findings.append(_without_records(regions, empty))
    return Join(places, tuple(findings))


def _unknown(
    table: RecordTable, facts: ColumnFacts, places: NDArray[np.int32], choice: str, ids: Sequence[str]
) -> Finding:
    assert facts.frequencies is not None
    lost = places < 0
    records = int(facts.frequencies[lost].sum())
    # A look-up on the codes, a block at a time: the first few rows are usually found at once.
    rows = table.first_rows(facts.name, lost, _NAMED_ROWS)
    named = ", ".join(f"{row:,}" for row in rows) + (" …" if records > len(rows) else "")
    blank = f", {facts.missing:,} of them without any region id" if facts.missing else ""
    message = (
        f"{counted(records, 'record names', 'records name')} a region that the region file lacks "
        f"({counted(int(lost.sum()), 'different id')}{blank}); "
        f"first in row{'s' if len(rows) > 1 else ''} {named}. Expected are ids such as {_examples(ids)}."
    )
    if choice == "suppress":
        severity, remedy = Severity.WARNING, "They are suppressed and counted as such."
    else:
        severity = Severity.ERROR
        remedy = "Complete the region file, or let these records be suppressed (--unknown-regions suppress)."
    return Finding("unknown-region", message, remedy, severity, table.source.path, rows[0], facts.name)


def _examples(ids: Sequence[str]) -> str:
    """The first and the last id of the region file; ids of the records stay in the house."""
    return " and ".join(f"“{region}”" for region in dict.fromkeys((ids[0], ids[-1])))


def _near_misses(table: RecordTable, facts: ColumnFacts, unknown: Sequence[str], ids: Sequence[str]) -> list[Finding]:
    """One hint for each way in which unknown ids would match if the difference were ignored."""
    assert facts.categories is not None
    findings, left = [], [value for value in unknown if value != ""]
    for what, normal in _LIKENESSES:
        known = {normal(region) for region in ids}
        found = [value for value in left if normal(value) in known]
        left = [value for value in left if normal(value) not in known]
        if found:
            differ = counted(len(found), "unknown region id differs", "unknown region ids differ")
            message = f"{differ} from known ones only by {what}."
            remedy = "Write the ids the same way in both files (spreadsheets often drop leading zeros)."
            row = table.first_rows(facts.name, np.isin(facts.categories.values, found), 1)[0]
            findings.append(Finding("similar-id", message, remedy, Severity.HINT, table.source.path, row, facts.name))
    return findings


def _alike(table: RecordTable, facts: ColumnFacts) -> list[Finding]:
    """A hint if ids in the records differ from each other only in how they are written."""
    assert facts.categories is not None
    values = [value for value in facts.categories.values if value != ""]
    if len({_LIKENESSES[-1][1](value) for value in values}) == len(values):
        return []
    for what, normal in _LIKENESSES:
        pairs = len(values) - len({normal(value) for value in values})
        if pairs:
            message = f"{counted(pairs, 'region id differs', 'region ids differ')} from another one only by {what}."
            remedy = "If they mean the same region, write them the same way."
            return [Finding("similar-id", message, remedy, Severity.HINT, table.source.path, column=facts.name)]
    return []


def _none_known(table: RecordTable, facts: ColumnFacts) -> Finding:
    message = "No record names a region of the region file."
    remedy = "Check that this is the region column and that the two files belong together."
    return Finding("no-known-region", message, remedy, file=table.source.path, column=facts.name)


def _without_records(regions: Regions, empty: int) -> Finding:
    message = f"{empty:,} of {counted(len(regions), 'region')} {agreeing(empty, 'has', 'have')} no records."
    file = regions.source.path if regions.source else None
    return Finding("regions-without-records", message, "This is allowed.", Severity.WARNING, file)
