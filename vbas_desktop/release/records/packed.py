"""Rows of codes packed into one or two numbers each, and set as text from them.

Neighbouring fields with few values are set as one: a table holds the text of every combination of theirs. A row then is
quickly put into another order, and made of few pieces of text.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.compiled import compiled
from vbas_desktop.io.records.bits import PADDING, load_word, store_word
from vbas_desktop.model.records import frozen

from .fields import Bytes, bounds_of

MOST_JOINED = 1 << 11
"""How many combinations fields that are set as one may have, so that their texts stay in the processor's cache."""
ROOM_BYTES = 1 << 23
"""Up to here rows get as much room as the longest would need, without adding up what they do need."""

Codes = NDArray[Any]
Words = NDArray[np.uint64]

_WORD = 8
_BITS = 64


@compiled
def pack(codes: Codes, factor: np.uint64, words: Words) -> None:
    """Add each code, times the factor, to the number of its row."""
    for row in range(codes.size):
        words[row] += np.uint64(codes[row]) * factor


@compiled
def put_in_places(words: Words, places: NDArray[np.int64], out: Words) -> None:
    """Copy each number to its place; below 0 there is none."""
    for row in range(words.size):
        if places[row] >= 0:
            out[np.uint64(places[row])] = words[row]


@compiled
def row_bytes(words: Words, order: NDArray[np.int32], pieces: NDArray[np.uint64], bounds: NDArray[np.int64]) -> int:
    """How many bytes the rows take."""
    total = 0
    for piece in range(pieces.shape[0]):
        for i in range(order.size):
            text = _text(words, np.uint64(order[i]), pieces, np.uint64(piece))
            total += int(bounds[text + np.uint64(1)] - bounds[text])
    return total


@compiled
def set_rows(
    words: Words,
    order: NDArray[np.int32],
    pieces: NDArray[np.uint64],
    pool: Bytes,
    bounds: NDArray[np.int64],
    out: Bytes,
) -> int:
    """Write the rows in this order, piece after piece, eight bytes at a time (so ``out`` has some to spare)."""
    at = 0
    for i in range(order.size):
        row = np.uint64(order[i])
        for piece in range(np.uint64(pieces.shape[0])):
            text = _text(words, row, pieces, piece)
            start = bounds[text]
            size = int(bounds[text + np.uint64(1)] - start)
            store_word(out, at, load_word(pool, start))
            done = _WORD
            while done < size:
                store_word(out, at + done, load_word(pool, start + done))
                done += _WORD
            at += size
    return at


@compiled
def _text(words: Words, row: np.uint64, pieces: NDArray[np.uint64], piece: np.uint64) -> np.uint64:
    """The number of the text that a piece of a row has. A piece is: word, shift, mask, number of its first text."""
    code = words[pieces[piece, np.uint64(0)], row] >> pieces[piece, np.uint64(1)]
    return pieces[piece, np.uint64(3)] + (code & pieces[piece, np.uint64(2)])


class Packing:
    """How the codes of rows become numbers, given the texts of each field."""

    def __init__(self, fields: Sequence[Sequence[bytes]]) -> None:
        groups: list[list[Sequence[bytes]]] = []
        for texts in fields:
            if groups and prod(map(len, groups[-1])) * len(texts) <= MOST_JOINED:
                groups[-1].append(texts)
            else:
                groups.append([texts])
        self.words, used, first = 1, 0, 0
        self._factors: list[tuple[int, np.uint64]] = []
        pieces, joined = [], []
        for group in groups:
            number = prod(map(len, group))
            bits = (number - 1).bit_length()
            # Where the word is full, one value alone does not fit either: no number can be moved by all of its bits.
            if used + max(bits, 1) > _BITS:
                self.words, used = self.words + 1, 0
            pieces.append((self.words - 1, used, (1 << bits) - 1, first))
            for place in range(len(group)):
                factor = prod(map(len, group[place + 1 :])) << used
                self._factors.append((self.words - 1, np.uint64(factor)))
            joined += [b"".join(texts) for texts in product(*group)]
            used, first = used + bits, first + number
        self._pieces = np.array(pieces, np.uint64)
        self._pool = np.frombuffer(b"".join(joined) + bytes(PADDING), np.uint8)
        self._bounds = bounds_of(joined)
        self._longest = sum(max(map(len, texts)) for texts in fields)

    def packed(self, columns: Sequence[Codes]) -> list[Words]:
        """The numbers of rows with these codes in each field."""
        words = [np.zeros(columns[0].size, np.uint64) for _ in range(self.words)]
        for (word, factor), codes in zip(self._factors, columns, strict=True):
            pack(codes, factor, words[word])
        return words

    def text(self, words: Sequence[Words], order: NDArray[np.int32]) -> Bytes:
        """The rows with these numbers, in this order."""
        stacked = words[0][None] if len(words) == 1 else np.stack(words)
        room = order.size * self._longest
        if room > ROOM_BYTES:
            room = int(row_bytes(stacked, order, self._pieces, self._bounds))
        out = np.empty(room + PADDING, np.uint8)
        return out[: set_rows(stacked, order, self._pieces, self._pool, self._bounds, out)]


def rehearse() -> None:
    """The loops for codes of every size."""
    words = np.zeros(1, np.uint64)
    for kind in (np.uint8, np.uint16, np.uint32, np.int32):
        codes = np.zeros(1, kind)
        for one in (codes, frozen(codes.copy())):
            pack(one, np.uint64(1), words)
    row_bytes(words[None], np.zeros(1, np.int32), np.zeros((1, 4), np.uint64), np.zeros(2, np.int64))
