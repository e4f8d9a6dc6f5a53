"""Check that a path is a readable local file of the expected kind, and explain where it is not."""

from __future__ import annotations

import codecs
import re
import zipfile
from dataclasses import replace
from pathlib import Path

from vbas_desktop.model.findings import Finding, InputError, explain_os_error, input_error
from vbas_desktop.model.text import is_valid_text, shorten

EXPANDED_FREELY = 1 << 30
LARGEST_EXPANSION = 250
"""A compressed file may unpack to `EXPANDED_FREELY` bytes, or to `LARGEST_EXPANSION` times its size."""

NO_SUCH_FILE = "There is no such file."
IS_FOLDER = "This is a folder, not a file."

_ADDRESS = re.compile(r"\s*(?:[a-z][a-z0-9+.-]+:\s*/|/vsi)", re.IGNORECASE)
"""An address, also with blanks around its scheme: programs that read files may ignore these."""


def check_local(path: Path) -> None:
    """Refuse addresses and the made-up folders by which other programs reach into archives and the network."""
    if _ADDRESS.match(str(path).replace("\\", "/")) and not path.exists():
        message = "This is an address, not a file: nothing is fetched from a network."
        raise input_error("not-local", message, "Save it as a file, and choose that.", file=path)


def is_on_other_computer(path: str, project: str) -> bool:
    """Tell whether a path that a project names leads to another computer than that of the project."""
    if _ADDRESS.match(path.replace("\\", "/")):
        return True
    return _host(path) not in ("", _host(project))


def check_named_file(path: str, document: Path, remedy: str) -> None:
    """Refuse a path in a document that may come from elsewhere unless it leads to a regular file of this computer.

    Opening anything else may already hand a password to a server, or wait for ever.
    """
    if is_on_other_computer(path, str(document.absolute())) or not Path(path).is_file():
        message = f"{document.name} names this, and it is not a file of this computer: nothing is opened unasked."
        raise input_error("not-named-again", message, remedy, file=path)


def _host(path: str) -> str:
    """Return the computer that a path of the form //computer/share/… names; else an empty text."""
    plain = path.strip().replace("\\", "/")
    return plain[2:].partition("/")[0].casefold() if plain.startswith("//") else ""


def check_readable(path: Path) -> None:
    """Refuse a path that is no readable file, and say what to do."""
    check_local(path)
    file = str(path)
    if not is_valid_text(file):
        message = "The name of the file or of one of its folders is not valid UTF-8."
        raise input_error("bad-name", message, "Rename it.", file=shorten(file))
    if path.is_dir():
        raise input_error("is-directory", IS_FOLDER, "Choose a file in it.", file=file)
    if path.exists() and not path.is_file():
        # A file is read more than once, and whoever opens a pipe waits until somebody writes into it.
        message = "This is a pipe or a device, not a file."
        raise input_error("not-a-file", message, "Save what comes out of it as a file first.", file=file)
    try:
        with path.open("rb"):
            return
    except FileNotFoundError:
        raise input_error("no-such-file", NO_SUCH_FILE, "Check the path.", file=file) from None
    except OSError as error:
        raise InputError(replace(explain_os_error(error), code="unreadable", file=file)) from None


_OPENINGS = {
    b"\xd0\xcf\x11\xe0": "spreadsheet",
    b"%PDF": "PDF document",
    b"\x89PNG": "picture",
    b"\xff\xd8\xff": "picture",
    b"GIF8": "picture",
}
_REMEDIES = {
    "spreadsheet": "In the spreadsheet program, save the sheet as CSV (UTF-8), then open that file.",
    "file of shapes": "Choose the record file; if this is the region file, exchange the two.",
}


def check_text_table(path: Path, *, shapes_too: bool = False) -> None:
    """Refuse what people take for a table: spreadsheets, documents, pictures, and files of shapes unless welcome."""
    with path.open("rb") as stream:
        opening = stream.read(64).lstrip()
    kind = next((kind for start, kind in _OPENINGS.items() if opening.startswith(start)), None)
    if opening.startswith(b"PK\3\4") and _is_spreadsheet(path):
        kind = "spreadsheet"
    if not shapes_too and (
        opening.startswith(b"SQLite format 3")
        or (opening[:1] == b"{" and path.suffix.lower() in (".json", ".geojson"))
    ):
        kind = "file of shapes"
    if kind is not None:
        message = f"This is a {kind}, not a table in text form."
        remedy = _REMEDIES.get(kind, "Choose another file.")
        raise input_error("not-a-table", message, remedy, file=path)


def _is_spreadsheet(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return path.suffix.lower() in (".xlsx", ".xlsm", ".ods")
    return any(name.startswith("xl/") or name == "content.xml" for name in names)


def canonical_encoding(name: str) -> str:
    """Return Python's own name of an encoding. Raises `InputError` if there is none."""
    try:
        canonical = codecs.lookup(name).name
        "".encode(canonical)
    except (LookupError, ValueError):
        raise input_error(
            "unknown-encoding", f"There is no encoding “{name}”.", "Use for example utf-8 or latin-1."
        ) from None
    return "utf-8" if canonical == "utf-8-sig" else canonical


def check_expansion(path: Path, expanded: int, size: int) -> None:
    """Refuse a compressed file that was made to fill memory or disk: no table of records shrinks that much."""
    if expanded > EXPANDED_FREELY and expanded > LARGEST_EXPANSION * size:
        message = f"The file unpacks to more than {LARGEST_EXPANSION} times its size, which no table of records does."
        raise input_error(
            "expands", message, "If it is right, unpack it and load the result.", file=path
        )


def wrong_encoding_finding(path: Path, encoding: str, row: int | None) -> Finding:
    """Return the finding that a file is not in the stated encoding."""
    return Finding(
        "bad-encoding",
        f"The text is not valid {encoding}.",
        "Save the file as UTF-8, or name its encoding (for example latin-1 or windows-1252).",
        file=str(path),
        row=row,
    )


def damaged_gzip_finding(path: Path, what: str) -> Finding:
    """Return the finding that a compressed file cannot be unpacked."""
    return Finding("bad-gzip", f"The file {what}.", "Get a fresh copy of the file.", file=str(path))
