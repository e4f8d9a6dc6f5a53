"""Hash texts with a secret key, and add up fingerprints of rows: equal sums mean equal rows, in whatever order.

Each distinct text is hashed once (SipHash of pandas, 64 bits). The fingerprint of a row is the sum of the hashes of its
values, of each column by another function, mixed in two ways. The sums of both over all rows, modulo 2**64, are equal
for different sets of rows with a chance of about one in 2**64 at most. The key is drawn anew for every comparison, so
that nobody can prepare texts whose hashes meet.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]

_KEY_BYTES = 16
_HALF = np.uint64(32)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_MULTIPLIERS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))


def mix(values: Hashes, multiplier: np.uint64 = _MIX) -> Hashes:
    """Spread every bit of 64-bit numbers over all bits."""
    mixed = values ^ (values >> _HALF)
    mixed *= multiplier
    mixed ^= mixed >> _HALF
    mixed *= _MIX
    mixed ^= mixed >> _HALF
    return mixed


class TextHasher:
    """Hashes texts with a key of its own."""

    def __init__(self) -> None:
        self._key = secrets.token_hex(_KEY_BYTES // 2)
        self._salt_key = secrets.token_bytes(_KEY_BYTES)

    def hash(self, texts: Sequence[str]) -> Hashes:
        """Return the hash of every text."""
        values = np.empty(len(texts), object)
        values[:] = texts
        try:
            return self._hash(values)
        except UnicodeEncodeError:
            # Bytes that the encoding does not define are lone surrogates. No other text has a zero byte.
            values[:] = [text if _is_valid(text) else f"\0{_as_bytes(text)}" for text in texts]
            return self._hash(values)

    def _hash(self, values: NDArray[np.object_]) -> Hashes:
        hashes_found = pd.util.hash_array(values, encoding="utf8", hash_key=self._key, categorize=False)
        return np.asarray(hashes_found, np.uint64)

    def in_column(self, column: int, hashes: Hashes) -> Hashes:
        """Return the hashes of values as they count in this column of a row."""
        salt = hashlib.blake2b(column.to_bytes(8, "little"), digest_size=8, key=self._salt_key).digest()
        return mix(hashes ^ np.frombuffer(salt, np.uint64))


def _is_valid(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _as_bytes(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("latin-1")


class FingerprintSum:
    """The number of rows and both sums of their fingerprints."""

    def __init__(self) -> None:
        self.rows = 0
        self._sums = [0] * len(_MULTIPLIERS)

    def add(self, rows: Hashes) -> None:
        """Add rows by the sums of the hashes of their values."""
        self.rows += rows.size
        for number, multiplier in enumerate(_MULTIPLIERS):
            total = int(mix(rows, multiplier).sum(dtype=np.uint64))
            self._sums[number] = (self._sums[number] + total) % (1 << 64)

    def equals(self, other: FingerprintSum) -> bool:
        """Return whether these are the same rows, each as often, but for a negligible chance."""
        return (self.rows, self._sums) == (other.rows, other._sums)
