"""Reading a record file in blocks of complete rows, of the same bytes that were loaded."""

from __future__ import annotations

import codecs
import hashlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vbas_desktop.io.records.tokens import CR, LF
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.file_format import Dialect
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.source import Source

from .fields import Bytes, complete_rows

BLOCK_BYTES = 1 << 20
MAC_LINES_WITHIN = 1 << 19
LARGEST_ROW = 1 << 30


@dataclass(frozen=True)
class Block:
    """Complete rows of the file; ``read`` is the share of the file that was read with them."""

    data: bytes
    buf: Bytes
    read: float

    def holds(self, marks: bytes) -> bool:
        """Whether one of these bytes occurs."""
        return any(self.data.find(mark, 0, self.buf.size) >= 0 for mark in marks)


def changed(source: Source) -> InputError:
    """The refusal to release from a file that is not the one that was loaded."""
    return InputError(
        Finding(
            "input-changed",
            "The record file changed since it was loaded, so the counts no longer fit it.",
            "Load it again, run, and release the new result.",
            file=Path(source.path).name,
        )
    )


def refuse_changed(source: Source, progress: Progress) -> None:
    """Refuse a file that does not have the bytes any more that were loaded."""
    digest = hashlib.sha256()
    with open(source.path, "rb") as file:
        while data := file.read(8 << 20):
            progress.update("Checking the record file", 0.0)
            digest.update(data)
    if digest.hexdigest() != source.sha256:
        raise changed(source)


class RowBlocks:
    """The file as blocks of complete rows; at the end the SHA-256 of all that was read must be that of the source.

    ``line_end`` and ``newline`` are settled by the first bytes, ``bom`` is the mark that was taken off the first block.
    """

    def __init__(self, source: Source, dialect: Dialect, size: int = BLOCK_BYTES) -> None:
        self.source, self.dialect, self._size = source, dialect, size
        self.line_end, self.newline, self.bom = LF, b"\n", b""
        self.delimiter = ord(dialect.delimiter or ",")
        self.encoding = dialect.encoding or "utf-8"
        self._recoder = None if _bytes_suffice(self.encoding) else codecs.getincrementaldecoder(self.encoding)()
        if self._recoder is not None:
            self.encoding = "utf-8"

    def __iter__(self) -> Iterator[Block]:
        rest, read, settled = b"", 0, False
        for data, raw_length in self._pieces():
            read += raw_length
            data = rest + data
            if not settled:
                rest = data
                if b"\n" not in data and len(data) < MAC_LINES_WITHIN:
                    continue
                data, settled = self._settle(data), True
            buf = np.frombuffer(data, np.uint8)
            end = self._complete(data, buf)
            rest = data[end:]
            if len(rest) > LARGEST_ROW:
                raise InputError(
                    Finding("long-row", "A row is longer than 1 GB.", "Is a quote missing?", file=self._name)
                )
            if end:
                yield Block(data, buf[:end], min(1.0, read / max(1, self.source.size_bytes)))
        rest = rest if settled else self._settle(rest)
        if rest:
            # The last row may lack its line end; with one it is read like all others.
            last = rest + bytes([self.line_end])
            yield Block(last, np.frombuffer(last, np.uint8), 1.0)

    @property
    def _name(self) -> str:
        return Path(self.source.path).name

    def _complete(self, data: bytes, buf: Bytes) -> int:
        """Most blocks hold no quote: the last line end ends the last row."""
        if b'"' not in data:
            return data.rfind(bytes([self.line_end])) + 1
        return int(complete_rows(buf, self.delimiter, self.line_end))

    def _settle(self, data: bytes) -> bytes:
        if data.startswith(codecs.BOM_UTF8):
            self.bom, data = codecs.BOM_UTF8, data[3:]
        head = data[:MAC_LINES_WITHIN]
        if b"\n" not in head and b"\r" in head:
            self.line_end, self.newline = CR, b"\r"
        elif data[: data.find(b"\n")].endswith(b"\r"):
            self.newline = b"\r\n"
        return data

    def _pieces(self) -> Iterator[tuple[bytes, int]]:
        for data, raw_length in self._unpacked():
            yield (data if self._recoder is None else self._recoder.decode(data).encode()), raw_length

    def _unpacked(self) -> Iterator[tuple[bytes, int]]:
        digest, total = hashlib.sha256(), 0
        unpack = zlib.decompressobj(wbits=31) if self.dialect.compressed else None
        with open(self.source.path, "rb") as file:
            while raw := file.read(self._size):
                digest.update(raw)
                total += len(raw)
                if unpack is None:
                    yield raw, len(raw)
                    continue
                counted = len(raw)
                while raw:
                    try:
                        data = unpack.decompress(raw, self._size)
                    except zlib.error:
                        raise changed(self.source) from None
                    raw = unpack.unconsumed_tail
                    if unpack.eof:
                        raw, unpack = unpack.unused_data.lstrip(b"\0"), zlib.decompressobj(wbits=31)
                    yield data, counted
                    counted = 0
        if unpack is not None:
            yield unpack.flush(), 0
        if total != self.source.size_bytes or digest.hexdigest() != self.source.sha256:
            raise changed(self.source)


def _bytes_suffice(encoding: str) -> bool:
    """Whether every ASCII character is its own byte and no other character contains one: no recoding needed."""
    name = codecs.lookup(encoding).name
    return name in ("utf-8", "ascii", "latin-1") or name.startswith(("iso8859", "cp125"))
