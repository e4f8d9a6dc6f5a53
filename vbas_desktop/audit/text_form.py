"""Find the format of a delimited text by its line of names, and say why a text cannot be read."""

from __future__ import annotations

import codecs
import csv
import gzip
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vbas_desktop.io.delimited_text import check_column_count, check_line_ends
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.text import list_first_line

from .coded_file import CsvForm
from .csv_form import find_empty_lines
from .csv_stream import UnreadableFile


@dataclass(frozen=True)
class StatedForm:
    """What is known of a delimited text; None: it is found out. ``category_line``: line 2 is no record."""

    delimiter: str | None = None
    encoding: str | None = None
    category_line: bool = False


def find_form(path: Path, columns: Sequence[str], stated: StatedForm) -> tuple[CsvForm, list[int]]:
    """Find the format of a text with all these columns, and their positions. Raises `InputError` if there is none.

    A guessed UTF-8 is right for the names; of the values it matters only whether they are equal.
    """
    _check_delimiter(stated.delimiter)
    encodings = [stated.encoding] if stated.encoding else _likely_encodings(path)
    for attempt in encodings:
        try:
            delimiter, names = _checked_names(path, columns, stated.delimiter, attempt)
        except UnicodeError:
            continue
        skipped = 2 if stated.category_line else 1
        form = CsvForm(len(names), delimiter, attempt, _is_compressed(path), skipped)
        return form, [names.index(name) for name in columns]
    raise InputError(unreadable(path))


def _likely_encodings(path: Path) -> list[str]:
    """Return UTF-16 if a mark says so, else UTF-8 or, if it is none, Latin-1."""
    with path.open("rb") as raw:
        file = gzip.GzipFile(fileobj=raw) if _is_compressed(path) else raw
        try:
            mark = file.read(2)
        except (OSError, EOFError, zlib.error):
            raise InputError(unreadable(path)) from None
    return ["utf-16"] if mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else ["utf-8", "latin-1"]


def _is_compressed(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _check_delimiter(delimiter: str | None) -> None:
    if delimiter is not None and (
        len(delimiter) != 1 or delimiter in '"\r\n' or not delimiter.isascii()
    ):
        remedy = "Use a single character such as , ; | or a tab."
        raise InputError(Finding("bad-delimiter", f"“{delimiter}” cannot be a delimiter.", remedy))


def _checked_names(
    path: Path, columns: Sequence[str], delimiter: str | None, encoding: str
) -> tuple[str, Sequence[str]]:
    """Find the delimiter that cuts the names line into names with all the wanted ones among them, and these names."""
    candidates = [delimiter] if delimiter else [",", ";", "\t", "|"]
    compressed = _is_compressed(path)
    cut = {candidate: _names(path, candidate, encoding, compressed) for candidate in candidates}
    names = {candidate: results for candidate, results in cut.items() if results is not None}
    if not names:
        raise InputError(unreadable(path))
    best = max(names, key=lambda candidate: len(set(columns) & set(names[candidate])))
    if not names[best]:
        raise InputError(
            Finding("empty-file", "The file is empty.", "Choose another file.", file=str(path))
        )
    check_line_ends(path, "".join(names[best]).encode())
    check_column_count(path, len(names[best]))
    findings = []
    for column in columns:
        times = names[best].count(column)
        if times != 1:
            message = (
                f"There is no column “{column}”."
                if not times
                else f"{times} columns are named “{column}”."
            )
            remedy = list_first_line(names[best])
            if not set(columns) & set(names[best]):
                # Without names, line 1 is a record, which must not be told.
                remedy = "Does line 1 hold the names of the columns, and is the delimiter right?"
            findings.append(
                Finding(
                    "unknown-column" if not times else "duplicate-name", message, remedy, file=str(path)
                )
            )
    if findings:
        raise InputError(findings)
    return best, names[best]


def _names(path: Path, delimiter: str, encoding: str, compressed: bool) -> list[str] | None:
    """Read the names; None if this delimiter leaves pieces that are too long for any name."""
    codec = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    try:
        with (gzip.open if compressed else open)(
            path, "rt", encoding=codec, errors="surrogateescape", newline=""
        ) as file:
            names = next((row for row in csv.reader(file, delimiter=delimiter) if row), [])
    except csv.Error:
        return None
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError(unreadable(path)) from None
    except LookupError:
        message = f"There is no encoding “{encoding}”."
        raise InputError(
            Finding("unknown-encoding", message, "Use for example utf-8 or latin-1.")
        ) from None
    # Only the names are judged: bytes below them that do not fit fail here, where another encoding is tried.
    "".join(names).encode()
    return names


def find_reason(path: Path, form: CsvForm) -> Finding:
    """Find out why a file could not be read, by a slow reading."""
    try:
        results = find_empty_lines(path, form.delimiter, form.encoding, form.compressed, form.width)
    except UnreadableFile:
        return unreadable(path)
    return (
        _describe_ragged_rows(path, results.ragged, results.first_line)
        if results.ragged
        else unreadable(path)
    )


def unreadable(path: Path) -> Finding:
    """Return the finding that a file is no such text."""
    message = "The file cannot be read as delimited text."
    return Finding(
        "not-text",
        message,
        "Check the delimiter, the encoding and that quotes are closed.",
        file=str(path),
    )


def _describe_ragged_rows(path: Path, number: int, first: int | None) -> Finding:
    message = f"{number:,} row{'s have' if number > 1 else ' has'} another number of fields than the names line."
    remedy = "Look for a missing or extra delimiter, or put quotes around text that contains one."
    return Finding("ragged-row", message, remedy, file=str(path), row=first)
