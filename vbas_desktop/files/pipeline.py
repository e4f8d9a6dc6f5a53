"""Coding in a thread of its own: while one block is coded, the next is cut into fields and a third is read."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from .coding import ColumnCoder, Fields
from .stream import Block
from .words import PADDING

_BLOCKS_UNDER_WAY = 3
_HEADROOM = 1 << 16
"""What a block may be larger than the last, so that its memory need not be new."""


class Buffers:
    """Working memory for one block of text: as many places as it can have fields."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.text = np.zeros(size + PADDING, np.uint8)
        self.starts, self.ends = np.empty(size, np.int32), np.empty(size, np.int32)
        self.row_lines, self.codes = np.empty(size, np.int32), np.empty(size, np.uint32)

    def fill(self, *pieces: Block) -> NDArray[np.uint8]:
        """Put these bytes one after the other, and zeros behind them."""
        place = 0
        for piece in pieces:
            self.text[place : place + len(piece)] = np.frombuffer(piece, np.uint8)
            place += len(piece)
        self.text[place : place + PADDING] = 0
        return self.text


class CodingPipeline:
    """Hands blocks to the coders in order; a few blocks are under way at a time, so memory stays bounded."""

    def __init__(self, coders: Sequence[ColumnCoder]) -> None:
        self._coders = coders
        self._busy: deque[tuple[Future[None], Buffers]] = deque()
        self._pool = ThreadPoolExecutor(1, "coding")

    def __enter__(self) -> CodingPipeline:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def buffers(self, size: int) -> Buffers:
        """Working memory that no block under way uses."""
        free = None
        if len(self._busy) >= _BLOCKS_UNDER_WAY:
            done, free = self._busy.popleft()
            done.result()
        return free if free is not None and free.size >= size else Buffers(size + _HEADROOM)

    def code(self, fields: Fields, buffers: Buffers) -> None:
        """Let the coders take the fields of a block; ``buffers`` belongs to it until it comes back."""
        self._busy.append((self._pool.submit(self._code, fields, buffers), buffers))

    def finish(self) -> None:
        """Wait until everything is coded."""
        while self._busy:
            self._busy.popleft()[0].result()

    def _code(self, fields: Fields, buffers: Buffers) -> None:
        for coder in self._coders:
            coder.add(fields, buffers.codes)
