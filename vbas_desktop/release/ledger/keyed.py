"""Keyed hashes of values: enough to see that two values are the same, without the value."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.records import frozen

Hashes = NDArray[np.uint64]


class Listed(NamedTuple):
    """Aggregated regions and classes of the cells that a release lists, and the tier of each (0: in its own region)."""

    place: NDArray[np.integer]
    classes: Hashes
    tier: NDArray[np.uint8]


def hashes(key: bytes, kind: str, texts: Iterable[str]) -> Hashes:
    """A 64-bit hash of each text; those of another ``kind`` (a column, say) or with another key are unlike."""
    started = hashlib.blake2b(kind.encode() + b"\0", digest_size=8, key=key)
    found = []
    for text in texts:
        each = started.copy()
        each.update(text.encode("utf-8", "surrogateescape"))
        found.append(int.from_bytes(each.digest(), "little"))
    return np.array(found, np.uint64)


def region_hashes(key: bytes, ids: Iterable[str]) -> Hashes:
    """The hashes of regions' ids."""
    return _region_hashes(key, tuple(ids))


@lru_cache(maxsize=4)
def _region_hashes(key: bytes, ids: tuple[str, ...]) -> Hashes:
    """Kept for a while: one check asks for the same ones several times."""
    return frozen(hashes(key, "region", ids))


def value_hashes(key: bytes, column: str, values: Iterable[str]) -> Hashes:
    """The hashes of a column's values. Those of a combination of values are added up, whatever their order."""
    return hashes(key, f"column {column}", values)


def class_hashes(counts: ClassCounts, columns: Mapping[int, Hashes]) -> Hashes:
    """The hash of each class by some quasi-identifiers, given those of their categories."""
    total = np.zeros(counts.n_combinations, np.uint64)
    for q, values in columns.items():
        total += values[counts.decode_column(q)]
    return total
