"""The bytes of a file, block by block: hashed, decompressed and brought to an encoding that can be scanned as bytes."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, cast

from vbas_desktop.io.access import bad_encoding, bad_gzip, canonical_encoding, refuse_bomb
from vbas_desktop.io.hashing import HashedFile, changed
from vbas_desktop.model.errors import InputError
from vbas_desktop.model.source import Source

BLOCK_BYTES = 1 << 21
"""Small enough that what is made of one block stays in the processor's cache, large enough that handing it from thread
to thread does not count."""

SCANNED_AS_BYTES = ("utf-8", "ascii", "iso8859-1")
"""Encodings whose delimiters, quotes and line ends are single bytes that mean nothing else."""

Block = bytes | memoryview

_OPENING_BYTES = 1 << 12
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


class ByteStream:
    """A file as blocks of bytes, read one block ahead in a thread of its own.

    Compressed files are recognised by their content. ``encoding`` is what the user said, or None. After the first
    block ``mark`` tells the byte-order mark's encoding, if there is one; ``scanned`` is the encoding of the blocks:
    what cannot be scanned as bytes comes out as UTF-8, other bytes come out as they are.

    ``lend`` gives the memory, of so many bytes, into which the next block is read. Once the first block was taken and
    if the stream is ``plain``, another's can be put in place: the blocks are then parts of what it gave, in order.
    """

    def __init__(self, path: Path, encoding: str | None = None) -> None:
        self.path, self.size_bytes = path, path.stat().st_size
        self.encoding = None if encoding is None else canonical_encoding(encoding)
        self.mark: str | None = None
        self._block = BLOCK_BYTES
        self._decoder: codecs.IncrementalDecoder | None = None
        self._mac_lines = False
        self._expanded = 0
        self._file = path.open("rb", buffering=0)
        self.compressed = self._begins_like_gzip()
        self._hashed = HashedFile(str(path), self._file)
        self._buffers = [memoryview(bytearray(self._block)) for _ in range(2)]
        self.lend: Callable[[int], memoryview] = self._own_buffer
        self._pool = ThreadPoolExecutor(1, "read-ahead")

    def __enter__(self) -> ByteStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._file.close()

    @property
    def fraction(self) -> float:
        """Which share of the file has been read."""
        return self._hashed.bytes_read / self.size_bytes if self.size_bytes else 1.0

    @property
    def scanned(self) -> str | None:
        """The encoding of the blocks if it is settled, else None (UTF-8 or Latin-1: the content decides)."""
        if self._decoder is not None:
            return "utf-8"
        return self.mark or self.encoding

    @property
    def plain(self) -> bool:
        """Whether the blocks are the very bytes of the file."""
        return not self.compressed and self._decoder is None and not self._mac_lines

    def source(self) -> Source:
        """The file's identity; call it when all blocks have been taken. Refused if the file was changed meanwhile."""
        if self._hashed.readinto(self._buffers[0]):
            # It grew after its end was read: its hash would be that of more records than there are.
            raise InputError(changed(str(self.path)))
        return self._hashed.source()

    def blocks(self) -> Iterator[Block]:
        """The content from the start, without a byte-order mark. A block is good until the next is asked for."""
        reader = self._open()
        ahead: Future[Block] = self._pool.submit(self._read, reader, self.lend(self._block))
        opening: bytes | None = b""
        while True:
            block = ahead.result()
            final = not block
            if not final:
                ahead = self._pool.submit(self._read, reader, self.lend(self._block))
            if opening is not None:
                opening += block
                if len(opening) < _OPENING_BYTES and not final:
                    continue
                block, opening = self._settle(opening), None
            yield from self._converted(block, final)
            if final:
                return

    def _begins_like_gzip(self) -> bool:
        # Looked at through a second handle so that the hash sees every byte once, in order.
        with self.path.open("rb") as peek:
            return peek.read(2) == b"\x1f\x8b"

    def _open(self) -> BinaryIO:
        if self.path.suffix.lower() == ".gz" and not self.compressed and self.size_bytes:
            raise InputError(bad_gzip(self.path, "is named .gz but is not compressed with gzip"))
        if not self.compressed:
            return cast("BinaryIO", self._hashed)
        return cast("BinaryIO", gzip.GzipFile(fileobj=io.BufferedReader(self._hashed, 1 << 18)))

    def _own_buffer(self, size: int) -> memoryview:
        """Two buffers take turns: new memory for every block would cost more than reading it."""
        self._buffers.reverse()
        return self._buffers[0][:size]

    def _read(self, reader: BinaryIO, space: memoryview) -> Block:
        if not self.compressed:
            return space[: self._hashed.readinto(space)]
        try:
            block = reader.read(self._block)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise InputError(bad_gzip(self.path, "is damaged: it cannot be decompressed to its end")) from None
        self._expanded += len(block)
        refuse_bomb(self.path, self._expanded, self.size_bytes)
        return block

    def _settle(self, block: bytes) -> bytes:
        for mark, name in _MARKS:
            if block.startswith(mark):
                self.mark, block = name, block[len(mark) :]
                break
        encoding = self.mark or self.encoding
        if encoding is not None and encoding not in SCANNED_AS_BYTES:
            self._decoder = codecs.getincrementaldecoder(encoding)()
        # A return that ends the block may be the first half of a line end.
        self._mac_lines = self._decoder is None and b"\n" not in block and b"\r" in block[:-1]
        return block

    def _converted(self, block: Block, final: bool) -> Iterator[Block]:
        if self._decoder is not None:
            try:
                block = self._decoder.decode(block, final).encode()
            except UnicodeError:
                raise InputError(bad_encoding(self.path, self.mark or self.encoding or "", None)) from None
        if self._mac_lines:
            block = bytes(block).replace(b"\r", b"\n")
        if block:
            yield block
