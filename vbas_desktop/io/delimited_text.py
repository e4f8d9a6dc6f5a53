"""Delimited text: find the delimiter, read the line of names, and check both."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from vbas_desktop.model.findings import Finding, FindingList, input_error
from vbas_desktop.model.text import DELIMITER_NAMES, list_first_line, may_be_record, shorten

DELIMITERS = (",", ";", "\t", "|")
# Long fields are no mistake: rows have a limit of their own.
csv.field_size_limit(1 << 24)
_SAMPLED_ROWS = 500
SAMPLE_BYTES = 1 << 16
"""Bytes at the beginning of a file from which the delimiter is found."""

MOST_COLUMNS = 10_000
"""No record or region file has more: a file with more columns is no table, or its line ends were not recognised."""

_ROW_LINES = 200
_LINE_ENDS = {
    b"\r\r\n": "CR CR LF",
    "\u2028".encode(): "U+2028 (line separator)",
    "\u2029".encode(): "U+2029 (paragraph separator)",
    "\u0085".encode(): "U+0085 (next line)",
    b"\v": "VT (vertical tab)",
    b"\f": "FF (form feed)",
    b"\x1e": "RS (record separator)",
}
"""Line ends of some files that are not read here."""


def sniff_delimiter(start: bytes, complete: bool = True) -> str:
    """Find the delimiter that cuts the first rows most evenly into the most columns; comma if none cuts at all.

    ``complete`` says that the bytes are the whole file, so that the last row is not cut off.
    """
    text = start[:SAMPLE_BYTES].decode("latin-1")
    complete = complete and len(start) <= SAMPLE_BYTES
    scores = [
        (_evenness(text, delimiter, complete), -order) for order, delimiter in enumerate(DELIMITERS)
    ]
    best = max(scores)
    return DELIMITERS[-best[1]]


def _evenness(text: str, delimiter: str, complete: bool) -> tuple[bool, float, int]:
    """Rate a delimiter: all rows as wide as the first, the share of rows that are, and that width."""
    widths = [len(row) for row in _rows(text, delimiter) if row]
    if not complete and len(widths) > 1 and len(widths) <= _SAMPLED_ROWS:
        widths.pop()
    if not widths or widths[0] < 2:
        return (False, 0.0, 0)
    share = sum(width == widths[0] for width in widths) / len(widths)
    return (share == 1.0, share, widths[0])


def _rows(text: str, delimiter: str) -> list[list[str]]:
    rows: list[list[str]] = []
    # A field can be beyond the module's limit: what was read so far must do.
    with suppress(csv.Error):
        rows.extend(
            islice(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), _SAMPLED_ROWS + 1)
        )
    return rows


def split_first_row(data: bytes, delimiter: str) -> tuple[list[bytes], int, int] | None:
    """Return the fields of the first row that is not blank, the start of the next, and the number of lines before it.

    None if the data ends before the row does, or if it has more lines than any names need.
    """
    start = 0
    lines = 0
    while True:
        end = data.find(b"\n", start)
        if end < 0:
            return None
        if data[start:end] not in (b"", b"\r"):
            break
        start = end + 1
        lines += 1
    for _ in range(_ROW_LINES):
        if end < 0:
            return None
        row = data[start : end + 1].decode("latin-1")
        fields = _single_row(row, delimiter)
        if fields is not None:
            return [name.encode("latin-1") for name in fields], end + 1, lines + row.count("\n")
        end = data.find(b"\n", end + 1)
    return None


def _single_row(text: str, delimiter: str) -> list[str] | None:
    """Return the fields if the text is one whole row, None if a quoted field is still open at its end."""
    # A second row is appended: it only stands alone if the first is closed.
    second = "y" if delimiter == "x" else "x"
    try:
        rows = list(csv.reader(io.StringIO(f"{text}{second}\n", newline=""), delimiter=delimiter))
    except csv.Error:
        return None
    return rows[0] if len(rows) == 2 and rows[1] == [second] else None


def suggest_delimiter(names: Sequence[str], used: str | None, option: str) -> tuple[str, str] | None:
    """Return message and remedy if the names look as if another delimiter than ``used`` separates them; else None."""
    for delimiter in DELIMITERS:
        most = max((name.count(delimiter) for name in names), default=0)
        if delimiter != used and most >= (1 if len(names) == 1 else 2):
            read = f"{DELIMITER_NAMES[used]}s" if used in DELIMITER_NAMES else f"“{used}”"
            seem = f"The column names seem to be separated by {DELIMITER_NAMES[delimiter]}s"
            typed = "tab" if delimiter == "\t" else f"“{delimiter}”"
            return f"{seem}, but the file is read as separated by {read}.", f"Set {option} to {typed}."
    return None


def suggest_columns(name: str, names: Sequence[str]) -> str:
    """Name similar columns in a sentence, or list the columns if none is similar and line 1 holds names."""
    import difflib

    lowered = {other.strip().lower(): other for other in names}
    near = (
        []
        if may_be_record(names)
        else difflib.get_close_matches(name.strip().lower(), list(lowered), 3, 0.6)
    )
    if near:
        return "Did you mean " + " or ".join(f"“{shorten(lowered[match])}”" for match in near) + "?"
    return list_first_line(names)


def check_line_ends(file: str | Path, line: bytes) -> None:
    """Refuse a line of names that has unusual line ends in it: it holds records too."""
    for mark, name in _LINE_ENDS.items():
        if mark in line:
            remedy = "Save the file with ordinary line ends (LF or CRLF)."
            raise input_error("line-ends", f"Lines end with {name}.", remedy, file=file, row=1)


def check_column_count(file: str | Path, columns: int) -> None:
    """Refuse a table with more columns than any table of records or regions has."""
    if columns > MOST_COLUMNS:
        message = f"The file has more than {MOST_COLUMNS:,} columns."
        remedy = "Check the delimiter and the line ends, or keep only the columns that you need."
        raise input_error("too-many-columns", message, remedy, file=file)


def find_wrong_names(file: str | Path, names: Sequence[str]) -> tuple[Finding, ...]:
    """Find columns without a name and names that occur twice, which are not quoted: line 1 may be a record."""
    findings = FindingList(str(file))
    remedy = (
        "Give every column a name of its own in line 1; if line 1 is a record, put the names above it."
    )
    positions: dict[str, list[int]] = {}
    for number, name in enumerate(names, 1):
        if name.strip():
            positions.setdefault(name, []).append(number)
        else:
            findings.add(
                "empty-name",
                f"Column {number} has no name.",
                "Give every column a name in line 1.",
                row=1,
            )
    for numbers in positions.values():
        if len(numbers) > 1:
            listed = ", ".join(map(str, numbers[:-1]))
            message = f"Columns {listed} and {numbers[-1]} have the same name."
            findings.add("duplicate-name", message, remedy, row=1)
    return findings.all()
