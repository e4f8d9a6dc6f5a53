"""Coding in two threads: while one block is coded, the next is cut into fields and a third is read."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from .bits import PADDING
from .coding import ColumnCoder, Fields
from .stream import Block
from .tokens import SPARE_PLACES

_BLOCKS_UNDER_WAY = 3
_HEAD = 1 << 16
"""How much can be left of a block without the next one having to move."""

_SPARE = 1 << 16
"""What a block may be larger than the last, so that its memory need not be new."""


class Buffers:
    """Working memory for one block of text: as many places as it can have fields."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.memory = bytearray(_HEAD + size + PADDING)
        self.text = np.frombuffer(self.memory, np.uint8)
        self.starts, self.ends, self.row_lines = (np.empty(size + SPARE_PLACES, np.int32) for _ in range(3))

    def fill(self, *pieces: Block) -> NDArray[np.uint8]:
        """Put these bytes one after the other, and zeros behind them."""
        place = _HEAD
        for piece in pieces:
            self.text[place : place + len(piece)] = np.frombuffer(piece, np.uint8)
            place += len(piece)
        return self._ended(_HEAD, place)

    def space(self, size: int) -> memoryview:
        """Where a block can be read to; there is room for what was left of the block before it."""
        return memoryview(self.memory)[_HEAD : _HEAD + size]

    def join(self, rest: bytes, size: int) -> NDArray[np.uint8]:
        """Put the rest of the block before in front of the block that was read."""
        start = _HEAD - len(rest)
        self.text[start:_HEAD] = np.frombuffer(rest, np.uint8)
        return self._ended(start, _HEAD + size)

    def _ended(self, start: int, end: int) -> NDArray[np.uint8]:
        self.text[end : end + PADDING] = 0
        return self.text[start:]


class _Work:
    """The columns of one block that are still to be coded: whoever has time takes the next."""

    def __init__(self, fields: Fields, buffers: Buffers, coders: Sequence[ColumnCoder]) -> None:
        self.buffers = buffers
        self._fields, self._left = fields, iter(coders)
        self._open, self._lock, self._done = len(coders), threading.Lock(), threading.Event()
        if not coders:
            self._done.set()

    def share(self) -> None:
        """Code columns until none is left to take; somebody else may still be at one of them."""
        while (coder := next(self._left, None)) is not None:
            try:
                coder.add(self._fields)
            finally:
                with self._lock:
                    self._open -= 1
                    if not self._open:
                        self._done.set()

    def abandon(self) -> None:
        """Let nobody wait any more: who was at a column may have been interrupted before saying so."""
        self._done.set()

    def finish(self) -> None:
        """Code what is left and wait for what is under way: a column's blocks must be coded in their order."""
        self.share()
        self._done.wait()


class CodingPipeline:
    """Hands blocks to the coders in order; a few blocks are under way at a time, so memory stays bounded.

    A thread of its own codes them. The caller's thread, which cuts text into fields, is faster than that: when it is
    ahead by as many blocks as there may be, it takes columns of the oldest one.
    """

    def __init__(self, coders: Sequence[ColumnCoder], columns: int) -> None:
        self._coders, self._columns = coders, columns
        self._busy: deque[tuple[Future[None], _Work]] = deque()
        self._lent: deque[Buffers] = deque()
        self._pool = ThreadPoolExecutor(1, "coding")

    def __enter__(self) -> CodingPipeline:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for _, work in self._busy:
            work.abandon()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def lend(self, size: int) -> memoryview:
        """Memory for the next block to be read."""
        self._lent.append(self._free(_HEAD + size))
        return self._lent[-1].space(size)

    def take(self, rest: bytes, block: Block) -> tuple[Buffers, NDArray[np.uint8]]:
        """What was left and what is new, one after the other, in working memory; what was read there is not moved."""
        if self._lent and isinstance(block, memoryview) and block.obj is self._lent[0].memory:
            buffers = self._lent.popleft()
            if len(rest) <= _HEAD:
                return buffers, buffers.join(rest, len(block))
        buffers = self._free(len(rest) + len(block))
        return buffers, buffers.fill(rest, block)

    def _free(self, size: int) -> Buffers:
        """Working memory for so many bytes that no block under way uses. A row can begin that has no end in them."""
        size += self._columns + 2
        free = self._oldest() if len(self._busy) >= _BLOCKS_UNDER_WAY else None
        return free if free is not None and free.size >= size else Buffers(size + _SPARE)

    def code(self, fields: Fields, buffers: Buffers) -> None:
        """Let the coders take the fields of a block; ``buffers`` belongs to it until it comes back."""
        work = _Work(fields, buffers, self._coders)
        self._busy.append((self._pool.submit(work.finish), work))

    def keep(self, coders: Sequence[ColumnCoder]) -> None:
        """Wait until everything is coded; from now on only these coders take part."""
        self.finish()
        self._coders = coders

    def finish(self) -> None:
        """Wait until everything is coded."""
        while self._busy:
            self._oldest()

    def _oldest(self) -> Buffers:
        """Help with the oldest block until it is done, and hand back its memory."""
        done, work = self._busy[0]
        work.share()
        done.result()
        self._busy.popleft()
        return work.buffers
