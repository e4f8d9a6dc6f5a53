"""Parse a CSV file with pandas in blocks of whole lines, and count on the way what the parser does not report.

pandas fills short rows up and says nothing about quotes and line ends. Therefore the marks of the file are counted as
its bytes pass by, and compared afterwards with those that the parsed values need (`csv_form`).
"""

from __future__ import annotations

import codecs
import gzip
import io
import secrets
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from vbas_desktop.io.input_checks import check_expansion

MARK = codecs.BOM_UTF8
PIECE_BYTES = 4 << 20
"""Approximate size in bytes of the blocks that are parsed."""
HEAD_BYTES = 1 << 20
"""Bytes at the beginning of a file in which its line end is looked for."""
LONGEST_ROW_BYTES = 64 << 20
_PARSERS = 2
_BLOCKS_AHEAD = 3
_OPEN_QUOTE = "EOF inside string"
"""With these words pandas says that a quote is not closed."""
_ASCII_COMPATIBLE = ("utf-8", "ascii", "iso8859", "cp125", "latin")


class UnreadableFile(Exception):
    """Say why a file cannot be read back; never quotes a value."""


@dataclass
class MarkCounts:
    """Number of times each mark occurs in a text of ``size`` bytes."""

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
        self._decoder = (
            None if is_ascii_compatible(encoding) else codecs.getincrementaldecoder(encoding)()
        )
        self._raw = path.open("rb")
        self._file: IO[bytes] = gzip.GzipFile(fileobj=self._raw) if compressed else self._raw  # type: ignore[assignment]
        self._size = path.stat().st_size
        self._is_at_start = True
        self._left = memoryview(b"")
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

    def read_blocks(self) -> Iterator[bytes]:
        """Yield the text in blocks that end where a line seems to end; a line feed in quotes may deceive."""
        pending = b""
        while True:
            piece = self._read_piece()
            if not piece:
                break
            pending += piece
            end = _find_last_line_end(pending, len(pending))
            if b'"' in piece and pending.count(b'"', 0, end) % 2:
                end = _find_last_line_end(pending, pending.rfind(b'"', 0, end)) or end
            if end:
                yield pending[:end]
                pending = pending[end:]
        if pending:
            yield pending

    def _read_piece(self) -> bytes:
        """Return the next bytes; none at the end of the file."""
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
        """Fill a buffer as far as bytes are left; return how many were written."""
        if not self._left:
            self._left = memoryview(self._read_piece())
        number = min(len(buffer), len(self._left))
        buffer[:number] = self._left[:number]
        self._left = self._left[number:]
        return number

    def _next_piece(self, size: int) -> bytes | None:
        before = self._raw.tell()
        try:
            data = self._file.read(size)
        except (OSError, EOFError, zlib.error):
            raise UnreadableFile("it cannot be decompressed") from None
        self._advance(self._raw.tell() - before)
        if self._compressed:
            check_expansion(self._path, self._file.tell(), self._size)
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
        # Python finds out fast that a byte does not occur; numpy is faster at counting those that do.
        if b"\0" in data:
            # The parser would cut a value off there.
            raise UnreadableFile("it is not text")
        end = max(data.rfind(b"\n"), data.rfind(b"\r"))
        self._row_bytes = len(data) - end - 1 if end >= 0 else self._row_bytes + len(data)
        if self._row_bytes > LONGEST_ROW_BYTES:
            raise UnreadableFile("a row does not end")
        counts = self.counts
        counts.size += len(data)
        counts.delimiters += _count_byte(data, self._delimiter)
        counts.line_feeds += _count_byte(data, b"\n")
        counts.returns += _count_byte(data, b"\r")
        counts.quotes += _count_byte(data, b'"')


def _count_byte(data: bytes, byte: bytes) -> int:
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == byte[0])) if byte in data else 0


def _find_last_line_end(text: bytes, stop: int) -> int:
    """Return where the last line before ``stop`` ends; 0 if none does."""
    # A line feed may follow the last return.
    return max(text.rfind(b"\n", 0, stop), text.rfind(b"\r", 0, max(0, stop - 1))) + 1


@dataclass(frozen=True, eq=False)
class ParsedColumn:
    """A column of a block: the code of every row, and the text of each code; all texts occur."""

    codes: NDArray[np.integer[Any]]
    texts: list[str]

    def skip_rows(self, number: int) -> ParsedColumn:
        """Leave out the first rows."""
        codes, occurring = pd.factorize(self.codes[number:])
        return ParsedColumn(codes, [self.texts[code] for code in occurring.tolist()])


def parse_blocks(stream: CsvStream, delimiter: str, width: int) -> Generator[list[ParsedColumn]]:
    """Yield the columns of each block of a CSV file, parsed in two threads; `UnreadableFile` if that is impossible.

    Every block is parsed as if it began outside quotes. This holds if the one before it ended there; one that did not
    is joined to the next and parsed again.
    """
    parse = partial(_parse_block, delimiter=delimiter, width=width)
    blocks = stream.read_blocks()
    waiting: deque[tuple[bytes, Future[list[ParsedColumn] | None]]] = deque()
    pending = b""
    with ThreadPoolExecutor(_PARSERS, "parse") as pool:
        try:
            is_finished = False
            while waiting or not is_finished:
                while not is_finished and len(waiting) < _BLOCKS_AHEAD:
                    block = next(blocks, b"")
                    is_finished = not block
                    if block:
                        waiting.append((block, pool.submit(parse, block)))
                if not waiting:
                    break
                block, future = waiting.popleft()
                columns = parse(pending + block) if pending else future.result()
                pending = b"" if columns is not None else pending + block
                if len(pending) > LONGEST_ROW_BYTES:
                    raise UnreadableFile("a row does not end")
                if columns is not None:
                    yield columns
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    if pending:
        raise UnreadableFile("a quote is not closed")


def _parse_block(block: bytes, delimiter: str, width: int) -> list[ParsedColumn] | None:
    """Parse whole lines; None if a quote is not closed at their end."""
    is_text = _is_utf8(block)
    # Values that are no text become that for pandas byte by byte.
    text = block if is_text else block.decode("latin-1").encode()
    # With a row of words in front pandas takes no column for numbers, 007 for 7 or 9 for 9.0.
    sentinel = f"text{secrets.token_hex(8)}"
    first_row = delimiter.join([sentinel] * width) + "\n"
    try:
        frame = pd.read_csv(
            io.BytesIO(first_row.encode() + text),
            engine="c",
            sep=delimiter,
            header=None,
            names=range(width),
            index_col=False,
            dtype="category",
            na_filter=False,
            # Else pandas takes blanks at the beginning of a line for an empty line.
            skip_blank_lines=False,
            encoding="utf-8",
            low_memory=False,
        )
    except (ValueError, pd.errors.ParserError) as error:
        if _OPEN_QUOTE in str(error):
            return None
        # The message of the parser may quote a row.
        raise UnreadableFile("it cannot be cut into rows of so many fields") from None
    columns = []
    for position in range(width):
        categories = frame[position].cat
        codes = categories.codes.to_numpy().copy()
        texts = categories.categories.tolist()
        added = int(codes[0])
        del texts[added]
        codes = codes[1:]
        codes -= codes > added
        if not is_text:
            texts = [value.encode("latin-1").decode("utf-8", "surrogateescape") for value in texts]
        columns.append(ParsedColumn(codes, texts))
    return columns


def _is_utf8(block: bytes) -> bool:
    if block.isascii():
        return True
    try:
        block.decode()
    except UnicodeDecodeError:
        return False
    return True
