"""Hash the rows of a record file whatever their order, so that the same records are known again in a file that was
sorted or saved otherwise.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.progress import Silent

if TYPE_CHECKING:
    from vbas_desktop.model.records import RecordTable

_LANES = 2
"""64-bit sums that make up the hash."""


def hash_rows(table: RecordTable) -> str:
    """Hash the rows by the values of all coded columns; empty if columns were not read, are on a server or not coded.

    Each distinct value is hashed once by BLAKE2b, together with the name of its column. The hash of a row is the sum
    of its values' hashes, mixed so that sums over rows depend on which values are together in a row. The sum over all
    rows does not depend on their order, and counts repeated rows. Two sums of 64 bits make a collision by accident
    impossible in practice. They do not withstand somebody who constructs one on purpose, which only the owner of the
    ledger could. Columns with too many values to be coded do not count: no comparison of releases uses them.

    It takes O(rows × coded columns) steps, about 0.4 s for a million rows of ten columns.
    """
    if table.source.elsewhere or len(table.columns) < len(table.dialect.header):
        return ""
    names = [facts.name for facts in table.columns if facts.categorical]
    if not names:
        return ""
    hashed = {name: _hash_values(table, name) for name in names}
    total = [0] * _LANES
    for codes in table.pieces(names, Silent(), ""):
        for lane in range(_LANES):
            rows = np.zeros(len(next(iter(codes.values()))), np.uint64)
            for name in names:
                rows += hashed[name][lane][codes[name]]
            total[lane] += int(_mix(rows).sum(dtype=np.uint64))
    digest = hashlib.sha256("\0".join(sorted(table.dialect.header)).encode("utf-8", "surrogateescape"))
    digest.update(f"\0{table.rows}\0".encode())
    for each in total:
        digest.update((each % (1 << 64)).to_bytes(8, "little"))
    return digest.hexdigest()


def _hash_values(table: RecordTable, name: str) -> NDArray[np.uint64]:
    """Hash each value of a column to one number for each lane."""
    categories = table.facts(name).categories
    begun = hashlib.blake2b(name.encode("utf-8", "surrogateescape") + b"\0", digest_size=8 * _LANES)
    digests = []
    for value in () if categories is None else categories.values:
        digest = begun.copy()
        digest.update(value.encode("utf-8", "surrogateescape"))
        digests.append(digest.digest())
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64).reshape(-1, _LANES).T.copy()


def _mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of each number (the finaliser of SplitMix64), in place."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        numbers ^= numbers >> np.uint64(shift)
        numbers *= np.uint64(factor)
    numbers ^= numbers >> np.uint64(31)
    return numbers
