"""Read small tables and rule files as one text: unpacked, decoded and checked."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from pathlib import Path

from vbas_desktop.model.findings import Finding, InputError, input_error

from .input_checks import (
    canonical_encoding,
    check_readable,
    damaged_gzip_finding,
    wrong_encoding_finding,
)

LARGEST_BYTES = 1 << 29
"""No table of regions, slots or rules is longer; what unpacks to more was made to fill the memory."""

_GZIP = b"\x1f\x8b"
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_text_file(path: Path, encoding: str | None = None) -> str:
    """Read the text of a file, also compressed; without ``encoding`` a mark decides, then UTF-8, then Latin-1."""
    check_readable(path)
    if path.stat().st_size > LARGEST_BYTES:
        raise InputError(_too_long(path, "is"))
    data = path.read_bytes()
    if data.startswith(_GZIP):
        data = _unpack(path, data)
    if encoding is not None:
        return _decode(path, data, encoding)
    if data.startswith(_WIDE_MARKS):
        return _decode(path, data, "utf-16")
    if b"\0" in data:
        raise input_error("not-text", "The file is not text.", "Choose another file.", file=path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _decode(path: Path, data: bytes, encoding: str) -> str:
    name = canonical_encoding(encoding)
    # A mark is no part of the first field.
    name = {"utf-8": "utf-8-sig", "utf-16-le": "utf-16", "utf-16-be": "utf-16"}.get(name, name)
    if name == "utf-16" and not data.startswith(_WIDE_MARKS):
        name = canonical_encoding(encoding)
    try:
        return data.decode(name)
    except UnicodeError:
        raise InputError(wrong_encoding_finding(path, encoding, None)) from None


def _unpack(path: Path, data: bytes) -> bytes:
    """Unpack no more than is allowed: the size that a file claims is not trusted."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            text = stream.read(LARGEST_BYTES + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError(
            damaged_gzip_finding(path, "is damaged: it cannot be decompressed to its end")
        ) from None
    if len(text) > LARGEST_BYTES:
        raise InputError(_too_long(path, "unpacks to"))
    return text


def _too_long(path: Path, verb: str) -> Finding:
    message = f"The file {verb} more than {LARGEST_BYTES >> 20:,} MB, which no such table needs."
    return Finding("too-long", message, "Is it the right file?", file=str(path))
