"""Random order of released rows, from a secret key.

Each row of the input has a key of 64 bits from a cryptographic stream; released rows are sorted by it. The order does
not depend on how many rows are sorted at a time, so it is the same in memory and on disk.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

PIECE_ROWS = 1 << 20
"""SHAKE-256 cannot go on where a digest ended, so each piece of so many rows has a digest of its own."""
KEY_BYTES = 8
_KEPT_PIECES = 4


class RowKeys:
    """The keys of the rows of an input, from the order key of a release."""

    def __init__(self, order_key: bytes) -> None:
        self._order_key = order_key
        # Blocks of rows are asked for by several threads, close to each other.
        self._piece = lru_cache(_KEPT_PIECES)(self._make_piece)

    def _make_piece(self, number: int) -> NDArray[np.uint64]:
        digest = hashlib.shake_256(self._order_key + number.to_bytes(8, "little"))
        return np.frombuffer(digest.digest(KEY_BYTES * PIECE_ROWS), "<u8").astype(np.uint64, copy=False)

    def of_rows(self, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the keys of these rows of the input, numbered from 0 and given in ascending order."""
        keys = np.empty(rows.size, np.uint64)
        if not rows.size:
            return keys
        first, last = int(rows[0]) // PIECE_ROWS, int(rows[-1]) // PIECE_ROWS
        borders = np.searchsorted(rows, np.arange(first, last + 2) * PIECE_ROWS)
        for number, low, high in zip(range(first, last + 1), borders[:-1], borders[1:], strict=True):
            keys[low:high] = self._piece(number)[rows[low:high] - number * PIECE_ROWS]
        return keys


RECORD_KEY_CHARACTERS = 16
_RECORD_KEY_BYTES = 10
_RECORD_KEY_DOMAIN = b"vbas record key"
_ALPHABET = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", np.uint8)


class RecordKeys:
    """Pseudonymous keys of the records of an input: 80 bits each, as 16 characters of base32.

    They come from a stream of their own, which begins with another domain string than that of the rows' order: neither
    tells anything of the other. Equal keys among n records have a probability of n² / 2⁸¹, so that 10 million records
    have none in all but 4 of 10¹¹ releases; the verification of a release looks for them.
    """

    def __init__(self, order_key: bytes) -> None:
        self._order_key = order_key
        self._piece = lru_cache(_KEPT_PIECES)(self._make_piece)

    def _make_piece(self, number: int) -> NDArray[np.uint8]:
        digest = hashlib.shake_256(_RECORD_KEY_DOMAIN + self._order_key + number.to_bytes(8, "little"))
        return np.frombuffer(digest.digest(_RECORD_KEY_BYTES * PIECE_ROWS), np.uint8).reshape(PIECE_ROWS, -1)

    def of_rows(self, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return the keys of these rows of the input, numbered from 0 and ascending: a line of characters for each."""
        found = np.empty((rows.size, _RECORD_KEY_BYTES), np.uint8)
        if rows.size:
            first, last = int(rows[0]) // PIECE_ROWS, int(rows[-1]) // PIECE_ROWS
            borders = np.searchsorted(rows, np.arange(first, last + 2) * PIECE_ROWS)
            for number, low, high in zip(range(first, last + 1), borders[:-1], borders[1:], strict=True):
                found[low:high] = self._piece(number)[rows[low:high] - number * PIECE_ROWS]
        fives = np.unpackbits(found, axis=1).reshape(rows.size, RECORD_KEY_CHARACTERS, 5)
        return _ALPHABET[fives @ np.array([16, 8, 4, 2, 1], np.uint8)]


def buckets_of_keys(keys: NDArray[np.uint64], n_buckets: int) -> NDArray[np.int64]:
    """Divide keys into buckets of about the same size by their leading bits: a larger key is in no smaller bucket."""
    return (((keys >> np.uint64(32)) * np.uint64(n_buckets)) >> np.uint64(32)).astype(np.int64)


def sort_by_keys(keys: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return the order of rows by their keys; rows with equal keys keep their order."""
    return np.argsort(keys, kind="stable")
