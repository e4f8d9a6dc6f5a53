"""Feed a CSV file to pandas, and count on the way what the parser does not report.

pandas fills short rows up and says nothing about quotes and line ends. Therefore the marks of the file are counted as
its bytes pass by, and compared afterwards with those that the parsed values need (`csv_form`).
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from vbas_desktop.io.access import refuse_bomb

MARK = codecs.BOM_UTF8
PIECE_BYTES = 1 << 18
HEAD_BYTES = 1 << 20
"""Line ends are looked for in the first so many bytes."""
LONGEST_ROW_BYTES = 64 << 20
_ASCII_COMPATIBLE = ("utf-8", "ascii", "iso8859", "cp125", "latin")


class UnreadableFile(Exception):
    """Say why a file cannot be read back; never quotes a value."""


@dataclass
class MarkCounts:
    """How often each mark occurs in some text of ``size`` bytes."""

    size: int = 0
    delimiters: int = 0
    line_feeds: int = 0
    returns: int = 0
    quotes: int = 0


def is_ascii_compatible(encoding: str) -> bool:
    """Return whether delimiters, quotes and line ends of this encoding are single bytes that mean nothing else."""
    return codecs.lookup(encoding).name.startswith(_ASCII_COMPATIBLE)


class CsvStream(io.RawIOBase):
    """The bytes of a CSV file for pandas' parser, decompressed and without byte-order mark.

    Bytes of encodings that extend ASCII pass unchanged, all others are recoded to UTF-8. ``advance`` is called with
    the number of bytes of the file that were read, and may raise to stop.

    Attributes
    ----------
    counts : marks of everything that was read so far
    has_mark : whether the text began with a byte-order mark
    newline : how the first line ends
    empty_lines : how many stand above the names
    """

    def __init__(
        self, path: Path, delimiter: str, encoding: str, compressed: bool, advance: Callable[[int], None]
    ) -> None:
        self._path = path
        self._delimiter = delimiter.encode()
        self._compressed = compressed
        self._advance = advance
        self._decoder = None if is_ascii_compatible(encoding) else codecs.getincrementaldecoder(encoding)()
        self._raw = path.open("rb")
        self._file: IO[bytes] = gzip.GzipFile(fileobj=self._raw) if compressed else self._raw  # type: ignore[assignment]
        self._size = path.stat().st_size
        self._is_at_start = True
        self._left = b""
        self._row_bytes = 0
        self.counts = MarkCounts()
        self.has_mark = False
        self.newline = b"\n"
        self.empty_lines = 0

    def readable(self) -> bool:
        """Return True: this is what pandas asks of a file."""
        return True

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        self._raw.close()
        super().close()

    def count_names(self) -> int:
        """Return the number of fields of the first row; 0 if there is none."""
        self._left = self.read()
        lines = io.StringIO(self._left.decode("utf-8", "surrogateescape"), newline="")
        try:
            return len(next(csv.reader(lines, delimiter=self._delimiter.decode()), []))
        except csv.Error:
            raise UnreadableFile("it cannot be cut into rows") from None

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, however many were asked for; none at the end of the file."""
        if self._left:
            left = self._left
            self._left = b""
            return left
        while True:
            data = self._next_piece(PIECE_BYTES)
            if data is None:
                return b""
            if self._is_at_start:
                data = self._start(data)
            if data:
                self._count(data)
                return data

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, for readers that ask for so many bytes at most."""
        data = self.read()
        number = min(len(buffer), len(data))
        buffer[:number] = data[:number]
        self._left = data[number:]
        return number

    def _next_piece(self, size: int) -> bytes | None:
        before = self._raw.tell()
        try:
            data = self._file.read(size)
        except (OSError, EOFError, zlib.error):
            raise UnreadableFile("it cannot be decompressed") from None
        self._advance(self._raw.tell() - before)
        if self._compressed:
            refuse_bomb(self._path, self._file.tell(), self._size)
        if self._decoder is None:
            return data or None
        try:
            text = self._decoder.decode(data, final=not data)
        except UnicodeError:
            raise UnreadableFile("it is not in the stated encoding") from None
        return text.encode() if data or text else None

    def _start(self, data: bytes) -> bytes:
        """Take off the byte-order mark and empty lines above the names, and find out how lines end."""
        while len(data) < HEAD_BYTES:
            piece = self._next_piece(HEAD_BYTES)
            if piece is None:
                break
            data += piece
        self._is_at_start = False
        self.has_mark = data.startswith(MARK)
        data = data.removeprefix(MARK)
        first = data.find(b"\n")
        if first < 0 and b"\r" in data:
            self.newline = b"\r"
        elif data[:first].endswith(b"\r"):
            self.newline = b"\r\n"
        text = data.lstrip(b"\r\n")
        above = data[: len(data) - len(text)]
        self.empty_lines = above.count(b"\n") or above.count(b"\r")
        return text

    def _count(self, data: bytes) -> None:
        if b"\0" in data:
            # The parser would cut a value off there.
            raise UnreadableFile("it is not text")
        end = max(data.rfind(b"\n"), data.rfind(b"\r"))
        self._row_bytes = len(data) - end - 1 if end >= 0 else self._row_bytes + len(data)
        if self._row_bytes > LONGEST_ROW_BYTES:
            raise UnreadableFile("a row does not end")
        counts = self.counts
        counts.size += len(data)
        counts.delimiters += data.count(self._delimiter)
        counts.line_feeds += data.count(b"\n")
        counts.returns += data.count(b"\r")
        counts.quotes += data.count(b'"')
