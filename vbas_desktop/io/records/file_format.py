"""Open a delimited text file: its compression, encoding and line ends, its delimiter, names and second line."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NamedTuple, Self, cast

from vbas_desktop.model.findings import Finding, InputError, Severity, input_error
from vbas_desktop.model.records import SourceFile

from ..delimited_text import (
    SAMPLE_BYTES,
    check_column_count,
    check_line_ends,
    sniff_delimiter,
    split_first_row,
)
from ..hashing import HashingReader, file_changed_finding, require_unchanged
from ..input_checks import (
    canonical_encoding,
    check_expansion,
    damaged_gzip_finding,
    wrong_encoding_finding,
)

PARSED_AS_BYTES = ("utf-8", "ascii", "iso8859-1")
"""Encodings whose delimiters, quotes and line ends are single bytes that mean nothing else."""

QUOTE = b'"'

_OPENING_BYTES = 1 << 21
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True)
class ReadLimits:
    """Bounds of reading: how much is held at a time, and what is refused or left uncoded.

    ``longest_row``: a longer row, in bytes, is taken for a quote that was never closed, or for no row at all.
    ``distinct``: a column with more values is not coded; it holds text or identifiers, not categories.
    ``identifier_from``: from this number of values on, a column with a value of its own for every second record is not
    coded either. ``beginning_rows``: line 2 is judged by the first rows if these leave no doubt.
    """

    block_bytes: int = 8 << 20
    longest_row: int = 16 << 20
    distinct: int = 1_000_000
    identifier_from: int = 50_000
    beginning_rows: int = 1 << 16
    threads: int = 2


USUAL_LIMITS = ReadLimits()


class TextStream:
    """The text of a file as bytes, hashed and decompressed on the way, without a byte-order mark.

    Compressed files are recognised by their content. ``encoding`` is the one that the user named, or None; ``mark`` is
    the encoding that a byte-order mark names, or None. Text whose encoding cannot be parsed as bytes comes out as
    UTF-8; other bytes come out as they are. Where only carriage returns end lines, they come out as line feeds.
    """

    def __init__(self, path: Path, encoding: str | None = None) -> None:
        self.path = path
        self.size_bytes = path.stat().st_size
        self.encoding = None if encoding is None else canonical_encoding(encoding)
        self.mark: str | None = None
        self._decoder: codecs.IncrementalDecoder | None = None
        self._only_returns = False
        self._unpacked = 0
        self._file = path.open("rb", buffering=0)
        try:
            self.compressed = self._begins_like_gzip()
            self._hashed = HashingReader(str(path), self._file)
            self._reader = self._open_reader()
            self._opening = self._settle_opening()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    @property
    def fraction(self) -> float:
        """Return which share of the file has been read."""
        return self._hashed.bytes_read / self.size_bytes if self.size_bytes else 1.0

    @property
    def stated(self) -> str | None:
        """Return the encoding of the bytes that come out if it is stated; None: UTF-8 or Latin-1, by their content."""
        if self._decoder is not None:
            return "utf-8"
        return self.mark or self.encoding

    def read(self, size: int) -> bytes:
        """Return about ``size`` more bytes of the text; none at its end."""
        if self._opening:
            text = self._opening
            self._opening = b""
            return text
        while True:
            data = self._read_bytes(size)
            text = self._convert(data)
            if text or not data:
                return text

    def source(self) -> SourceFile:
        """Return the file's identity after everything was read; refuse a file that was changed meanwhile."""
        if self._hashed.readinto(memoryview(bytearray(1))):
            # It grew after its end was read: its hash would be that of more records than there are.
            raise InputError(file_changed_finding(str(self.path)))
        source = self._hashed.source()
        # Another file of this name may have been looked at, too.
        require_unchanged(source)
        return source

    def _begins_like_gzip(self) -> bool:
        # A second handle, so that the hash sees every byte once, in order.
        with self.path.open("rb") as file:
            return file.read(2) == b"\x1f\x8b"

    def _open_reader(self) -> BinaryIO:
        if self.compressed:
            return cast("BinaryIO", gzip.GzipFile(fileobj=io.BufferedReader(self._hashed, 1 << 18)))
        if self.path.suffix.lower() == ".gz" and self.size_bytes:
            raise InputError(
                damaged_gzip_finding(self.path, "is named .gz but is not compressed with gzip")
            )
        return cast("BinaryIO", self._hashed)

    def _read_bytes(self, size: int) -> bytes:
        if not self.compressed:
            return self._reader.read(size)
        try:
            data = self._reader.read(size)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise InputError(
                damaged_gzip_finding(self.path, "is damaged: it cannot be decompressed to its end")
            ) from None
        self._unpacked += len(data)
        check_expansion(self.path, self._unpacked, self.size_bytes)
        return data

    def _settle_opening(self) -> bytes:
        """Read the beginning, and decide by it how the text is encoded and what ends its lines."""
        data = self._read_bytes(_OPENING_BYTES)
        for mark, name in _MARKS:
            if data.startswith(mark):
                self.mark = name
                data = data[len(mark) :]
                break
        encoding = self.mark or self.encoding
        if encoding is not None and encoding not in PARSED_AS_BYTES:
            self._decoder = codecs.getincrementaldecoder(encoding)()
        text = self._convert(data, final=not data)
        # A return that ends the text may be the first half of a line end.
        self._only_returns = b"\n" not in text and b"\r" in text[:-1]
        return text.replace(b"\r", b"\n") if self._only_returns else text

    def _convert(self, data: bytes, final: bool | None = None) -> bytes:
        if self._decoder is not None:
            try:
                data = self._decoder.decode(data, not data if final is None else final).encode()
            except UnicodeError:
                raise InputError(
                    wrong_encoding_finding(self.path, self.mark or self.encoding or "", None)
                ) from None
        return data.replace(b"\r", b"\n") if self._only_returns else data


@dataclass(frozen=True)
class Opening:
    """The names line of a delimited text, and what was read beyond it.

    ``lines`` is the number of lines up to the end of the names, blank ones before them included. ``second`` are the
    fields of the row after the names, None if they are not as many. ``names_text`` are the bytes of these lines,
    ``rest`` those after them that were read already.
    """

    delimiter: str
    names: tuple[bytes, ...]
    second: tuple[bytes, ...] | None
    lines: int
    names_text: bytes
    rest: bytes


def read_opening(stream: TextStream, delimiter: str | None, limits: ReadLimits) -> Opening:
    """Read the names of the columns and look at the row after them; refuse a file that has no names."""
    text = b""
    more = stream.read(SAMPLE_BYTES)
    while more and len(text) < SAMPLE_BYTES:
        text += more
        more = stream.read(SAMPLE_BYTES)
    text += more
    check_is_text(stream.path, text, 1)
    delimiter = delimiter or sniff_delimiter(text, not more)
    while True:
        names = _find_names(stream.path, text, not more, delimiter, limits)
        if names is not None and (not more or _has_whole_line(text[names[1] :], limits)):
            break
        # Twice as much each time: all of it is looked at again.
        more = stream.read(len(text))
        text += more
    fields, end, lines = names
    check_column_count(stream.path, len(fields))
    second = split_first_row(text[end:] if more else text[end:] + b"\n", delimiter)
    second_fields = tuple(second[0]) if second is not None and len(second[0]) == len(fields) else None
    return Opening(delimiter, tuple(fields), second_fields, lines, text[:end], text[end:])


def _find_names(
    path: Path, text: bytes, is_all: bool, delimiter: str, limits: ReadLimits
) -> tuple[list[bytes], int, int] | None:
    """Return the names, where the text after them begins, and the lines before that; None: read on and try again."""
    check_line_ends(path, text[: text.find(b"\n") + 1])
    first_row = split_first_row(text + b"\n" if is_all else text, delimiter)
    if first_row is not None:
        check_line_ends(path, text[: first_row[1]])
        return first_row
    first_line = text.lstrip(b"\r\n").partition(b"\n")[0] + b"\n"
    if (b"\n" in text or is_all) and scan_line(
        first_line, delimiter.encode(), inside=False
    ).has_stray_return:
        raise InputError(stray_return(path, 1))
    if is_all and not text.strip():
        raise input_error("empty-file", "The file is empty.", "Choose another file.", file=path)
    if is_all or len(text) > limits.longest_row:
        raise InputError(endless_row(path, 1, text, limits))
    return None


def _has_whole_line(text: bytes, limits: ReadLimits) -> bool:
    """Tell whether a text has a line after blank ones, or is too long to wait for one."""
    return b"\n" in text.lstrip(b"\r\n") or len(text) > limits.longest_row


class ScannedLine(NamedTuple):
    """The content of a line: ``delimiters`` that end a field, whether a quote is open at its end, stray returns."""

    delimiters: int
    inside: bool
    has_stray_return: bool


def scan_line(line: bytes, delimiter: bytes, inside: bool) -> ScannedLine:
    """Count the ends of fields in a line that ends with a line feed; ``inside``: it begins within a quoted field.

    A quote opens a field only at its start, two quotes inside stand for one, and text after the closing quote belongs
    to the field, as in Python's csv module.
    """
    delimiters = 0
    has_stray_return = False
    position = 0
    last = len(line) - (2 if line.endswith(b"\r\n") else 1)
    while True:
        if not inside and line.startswith(QUOTE, position):
            inside = True
            position += 1
        if inside:
            position = _find_closing_quote(line, position)
            if position < 0:
                return ScannedLine(delimiters, True, has_stray_return)
            inside = False
        end = line.find(delimiter, position)
        has_stray_return = has_stray_return or line.find(b"\r", position, end if end >= 0 else last) >= 0
        if end < 0:
            return ScannedLine(delimiters, False, has_stray_return)
        delimiters += 1
        position = end + 1


def _find_closing_quote(line: bytes, position: int) -> int:
    """Return the position after the quote that closes a field; -1 if the line has none."""
    while True:
        quote = line.find(QUOTE, position)
        if quote < 0:
            return -1
        if not line.startswith(QUOTE, quote + 1):
            return quote + 1
        position = quote + 2


def check_is_text(path: Path, text: bytes, line: int) -> None:
    """Refuse text with zero bytes; ``line`` is the number of its first line."""
    zero = text.find(b"\0")
    if zero >= 0:
        message = "The file is not text: it contains zero bytes."
        remedy = "Export the records as CSV (UTF-8) or Parquet."
        raise input_error("not-text", message, remedy, file=path, row=line + text.count(b"\n", 0, zero))


def endless_row(path: Path, row: int, text: bytes, limits: ReadLimits) -> Finding:
    """Return the finding that a row does not end: without a quote in it, it is only long."""
    if QUOTE not in text:
        message = f"The row is longer than {limits.longest_row >> 20} MB."
        return Finding(
            "long-row", message, "Does every record have a line of its own?", file=str(path), row=row
        )
    message = "A quoted field that begins in this row is never closed."
    remedy = "Close the quote, or double quotes that belong to the text."
    return Finding("open-quote", message, remedy, file=str(path), row=row)


def stray_return(path: Path, row: int) -> Finding:
    """Return the finding that a carriage return stands where it would end a line in some programs only."""
    message = "The row has a carriage return outside quotes, but lines end with line feeds."
    remedy = "Save the file with ordinary line ends (LF or CRLF), or put quotes around text that contains line breaks."
    return Finding("line-ends", message, remedy, file=str(path), row=row)


def find_wrong_byte(text: bytes, stated: str | None) -> int | None:
    """Return the position of the first byte that contradicts the stated encoding (None: UTF-8 is expected)."""
    if text.isascii() or stated == "iso8859-1":
        return None
    try:
        text.decode("ascii" if stated == "ascii" else "utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return None


def explain_encoding(path: Path, stated: str | None, row: int) -> Finding:
    """Return the finding that a row contradicts the stated encoding; if none is stated, the text is Latin-1."""
    if stated is not None:
        return wrong_encoding_finding(path, stated, row)
    message = "The text is not UTF-8; it was read as Latin-1."
    remedy = "If letters look wrong, name the encoding."
    return Finding("read-as-latin-1", message, remedy, Severity.HINT, str(path), row)


def blank_lines(path: Path, number: int) -> Finding:
    """Return the hint that blank lines were skipped."""
    message = f"{number:,} blank line{'s were' if number > 1 else ' was'} skipped."
    return Finding("blank-lines", message, "", Severity.HINT, str(path))
